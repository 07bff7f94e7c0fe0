"""The sorts of text, and how often each is drawn."""

from collections.abc import Callable
from typing import NamedTuple

from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.sorts.agreement import draw_agreement
from attention_core.learned.grammar.sorts.reasons import draw_because

Drawn = tuple[str, tuple] | None  # the frame's name and what is told; None where the draw came to nothing


class Sort(NamedTuple):
    """A sort of text. weight: how often it is drawn. has_pairs: two nouns of it are a pair that may be held out.

    has_frames: it is made from a frame of frames.toml.
    """

    draw: Callable[[Draw], Drawn]
    weight: int
    has_pairs: bool = True
    has_frames: bool = False


SORTS = {
    "because": Sort(draw_because, 34, has_frames=True),
    "agreement": Sort(draw_agreement, 14),
}
