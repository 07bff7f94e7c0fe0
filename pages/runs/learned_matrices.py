"""What the chosen mechanisms learn besides the projections, before anybody changes it."""

from collections import defaultdict

import numpy as np
import torch

from attention_core import AttentionConfig
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.mechanism.checks import check_hidden
from attention_core.mechanism.learned_tensors import LearnedTensor, Sizes, add_own_sizes
from attention_core.mechanism.scores import Score
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import RunInputs, StartMatrix
from pages.runs.sentences import put_matrix
from pages.runs.weight_matrices import HeadSizes, apply_wiring

MAX_GENERAL_TERMS = 64 * 64  # the most products that one general score may be the sum of, to be shown one by one
MAX_TANH_LAYER_BYTES = 2**24  # the most that the additive score's tanh layer may take; every visitor's runs are kept


def put_learned_matrices(
    inputs: RunInputs,
    learned: dict[str, np.ndarray],
    head_sizes: HeadSizes,
    wiring: tuple[str, ...],
    config: AttentionConfig,
) -> None:
    """Puts what the chosen mechanisms learn. learned: what a network has learned."""
    groups = [declared for declared in config.learned().values() if declared]
    if not groups:
        return
    d_q, d_k = find_widths(inputs, wiring, config)
    sizes = {"d_q": d_q, "d_k": d_k, "H": config.heads}
    if "x" in inputs.matrices:
        sizes |= {"D": inputs.matrices["x"].shape[1], "H·d_v": find_output_width(inputs, wiring, config)}
    for declared in groups:
        for name, start in start_matrices(declared, sizes, head_sizes.seed, learned).items():
            put_matrix(inputs, name, start)


def check_tanh_layer(inputs: RunInputs, score: Score, pairs: dict[str, int], dtype: torch.dtype) -> None:
    """The additive score's tanh layer is not too large. pairs: how many sentences, heads, queries and keys."""
    shapes = {name: matrix.shape for name, matrix in inputs.matrices.items()}
    if not all(tensor.name in shapes for tensor in score.weights):
        return  # the core says what is missing
    sizes = add_own_sizes(score.weights, shapes, pairs)
    for larger in score.larger_than_pairs(sizes):
        check_hidden(larger, dtype.itemsize, MAX_TANH_LAYER_BYTES)


def find_widths(inputs: RunInputs, wiring: tuple[str, ...], config: AttentionConfig) -> tuple[int, int]:
    """The widths of q and of k per head, as far as the matrices say."""
    uploaded = inputs.brought
    if uploaded is not None:
        *_, d_q = uploaded.q.shape
        *_, d_k = uploaded.k.shape
        return d_q, d_k
    if "q" in inputs.matrices:
        _, query_columns = inputs.matrices["q"].shape
        _, key_columns = inputs.matrices["k"].shape
        return query_columns // config.heads, key_columns // config.heads
    matrices = apply_wiring(inputs.matrices, wiring, config)
    x = matrices["x"]
    source = matrices.get("context", x)
    w_q = matrices.get("w_q", x)
    w_k = matrices.get("w_k", source)
    _, query_columns = w_q.shape
    _, key_columns = w_k.shape
    kv_heads = config.kv_heads or config.heads
    d_q = query_columns // config.heads
    d_k = key_columns // kv_heads
    return max(d_q, 1), max(d_k, 1)


def find_output_width(inputs: RunInputs, wiring: tuple[str, ...], config: AttentionConfig) -> int:
    """The width of all heads' outputs side by side, as far as the matrices say."""
    matrices = apply_wiring(inputs.matrices, wiring, config)
    source = matrices.get("context", matrices["x"])
    _, value_columns = matrices.get("w_v", source).shape
    kv_heads = config.kv_heads or config.heads
    return max(config.heads * (value_columns // kv_heads), 1)


def start_matrices(
    declared: tuple[LearnedTensor, ...], sizes: Sizes, seed: int, learned: dict[str, np.ndarray]
) -> dict[str, StartMatrix]:
    """What a mechanism learns before anybody changes it: a network's tensors, if they fit, else as each declares it.

    sizes: d_q, d_k and H. learned: what a network has learned.
    """
    if fits(declared, learned, sizes):
        return {tensor.name: StartMatrix(learned[tensor.name], "learned") for tensor in declared}
    width = max(sizes["d_q"], sizes["d_k"])
    sizes = defaultdict(lambda: width, sizes)
    for tensor in declared:
        sizes |= tensor.own_sizes
    return {tensor.name: start_matrix(tensor, screen_shape(tensor, sizes), seed) for tensor in declared}


def fits(declared: tuple[LearnedTensor, ...], learned: dict[str, np.ndarray], sizes: Sizes) -> bool:
    """Whether a network has learned all that a mechanism learns, for q and k as wide as these."""
    shapes = {name: matrix.shape for name, matrix in learned.items()}
    if not all(tensor.name in shapes for tensor in declared):
        return False
    all_sizes = add_own_sizes(declared, shapes, sizes)
    return all(shapes[tensor.name] == screen_shape(tensor, all_sizes) for tensor in declared)


def screen_shape(tensor: LearnedTensor, sizes: Sizes) -> tuple[int, int]:
    """Its rows and columns; a vector is one row."""
    shape = tensor.shape(sizes)
    return shape if len(shape) == 2 else (1, *shape)


def start_matrix(tensor: LearnedTensor, shape: tuple[int, int], seed: int) -> StartMatrix:
    """A learned tensor before anybody changes it. Raises AttentionError: too_many_terms."""
    if tensor.start is None:
        numbers = random_matrix(tensor.name, shape, seed)
        return StartMatrix(numbers, "random", seed)
    rows, columns = shape
    if rows * columns > MAX_GENERAL_TERMS:
        raise AttentionError(
            "too_many_terms",
            q=rows,
            k=columns,
            limit=MAX_GENERAL_TERMS,
        )
    return StartMatrix(tensor.start(rows, columns), "built")
