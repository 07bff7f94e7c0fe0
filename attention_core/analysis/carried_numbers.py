"""What the words hand over through each head for one number of the output, before the weights take their share."""

from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import contribute
from attention_core.record.trace import Trace


def find_carried(trace: Trace, column: int) -> Float[Tensor, "B H S"]:
    """Find what each word's value is worth in one column of the output, through each head: v W_o,h.

    Times the weights, added over words and heads, it is that column. It is for runs with as many heads for keys and
    values as for queries, and with W_o.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> find_carried(attend(torch.eye(2), weights=Weights(w_o=torch.tensor([[1.0], [3.0]]))), 0)
    tensor([[[1., 3.]]])
    """
    return contribute(trace["v"], trace["w_o"])[..., column]  # (B, H, S, D_out) -> (B, H, S)
