"""Self-attention as in many classes, one line per step: the right lines, and wrong versions of them.

Every line is a separate function: its parameters are the values that it reads, and its return expression is shown.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.python_source import parse_source

Heads = Float[Tensor, "B H T d"]
Pairs = Float[Tensor, "B H T S"]
MaskTensor = Bool[Tensor, "#B 1 #T S"]


# ---- the right lines -------------------------------------------------------------------------------------------------
def split_line(B: int, T: int, heads: int) -> Callable[[Tensor], Heads]:
    return lambda y: y.view(B, T, heads, -1).transpose(1, 2)


def query_line(split: Callable, x: Tensor, w_q: Tensor) -> Heads:
    return split(x @ w_q)


def key_line(split: Callable, x: Tensor, w_k: Tensor) -> Heads:
    return split(x @ w_k)


def value_line(split: Callable, x: Tensor, w_v: Tensor) -> Heads:
    return split(x @ w_v)


def causal_line(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def padding_line(real: Bool[Tensor, "B S"]) -> MaskTensor:
    return real[:, None, None, :]


def scores_line(q: Heads, k: Heads) -> Pairs:
    return q @ k.transpose(-2, -1)


def scaled_line(scores: Pairs, q: Heads) -> Pairs:
    return scores / math.sqrt(q.shape[-1])


def masked_line(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(~allowed, -math.inf)


def softmax_line(masked_scores: Pairs) -> Pairs:
    return torch.softmax(masked_scores, dim=-1)


def mix_line(weights: Pairs, v: Heads) -> Heads:
    return weights @ v


def merge_line(head_outputs: Heads, B: int, T: int) -> Float[Tensor, "B T width"]:
    return head_outputs.transpose(1, 2).reshape(B, T, -1)


def project_line(concat: Float[Tensor, "B T width"], w_o: Tensor) -> Float[Tensor, "B T D_out"]:
    return concat @ w_o


# ---- wrong versions of these lines -----------------------------------------------------------------------------------
def masked_where_allowed(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(allowed, -math.inf)


def strictly_causal(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


def softmax_over_queries(masked_scores: Pairs) -> Pairs:
    return torch.softmax(masked_scores, dim=-2)


def masked_afterwards(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return torch.softmax(scaled_scores, dim=-1) * allowed


def masked_by_zero(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(~allowed, 0.0)


def causal_one_ahead(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril(1)


def padding_of_queries(real: Bool[Tensor, "B S"]) -> MaskTensor:
    return real[:, None, :, None]


def key_reshaped(q: Heads, k: Heads, B: int, T: int, heads: int) -> Pairs:
    return q @ k.reshape(B, heads, -1, T)


def split_at_once(B: int, T: int, heads: int) -> Callable[[Tensor], Heads]:
    return lambda y: y.view(B, heads, T, -1)


def merged_at_once(head_outputs: Heads, B: int, T: int) -> Float[Tensor, "B T width"]:
    return head_outputs.reshape(B, T, -1)


def value_by_w_k(split: Callable, x: Tensor, w_k: Tensor) -> Heads:
    return split(x @ w_k)


def unscaled_line(scores: Pairs) -> Pairs:
    return scores


# ---- the layer -------------------------------------------------------------------------------------------------------
LayerLine = Callable[..., object]
LAYER_LINES: Mapping[str, LayerLine] = MappingProxyType(
    {
        "split": split_line,
        "q": query_line,
        "k": key_line,
        "v": value_line,
        "allowed": causal_line,
        "scores": scores_line,
        "scaled_scores": scaled_line,
        "masked_scores": masked_line,
        "weights": softmax_line,
        "head_outputs": mix_line,
        "concat": merge_line,
        "output": project_line,
    }
)
LAYER_STEPS = ("q", "k", "v", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs", "concat", "output")


@cache
def format_line(name: str, line: LayerLine) -> str:
    """Write a line as in the layer's source: the name of its step, and the expression that it returns.

    >>> format_line("scores", scores_line)
    'scores = q @ k.transpose(-2, -1)'
    """
    source = textwrap.dedent(inspect.getsource(line))
    function = parse_source(source).body[0]
    returned = function.body[-1].value
    return f"{name} = {ast.unparse(returned)}"
