"""The contribution of each word's value to one column of the output, through each head, before the weights."""

from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import contribute
from attention_core.record.trace import Trace


def find_carried(trace: Trace, column: int) -> Float[Tensor, "B H S"]:
    """Return what each word's value adds to one column of the output through each head, at weight 1: v W_o,h.

    Times the weights, summed over words and heads, it is that column without a bias. Only for runs with W_o and as many
    heads for keys and values as for queries.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> find_carried(attend(torch.eye(2), weights=Weights(w_o=torch.tensor([[1.0], [3.0]]))), 0)
    tensor([[[1., 3.]]])
    """
    return contribute(trace["v"], trace["w_o"])[..., column]  # (B, H, S, D_out) -> (B, H, S)
