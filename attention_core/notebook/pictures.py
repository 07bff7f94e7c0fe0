"""Draws what a notebook shows of a Trace, an Explanation, a Proof, a Diagnosis and a Stack, as HTML.

`draw_html` is the one way in: the classes' `_repr_html_` call it. A picture is bounded, and says what it leaves out.
"""

from collections.abc import Callable, Iterator
from types import MappingProxyType

from attention_core.documents.excerpt import excerpt_matrices
from attention_core.explanation.arithmetic import Explanation
from attention_core.explanation.layout import Panel
from attention_core.explanation.shown_steps import explain_shown
from attention_core.inputs.tokenizer import printable_token
from attention_core.notebook.html_parts import (
    largest_place,
    write_arithmetic,
    write_frame,
    write_matrix,
    write_paragraph,
    write_words,
)
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.notebook_picture import NotebookPicture
from attention_core.record.number_text import format_small
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack
from attention_core.verification.diagnosis import Comparison, Diagnosis
from attention_core.verification.proof import Proof, StackProof

MAX_SIDE, MAX_HEADS = 12, 4  # the most rows or columns of a drawn matrix, and heads of a drawn step
MAX_ROWS = 40  # the most rows of a table of steps or parts
MAX_TOKENS = 24  # the most tokens in the line above the matrices
ATTENTION_STEPS = ("scores", "weights")  # drawn in front of the last step, if a run has them
WITNESSES = {
    "numpy": "NumPy in float64",
    "shown": "the arithmetic as it is written",
    "torch": "torch's own functions",
    "sdpa": "scaled_dot_product_attention",
    "mha": "MultiheadAttention",
    "rows": "rows that sum to 1",
    "blocked": "blocked cells that are 0",
    "wiring": "the right operands",
    "held": "numbers that the precision can hold",
}


def draw_html(shown: NotebookPicture) -> str:
    """Return a Trace, an Explanation, a Proof, a StackProof, a Diagnosis or a Stack as HTML for a notebook.

    The HTML has no script, loads nothing, and follows the notebook's light or dark theme. It has at most MAX_SIDE rows
    and columns of a matrix and MAX_HEADS heads of a step, and says which part of the whole they are. A Trace on another
    device is copied step by step as far as it is read.

    Raises AttentionError (a ValueError): unknown_choice, for another class.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.tensor([[3.0], [5.0]]))
    >>> html = draw_html(trace)
    >>> "<td" in html, "<script" in html, "4.34" in html
    (True, False, True)
    """
    for kind, parts in PARTS.items():
        if isinstance(shown, kind):
            return write_frame([*parts(shown)])
    names = ", ".join(kind.__name__ for kind in PARTS)
    raise AttentionError("unknown_choice", name="object", choices=names, given=type(shown).__name__)


# ---- a run -----------------------------------------------------------------------------------------------------------
def trace_parts(trace: Trace) -> Iterator[str]:
    """Yield the picture of a run: its sizes, its tokens, scores, weights and output as matrices, and one number's
    arithmetic.
    """
    sizes = ", ".join(f"{dim} = {size}" for dim, size in trace.sizes().items() if "·" not in dim)
    yield write_paragraph(sizes, title="Difference of two runs" if trace.difference else "Trace")
    yield from token_parts(trace)
    names = drawn_steps(trace)
    unreadable = [name for name in names if trace.step(name).stored.is_meta]
    empty = [name for name in names if 0 in trace.step(name).shape]
    if unreadable:
        yield write_paragraph(f"The tensors are on the device meta, which holds no numbers: {', '.join(unreadable)}.")
    elif empty:
        yield write_paragraph(f"No numbers: an axis of {', '.join(empty)} has size 0.")
    else:
        yield from matrix_parts(trace.on_cpu(), names)
    yield from step_parts(trace)


def token_parts(trace: Trace) -> Iterator[str]:
    """Yield a line of the tokens on each labelled axis of tokens; keys that are the queries are not repeated."""
    said = set()
    for dim, title in {"T": "Tokens", "S": "Keys"}.items():
        words = trace.labels.get(dim, ())
        if words and words not in said:
            said.add(words)
            text = " · ".join(map(printable_token, words[:MAX_TOKENS]))
            left_out = len(words) - MAX_TOKENS
            yield write_paragraph(f"{text} · … ({left_out} more)" if left_out > 0 else text, title=title)


def drawn_steps(trace: Trace) -> list[str]:
    """Return the names of the steps that are drawn: scores, weights and the last step; without these, the last three.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> drawn_steps(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)))
    ['scores', 'weights', 'output']
    """
    names = [name for name in ATTENTION_STEPS if name in trace]
    if not names:
        return list(trace.steps)[-3:]
    last = next(reversed(trace.steps))
    return names if last in names else [*names, last]


def matrix_parts(trace: Trace, names: list[str]) -> Iterator[str]:
    """Yield the matrices of these steps, what is left out of them, and the arithmetic of one cell of each step.

    The cell is in the last drawn row; of scores and weights it is that of the largest weight.
    """
    excerpts = {name: excerpt_matrices(trace, name, {}, MAX_SIDE, MAX_HEADS) for name in names}
    place = marked_column(excerpts)
    marked = {}
    matrices = []
    left_out = []
    for name, (panels, more) in excerpts.items():
        first = panels[0]
        last_row = first.refs[-1]
        marked[name] = last_row[place if name in ATTENTION_STEPS else 0]
        matrices += [write_matrix(drawn, trace, matrix_title(trace, drawn), marked[name]) for drawn in panels]
        left_out += describe_left_out(trace, panels, more)
    yield f'<div class="side">{"".join(matrices)}</div>'
    if left_out:
        cut = "; ".join(dict.fromkeys(left_out))
        yield write_paragraph(f"Shown: {cut}. trace[name] has all numbers.")
    yield from arithmetic_parts(trace, marked)


def marked_column(excerpts: dict[str, tuple[list[Panel], int]]) -> int:
    """Return the column of the largest weight in the last drawn row of the first head; 0 for a run without weights."""
    if "weights" not in excerpts:
        return 0
    panels, _ = excerpts["weights"]
    return largest_place(panels[0].values[-1])


def matrix_title(trace: Trace, drawn: Panel) -> str:
    """Return the title of a matrix: the step, and the head if the step has several."""
    step = trace.step(drawn.step)
    index = drawn.refs[0][0].index
    places = []
    for dim, position, size in zip(step.dims[:-2], index, step.shape, strict=False):
        if size > 1 and dim != "B":
            places.append(f"{'head' if dim == 'H' else dim} {position}")
    return " · ".join([drawn.step, *places])


def describe_left_out(trace: Trace, panels: list[Panel], more: int) -> Iterator[str]:
    """Yield which part of a step its matrices show, one text for each axis that is cut."""
    first = panels[0]
    if more:
        yield f"{len(panels)} of {len(panels) + more} heads"
    sequences = trace.sizes().get("B", 1)
    if sequences > 1:
        yield f"sequence 0 of {sequences}"
    counts = (len(first.refs), len(first.refs[0]))
    for dim, count, hidden in zip((first.rows, first.columns), counts, first.hidden, strict=True):
        if hidden:
            yield f"{count} of {count + hidden} along {dim}"


def arithmetic_parts(trace: Trace, marked: dict[str, Ref]) -> Iterator[str]:
    """Yield the arithmetic of the marked cells. A difference of two runs has none, for nothing computed it."""
    for name, cell in marked.items():
        if trace.step(name).operation is not None and not trace.difference:
            yield write_arithmetic(explain_shown(trace, name, cell.index))


def step_parts(trace: Trace) -> Iterator[str]:
    """Yield a line with the names of all steps."""
    names = list(trace.steps)
    left_out = ["…"] if len(names) > MAX_ROWS else []
    yield write_paragraph(", ".join([*names[:MAX_ROWS], *left_out]), title="Steps")


# ---- one number ------------------------------------------------------------------------------------------------------
def explanation_parts(explained: Explanation) -> Iterator[str]:
    """Yield the arithmetic of one cell, with its operands in their colours."""
    yield write_arithmetic(explained)


# ---- proofs ----------------------------------------------------------------------------------------------------------
def proof_parts(proof: Proof) -> Iterator[str]:
    """Yield whether a run is proven, and for each step what it was compared with and the largest difference."""
    yield verdict(proof.passed, f"{len(proof.checks)} checks, largest relative difference {format_small(proof.worst)}.")
    if proof.overflow is not None:
        step, index = proof.overflow
        yield write_paragraph(f"{step}{list(index)} is not finite, although no mask blocks it.", title="Overflow")
    steps = list(dict.fromkeys(check.step for check in proof.checks))
    steps.sort(key=lambda step: all(check.passed for check in proof.checks if check.step == step))  # failed ones first
    rows = []
    for step in steps[:MAX_ROWS]:
        checks = [check for check in proof.checks if check.step == step]
        failed = [check for check in checks if not check.passed]
        witnesses = ", ".join(WITNESSES.get(check.witness, check.witness) for check in failed or checks)
        difference = format_small(max(check.difference for check in checks))
        rows.append((step, "fails" if failed else "passes", witnesses, difference))
    yield write_words(("step", "", "compared with", "largest difference"), rows)
    yield from rows_left_out(len(steps))


def stack_proof_parts(proof: StackProof) -> Iterator[str]:
    """Yield whether a stack is proven, and for each part its number of numbers and the largest difference."""
    counted = f"{proof.number_count} numbers in {len(proof.parts)} parts"
    yield verdict(proof.passed, f"{counted}, largest relative difference {format_small(proof.worst)}.")
    if proof.fault is not None:
        yield write_paragraph(f"{proof.fault.step} of {proof.fault.part}", title="First fault:")
    for part, read in proof.broken_links[:MAX_ROWS]:
        yield write_paragraph(f"{read} of {part} is not what the part before it computed.", title="Broken link:")
    rows = []
    for name, part in list(proof.parts.items())[:MAX_ROWS]:
        rows.append((name, "passes" if part.passed else "fails", str(proof.numbers[name]), format_small(part.worst)))
    yield write_words(("part", "", "numbers", "largest difference"), rows)
    yield from rows_left_out(len(proof.parts))


def verdict(passed: bool, text: str) -> str:
    """Return the first line of a proof."""
    return write_paragraph(text, title="Proven." if passed else "Not proven.")


def rows_left_out(count: int) -> Iterator[str]:
    """Yield how many rows of a table are shown, if it is cut. count: how many there are."""
    if count > MAX_ROWS:
        yield write_paragraph(f"Shown: {MAX_ROWS} of {count}.")


# ---- a diagnosis -----------------------------------------------------------------------------------------------------
def diagnosis_parts(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the text of a diagnosis, and the comparison of each given step."""
    agrees = diagnosis.first is None
    yield write_paragraph(str(diagnosis), title="All steps agree." if agrees else "A step differs.")
    rows = [comparison_row(comparison) for comparison in diagnosis.comparisons[:MAX_ROWS]]
    yield write_words(("step", "", "largest difference", "allowed", "at", "yours", "ours"), rows)
    yield from rows_left_out(len(diagnosis.comparisons))


def comparison_row(comparison: Comparison) -> tuple[str, ...]:
    """Return the texts of a comparison in its row of the table."""
    verdict_text = "agrees" if comparison.agrees else "differs"
    if not comparison.fits:
        return (
            comparison.step,
            verdict_text,
            "another shape",
            "",
            "",
            str(comparison.given_shape),
            str(comparison.shape),
        )
    differences = (format_small(comparison.difference), format_small(comparison.tolerance))
    if comparison.agrees or comparison.index is None:
        return comparison.step, verdict_text, *differences, "", "", ""
    place = ", ".join(f"{dim} {at}" for dim, at in zip(comparison.dims, comparison.index, strict=True))
    return comparison.step, verdict_text, *differences, place, f"{comparison.theirs:.6g}", f"{comparison.ours:.6g}"


# ---- a stack ---------------------------------------------------------------------------------------------------------
def stack_parts(stack: Stack) -> Iterator[str]:
    """Yield the parts of a stack in their order, and the picture of its last part with attention weights."""
    yield write_paragraph(f"{len(stack.parts)} parts", title="Stack")
    rows = []
    for name, trace in list(stack.parts.items())[:MAX_ROWS]:
        last = list(trace.steps.values())[-1]
        shape = " × ".join(map(str, last.shape))
        sources = dict.fromkeys(source for source, _ in stack.sources.get(name, {}).values())
        rows.append((name, ", ".join(sources), last.name, f"({', '.join(last.dims)}) = {shape}"))
    yield write_words(("part", "reads", "last step", "axes"), rows)
    yield from rows_left_out(len(stack.parts))
    attending = [name for name, trace in stack.parts.items() if "weights" in trace]
    if attending:
        yield write_paragraph(f"stack[{attending[-1]!r}]", title="The last part with attention:")
        yield from trace_parts(stack[attending[-1]])


PARTS: MappingProxyType[type, Callable[..., Iterator[str]]] = MappingProxyType(
    {
        Trace: trace_parts,
        Explanation: explanation_parts,
        Proof: proof_parts,
        StackProof: stack_proof_parts,
        Diagnosis: diagnosis_parts,
        Stack: stack_parts,
    }
)
