"""The picture of the lesson on decoding as it stands in a file: what is written, and the cache of each layer."""

from collections.abc import Iterator

from attention_core.drawing.cache_shelves import Shelf, ShelvedText, cache_shelves
from attention_core.drawing.specifications import Picture
from pages.lessons.decoding.written import Written
from pages.session.labels import current_palette, whole_share
from pages.site.words import say

HEAD = 0  # that is drawn: the first one, as on the screen at first


def draw_shelves(written: Written) -> Picture:
    """The stop that is looked at."""
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
    """The word that is written next, and how likely it was; nothing at the end."""
    coming = written.next_word(written.stop)
    if coming is None:
        return ""
    word, share, _ = coming
    return f"{word} {whole_share(share)}"


def make_shelves(written: Written) -> Iterator[Shelf]:
    """What a head of each layer keeps, and what the last word gives to it."""
    now, last = written.run(written.stop).stack, written.run(written.stops[-1])
    for part in last.caches:
        name = say("model.layer", layer=part.partition(".")[0])
        keys, values = (last.stack[part][step][0, HEAD].numpy() for step in ("k", "v"))  # (S, d) each
        yield Shelf(name, now[part]["weights"][0, HEAD, 0].numpy(), keys, values)
