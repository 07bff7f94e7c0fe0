"""Refits typed matrices when heads or widths of a layer change."""

from dataclasses import replace

import numpy as np

from attention_core.inputs.initial_matrices import recut_heads
from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_values import UNCHANGED
from pages.runs.compute import gather_inputs
from pages.runs.sentences import BIASES, PROJECTIONS
from pages.runs.weight_matrices import HeadSizes
from pages.setup.resolve import config_of
from pages.setup.setup import RunSetup


def make_size_changes(run: RunSetup, **sizes: int | None) -> dict[str, object]:
    """The updates of a run for other sizes, with the typed matrices refitted: each head that stays keeps the columns
    that still fit."""
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
    """The numbers of query heads and key/value heads of a run."""
    config = config_of(run)
    return HeadSizes(config.heads, config.kv_heads)


def refit(matrix: np.ndarray, base: np.ndarray, name: str, before: HeadSizes, after: HeadSizes) -> np.ndarray | None:
    """A typed matrix refitted to the shape of another base, head by head; None if it cannot be split into heads."""
    if name == "w_o":  # heads are side by side in columns, in w_o one above the other in rows
        kept = refit(matrix.T, base.T, "", before, after)
        return None if kept is None else kept.T
    heads = before.heads_of(name)
    new_heads = after.heads_of(name)
    rows, columns = matrix.shape
    new_rows, new_columns = base.shape
    if rows != new_rows:
        return None
    if columns % heads or new_columns % new_heads:
        return None
    width = new_columns // new_heads
    return recut_heads(matrix, heads, (new_heads, width), base)
