"""Draws the picture of the lesson on decoding: generated words, a row ("shelf") for each layer's cache, and the cost.

The cost is shown with and without a cache.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import numpy as np
import torch

from attention_core.drawing.cache_pictures import Shelf, ShelvedText, cache_shelves
from attention_core.drawing.specifications import Picture
from attention_core.record.number_text import format_grouped, format_percent
from attention_core.variants.decoding_work import count_writing
from pages import components
from pages.lessons.decoding.written import STOP_CHOICE, Written
from pages.lessons.sentences import say_bytes
from pages.panels.lesson_choices import store_choice
from pages.panels.model_look import open_sent, show_open_number
from pages.session.collected import collect_still, collected, is_collecting, show_moving
from pages.session.labels import current_palette, whole_share
from pages.site.words import say

STRONGEST_BYTE = 255  # byte that stands for the largest magnitude among a head's keys and values
PICTURE_TEXTS = (
    *("typed", "label", "back", "on", "go", "open", "weight", "key", "value", "computed", "kept"),
    *("picture", "way_cached", "way_again", "head"),
)


def show_shelves(written: Written) -> None:
    """Shows the animated picture of the caches, and below it the arithmetic of the opened number."""
    if is_collecting():
        told = tell_stop(written, "cached", written.stop)
        collected().facts += [told, *tell_counts(written)]
        collect_still(lambda: draw_shelves(written), told)
    show_moving(
        components.model_shelves,
        data=make_shelves_data(written),
        answers=True,
        key="decoding_shelves",
        given={"stops": len(written.stops)},
        on_stop=lambda stop: store_choice(STOP_CHOICE, stop),
        on_opened=lambda cell: take_opened(written, cell),
    )
    show_open_number(written.view(written.stop), lambda: written.view(written.stop))


def take_opened(written: Written, cell: Mapping) -> None:
    """Opens a clicked number of the picture, and selects the number of generated words that its run has."""
    store_choice(STOP_CHOICE, cell["stop"])
    open_sent(written.view(cell["stop"]), cell)


# ---- data of the component -------------------------------------------------------------------------------------------
def make_shelves_data(written: Written) -> bytes:
    """Returns the data of the picture's component as bytes; they describe the caches after every possible number of
    generated words ("stop").
    """
    last = written.run(written.stops[-1])
    parts = list(last.caches)
    next_words = [written.next_word(stop) for stop in written.stops]  # one for each stop; None after the last word
    data = {
        "run": repr((written.words, written.given, written.setup.view.word_seed)),
        "stop": written.stop,
        "given": written.given,
        "words": written.words,
        "layers": [say("model.layer", layer=part.partition(".")[0]) for part in parts],
        "heads": [str(head + 1) for head in range(written.shape.heads)],
        "width": written.shape.width // written.shape.heads,
        "next": [word and dict(zip(("word", "share", "number"), word, strict=True)) for word in next_words],
        "told": {way: [tell_stop(written, way, stop) for stop in written.stops] for way in ("cached", "again")},
        "counts": list(describe_counts(written)),
        "palette": vars(current_palette()),
        "text": {name: say(f"lessons.decoding.picture.{name}", **FILLED_BY_BROWSER) for name in PICTURE_TEXTS}
        | {"play": say("walk.play"), "pause": say("walk.pause")},
        "weights": pack_weights(written, parts),
        "strips": pack_strips(written, parts),
    }
    return components.pack_bytes(data)


FILLED_BY_BROWSER = {name: f"{{{name}}}" for name in ("layer", "word", "key", "share", "state")}


def pack_weights(written: Written, parts: list[str]) -> bytes:
    """Packs the attention weights of the last word, for each number of generated words, as float32 bytes.

    Their order is (numbers of generated words, layers, heads, words). parts: the names of the attentions, one for each
    layer.
    """
    count = len(written.words)
    rows = []
    for stop in written.stops:
        stack = written.run(stop).stack
        weights = torch.stack([stack[part]["weights"][0, :, 0] for part in parts])  # (L, H, S)
        rows.append(torch.nn.functional.pad(weights, (0, count - weights.shape[-1])))
    return torch.stack(rows).numpy().astype(np.float32).tobytes()


def pack_strips(written: Written, parts: list[str]) -> bytes:
    """Packs the magnitudes of all keys and values as bytes, in the order (layers, heads, words, key or value, d).

    Each magnitude is relative to the largest of its head. parts: the names of the attentions, one for each layer.
    """
    stack = written.run(written.stops[-1]).stack
    keys = torch.stack([stack[part]["k"][0] for part in parts])  # (L, H, S, d)
    values = torch.stack([stack[part]["v"][0] for part in parts])  # (L, H, S, d)
    both = torch.stack((keys, values), dim=-2).abs()  # (L, H, S, 2, d)
    largest = both.amax(dim=(2, 4), keepdim=True)  # (L, H, 1, 2, 1)
    return (STRONGEST_BYTE * both / largest).round().to(torch.uint8).numpy().tobytes()


# ---- texts -----------------------------------------------------------------------------------------------------------
def tell_stop(written: Written, way: str, stop: int) -> str:
    """Returns the sentence about what was computed and cached after some generated words, and about the next word.

    way: "cached" for the run with a cache, "again" for the run without a cache. stop: the number of generated words.
    """
    seen = written.given + stop
    kind = "first" if stop == 0 else way
    told = say(f"lessons.decoding.told.{kind}", word=written.words[seen - 1], seen=seen, kept=seen - 1)
    coming = written.next_word(stop)
    if coming is None:
        return say("lessons.decoding.told.end", told=told)
    return say("lessons.decoding.told.next", told=told, word=coming[0], percent=format_percent(coming[1]))


def tell_counts(written: Written) -> Iterator[str]:
    """Yields sentences that compare the cost with and without a cache at the selected word, for an exported file."""
    for count in describe_counts(written):
        cached, again = count["texts"][written.stop]
        yield say("lessons.decoding.count.told", title=count["title"], cached=cached, again=again)


def describe_counts(written: Written) -> Iterator[dict[str, object]]:
    """Yields the component's data for each cost (keys, multiplications, cached bytes), with and without a cache."""
    ends = (written.given, len(written.words))
    cached, again = (list(count_writing(written.shape, *ends, cached=is_cached)) for is_cached in (True, False))
    for name in ("keys", "products"):
        sizes = [[getattr(cost, name) for cost in both] for both in zip(cached, again, strict=True)]
        yield describe_count(name, sizes, format_grouped)
    held = [[sum(written.run(stop).nbytes.values()), 0] for stop in written.stops]
    yield describe_count("bytes", held, say_bytes)


def describe_count(name: str, sizes: list[list[int]], spell: Callable[[int], str]) -> dict[str, object]:
    """Returns the picture's data of one cost and of its growth per word.

    name: the name of the cost. sizes: the cost with and without a cache, for each number of generated words. spell: a
    function that formats a cost.
    """
    added = [["", ""]]
    for before, now in pairwise(sizes):
        grown = [size - old for size, old in zip(now, before, strict=True)]
        added.append([f"+{spell(more)}" if more > 0 else "" for more in grown])
    return {
        "title": say(f"lessons.decoding.count.{name}"),
        "names": [say(f"lessons.decoding.picture.way_{way}") for way in ("cached", "again")],
        "texts": [[spell(size) for size in both] for both in sizes],
        "added": added,
        "sizes": sizes,
    }


# ---- the still picture for files: the generated words, and the cache of each layer -----------------------------------
STILL_HEAD = 0  # index of the head whose weights the still picture shows


def draw_shelves(written: Written) -> Picture:
    """Draws the generated words and the caches of all layers after the selected number of words, as a still picture."""
    text = ShelvedText(
        words=written.words,
        seen=written.given + written.stop,
        given=written.given,
        coming=name_coming(written),
        head=say("block.part.head", head=STILL_HEAD + 1),
        write=whole_share,
    )
    return cache_shelves(text, list(make_shelves(written)), current_palette())


def name_coming(written: Written) -> str:
    """Returns the text about the word that is generated next and its probability; "" at the end of the text."""
    coming = written.next_word(written.stop)
    if coming is None:
        return ""
    word, share, _ = coming
    return f"{word} {whole_share(share)}"


def make_shelves(written: Written) -> Iterator[Shelf]:
    """Yields the cache of each layer for the still picture: keys, values, and the last word's attention weights in one
    head.
    """
    now, last = written.run(written.stop).stack, written.run(written.stops[-1])
    for part in last.caches:
        name = say("model.layer", layer=part.partition(".")[0])
        keys, values = (last.stack[part][step][0, STILL_HEAD].numpy() for step in ("k", "v"))  # (S, d) each
        yield Shelf(name, now[part]["weights"][0, STILL_HEAD, 0].numpy(), keys, values)
