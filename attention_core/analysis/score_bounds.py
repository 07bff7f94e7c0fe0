"""Bounds that no score and no weight can exceed, whatever the inputs are."""

import math

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_finite, require_positive
from attention_core.record.errors import AttentionError


def additive_bound(v_a: Float[Tensor, "*H A"]) -> Float[Tensor, "*H"]:
    r"""Compute the largest magnitude that an additive score can have: $|v^\top \tanh(\cdot)| \le \sum_a |v_a|$.

    Each entry of the tanh layer lies between -1 and 1, so each term lies between -|v_a| and |v_a|, and their sum
    between the sums of these. However large q and k grow, the score does not.

    v_a: (A,), or (H, A) for one per head. Returns one number, or one per head. Source: Bahdanau, Cho, Bengio 2015,
    appendix A.1.2 (the score); the bound is the triangle inequality.

    >>> import torch
    >>> additive_bound(torch.tensor([0.5, -2.0]))
    tensor(2.5000)
    """
    return v_a.abs().sum(-1)


def cosine_ceiling(keys: int, temperature: float = 1.0) -> float:
    r"""Compute the largest weight that a softmax over cosines can give: $e^{2/\tau} / (e^{2/\tau} + S - 1)$.

    A cosine is at most 1 and at least -1, which gives $e^{1/\tau} / (e^{1/\tau} + (S - 1) e^{-1/\tau})$. Both parts
    times $e^{1/\tau}$ are the formula above. The bound is reached if one key points as the query does and all others
    point to the opposite side. So without a temperature the best of seven keys gets at most .55, and a small
    temperature lifts the ceiling to 1.

    keys: the number that the query may attend to, 1 or more. temperature: what divides the cosines, above 0. Raises
    AttentionError (a ValueError) for others. Source of the score: Graves, Wayne, Danihelka 2014, equation 6.

    >>> round(cosine_ceiling(7), 3), round(cosine_ceiling(7, temperature=0.1), 3)
    (0.552, 1.0)
    """
    require_positive("keys", keys)
    if require_finite("temperature", temperature) <= 0:
        raise AttentionError("positive_number", name="temperature", given=temperature)
    others = (keys - 1) * math.exp(-2 / temperature)  # where the best key has 1, so that nothing overflows
    return 1 / (1 + others)
