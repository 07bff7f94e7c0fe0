"""The matrices of a layer: cut to other heads and widths, tied or swapped."""

from dataclasses import dataclass, replace

import numpy as np

from attention_core import AttentionConfig
from attention_core.inputs.initial_matrices import random_matrix, recut_heads
from attention_core.inputs.matrix_text import MAX_COLUMNS
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import StartMatrix


# ---- sizes -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class HeadSizes:
    """The chosen numbers and widths of heads; None if the matrices determine them. tied: whether W_q is used for all
    projections. seed: for numbers added to a random matrix. key_width: of the vectors that W_k and W_v multiply, if
    they are not the input vectors.
    """

    heads: int
    kv_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    tied: bool = False
    seed: int = 0
    key_width: int | None = None

    def heads_of(self, name: str) -> int:
        """The number of heads that a matrix is split into."""
        is_of_keys = name in ("w_k", "w_v", "b_k", "b_v")
        return self.kv_heads if is_of_keys and self.kv_heads else self.heads

    def width_of(self, name: str) -> int | None:
        """The chosen head width of a matrix; None if it is not chosen."""
        reads_values = name in ("w_v", "b_v", "w_o") and not self.tied
        return self.d_v if reads_values else self.d_k


def cut_to_sizes(start: StartMatrix, name: str, sizes: HeadSizes, cut: int) -> StartMatrix:
    """A matrix cut to the chosen heads and widths; numbers that still fit are kept.

    If no width is chosen, the same columns are split into other heads. Otherwise each of the `cut` heads keeps its
    columns; added numbers are zeros, or random in a random matrix.
    """
    if start.numbers is None:
        return start
    wanted = sizes.width_of(name)
    has_widths = (sizes.d_k, sizes.d_v) != (None, None)
    matrix = start.numbers
    if name == "w_o":  # heads are side by side in columns, in w_o one above the other in rows
        matrix = matrix.T
    heads_before = cut if has_widths else sizes.heads
    heads = sizes.heads_of(name)
    rows, columns_before = matrix.shape
    if name == "b_o" or columns_before % heads_before:
        return start
    if not has_widths and heads == heads_before:
        return start
    width = columns_before // heads_before
    if wanted is not None:
        field = "d_v" if name in ("w_v", "w_o") else "d_k"
        width = require_positive(field, wanted)
    columns = heads * width
    if columns > MAX_COLUMNS:
        raise AttentionError(
            "too_many_columns",
            name=name,
            limit=MAX_COLUMNS,
            given=columns,
        )
    fill = None
    if start.origin == "random":
        fill = random_matrix(name, (rows, columns), sizes.seed)
    new = recut_heads(matrix, heads_before, (heads, width), fill)
    if name == "w_o":
        new = new.T
    return replace(start, numbers=new)


def cut_rows(start: StartMatrix, name: str, rows: int, seed: int) -> StartMatrix:
    """A matrix cut or extended to `rows` rows; added rows are zeros, or random in a random matrix."""
    if start.numbers is None or len(start.numbers) == rows:
        return start
    kept = start.numbers[:rows]
    new = np.zeros((rows, start.numbers.shape[1]))
    if start.origin == "random":
        new = random_matrix(name, new.shape, seed)
    new[: len(kept)] = kept
    return replace(start, numbers=new)


# ---- wiring ----------------------------------------------------------------------------------------------------------
def apply_wiring(
    matrices: dict[str, np.ndarray], wiring: tuple[str, ...], config: AttentionConfig
) -> dict[str, np.ndarray]:
    """The matrices that the layer uses: W_q for all three projections if tied, and Q's and K's exchanged if swapped."""
    read = dict(matrices)
    if "tied" in wiring and "w_q" in read:
        w_q = read["w_q"]
        _, columns = w_q.shape
        if config.kv_heads and columns % config.heads == 0:
            width = columns // config.heads
            w_q = recut_heads(w_q, config.heads, (config.kv_heads, width))
        read["w_k"] = w_q
        read["w_v"] = w_q
    if "swapped" in wiring:
        swap_matrices(read, "w_q", "w_k")
        swap_matrices(read, "b_q", "b_k")
    return read


def swap_matrices(matrices: dict[str, np.ndarray], one: str, other: str) -> None:
    """Exchanges two matrices in the dict; either may be missing."""
    first = matrices.pop(one, None)
    second = matrices.pop(other, None)
    if second is not None:
        matrices[one] = second
    if first is not None:
        matrices[other] = first


def project_sequence(matrices: dict[str, np.ndarray], name: str, source: str) -> np.ndarray | None:
    """q or k of a sequence, all heads side by side; None if the shapes of the matrices do not fit."""
    x = matrices[source]
    weight = matrices.get(f"w_{name}")
    bias = matrices.get(f"b_{name}")
    if weight is None:
        return x
    _, width = x.shape
    rows, columns = weight.shape
    if width != rows:
        return None
    projected = x @ weight  # (T, H d)
    if bias is None:
        return projected
    if bias.shape[1] != columns:
        return None
    return projected + bias[0]
