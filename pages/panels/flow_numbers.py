"""Packs the numbers of a run for the flow picture: all of a small run, only the selected part of a large one."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attention_core import Trace
from attention_core.drawing.cells import is_share
from attention_core.drawing.flow import FlowGraph, FlowPart, twin_steps
from attention_core.explanation.formula import colour_family
from attention_core.explanation.layout import Panel, product
from attention_core.record.trace import Step
from pages.session.labels import inline_step_name
from pages.session.view import ScreenState

MAX_WHOLE_TOKENS, MAX_WHOLE_NUMBERS = 64, 150_000  # a run within both limits is sent as a whole
WORD_AXES = {"B", "T", "S"}  # axes of words and sentences; a step without any of them is a matrix of weights
MAX_CUT_KEYS = 12  # most keys sent of a run beyond these limits


Products = Mapping[str, dict | None]  # step -> its two operands; None if the step is no product


@dataclass(frozen=True)
class Cut:
    """The part of a large run that is sent to the browser: one query of one head, and the keys with its largest
    weights.
    """

    batch: int
    head: int
    kv: int
    query: int
    keys: tuple[int, ...]


def is_too_large(trace: Trace) -> bool:
    """Returns whether a run has so many words or numbers that only the selected part of them is sent to the browser."""
    sizes = trace.sizes()
    if max(sizes["T"], sizes["S"]) > MAX_WHOLE_TOKENS:
        return True
    return trace.count_numbers(leave_out=matrices_of(trace)) > MAX_WHOLE_NUMBERS


def matrices_of(trace: Trace) -> frozenset[str]:
    """Returns the steps without any axis of words."""
    return frozenset(name for name, step in trace.steps.items() if not WORD_AXES & set(step.dims))


def list_unsent_matrices(trace: Trace) -> frozenset[str]:
    """Returns the steps without an axis of words if all numbers of the run are too many to be sent, else an empty set.

    The picture then shows the other steps, with words, heads and rows, without these matrices.
    """
    return matrices_of(trace) if trace.count_numbers() > MAX_WHOLE_NUMBERS else frozenset()


def cut_of(screen: ScreenState) -> Cut | None:
    """Returns the part of a run that is sent to the browser; None if the run is small enough to be sent as a whole."""
    trace, selection = screen.trace, screen.selection
    if not is_too_large(trace):
        return None
    batch, head, query = selection.batch, selection.head, selection.query
    shares = trace.step("weights").window(B=batch, H=head, T=query)  # (S,)
    from_most_to_least = np.argsort(-shares, kind="stable")
    keys = set(from_most_to_least[:MAX_CUT_KEYS].tolist())
    if not screen.inputs.crossed:
        keys.add(query)
    return Cut(batch, head, selection.kv, query, tuple(sorted(keys)))


# ---- the numbers -----------------------------------------------------------------------------------------------------
def pack_steps(graph: FlowGraph, products: Products) -> tuple[dict[str, dict], bytes]:
    """Packs the numbers of all steps of a run as bytes; returns them with a description of each step.

    The description has the offset of the step's first number.
    """
    trace = graph.trace
    unsent = list_unsent_matrices(trace)
    steps = {name: described for name, described in twin_steps(graph).items() if name not in unsent}
    blocks, first = [], 0
    for name, described in steps.items():
        numbers = np.ascontiguousarray(trace.steps[name].window(), dtype=np.float64)
        described |= describe_numbers(trace, name, first) | {"product": products[name]}
        blocks.append(numbers.tobytes())
        first += numbers.size
    return steps, b"".join(blocks)


def pack_cut_steps(trace: Trace, parts: Sequence[FlowPart], cut: Cut) -> tuple[dict[str, dict], bytes]:
    """Packs those steps of a large run that the picture draws, each cut to the selected query, head and sentence.

    Returns each step's description, with the offset of its first number, and the numbers as bytes.
    """
    steps, blocks = {}, []
    first = 0
    for part in parts:
        step = trace.step(part.name)
        numbers = np.ascontiguousarray(cut_step(step, part, cut), dtype=np.float64)
        steps[part.name] = {
            "dims": step.dims,
            "shape": numbers.shape,
            "operation": None,
            "product": None,
            **describe_numbers(trace, part.name, first),
        }
        blocks.append(numbers.tobytes())
        first += numbers.size
    return steps, b"".join(blocks)


def cut_step(step: Step, part: FlowPart, cut: Cut) -> np.ndarray:
    """Returns a step's numbers as the picture draws them: for one query, head and sentence, and for some keys.

    A broadcast axis, of length 1, is not cut.
    """
    keys = list(cut.keys)
    queries = keys if part.role == "row" else [cut.query]
    wanted = {"B": [cut.batch], "H": [cut.head], "H_kv": [cut.kv], "T": queries, "S": keys}
    numbers = step.window()
    for axis, dim in enumerate(step.dims):
        if dim in wanted and numbers.shape[axis] > 1:
            numbers = numbers.take(wanted[dim], axis=axis)
    return numbers


# ---- descriptions of steps -------------------------------------------------------------------------------------------
def describe_numbers(trace: Trace, name: str, first: int) -> dict:
    """Returns a step's data without its numbers: the offset of its first number in the packed bytes, the label, and how
    the numbers are coloured.
    """
    return {
        "first": first,
        "label": inline_step_name(name),
        "kind": kind_of_step(trace, name),
    }


def kind_of_step(trace: Trace, name: str) -> str:
    """Returns how a step's numbers are coloured.

    "share": numbers from 0 to 1. "mark": booleans. "signed": all other numbers.
    """
    if is_share(trace, name):
        return "share"
    return "mark" if trace.steps[name].dtype == torch.bool else "signed"


def describe_product(trace: Trace, name: str, unsent: Container[str]) -> dict | None:
    """Returns the left and upper operand of a matrix product; None if the step is no product of two sent matrices."""
    # two rows and columns of the product are enough to find the operands
    whole = product(trace, name, largest=2, widest=2)
    if whole is None or whole.left.step in unsent or whole.above.step in unsent:
        return None
    return {"left": describe_operand(whole.left), "above": describe_operand(whole.above)}


def find_product(graph: FlowGraph, products: Products, name: str) -> str:
    """Returns the step to open when the visitor clicks the name of a drawn step.

    If the step only moves numbers of a matrix product, for example into heads, it is that product, else the step
    itself.
    """
    step = graph.trace.steps[name]
    while step.name in graph.moves and not graph.merges(step):
        step = graph.source(step)
    return name if products[step.name] is None else step.name


def describe_operand(operand: Panel) -> dict:
    """Returns the step and the colour family of an operand, and whether the operand is drawn transposed."""
    return {
        "step": operand.step,
        "transposed": is_transposed(operand),
        "family": colour_family(operand.step) or "x",
    }


def is_transposed(operand: Panel) -> bool:
    """Returns whether an operand is drawn transposed: its last axis runs from top to bottom."""
    first_row = operand.refs[0]
    last_row = operand.refs[-1]
    corner = first_row[0]
    right_end = first_row[-1]
    lower_end = last_row[0]
    if lower_end.index[-1] != corner.index[-1]:
        return True
    has_columns = right_end != corner
    return has_columns and right_end.index[-1] == corner.index[-1]
