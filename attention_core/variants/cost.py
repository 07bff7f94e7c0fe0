"""Computes the cost of an attention layer in two ways: in closed form, and by counting in a run.

Only the multiply-adds of matrix products and convolutions are counted. Scales, softmax, tanh, gates and the norms in a
cosine are not: they need fewer operations by a factor of a width. Source of the comparison: Vaswani et al. 2017, table
1.
"""

from dataclasses import dataclass, fields
from math import prod

import torch
from torch.overrides import TorchFunctionMode

from attention_core.mechanism.config import Weights
from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.mechanism.scores import SCORES, Products
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.variants.kv_cache import kept_steps


# ---- multiply-adds, counted ------------------------------------------------------------------------------------------
class ProductCounter(TorchFunctionMode):
    """A context manager that counts the multiply-adds of this thread's matrix products and convolutions in `count`.

    A product of n x m and m x p counts n m p. Products with the zeros that pad a convolution are counted, too.

    >>> with ProductCounter() as products:
    ...     _ = torch.ones(2, 3) @ torch.ones(3, 5)
    >>> products.count
    30
    """

    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        summed = 0  # number of multiply-adds per number of the result
        if function in (torch.Tensor.matmul, torch.matmul):
            summed = args[0].shape[-1]
        elif function is torch.conv1d:
            kernels = args[1]  # (H, D, window)
            summed = kernels[0].numel()
        if summed:
            self.count += result.numel() * summed
        return result


# ---- one layer of attention ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cost:
    """The cost of one attention layer: multiply-adds by step, parameters by weight, and stored numbers by step.

    multiply_adds: {step: count}. parameters: {weight: count}. stored: {step: count of stored numbers}, for the weights
    (B H T S) of each map, and for what a decoder caches: k and v, or a latent from which both are computed.
    """

    multiply_adds: dict[str, int]
    parameters: dict[str, int]
    stored: dict[str, int]

    def totals(self) -> dict[str, int]:
        """Return the sums of the multiply-adds, the parameters and the stored numbers, keyed by these field names."""
        return {
            "multiply_adds": sum(self.multiply_adds.values()),
            "parameters": sum(self.parameters.values()),
            "stored": sum(self.stored.values()),
        }


def split_by_growth(cost: Cost) -> tuple[int, int]:
    """Return two counts of multiply-adds: those that grow with the number of token pairs, and those that grow with the
    number of tokens.

    The first count has scores and weighted sums, the second has projections. cost: a result of attention_cost.

    >>> split_by_growth(attention_cost(T=10, D=64))
    (12800, 163840)
    """
    multiply_adds = cost.multiply_adds
    scores = multiply_adds.get("scores", 0)
    weighted_sums = multiply_adds.get("head_outputs", 0)
    for_pairs = scores + weighted_sums
    everything = sum(multiply_adds.values())
    return for_pairs, everything - for_pairs


def count_cost(trace: Trace) -> Cost:
    """Count the cost of a run by computing every step again with a ProductCounter.

    >>> from attention_core import attend
    >>> count_cost(attend(torch.eye(3))).multiply_adds
    {'scores': 27, 'head_outputs': 27}
    """
    multiply_adds = {}
    for name in trace.computed():
        with torch.no_grad(), ProductCounter() as products:
            trace.reapply(name)
        if products.count:
            multiply_adds[name] = products.count
    learned = {field.name for field in fields(Weights)}
    parameters = {}
    for name, step in trace.inputs().items():
        if name in learned:
            parameters[name] = step.stored.numel()
    maps = [name for name in trace.steps if name.startswith("weights")]
    stored = {name: trace.step(name).stored.numel() for name in (*maps, *kept_steps(trace.steps))}
    return Cost(multiply_adds, parameters, stored)


def attention_cost(
    *,
    T: int,
    D: int,
    S: int | None = None,
    H: int = 1,
    H_kv: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    D_out: int | None = None,
    B: int = 1,
    score: str = "scaled_dot",
    A: int | None = None,
    bias: bool = False,
) -> Cost:
    r"""Compute the cost of one attention layer with all four projections, in closed form.

    Projections $T D H d_k + S D H_{kv} (d_k + d_v)$, scores $T S H d_k$ for the dot forms (see score_cost), weighted
    sums $T S H d_v$, output $T H d_v D_{out}$, all times B.

    T queries, S keys (None: T) of width D; H heads, H_kv key/value heads (None: H) of widths d_k (None: D / H) and d_v
    (None: d_k); D_out (None: D); A: the width of the additive score's layer (None: d_k). All heads share the weights of
    the score function. Raises AttentionError: positive_integer, heads_split, heads_groups, unknown_choice. Source:
    Vaswani et al. 2017, section 3.2.2: with d_k = d_v = D / H the total does not depend on H.

    >>> attention_cost(T=10, D=64, H=8).multiply_adds["scores"], attention_cost(T=10, D=64, H=8).totals()["parameters"]
    (6400, 16384)
    """
    sizes = {
        "T": T,
        "D": D,
        "S": S,
        "H": H,
        "H_kv": H_kv,
        "d_k": d_k,
        "d_v": d_v,
        "D_out": D_out,
        "B": B,
        "A": A,
    }
    for name, size in sizes.items():
        if size is not None:
            require_positive(name, size)
    if d_k is None and D % H:
        raise AttentionError("heads_split", name="x", width=D, heads=H)
    S = S or T
    H_kv = H_kv or H
    d_k = d_k or D // H
    d_v = d_v or d_k
    D_out = D_out or D
    A = A or d_k
    if H % H_kv:
        raise AttentionError("heads_groups", heads=H, kv_heads=H_kv)

    w_q = D * H * d_k  # parameters of W_q; the other matrices follow
    w_k = D * H_kv * d_k
    w_v = D * H_kv * d_v
    w_o = H * d_v * D_out
    pairs = B * H * T * S
    own = score_cost(score, d_k, d_k, A)
    multiply_adds = {
        "q_projected": B * T * w_q,
        "k_projected": B * S * w_k,
        "v_projected": B * S * w_v,
    }
    for step, products in own.products.items():
        multiply_adds[step] = B * H * products.total(T, S)
    multiply_adds["head_outputs"] = pairs * d_v
    multiply_adds["output"] = B * T * w_o

    parameters = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    if bias:
        parameters["b_q"] = H * d_k
        parameters["b_k"] = H_kv * d_k
        parameters["b_v"] = H_kv * d_v
        parameters["b_o"] = D_out
    parameters |= own.parameters

    stored = {
        "weights": pairs,
        "k": B * H_kv * S * d_k,
        "v": B * H_kv * S * d_v,
    }
    return Cost(multiply_adds, parameters, stored)


# ---- one score -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ScoreCost:
    """The cost of a score function.

    products: multiply-adds of each step. parameters: {learned tensor: its number of parameters}.
    """

    products: Products
    parameters: dict[str, int]


def score_cost(score: str, d_q: int, d_k: int, A: int | None = None) -> ScoreCost:
    """Compute the cost of one head's score of a query of width d_q and a key of width d_k.

    score: a key of SCORES. A: the width of the additive score's layer; None for d_k. Raises AttentionError:
    unknown_choice, positive_integer. Source: Luong et al. 2015, section 3.1; Bahdanau et al. 2015, appendix A.1.2;
    compared by Vaswani et al. 2017, 3.2.1

    >>> score_cost("general", 5, 7).products["scores"], score_cost("general", 5, 7).parameters
    (StepProducts(per_pair=7, per_query=35, per_key=0), {'w_a': 35})
    """
    require_one_of("score", score, tuple(SCORES))
    if A is None:
        A = require_positive("d_k", d_k)
    else:
        require_positive("A", A)
    require_positive("d_q", d_q)
    entry = SCORES[score]
    sizes = {"d_q": d_q, "d_k": d_k, "A": A}
    parameters = {tensor.name: prod(tensor.shape(sizes)) for tensor in entry.weights}
    return ScoreCost(entry.products(sizes), parameters)
