"""What no score and no weight can exceed, whatever the inputs."""

import math

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import require_finite, require_positive
from attention_core.record.errors import AttentionError


def additive_bound(v_a: Float[Tensor, "*H A"]) -> Float[Tensor, "*H"]:
    r"""The largest magnitude that an additive score can have: $|v^\top \tanh(\cdot)| \le \sum_a |v_a|$.

    Each entry of the tanh layer lies between -1 and 1, so each term between -|v_a| and |v_a|, and their sum between the
    sums of these. However large q and k grow, the score does not.

    v_a: (A,), or (H, A) for one a head. Returns one number, or one a head. Source: Bahdanau, Cho, Bengio 2015, appendix
    A.1.2 (the score); the bound is the triangle inequality.

    >>> import torch
    >>> additive_bound(torch.tensor([0.5, -2.0]))
    tensor(2.5000)
    """
    return v_a.abs().sum(-1)


def cosine_ceiling(keys: int, temperature: float = 1.0) -> float:
    r"""The largest weight that a softmax over cosines can give: $e^{2/\tau} / (e^{2/\tau} + S - 1)$.

    No key does better than 1, no other does worse than -1: $e^{1/\tau} / (e^{1/\tau} + (S - 1) e^{-1/\tau})$, and above
    and below times $e^{1/\tau}$. It is reached where one key points as the query does and all others to the opposite
    side. So without a temperature seven keys leave the best one at .55, and a small temperature lifts the ceiling to 1.

    keys: how many the query may attend to, 1 or more. temperature: what divides the cosines, above 0. Raises
    AttentionError (a ValueError) for others. Source of the score: Graves, Wayne, Danihelka 2014, equation 6.

    >>> round(cosine_ceiling(7), 3), round(cosine_ceiling(7, temperature=0.1), 3)
    (0.552, 1.0)
    """
    require_positive("keys", keys)
    if require_finite("temperature", temperature) <= 0:
        raise AttentionError("positive_number", name="temperature", given=temperature)
    return 1 / (1 + (keys - 1) * math.exp(-2 / temperature))  # above and below over e^(2/temperature): no overflow
