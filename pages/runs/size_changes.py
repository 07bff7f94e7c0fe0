"""Refits typed matrices when a layer's head counts or widths change, and reports the effect on each matrix."""

from dataclasses import dataclass, replace

import numpy as np

from attention_core.inputs.initial_matrices import recut_heads
from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_values import UNCHANGED
from attention_core.mechanism.config import LEARNED_TENSORS
from pages.runs.compute import gather_inputs
from pages.runs.run_inputs import RunInputs
from pages.runs.sentences import BIASES, PROJECTIONS
from pages.runs.weight_matrices import HeadSizes
from pages.setup.resolve import config_of
from pages.setup.setup import RunSetup

SIZE_FIELDS = ("heads", "kv_heads", "d_k", "d_v")
REFITTED_FIELDS = (*SIZE_FIELDS, *PROJECTIONS, *BIASES)  # fields that `make_size_changes` may return


def make_size_changes(run: RunSetup, **sizes: int | None) -> dict[str, object]:
    """Returns the fields of a RunSetup that change if a run gets other sizes: the sizes, and the typed matrices
    refitted to them.

    In a refitted matrix each remaining head keeps its columns, as far as they fit.
    """
    before = gather_inputs(run).matrices
    resized = replace(run, **sizes)
    typed = []
    for name in PROJECTIONS + BIASES:
        if name in before and getattr(run, name) not in (None, UNCHANGED):
            typed.append(name)
    untyped = replace(resized, **dict.fromkeys(typed))
    bases = gather_inputs(untyped).bases
    heads_before = head_counts_of(run)
    heads_after = head_counts_of(resized)
    changes: dict[str, object] = dict(sizes)
    for name in typed:
        matrix = before[name]
        base = bases.get(name)
        if base is None or name == "b_o":
            continue
        if base.shape == matrix.shape:
            continue
        kept = refit(matrix, base, name, heads_before, heads_after)
        if kept is not None:
            changes[name] = shorten_matrix(kept, base, name)
    return changes


def head_counts_of(run: RunSetup) -> HeadSizes:
    """Returns the counts of query heads and key/value heads of a run, and the chosen widths."""
    config = config_of(run)
    return HeadSizes(config.heads, config.kv_heads, run.d_k, run.d_v)


def refit(matrix: np.ndarray, base: np.ndarray, name: str, before: HeadSizes, after: HeadSizes) -> np.ndarray | None:
    """Refits a typed matrix to the shape of another matrix, head by head, or column by column if no width is chosen;
    returns None if this is impossible.

    base: the matrix that has the new shape, and the numbers for added cells. before, after: the counts of heads.
    """
    if name == "w_o":  # w_o has a block of rows per head; the other matrices have a block of columns per head
        kept = refit(matrix.T, base.T, "", before, after)
        return None if kept is None else kept.T
    heads = before.heads_of(name)
    new_heads = after.heads_of(name)
    rows, columns = matrix.shape
    new_rows, new_columns = base.shape
    if rows != new_rows:
        return None
    if not any((before.kv_heads, before.d_k, before.d_v, after.kv_heads, after.d_k, after.d_v)):
        new = base.copy()
        kept = min(columns, new_columns)
        new[:, :kept] = matrix[:, :kept]
        return new
    if columns % heads or new_columns % new_heads:
        return None
    width = new_columns // new_heads
    return recut_heads(matrix, heads, (new_heads, width), base)


@dataclass(frozen=True)
class MatrixFate:
    """The effect of a change of sizes on one matrix.

    kind: "kept" and "kept_rows", the numbers are the same, split into other heads (columns, or rows of W_o);
    "left_out", some numbers were removed; "zeros" and "drawn", numbers were added: zeros, or random ones from the seed;
    "given", numbers were added or replaced by the example's; "new", all are random from the seed; "identity", a learned
    tensor is now the identity. heads, width: the current count and width of heads. before: the earlier width. count:
    the current count of columns (rows of W_o).
    """

    name: str
    kind: str
    heads: int = 0
    width: int = 0
    before: int = 0
    count: int = 0
    seed: int | None = None


def is_resized(before: RunSetup, now: RunSetup) -> bool:
    """Returns whether two RunSetups differ only in head counts or widths, and in the matrices refitted to these."""
    settings_before = vars(before)
    settings_now = vars(now)
    differing = {name for name, value in settings_now.items() if value != settings_before[name]}
    has_another_size = not differing.isdisjoint(SIZE_FIELDS)
    return has_another_size and differing.issubset(REFITTED_FIELDS)


def list_fates(before: tuple[RunSetup, RunInputs], now: tuple[RunSetup, RunInputs]) -> list[MatrixFate]:
    """Returns how a change of sizes affected each matrix that changed.

    before, now: the RunSetup (fields of a run) and the inputs, before and after the change.
    """
    (setup_before, inputs_before), (setup_now, inputs_now) = before, now
    heads_before = head_counts_of(setup_before)
    heads_now = head_counts_of(setup_now)
    fates = []
    for name in list_cut_matrices(inputs_now):
        if name not in inputs_before.matrices:
            continue
        counts = (heads_before.heads_of(as_projection(name)), heads_now.heads_of(as_projection(name)))
        fates.append(tell_fate(name, inputs_before, inputs_now, counts))
    return [fate for fate in fates if fate is not None]


def list_cut_matrices(inputs: RunInputs) -> list[str]:
    """Returns the names of the matrices that are split into heads, followed by those of the mechanisms' learned
    tensors.

    The matrices that are split are the projections; q, k and v; and x if it is used without W_q.
    """
    names = [name for name in (*PROJECTIONS, "q", "k", "v") if name in inputs.matrices]
    if "w_q" not in names and "q" not in names and "x" in inputs.matrices:
        names.insert(0, "x")
    return names + [name for name in LEARNED_TENSORS if name in inputs.matrices]


def as_projection(name: str) -> str:
    """Returns the name of the projection that is split into as many heads as a matrix: "w_k" for "k", "w_v" for "v"."""
    return f"w_{name}" if name in ("k", "v") else name


def tell_fate(name: str, before: RunInputs, now: RunInputs, counts: tuple[int, int]) -> MatrixFate | None:
    """Returns how a change of sizes affected one matrix, or None if the matrix did not change.

    counts: the counts of heads into which the matrix is split, before and now.
    """
    old, new = before.matrices[name], now.matrices[name]
    seed = now.seeds.get(name) if now.origins.get(name) == "random" else None
    if name in LEARNED_TENSORS:
        return tell_score_fate(name, old, new, seed)
    if name == "w_o":  # w_o has a block of rows per head; the other matrices have a block of columns per head
        old, new = old.T, new.T
    heads_before, heads = counts
    if old.shape[1] % heads_before or new.shape[1] % heads:
        return None
    old_width, width = old.shape[1] // heads_before, new.shape[1] // heads
    sizes = {"heads": heads, "width": width, "before": old_width, "count": new.shape[1]}
    if is_padded(old, new):
        return MatrixFate(name, "zeros", **sizes)
    if np.array_equal(old, new):
        if width == old_width:
            return None
        return MatrixFate(name, "kept_rows" if name == "w_o" else "kept", **sizes)
    old_heads = old.reshape(len(old), heads_before, old_width)  # (rows, H d) -> (rows, H, d)
    new_heads = new.reshape(len(new), heads, width)  # (rows, H' d') -> (rows, H', d')
    kept = np.s_[:, : min(heads, heads_before), : min(width, old_width)]
    if len(old) != len(new) or not np.array_equal(old_heads[kept], new_heads[kept]):
        return MatrixFate(name, "given" if seed is None else "new", **sizes, seed=seed)
    if new_heads[kept].size == new_heads.size:
        return MatrixFate(name, "left_out", **sizes)
    added = np.ones(new_heads.shape, bool)
    added[kept] = False
    if not new_heads[added].any():
        return MatrixFate(name, "zeros", **sizes)
    return MatrixFate(name, "given" if seed is None else "drawn", **sizes, seed=seed)


def is_padded(old: np.ndarray, new: np.ndarray) -> bool:
    """Returns whether a matrix equals another one with columns of zeros appended."""
    (rows, columns), (new_rows, new_columns) = old.shape, new.shape
    if rows != new_rows or columns >= new_columns:
        return False
    return np.array_equal(new[:, :columns], old) and not new[:, columns:].any()


def tell_score_fate(name: str, old: np.ndarray, new: np.ndarray, seed: int | None) -> MatrixFate | None:
    """Returns how a change of sizes affected a mechanism's learned tensor, or None if the tensor did not change."""
    if np.array_equal(old, new):
        return None
    if seed is not None:
        return MatrixFate(name, "new", seed=seed)
    is_identity = np.array_equal(new, np.eye(*new.shape))
    return MatrixFate(name, "identity" if is_identity else "given")
