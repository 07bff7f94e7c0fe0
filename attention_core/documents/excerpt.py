"""What a document shows of a run: of each step the matrices of its heads, large ones in part, and how it speaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import Panel, panel
from attention_core.record.trace import Trace

HEAD_COUNT_AXES = ("H", "H_kv")  # the axes that count heads


@dataclass(frozen=True)
class DocumentTexts:
    """How a document speaks: texts that come ready-made from the caller, as data.

    language: as HTML names it. sentence: what the run says. settings: how it was made, a line each. words: labels and
    names of cells. title: of a matrix, which says how much of it is drawn where that is not all. more: that so many
    heads of a step are left out.
    """

    language: str
    sentence: str
    settings: tuple[str, ...]
    words: PictureTexts
    title: Callable[[Panel], str]
    more: Callable[[int], str]


def excerpt_matrices(trace: Trace, step: str, at: Mapping[str, int], side: int, heads: int) -> tuple[list[Panel], int]:
    """A step as matrices, one a head, and how many heads are left out.

    at: the position on every other axis that a matrix does not have, and what its part has in its middle where it is
    too large. side: rows and columns at most; heads: at most.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> trace = attend(torch.eye(8), config=AttentionConfig(heads=4))
    >>> shown, more = excerpt_matrices(trace, "weights", {}, side=5, heads=3)
    >>> [part.values.shape for part in shown], shown[0].hidden, more
    ([(5, 5), (5, 5), (5, 5)], (3, 3), 1)
    """
    leading = dict(zip(trace.step(step).dims[:-2], trace[step].shape[:-2], strict=True))
    counted = {dim: range(size) for dim, size in leading.items() if dim in HEAD_COUNT_AXES}
    places = [dict(zip(counted, place, strict=True)) for place in product(*counted.values())]
    shown = [panel(trace, step, {**at, **place}, side) for place in places[:heads]]
    return shown, len(places) - len(shown)
