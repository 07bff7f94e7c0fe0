"""The still picture of the lesson on decoding, for files: the written words, and the cache of each layer."""

from collections.abc import Iterator

from attention_core.drawing.cache_shelves import Shelf, ShelvedText, cache_shelves
from attention_core.drawing.specifications import Picture
from pages.lessons.decoding.written import Written
from pages.session.labels import current_palette, whole_share
from pages.site.words import say

HEAD = 0  # the head drawn: the first, the screen's default


def draw_shelves(written: Written) -> Picture:
    """Draws the selected stop."""
    text = ShelvedText(
        words=written.words,
        seen=written.given + written.stop,
        given=written.given,
        coming=name_coming(written),
        head=say("block.part.head", head=HEAD + 1),
        write=whole_share,
    )
    return cache_shelves(text, list(make_shelves(written)), current_palette())


def name_coming(written: Written) -> str:
    """Returns the next word and its probability as text; empty at the end."""
    coming = written.next_word(written.stop)
    if coming is None:
        return ""
    word, share, _ = coming
    return f"{word} {whole_share(share)}"


def make_shelves(written: Written) -> Iterator[Shelf]:
    """Yields for each layer the keys and values of HEAD, and the weights of the last word."""
    now, last = written.run(written.stop).stack, written.run(written.stops[-1])
    for part in last.caches:
        name = say("model.layer", layer=part.partition(".")[0])
        keys, values = (last.stack[part][step][0, HEAD].numpy() for step in ("k", "v"))  # (S, d) each
        yield Shelf(name, now[part]["weights"][0, HEAD, 0].numpy(), keys, values)
