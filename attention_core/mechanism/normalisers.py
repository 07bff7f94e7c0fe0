"""Defines normalisers, which turn masked scores into weights, and the table NORMALISERS.

A new normaliser needs one block of functions in this file and an entry, which declares the sum of a row of its weights,
the same computation by torch's own attention, and the initial state of blockwise attention.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, zeros
from attention_core.mechanism.parameters import Parameter, check_declared, check_operands, names_of
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand, row_terms
from attention_core.record.number_text import format_term
from attention_core.record.trace import Faces, Trace

Rows = Float[Tensor, "B H T"]


# ---- softmax over the keys; a row with nothing allowed gives zeros ---------------------------------------------------
def masked_softmax(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    empty = masked_scores.amax(-1, keepdim=True).isneginf()  # (B, H, T, 1): queries without an allowed key
    if masked_scores.is_cpu and not empty.any():  # not tested on a GPU, where the host would wait for the result
        return torch.softmax(masked_scores, dim=-1)  # over S
    weights = torch.softmax(masked_scores.masked_fill(empty, 0.0), dim=-1)  # 0 in blocked rows, never NaN
    return weights.masked_fill(empty, 0.0)


def masked_softmax_numpy(masked_scores):
    top = masked_scores.max(-1, keepdims=True)  # (B, H, T, 1)
    finite_top = np.where(np.isneginf(top), 0.0, top)
    powers = np.exp(masked_scores - finite_top)  # (B, H, T, S): the largest is exp(0) = 1, no overflow
    sums = powers.sum(-1, keepdims=True)  # (B, H, T, 1): at least 1, or 0 in a row without an allowed key
    return powers / np.maximum(sums, 1.0)


def masked_softmax_formula(masked_scores):
    return rf"\mathrm{{softmax}}_S({masked_scores})"


def masked_softmax_cell(index, masked_scores: Operand) -> Cell:
    *row, chosen = index
    S = masked_scores.shape[-1]
    scores = row_terms(masked_scores, row, S)
    return Cell((scores[chosen], *scores), function="softmax")


SOFTMAX = Faces(
    masked_softmax, masked_softmax_numpy, masked_softmax_formula, masked_softmax_cell, sign="%", motion="share"
)


def mix_by_sdpa(scores: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"]) -> Float[Tensor, "B H T d_v"]:
    """Mix the values by torch's own attention, with the scores as its attn_mask and zeros as queries and keys."""
    B, H, T, _ = scores.shape
    d_v = v.shape[-1]
    return F.scaled_dot_product_attention(
        scores.new_zeros(B, H, T, d_v),
        torch.zeros_like(v),
        v,
        attn_mask=scores,
        enable_gqa=v.shape[1] != H,
    )


def begin_softmax(rows: Rows) -> tuple[Rows, Rows]:
    """Return the running maximum and sum before the first block of keys: −inf and 0."""
    return torch.full_like(rows, float("-inf")), torch.zeros_like(rows)


# ---- softmax with sinks: a head has one more score, of no key (OpenAI 2025, gpt-oss; Xiao et al. 2024, section 3.3) --
def sink_softmax(masked_scores: Float[Tensor, "B H T S"], sinks: Float[Tensor, " H"]) -> Float[Tensor, "B H T S"]:
    B, H, T, S = masked_scores.shape
    column = sinks[:, None, None].expand(B, H, T, 1)  # (H,) -> (B, H, T, 1)
    scores = torch.cat([masked_scores, column], dim=-1)  # (B, H, T, S + 1)
    return torch.softmax(scores, dim=-1)[..., :S]


def sink_softmax_numpy(masked_scores, sinks):
    sinks = sinks[:, None, None]  # (H, 1, 1)
    top = np.maximum(masked_scores.max(-1, keepdims=True), sinks)  # (B, H, T, 1): finite, because every sink is finite
    powers = np.exp(masked_scores - top)  # (B, H, T, S)
    sums = powers.sum(-1, keepdims=True) + np.exp(sinks - top)
    return powers / sums


def sink_softmax_formula(masked_scores, sinks):
    return rf"\dfrac{{\exp({masked_scores})}}{{\exp({sinks}) + \textstyle\sum_S \exp({masked_scores})}}"


def sink_softmax_cell(index, masked_scores: Operand, sinks: Operand) -> Cell:
    *row, chosen = index
    _, h, _ = row
    S = masked_scores.shape[-1]
    scores = row_terms(masked_scores, row, S)
    return Cell((scores[chosen], *scores, (sinks[h],)), function="softmax")


SINK_SOFTMAX = Faces(sink_softmax, sink_softmax_numpy, sink_softmax_formula, sink_softmax_cell, sign="%", motion="sink")


def mix_by_sdpa_with_sinks(scores: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"], sinks) -> Tensor:
    """Mix the values by torch's own attention, with one additional key per head, whose score is the sink and whose
    value is 0.
    """
    B, H, T, _ = scores.shape
    column = sinks[:, None, None].expand(B, H, T, 1)
    nothing = torch.zeros_like(v[:, :, :1])  # (B, H_kv, 1, d_v): the value 0 of the added key
    return mix_by_sdpa(torch.cat([scores, column], dim=-1), torch.cat([v, nothing], dim=2))


def begin_sink_softmax(rows: Rows, sinks: Float[Tensor, " H"]) -> tuple[Rows, Rows]:
    """Return the running maximum and sum before the first block of keys: the score of the sink, and exp(0) = 1 for
    it.
    """
    largest = sinks[:, None].expand_as(rows)  # (H, 1) -> (B, H, T)
    return largest, torch.ones_like(rows)


# ---- sigmoid: every score for itself (Ramapuram et al. 2024, eq. 3; for the bias section 3.1) ------------------------
def sigmoid_weights(masked_scores: Float[Tensor, "B H T S"], *, bias: float) -> Float[Tensor, "B H T S"]:
    return torch.sigmoid(masked_scores + bias)


def sigmoid_weights_numpy(masked_scores, *, bias):
    below = np.logaddexp(0.0, -(masked_scores + bias))  # log(1 + e^-x); infinite for a blocked pair
    return np.exp(-below)


def sigmoid_weights_formula(masked_scores, *, bias):
    sign = "-" if bias < 0 else "+"
    return rf"\sigma({masked_scores} {sign} {format_term(abs(bias))})"


def sigmoid_weights_cell(index, masked_scores: Operand, *, bias) -> Cell:
    return Cell(((masked_scores[index],), (Constant(bias, format_term(bias)),)), function="sigmoid")


SIGMOID = Faces(
    sigmoid_weights, sigmoid_weights_numpy, sigmoid_weights_formula, sigmoid_weights_cell, sign="σ", motion="gate"
)


def mix_by_sdpa_of_two(scores: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"], *, bias: float) -> Tensor:
    """Mix the values by sigmoid weights: each weight is torch's softmax over two scores, the key's and 0.

    The score 0 belongs to an added key with value 0.
    """
    B, H, T, S = scores.shape
    total = scores.new_zeros(B, H, T, v.shape[-1])
    for s in range(S):
        score = scores[..., s : s + 1] + bias  # (B, H, T, 1): the scores of one key
        two_scores = torch.cat([score, torch.zeros_like(score)], dim=-1)  # (B, H, T, 2): with the added key's score 0
        value = v[:, :, s : s + 1]  # (B, H_kv, 1, d_v)
        two_values = torch.cat([value, torch.zeros_like(value)], dim=2)
        total += mix_by_sdpa(two_scores, two_values)
    return total


# ---- share of the sum: scores that are not negative over the sum of their row (Katharopoulos et al. 2020, eq. 4) -----
def share_of_sum(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    sums = masked_scores.sum(-1, keepdim=True)  # (B, H, T, 1)
    return masked_scores / torch.where(sums == 0, 1.0, sums)  # the weights of a row whose sum is 0 are 0


def share_of_sum_numpy(masked_scores):
    sums = masked_scores.sum(-1)[..., None]
    return masked_scores / np.where(sums == 0, 1.0, sums)


def share_of_sum_formula(masked_scores):
    return rf"{masked_scores} \,/\, \textstyle\sum_S {masked_scores}"


def share_of_sum_cell(index, masked_scores: Operand) -> Cell:
    *row, chosen = index
    scores = row_terms(masked_scores, row, masked_scores.shape[-1])
    return Cell((scores[chosen], *scores), function="share")


SHARE_OF_SUM = Faces(
    share_of_sum, share_of_sum_numpy, share_of_sum_formula, share_of_sum_cell, sign="%", motion="divide"
)


def mix_by_sdpa_of_logs(scores: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"]) -> Tensor:
    """Mix the values by scores divided by their row's sum, computed as torch's softmax of the logarithms of the scores.

    A row of scores that are all 0 gives 0.
    """
    return mix_by_sdpa(scores.log(), v)


# ---- the table -------------------------------------------------------------------------------------------------------
ROW_SUMS = ("one", "at most one", "free")  # possible sums of a row of weights, if the query has an allowed key


@dataclass(frozen=True)
class Normaliser:
    """A normaliser, which turns masked scores into weights.

    faces: the functions whose operands are the masked scores and the learned tensors. row_sum: one of ROW_SUMS.
    witness: a function that computes the heads' outputs by torch's own attention, from (scores, v, *learned, **params).
    begins: a function of rows (B, H, T) and the learned tensors that returns the running maximum and sum before the
    first block of keys; None if blockwise attention cannot use the normaliser. blocked: the score of a blocked pair,
    -inf or 0. needs_positive: whether no score may be below 0. has_sink: whether a row sums to less than 1 because a
    sink, which is no key, gets the rest.

    Raises AttentionError (a ValueError) for an unknown row sum. Raises ValueError if a normaliser with a sink has
    another row sum than "at most one", or if its torch function takes other arguments than declared.
    """

    faces: Faces
    row_sum: str
    witness: Callable[..., Tensor]
    begins: Callable[..., tuple[Rows, Rows]] | None = None
    weights: tuple[LearnedTensor, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    blocked: float = -math.inf
    needs_positive: bool = False
    has_sink: bool = False

    def __post_init__(self):
        require_one_of("row_sum", self.row_sum, ROW_SUMS)
        if self.has_sink and self.row_sum != "at most one":
            raise ValueError(f"a row beside a sink sums to at most one: declared is {self.row_sum}")
        check_declared(self.faces.torch, names_of(self.parameters))
        check_operands(self.faces.torch, names_of(self.weights))


SINKS = LearnedTensor("sinks", ("H",), "s", start=zeros)
BIASES = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0)
BIAS = Parameter("bias", is_whole=False, usual=0.0, start=-2.0, swept=BIASES)  # -log S: rows sum to about 1

NORMALISERS = {
    "softmax": Normaliser(SOFTMAX, "one", mix_by_sdpa, begin_softmax),
    "sinks": Normaliser(
        SINK_SOFTMAX, "at most one", mix_by_sdpa_with_sinks, begin_sink_softmax, (SINKS,), has_sink=True
    ),
    "sigmoid": Normaliser(SIGMOID, "free", mix_by_sdpa_of_two, parameters=(BIAS,)),
    "share": Normaliser(SHARE_OF_SUM, "one", mix_by_sdpa_of_logs, blocked=0.0, needs_positive=True),
}


def computed_weights_of(trace: Trace) -> str:
    """Return the name of the normaliser's output step; if there are two weight maps, the name of the first map.

    It is "weights_1" if there are two maps, "computed_weights" if other weights replace them, else "weights".
    """
    return next((name for name in ("weights_1", "computed_weights") if name in trace.steps), "weights")


def has_two_maps(trace: Trace) -> bool:
    """Return whether each head combines two attention maps; then a weight may be below 0, and a row may have any
    sum.
    """
    return "weights_2" in trace.steps


def maps_of(trace: Trace) -> tuple[str, ...]:
    """Return the names of the steps in which the normaliser puts its weights, one name per attention map of a head."""
    return ("weights_1", "weights_2") if has_two_maps(trace) else (computed_weights_of(trace),)


def is_replaced(trace: Trace) -> bool:
    """Return whether the weights that mix the values differ from the normaliser's: replaced weights, or weights after
    dropout.
    """
    return "computed_weights" in trace.steps or "dropped_weights" in trace.steps


def normaliser_of(trace: Trace) -> Normaliser:
    """Return the normaliser of a run; softmax if the weights come from none of the NORMALISERS."""
    operation = trace.steps[computed_weights_of(trace)].operation
    known = [each for each in NORMALISERS.values() if operation is not None and each.faces == operation.faces]
    return known[0] if known else NORMALISERS["softmax"]


def has_softmax(trace: Trace) -> bool:
    """Return whether the weights of a run are computed by a single softmax, not by another normaliser or from two
    maps.
    """
    return normaliser_of(trace).faces == SOFTMAX and not has_two_maps(trace)


def row_sum_of(trace: Trace) -> str:
    """Return which of ROW_SUMS is true of the weights that mix the values; "one" for replaced weights."""
    if is_replaced(trace):
        return "one"
    return "free" if has_two_maps(trace) else normaliser_of(trace).row_sum


def has_sink(trace: Trace) -> bool:
    """Return whether a row of weights sums to less than 1 because a sink receives the rest."""
    return normaliser_of(trace).has_sink and not is_replaced(trace) and not has_two_maps(trace)


def require_softmax(trace: Trace, what: str) -> None:
    """Raise AttentionError (needs_softmax) if the weights of a run are not computed by a single softmax.

    what: the name of the calculation that needs the softmax, for the error message.
    """
    if not has_softmax(trace):
        raise AttentionError("needs_softmax", what=what)
