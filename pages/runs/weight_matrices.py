"""Makes the matrices of a layer (resized to other heads and widths, tied or swapped), and initial learned tensors."""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import torch

from attention_core import AttentionConfig
from attention_core.inputs.initial_matrices import random_matrix, recut_heads
from attention_core.inputs.matrix_text import MAX_COLUMNS
from attention_core.mechanism.checks import check_hidden
from attention_core.mechanism.learned_tensors import LearnedTensor, Sizes, add_own_sizes
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.scores import Score
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import RunInputs, StartMatrix

MAX_GENERAL_TERMS = 64 * 64  # most products in a cell of the general score, so that all of them can be shown
MAX_TANH_LAYER_BYTES = 2**24  # most bytes of the additive score's tanh layer; small, because every run is cached


# ---- sizes -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class HeadSizes:
    """The chosen counts and widths of heads; a width is None if the matrices determine it.

    tied: whether W_q is used for all projections. seed: the seed of numbers added to a random matrix. key_width: the
    width of the vectors that W_k and W_v multiply, if these are not the input vectors.
    """

    heads: int
    kv_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    tied: bool = False
    seed: int = 0
    key_width: int | None = None

    def heads_of(self, name: str) -> int:
        """Returns the count of heads into which a matrix or bias is split: kv_heads for keys and values, else heads."""
        is_of_keys = name in ("w_k", "w_v", "b_k", "b_v")
        return self.kv_heads if is_of_keys and self.kv_heads else self.heads

    def width_of(self, name: str) -> int | None:
        """Returns the chosen head width of a matrix; None if none is chosen.

        The width is d_v for w_v, b_v and W_o, and d_k for all other matrices. If W_q is used for all projections, the
        width is d_k for all matrices.
        """
        reads_values = name in ("w_v", "b_v", "w_o") and not self.tied
        return self.d_v if reads_values else self.d_k


def cut_to_sizes(start: StartMatrix, name: str, sizes: HeadSizes, before: HeadSizes) -> StartMatrix:
    """Returns a matrix cut or extended to the chosen counts and widths of heads; numbers that still fit are kept.

    before: the counts of heads into which the matrices are split at the start. If no width is chosen, the same columns
    are split into other heads; columns of zeros follow them if they cannot be split evenly, except where groups of
    heads share keys and values: these groups are as large as before. If a width is chosen, each head keeps its columns;
    added numbers are zeros, or random in a random matrix.
    """
    if start.numbers is None:
        return start
    wanted = sizes.width_of(name)
    has_widths = (sizes.d_k, sizes.d_v) != (None, None)
    matrix = start.numbers
    if name == "w_o":  # w_o has a block of rows per head; the other matrices have a block of columns per head
        matrix = matrix.T
    heads_before = before.heads_of(name)
    if not has_widths:
        heads_before = sizes.heads * heads_before // before.heads
    heads = sizes.heads_of(name)
    rows, columns_before = matrix.shape
    if name == "b_o":
        return start
    if not has_widths and before.kv_heads is None:
        matrix = np.pad(matrix, ((0, 0), (0, -columns_before % heads_before)))  # (rows, H d_k)
        columns_before = matrix.shape[1]
    if columns_before % heads_before:
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
    """Returns a matrix cut or extended to `rows` rows. Added rows are zeros, or random in a random matrix."""
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
    """Returns the matrices that the layer uses: W_q for all projections if `wiring` has "tied", W_q and W_k exchanged
    if it has "swapped".
    """
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
    """Returns the q or k that a run computes from its vectors, all heads side by side; None if the matrices do not fit.

    name: "q" or "k". source: the name of the matrix with the vectors, "x" or "context".
    """
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


# ---- initial learned tensors -----------------------------------------------------------------------------------------
def put_learned_matrices(
    inputs: RunInputs,
    learned: dict[str, np.ndarray],
    head_sizes: HeadSizes,
    wiring: tuple[str, ...],
    config: AttentionConfig,
) -> None:
    """Puts initial values of the learned tensors of the chosen mechanisms into the inputs of a run.

    learned: {name: tensor of a trained network}, which is used if it fits. Raises AttentionError: too_many_terms.
    """
    done = config.modifiers_at("sources")
    groups = [declared for name, declared in config.learned().items() if declared and name not in done]
    if not groups:
        return
    used = apply_wiring(inputs.matrices, wiring, config)
    d_q, d_k = (max(width // config.maps, 1) for width in find_widths(inputs, used, head_sizes, config))
    d_v = find_value_width(inputs, used, head_sizes, config)
    places = max(len(inputs.queries), len(inputs.keys))
    D_out = projected_width(used, "w_o", config.heads * d_v)
    heads = {"H": config.heads, "H_kv": config.kv_heads or config.heads}
    sizes = {"d_q": d_q, "d_k": d_k, "d_v": d_v, **heads, "N": places, "D_out": D_out, **input_widths(inputs)}
    if config.score == "general" and d_q * d_k > MAX_GENERAL_TERMS:
        raise AttentionError("too_many_terms", q=d_q, k=d_k, limit=MAX_GENERAL_TERMS)
    for declared in groups:
        put_group(inputs, declared, sizes, head_sizes.seed, learned)


def put_source_matrices(
    inputs: RunInputs, config: AttentionConfig, seed: int, learned: dict[str, np.ndarray]
) -> int | None:
    """Puts the learned tensors that act before k and v are projected into a run's inputs, such as those of a latent
    vector.

    learned: the learned tensors of the layer, if it is one of a trained network. Returns the width of the vectors that
    W_k and W_v multiply; None if they multiply the input vectors.
    """
    key_width = None
    for name in config.modifiers_at("sources"):
        modifier = MODIFIERS[name]
        sizes = put_group(inputs, modifier.weights, input_widths(inputs), seed, learned)
        *_, width = modifier.steps["sources"][-1].dims
        key_width = sizes[width]
    return key_width


def input_widths(inputs: RunInputs) -> dict[str, int]:
    """Returns the widths D and D_kv of the vectors for queries and keys; {} if q, k and v are given."""
    if "x" not in inputs.matrices:
        return {}
    x = inputs.matrices["x"]
    return {"D": x.shape[1], "D_kv": inputs.matrices.get("context", x).shape[1]}


def put_group(
    inputs: RunInputs, declared: tuple[LearnedTensor, ...], sizes: Sizes, seed: int, learned: dict[str, np.ndarray]
) -> Sizes:
    """Puts the learned tensors of one mechanism into the inputs of a run, and returns the sizes of all axes.

    The tensors are those of the trained network if they fit, else the declared initial values. sizes: the sizes of the
    run. learned: {name: tensor of the trained network}. If a tensor with another width was typed, the tensors after it
    get this width.
    """
    is_learned = fits(declared, learned, sizes)
    known = defaultdict(lambda: max(sizes["d_q"], sizes["d_k"]), sizes)
    for tensor in declared:
        known |= tensor.own_sizes
    for tensor in declared:
        if is_learned:
            start = StartMatrix(learned[tensor.name], "learned")
        else:
            start = start_matrix(tensor, screen_shape(tensor, known), seed)
        inputs.put(tensor.name, start)
        if tensor.name in inputs.matrices:
            found = add_own_sizes([tensor], {tensor.name: inputs.matrices[tensor.name].shape}, sizes)
            known |= {letter: size for letter, size in found.items() if letter not in sizes}
    return known


def check_tanh_layer(inputs: RunInputs, score: Score, pairs: dict[str, int], dtype: torch.dtype) -> None:
    """Raises AttentionError if the additive score's tanh layer, one vector per query and key, needs too much memory.

    pairs: {"B": number of sequences, "H": of heads, "T": of queries, "S": of keys}. dtype: the dtype of the layer.
    """
    shapes = {name: matrix.shape for name, matrix in inputs.matrices.items()}
    if not all(tensor.name in shapes for tensor in score.weights):
        return  # attention_core raises the error of a missing tensor
    sizes = add_own_sizes(score.weights, shapes, pairs)
    for larger in score.larger_than_pairs(sizes):
        check_hidden(larger, dtype.itemsize, MAX_TANH_LAYER_BYTES)


def find_widths(
    inputs: RunInputs, used: dict[str, np.ndarray], head_sizes: HeadSizes, config: AttentionConfig
) -> tuple[int, int]:
    """Returns the widths of q and of k per head, which follow from the matrices.

    used: the matrices that the layer uses.
    """
    uploaded = inputs.brought
    if uploaded is not None:
        *_, d_q = uploaded.q.shape
        *_, d_k = uploaded.k.shape
        return d_q, d_k
    if "q" in inputs.matrices:
        _, query_columns = inputs.matrices["q"].shape
        _, key_columns = inputs.matrices["k"].shape
        return query_columns // config.heads, key_columns // config.heads
    query_columns = projected_width(used, "w_q", used["x"].shape[1])
    key_columns = projected_width(used, "w_k", key_source_width(inputs, head_sizes))
    kv_heads = config.kv_heads or config.heads
    d_q = query_columns // config.heads
    d_k = key_columns // kv_heads
    return max(d_q, 1), max(d_k, 1)


def projected_width(matrices: dict[str, np.ndarray], name: str, source: int) -> int:
    """Returns the width after a projection: the columns of its matrix; without a matrix, `source`, the width before."""
    return matrices[name].shape[1] if name in matrices else source


def key_source_width(inputs: RunInputs, head_sizes: HeadSizes) -> int:
    """Returns the width of the vectors that W_k and W_v multiply: that of a latent vector if any, else D_kv."""
    return head_sizes.key_width or input_widths(inputs)["D_kv"]


def find_value_width(
    inputs: RunInputs, used: dict[str, np.ndarray], head_sizes: HeadSizes, config: AttentionConfig
) -> int:
    """Returns the width of v per head, which follows from the matrices.

    used: the matrices that the layer uses.
    """
    uploaded = inputs.brought
    if uploaded is not None:
        return uploaded.v.shape[-1]
    if "v" in inputs.matrices:
        return max(inputs.matrices["v"].shape[1] // config.heads, 1)
    value_columns = projected_width(used, "w_v", key_source_width(inputs, head_sizes))
    kv_heads = config.kv_heads or config.heads
    return max(value_columns // kv_heads, 1)


def fits(declared: tuple[LearnedTensor, ...], learned: dict[str, np.ndarray], sizes: Sizes) -> bool:
    """Returns whether a network has all learned tensors of a mechanism, in the shapes that these sizes require."""
    shapes = {name: matrix.shape for name, matrix in learned.items()}
    if not all(tensor.name in shapes for tensor in declared):
        return False
    all_sizes = add_own_sizes(declared, shapes, sizes)
    return all(shapes[tensor.name] == screen_shape(tensor, all_sizes) for tensor in declared)


def screen_shape(tensor: LearnedTensor, sizes: Sizes) -> tuple[int, int]:
    """Returns the shape in which the page shows a tensor; a vector is shown as one row."""
    shape = tensor.shape(sizes)
    return shape if len(shape) == 2 else (1, *shape)


def start_matrix(tensor: LearnedTensor, shape: tuple[int, int], seed: int) -> StartMatrix:
    """Returns the initial values of a learned tensor: the declared values; if none are declared, random values."""
    if tensor.start is None:
        numbers = random_matrix(tensor.name, shape, seed)
        return StartMatrix(numbers, "random", seed)
    return StartMatrix(tensor.start(*shape), "built")
