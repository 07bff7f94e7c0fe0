"""Extracts the matrices of a run's steps for documents, cut if they are large; also defines a document's texts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product

from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import Panel, panel
from attention_core.record.trace import Trace

HEAD_COUNT_AXES = ("H", "H_kv")  # names of the axes that count heads


@dataclass(frozen=True)
class DocumentTexts:
    """The texts of a document, in the visitor's language.

    language: the code for HTML's lang attribute. sentence: the sentence of the run. settings: the settings of the run,
    one per line. words: the labels and names of cells. title: a function that returns the title of a matrix, and names
    the shown part if the matrix is cut. more: a function that takes the number of omitted heads and returns a note
    about them. names: {step: name in formulas} for steps whose name there differs from that in code.
    """

    language: str
    sentence: str
    settings: tuple[str, ...]
    words: PictureTexts
    title: Callable[[Panel], str]
    more: Callable[[int], str]
    names: Mapping[str, str] = field(default_factory=dict)


def excerpt_matrices(trace: Trace, step: str, at: Mapping[str, int], side: int, heads: int) -> tuple[list[Panel], int]:
    """Return the matrices of a step, one per head, and the number of heads that are left out.

    at: {axis: index}. On the axes before the last two, the index selects the matrix. On the last two, it is the middle
    of the shown part of a matrix that is too large. side: the largest number of rows and columns. heads: the largest
    number of heads.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> trace = attend(torch.eye(8), config=AttentionConfig(heads=4))
    >>> shown, more = excerpt_matrices(trace, "weights", {}, side=5, heads=3)
    >>> [part.values.shape for part in shown], shown[0].hidden, more
    ([(5, 5), (5, 5), (5, 5)], (3, 3), 1)
    """
    positions = head_positions(trace, step)
    shown = []
    for position in positions[:heads]:
        shown.append(panel(trace, step, {**at, **position}, side))
    left_out = len(positions) - len(shown)
    return shown, left_out


def head_positions(trace: Trace, step: str) -> list[dict[str, int]]:
    """Return {axis: index} for each head of a step, on each of its axes of heads; [{}] if the step has no such axis."""
    dims = trace.step(step).dims
    sizes = dict(zip(dims, trace.step(step).shape, strict=True))
    axes = [dim for dim in dims[:-2] if dim in HEAD_COUNT_AXES]
    places_along_axes = [range(sizes[axis]) for axis in axes]
    positions = []
    for places in product(*places_along_axes):
        positions.append(dict(zip(axes, places, strict=True)))
    return positions
