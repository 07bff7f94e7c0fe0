"""The additive score's layer built by hand, for words whose numbers are at most a few and mean something each."""

import numpy as np
from jaxtyping import Float


def gates(width: int) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""W_q, b_q, W_aq, W_ak and v_a of an additive score with a unit for each of `width` numbers and for its opposite.

    The state is $s = x\,[I, -I] - 3.5$, twice as wide as the key h; a unit is $\tanh(4 s_a + 12 h_a)$, or with $-h_a$.
    It stays near -1 unless the query asks for the number, with 1 or more, and the key has it: one of both alone leaves
    the sum below 0. Each v is 2. Without a unit for the opposite -1 could not be asked for; with no bias the score of
    -s and -h would be minus that of s and h.

    Source of the score: Bahdanau, Cho, Bengio 2015, appendix A.1.2, whose biases are left out there for brevity.

    >>> {name: matrix.shape for name, matrix in gates(6).items()}
    {'w_q': (6, 12), 'b_q': (1, 12), 'w_aq': (12, 12), 'w_ak': (6, 12), 'v_a': (1, 12)}
    """
    both = np.concatenate([np.eye(width), -np.eye(width)], axis=1) + 0.0  # (d, 2 d), no minus before a zero
    ones = np.ones((1, 2 * width))
    return {"w_q": both, "b_q": -3.5 * ones, "w_aq": 4 * np.eye(2 * width), "w_ak": 12 * both, "v_a": 2 * ones}
