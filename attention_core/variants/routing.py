"""Dynamic routing: a router chooses which heads are computed for each token.

Source: Zhang et al. 2022, *Mixture of Attention Heads*; routing among feed-forward layers: Shazeer et al. 2017.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import Weights
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


@dataclass(frozen=True, eq=False)
class RoutedHeads:
    """The heads that a router chose, and the output of the layer with them.

    router: the router's matrix. gates: the router's score for each token and head. chosen: which heads are computed for
    each token. output: the layer's output with these heads alone. computed: the number of computed query-key pairs,
    summed over the heads. pairs: the number of all pairs.
    """

    router: Float[Tensor, "D H"]
    gates: Float[Tensor, "T H"]
    chosen: Bool[Tensor, "T H"]
    output: Float[Tensor, "T D_out"]
    computed: int
    pairs: int


def build_router(w_q: Float[Tensor, "D H·d_k"], heads: int) -> Float[Tensor, "D H"]:
    """Build a router by hand, which prefers the heads in which the token's large numbers have long rows of w_q.

    Column h has the norms of the rows in head h's part of w_q. A trained router learns its numbers.

    >>> build_router(torch.tensor([[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]), heads=2)
    tensor([[5., 0.],
            [0., 1.]])
    """
    return w_q.unflatten(-1, (heads, -1)).norm(dim=-1)


def route_heads(trace: Trace, top: int) -> RoutedHeads:
    r"""Compute for each token of a run only the `top` heads that a router chooses.

    $g = |x| W_g$; head h is computed for token t if $g_{th}$ is among the token's `top` largest gates and above 0; the
    outputs of the chosen heads are added. In Zhang et al. 2022, section 3, each output is also multiplied by its gate.
    trace: self-attention of one sequence through w_q, w_k and w_v. Raises AttentionError (a ValueError):
    positive_integer, at_most.

    >>> from attention_core.mechanism.config import AttentionConfig
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> square = torch.eye(2)
    >>> run = attend(x, weights=Weights(square, square, square), config=AttentionConfig(heads=2))
    >>> routed = route_heads(run, top=1)
    >>> routed.chosen.tolist(), routed.computed, routed.pairs
    ([[True, False], [False, True]], 4, 8)
    """
    heads = trace.sizes()["H"]
    if require_positive("top", top) > heads:
        raise AttentionError("at_most", name="top", limit=heads, given=top)
    x = trace["x"][0]  # (T, D)
    w_o = trace["w_o"] if "w_o" in trace else torch.eye(trace["w_v"].shape[1]).to(x)  # no w_o: concatenated
    parts = {name: trace[name].chunk(heads, dim=1) for name in ("w_q", "w_k", "w_v")}  # the columns of each head
    parts["w_o"] = w_o.chunk(heads)  # the rows of each head
    router = build_router(trace["w_q"], heads)
    gates = x.abs() @ router  # (T, H)
    best = gates.topk(top).indices
    chosen = torch.zeros_like(gates, dtype=torch.bool).scatter(1, best, value=True) & (gates > 0)
    output = x.new_zeros(len(x), w_o.shape[-1])
    computed = 0
    for head in range(heads):
        tokens = chosen[:, head].nonzero().flatten()
        if len(tokens):
            own = Weights(**{name: part[head] for name, part in parts.items()})
            output[tokens] += attend(x[tokens], x, weights=own)["output"][0]
            computed += len(tokens) * len(x)
    return RoutedHeads(router, gates, chosen, output, computed, pairs=heads * len(x) ** 2)
