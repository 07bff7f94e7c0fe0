"""Computes upper bounds of scores and weights that hold for all inputs."""

import math

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_finite, require_positive
from attention_core.record.errors import AttentionError


def additive_bound(v_a: Float[Tensor, "*H A"]) -> Float[Tensor, "*H"]:
    r"""Compute the largest magnitude that an additive score can have: $|v^\top \tanh(\cdot)| \le \sum_a |v_a|$.

    Each number of the tanh layer is between -1 and 1, so that their products with v_a sum to at most the sum of |v_a|,
    for any q and k.

    v_a: (A,), or (H, A) for one per head. Returns one number, or one per head. Source: Bahdanau, Cho, Bengio 2015,
    appendix A.1.2 (the score); the bound is the triangle inequality.

    >>> import torch
    >>> additive_bound(torch.tensor([0.5, -2.0]))
    tensor(2.5000)
    """
    return v_a.abs().sum(-1)


def cosine_ceiling(keys: int, temperature: float = 1.0) -> float:
    r"""Compute the largest weight that a softmax over cosines can give: $e^{2/\tau} / (e^{2/\tau} + S - 1)$.

    A cosine lies between -1 and 1, which gives $e^{1/\tau} / (e^{1/\tau} + (S - 1) e^{-1/\tau})$. Multiplying numerator
    and denominator by $e^{1/\tau}$ gives the formula above. The bound is reached if one key has the direction of the
    query and all others the opposite direction. So at temperature 1 one of seven keys gets at most .55, and a small
    temperature lifts the bound towards 1.

    keys: S, the number of keys that the query may attend to, 1 or more. temperature: the divisor of the cosines, above
    0. Raises AttentionError (a ValueError) for other values. Source of the score: Graves, Wayne, Danihelka 2014,
    equation 6.

    >>> round(cosine_ceiling(7), 3), round(cosine_ceiling(7, temperature=0.1), 3)
    (0.552, 1.0)
    """
    require_positive("keys", keys)
    if require_finite("temperature", temperature) <= 0:
        raise AttentionError("positive_number", name="temperature", given=temperature)
    others = (keys - 1) * math.exp(-2 / temperature)  # as multiples of the best key's exponential: no overflow
    return 1 / (1 + others)
