"""Proves a recorded attention layer: compares the core's weights and output with those that the model computed."""

import math
from dataclasses import dataclass

from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.core_run import CoreRun
from attention_core.record.errors import AttentionError

WEIGHT_BOUND, OUTPUT_BOUND = 2, 4  # in units of u (1 + m), see compare_layer; measured in 311 layers: 0.80, 2.4
FROM_X = 2  # factor on both bounds if the core also computes q, k and v (compare_from_x)
MIXED_BY = 1e-2  # weights are refuted if their output differs by more than this share of its largest number


@dataclass(frozen=True)
class ProofRow:
    """The proof of one attention layer: the differences between the core's numbers and the model's, and their bounds.

    layer: the name of the module. apart: the largest difference of a weight, over queries that may attend to some key.
    bound: the largest difference that the model's precision explains, 2 u (1 + m), with m as in find_largest_terms.
    output_apart, output_bound: the same for the output, whose bound is 4 u (1 + m) · largest |v|. apart is None if the
    model returns no weights, so that only the outputs are compared; both are None if the core could not compute the
    layer, or if the model's own result is not finite. faults: why the layer is not proven; () if it is. blocked_rows:
    the number of queries that may attend to no key, which are not compared.
    """

    layer: str
    apart: float | None
    bound: float
    output_apart: float | None
    output_bound: float
    faults: tuple[AttentionError, ...] = ()
    blocked_rows: int = 0

    @property
    def passed(self) -> bool:
        """Whether the model's precision explains all differences."""
        return not self.faults

    @property
    def reason(self) -> str:
        """The reason in English why the layer is not proven; "" if the layer is proven."""
        return "; ".join(map(str, self.faults))


def compare_layer(call: AttentionCall, run: CoreRun, times: float = 1) -> ProofRow:
    """Compare the core's weights and output with those that the model computed.

    The bound on weights: $|\\Delta| \\le 2u(1 + m)$, with u the unit roundoff of the model's precision and m the result
    of find_largest_terms; both bounds are then multiplied by `times`.
    """
    rounding = times * call.rounding * (1 + find_largest_terms(call))
    bound = WEIGHT_BOUND * rounding
    output_bound = OUTPUT_BOUND * rounding * largest(call.v.double())
    mine, own = run.trace["head_outputs"], call.output.double().transpose(1, 2)  # (B, H, T, d_v)
    output_apart = largest((mine - own)[run.open_rows])
    apart, faults = None, []
    if call.weights is not None:
        weights = call.weights.double()
        apart = largest((run.trace["weights"] - weights)[run.open_rows])
        if miss_output(weights, call.v, call.output, run.open_rows):
            faults.append(AttentionError("weights_not_mixing"))
        if not apart <= bound:
            faults.append(AttentionError("weights_apart", given=f"{apart:.2g}", limit=f"{bound:.2g}"))
    if not math.isfinite(output_apart + (apart or 0)):
        return ProofRow(call.name, None, bound, None, output_bound, faults=(AttentionError("model_not_finite"),))
    if not output_apart <= output_bound:
        faults.append(AttentionError("output_apart", given=f"{output_apart:.2g}", limit=f"{output_bound:.2g}"))
    return ProofRow(
        layer=call.name,
        apart=apart,
        bound=bound,
        output_apart=output_apart,
        output_bound=output_bound,
        faults=tuple(faults),
        blocked_rows=int((~run.open_rows).sum()),
    )


def compare_from_x(call: AttentionCall, run: CoreRun) -> ProofRow:
    r"""Compare the weights and output of a layer that the core computed from its input x; both bounds are twice those
    of compare_layer.

    The model rounds each tensor that it stores between x and q: the projection and the sum with its bias, three tensors
    of a norm (divisor, quotient, product with the gain), three of RoPE (cosine and sine, products, their sum). The core
    rounds none of these 8, nor the 8 of k. Each is off by at most $u$ times its size, so that to first order a score is
    off by $|\Delta s| \le 16u\,m$ if all errors have the same sign, with m the result of find_largest_terms. They have
    either sign, and add like the root of their number, to $4u\,m$ (Higham, Mary 2019, A New Approach to Probabilistic
    Rounding Error Analysis). A weight w then is off by $w (1 - w) \cdot 2 |\Delta s| \le |\Delta s| / 2 = 2u\,m$; twice
    that is allowed, because RoPE adds the numbers of a pair, which may be larger than their sum, and in float32 the sum
    over x has rounding errors of its own.
    """
    return compare_layer(call, run, FROM_X)


def find_largest_terms(call: AttentionCall) -> float:
    r"""Return the largest sum of the magnitudes of a score's terms, $\sum_c |q_c k_c| \, |scale| + |bias|$, over pairs
    that may attend.

    The rounding error of a sum grows with the magnitudes of its terms, also where they cancel and the score itself is
    small, as they do in wide heads. Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.

    >>> import torch
    >>> q, k = torch.tensor([[[[3.0, 3.0]]]]), torch.tensor([[[[1.0, -1.0]]]])
    >>> find_largest_terms(AttentionCall("layer", q, k, k, k, scale=1.0))                  # the score is 3 - 3 = 0
    6.0
    """
    keys = call.k.double().abs().repeat_interleave(call.q.shape[1] // call.k.shape[1], 1)
    scale = call.q.shape[-1] ** -0.5 if call.scale is None else abs(call.scale)
    terms = call.q.double().abs() @ keys.mT * scale
    allowed, bias = call.split_mask()
    if bias is not None:
        terms = terms + bias.abs()
    return largest(terms if allowed is None else terms[allowed.expand_as(terms)])


def largest(numbers: Tensor) -> float:
    """Return the largest magnitude among some numbers; 0 if there are none, NaN if any number is NaN."""
    return float(numbers.abs().max()) if numbers.numel() else 0.0


def miss_output(weights: Tensor, v: Tensor, output: Tensor, open_rows: Tensor | None = None) -> bool:
    """Return whether the weights that a model returned are not the weights by which it mixed its values.

    weights: (B, H, T, S). v: (B, H_kv, S, d_v). output: (B, T, H, d_v). open_rows: (B, H, T), the rows to compare.
    """
    shared = weights.shape[1] // v.shape[1]
    own = output.double().transpose(1, 2)
    apart = weights.double() @ v.double().repeat_interleave(shared, 1) - own
    if open_rows is not None:
        apart = apart[open_rows]
    return largest(apart) > MIXED_BY * largest(own)
