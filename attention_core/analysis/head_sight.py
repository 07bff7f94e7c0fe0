"""The part of a vector that a head reads through W_q and W_k, and the part that both map to zero."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.operations import PROJECT
from attention_core.record.trace import Operation, Step, Trace


@dataclass(frozen=True)
class UnseenMove:
    """How far a head's q and k move if the part of x that it does not read is removed, and how large that part is.

    directions: the number of the D directions of x that the head reads. taken: the largest number that was removed.
    """

    directions: int
    taken: float
    q: float
    k: float


def sight_of(w_q: Float[Tensor, "D d"], w_k: Float[Tensor, "D d"]) -> Float[Tensor, "D D"]:
    r"""Return the projection P onto the part of x that a head's queries and keys read: P W_q = W_q and P W_k = W_k.

    P = M M⁺, M = [W_q W_k], M⁺ its pseudoinverse. What is left, x − x P, lies in the null space of both.

    w_q, w_k: of one head, in row convention. Source: Strang 2016, Introduction to Linear Algebra, sections 4.2 and 7.4.

    >>> sight_of(torch.tensor([[2.0], [0.0]]), torch.tensor([[1.0], [0.0]])).round()
    tensor([[1., 0.],
            [0., 0.]])
    """
    both = torch.cat([w_q, w_k], dim=-1)  # (D, d) and (D, d) -> (D, 2d)
    return both @ torch.linalg.pinv(both)  # (D, 2d) x (2d, D) -> (D, D)


def head_matrices(trace: Trace, head: int) -> tuple[Float[Tensor, "D d"], Float[Tensor, "D d"]]:
    """Return the columns of W_q and of W_k that belong to a head."""
    sizes = trace.sizes()
    group = head * sizes["H_kv"] // sizes["H"]
    w_q = trace["w_q"].unflatten(-1, (sizes["H"], -1))[:, head]  # (D, H·d_k) -> (D, d_k)
    w_k = trace["w_k"].unflatten(-1, (sizes["H_kv"], -1))[:, group]  # (D, H_kv·d_k) -> (D, d_k)
    return w_q, w_k


def seen_step(head: int) -> str:
    """Return the name of the step that holds what a head reads.

    >>> seen_step(0)
    'seen_1'
    """
    return f"seen_{head + 1}"


def with_sights(trace: Trace) -> Trace:
    """Add steps to a run with the part of x that each head reads: `seen_1`, `seen_2`, ..., each (B, T, D).

    trace: a self-attention with x, w_q and w_k. Raises KeyError if one is missing.

    >>> from attention_core import AttentionConfig, Weights, attend
    >>> layer = Weights(w_q=torch.eye(2), w_k=torch.eye(2))
    >>> run = with_sights(attend(torch.tensor([[3.0, 4.0]]), weights=layer, config=AttentionConfig(heads=2)))
    >>> run["seen_2"].round()
    tensor([[[0., 4.]]])
    """
    steps = dict(trace.steps)
    seen = []
    for head in range(trace.sizes()["H"]):
        name = f"sight_{head + 1}"
        steps[name] = Step(name, sight_of(*head_matrices(trace, head)), ("D", "D_out"))
        seen.append(Operation(seen_step(head), ("B", "T", "D"), ("x", name), PROJECT))
    return replace(trace, steps=steps).then(*seen)


def take_unseen(sights: Trace, head: int) -> UnseenMove:
    """Remove from x all that a head does not read, and measure how far its q and k move: by rounding alone.

    sights: a run of with_sights.

    >>> from attention_core import AttentionConfig, Weights, attend
    >>> layer = Weights(w_q=torch.eye(2), w_k=torch.eye(2))
    >>> run = attend(torch.tensor([[3.0, 4.0]]), weights=layer, config=AttentionConfig(heads=2))
    >>> move = take_unseen(with_sights(run), 1)
    >>> move.directions, move.taken, move.q < 1e-6, move.k < 1e-6
    (1, 3.0, True, True)
    """
    w_q, w_k = head_matrices(sights, head)
    unseen = sights["x"] - sights[seen_step(head)]  # (B, T, D)
    return UnseenMove(
        directions=round(sights[f"sight_{head + 1}"].trace().item()),
        taken=unseen.abs().max().item(),
        q=(unseen @ w_q).abs().max().item(),  # (B, T, D) x (D, d_k) -> (B, T, d_k)
        k=(unseen @ w_k).abs().max().item(),
    )
