"""Computes a run by torch's own functions: single steps, the heads' outputs, and a whole layer by
MultiheadAttention.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import has_softmax, is_replaced, maps_of, normaliser_of
from attention_core.mechanism.norms import CENTRE, LAYER_NORM, RMS_NORM
from attention_core.mechanism.operations import PROJECT
from attention_core.mechanism.scores import DOT
from attention_core.record.trace import Operation, Trace
from attention_core.transformer.activations import GELU, GELU_TANH, RELU, RELU_SQUARED, SILU
from attention_core.transformer.unembedding import MEET_ROWS, SHARE_WORDS


# ---- the heads' outputs ----------------------------------------------------------------------------------------------
def run_sdpa(trace: Trace, doubles: dict[str, Tensor]) -> Tensor:
    """Compute the heads' outputs by torch's functions instead of the run's operations.

    If the score is a dot product with at most a bias, and the weights come from the softmax, torch's attention computes
    the outputs from q, k and v; else the torch version of the normaliser computes them from the masked scores.
    """
    if is_dot_and_bias(trace) and has_softmax(trace):
        return run_sdpa_on_queries(trace, doubles)
    outputs = [run_witness(trace, doubles, name) for name in maps_of(trace)]
    if len(outputs) == 1:
        return outputs[0]
    _, _, *learned = trace.step("weights").operation.reads
    witness = next(each.witness for each in MODIFIERS.values() if each.makes_maps_of(trace.steps))
    return witness(*outputs, *(doubles[name] for name in learned))


def is_dot_and_bias(trace: Trace) -> bool:
    """Return whether the scores before the mask are a scaled dot product with at most a bias added."""
    score = trace.step("scores").operation
    if trace.step("scaled_scores").operation.reads != ("scores",):
        return False
    last = trace.step(trace.step("masked_scores").operation.reads[0])
    if last.name == "biased_scores":
        last = trace.step(last.operation.reads[0])
    return score.faces.cell is DOT.cell and last.name == "scaled_scores"


def run_sdpa_on_queries(trace: Trace, doubles: dict[str, Tensor]) -> Tensor:
    """Compute the heads' outputs by scaled_dot_product_attention, for a run whose score is a dot product."""
    queries, keys = trace.step("scores").operation.reads  # q and k, or their replacements
    q, k, v = doubles[queries], doubles[keys], doubles["v"]
    scale = trace.step("scaled_scores").operation.params
    return F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=added_to_scores(doubles),
        scale=scale["factor"] / scale["temperature"],
        enable_gqa=q.shape[1] != v.shape[1],
    )


def added_to_scores(doubles: dict[str, Tensor]) -> Float[Tensor, "B H T S"]:
    """Return the numbers that torch's attention adds to the scaled scores: the run's bias, and -inf where its mask
    blocks.
    """
    added = torch.zeros_like(doubles["scores"])
    if "bias" in doubles:
        added = added + doubles["bias"]
    if "allowed" in doubles:
        added = added.masked_fill(~doubles["allowed"], float("-inf"))
    return added


def run_witness(trace: Trace, doubles: dict[str, Tensor], weights: str) -> Tensor:
    """Compute the heads' outputs from the masked scores of one map of weights, by the torch version of the run's
    normaliser.

    weights: the name of the step that has the weights of that map.
    """
    operation = trace.step(weights).operation
    scores, *learned = operation.reads
    tensors = [doubles[name] for name in (scores, "v", *learned)]
    return normaliser_of(trace).witness(*tensors, **operation.params)


# ---- the whole layer -------------------------------------------------------------------------------------------------
def run_mha(trace: Trace, doubles: dict[str, Tensor]) -> tuple[Tensor, Tensor] | None:
    """Compute the output and the weights by the function that nn.MultiheadAttention calls.

    Returns None if that function does not cover the run.
    """
    if not is_torch_layer(trace):
        return None
    B, H, T, d_k = doubles["q"].shape
    S = doubles["k"].shape[2]
    D = H * d_k
    added = added_to_scores(doubles).reshape(B * H, T, S)
    if added.isneginf().all(-1).any():
        return None  # None, because torch returns NaN for a query without an allowed key
    query, key, value = (
        doubles[name].transpose(0, 1) for name in projection_source_names(trace)
    )  # (B, T, D) -> (T, B, D)
    no_bias = torch.zeros(D, dtype=torch.float64)
    b_q, b_k, b_v, b_o = (doubles.get(f"b_{role}", no_bias) for role in "qkvo")
    output, weights = F.multi_head_attention_forward(
        query,
        key,
        value,
        embed_dim_to_check=D,
        num_heads=H,
        in_proj_weight=None,
        in_proj_bias=torch.cat([b_q, b_k, b_v]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=doubles["w_o"].T,
        out_proj_bias=b_o,
        training=False,
        attn_mask=added,
        use_separate_proj_weight=True,
        q_proj_weight=doubles["w_q"].T,
        k_proj_weight=doubles["w_k"].T,
        v_proj_weight=doubles["w_v"].T,
        average_attn_weights=False,
    )
    return output.transpose(0, 1), weights  # (T, B, D) -> (B, T, D); (B, H, T, S)


def is_torch_layer(trace: Trace) -> bool:
    """Return whether torch.nn.MultiheadAttention computes the same as a run; the run's mask and bias are not
    considered.

    That layer has all four projections, and the projections for the query and the output are square. It has heads of
    one width, the scaled dot product, no positions except those added to the input or, as a bias, to the scores, and
    weights that come from the softmax.

    >>> from attention_core import attend
    >>> is_torch_layer(attend(torch.eye(3)))
    False
    """
    needed = ("q_projected", "k_projected", "v_projected", "w_o")
    foreign = ("q_heads", "k_cache")
    if not all(name in trace.steps for name in needed):
        return False
    if any(name in trace.steps for name in foreign) or is_replaced(trace) or not has_softmax(trace):
        return False
    if trace.step("concat").operation.reads != ("head_outputs",):  # a modifier acts on the heads' outputs
        return False
    return has_square_projections(trace) and has_scaled_dot_product(trace)


def has_square_projections(trace: Trace) -> bool:
    """Return whether W_q and W_o are square and all heads of q, k and v have the same number and width."""
    _, H, _, d_k = trace.step("q").shape
    kv_heads = trace.step("k").shape[1]
    d_v = trace.step("v").shape[-1]
    if kv_heads != H or d_v != d_k:
        return False
    width = H * d_k
    square = (width, width)
    return trace.step("w_q").shape == square and trace.step("w_o").shape == square


def has_scaled_dot_product(trace: Trace) -> bool:
    """Return whether the score is the dot product divided by the root of d_k, at temperature 1."""
    d_k = trace.step("q").shape[-1]
    scale = trace.step("scaled_scores").operation
    if not is_dot_and_bias(trace):
        return False
    return scale.params == {"factor": d_k**-0.5, "temperature": 1.0}


def projection_source_names(trace: Trace) -> tuple[str, ...]:
    """Return the names of the steps from which q, k and v are projected: the inputs, or inputs with positions added."""
    projections = (trace.step(f"{role}_projected").operation for role in "qkv")
    return tuple(projection.reads[0] for projection in projections)


# ---- single steps ----------------------------------------------------------------------------------------------------
def linear_by_torch(x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    """Compute x @ w + b by torch's linear function."""
    return F.linear(x, w.T, b)


def rms_norm_by_torch(x: Tensor, gain: Tensor, *, eps: float) -> Tensor:
    """Compute the RMS norm of the last axis by torch."""
    return F.rms_norm(x, gain.shape, gain, eps)


def layer_norm_by_torch(x: Tensor, gain: Tensor, shift: Tensor, *, eps: float) -> Tensor:
    """Compute the LayerNorm of the last axis by torch, from numbers whose mean has not been subtracted."""
    return F.layer_norm(x, gain.shape, gain, shift, eps)


def logits_by_torch(x: Tensor, table: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute a logit for each row of the table by torch."""
    return F.linear(x, table, bias)


def softmax_by_torch(logits: Tensor) -> Tensor:
    """Compute the softmax of the last axis by torch."""
    return F.softmax(logits, dim=-1)


def relu_squared_by_torch(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Compute the square of a ReLU by torch."""
    return F.relu(hidden) ** 2


# Keyed by the formula function, which identifies an operation.
WITNESSES: dict[Callable, Callable[..., Tensor]] = {
    PROJECT.formula: linear_by_torch,
    RMS_NORM.formula: rms_norm_by_torch,
    LAYER_NORM.formula: layer_norm_by_torch,
    RELU.formula: F.relu,
    GELU.formula: F.gelu,
    GELU_TANH.formula: partial(F.gelu, approximate="tanh"),
    RELU_SQUARED.formula: relu_squared_by_torch,
    SILU.formula: F.silu,
    MEET_ROWS.formula: logits_by_torch,
    SHARE_WORDS.formula: softmax_by_torch,
}


def run_torch_functions(trace: Trace, doubles: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, value) of each step for which torch has a function (WITNESSES); the value is computed by that
    function.

    The function gets the step's inputs in float64.
    """
    for name, step in trace.computed().items():
        operation = step.operation
        witness = WITNESSES.get(operation.faces.formula)
        if witness is not None:
            operands = [doubles[read] for read in witness_reads(trace, operation)]
            yield name, witness(*operands, **operation.params)


def witness_reads(trace: Trace, operation: Operation) -> tuple[str, ...]:
    """Return the names of the steps whose values torch's function gets: those that the operation reads.

    For a LayerNorm they are the steps before centring, because torch's function subtracts the mean itself.
    """
    if operation.faces.formula is not LAYER_NORM.formula:
        return operation.reads
    centred, *learned = operation.reads
    made = trace.step(centred).operation
    if made is None or made.faces.formula is not CENTRE.formula:
        return operation.reads
    return (*made.reads, *learned)
