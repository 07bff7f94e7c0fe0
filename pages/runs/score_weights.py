"""The weights that a score has of its own."""

import numpy as np
import torch

from attention_core import AttentionConfig
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.mechanism.checks import check_hidden
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import RunInputs, StartMatrix
from pages.runs.sentences import put_matrix
from pages.runs.weight_matrices import HeadSizes, apply_wiring

MAX_GENERAL_TERMS = 64 * 64  # the most products that one general score may be the sum of, to be shown one by one
MAX_TANH_LAYER_BYTES = 2**24  # the most that the additive score's tanh layer may take; every visitor's runs are kept


def put_score_weights(
    inputs: RunInputs,
    learned: dict[str, np.ndarray],
    sizes: HeadSizes,
    wiring: tuple[str, ...],
    config: AttentionConfig,
) -> None:
    """Puts the score's own weights. learned: those of a network."""
    starts = start_score_weights(
        SCORES[config.score].weights,
        find_widths(inputs, wiring, config),
        sizes.seed,
        learned,
    )
    for name, start in starts.items():
        put_matrix(inputs, name, start)


def check_tanh_layer(inputs: RunInputs, pairs: tuple[int, int, int], dtype: torch.dtype) -> None:
    """The additive score's tanh layer is not too large. pairs: heads of all sentences, queries and keys."""
    if "v_a" in inputs.matrices:
        _, width = inputs.matrices["v_a"].shape
        sizes = (*pairs, width)
        check_hidden(sizes, dtype.itemsize, MAX_TANH_LAYER_BYTES)


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


def start_score_weights(
    names: tuple[str, ...], widths: tuple[int, int], seed: int, learned: dict[str, np.ndarray]
) -> dict[str, StartMatrix]:
    """The score's own weights before anybody changes them: learned ones that fit, W_a as the identity, the additive
    score's drawn from the seed. learned: those of a network."""
    d_q, d_k = widths
    layer = max(d_q, d_k)
    shapes = {
        "w_aq": (d_q, layer),
        "w_ak": (d_k, layer),
        "v_a": (1, layer),
    }
    if learned:
        learned_widths = (len(learned["w_aq"]), len(learned["w_ak"]))
        if learned_widths != widths:
            learned = {}
    starts = {}
    for name in names:
        if name in learned:
            starts[name] = StartMatrix(learned[name], "learned")
        elif name == "w_a":
            if d_q * d_k > MAX_GENERAL_TERMS:
                raise AttentionError(
                    "too_many_terms",
                    q=d_q,
                    k=d_k,
                    limit=MAX_GENERAL_TERMS,
                )
            starts[name] = StartMatrix(np.eye(d_q, d_k), "built")
        else:
            numbers = random_matrix(name, shapes[name], seed)
            starts[name] = StartMatrix(numbers, "random", seed)
    return starts
