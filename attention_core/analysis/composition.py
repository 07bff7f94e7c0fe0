"""How much a head reads of an earlier head's output, from the matrices of both alone (Elhage et al. 2021)."""

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import shape_of
from attention_core.mechanism.config import Weights
from attention_core.record.errors import AttentionError

COMPOSITIONS = ("q", "k", "v")  # which of a head's three inputs an earlier head changes


def composition_scores(first: Weights, second: Weights, heads: int) -> dict[str, Float[Tensor, "H_later H_earlier"]]:
    r"""Measure how much each head of a later layer reads of the output of each head of an earlier layer.

    $\lVert W_{ov} W_{qk} \rVert_F / (\lVert W_{ov} \rVert_F \lVert W_{qk} \rVert_F)$ for its queries, the same with
    $W_{qk}^\top$ for its keys, and with its own $W_{ov}$ for its values; $W_{qk} = W_q W_k^\top$ and
    $W_{ov} = W_v W_o$ of a head, in row convention. Between 0 and 1; matrices drawn at random have about $1/\sqrt D$.

    first, second: matrices of both layers, all square, D x D. heads: the number of heads of each layer. Norms in
    between are left out.

    Returns {"q", "k", "v"}: a row for each later head, a column for each earlier one. Raises AttentionError (a
    ValueError) for a matrix that is missing, or not D x D with D a multiple of heads. Source: Elhage et al. 2021,
    "Composition scores" in "Two-layer attention-only Transformers".

    >>> import torch
    >>> one, none = torch.eye(2), torch.zeros(2, 2)
    >>> copies = Weights(w_q=one, w_k=one, w_v=torch.tensor([[1.0, 0], [0, 0]]), w_o=one)
    >>> asks = Weights(w_q=one, w_k=torch.tensor([[1.0, 0], [0, 0]]), w_v=one, w_o=one)
    >>> {name: round(float(score), 2) for name, score in composition_scores(copies, asks, heads=1).items()}
    {'q': 1.0, 'k': 1.0, 'v': 0.71}
    """
    check_square(first, heads)
    check_square(second, heads)
    written = multiply_heads(first.w_v, first.w_o.mT, heads)  # (H, D, D)
    asked = multiply_heads(second.w_q, second.w_k, heads)
    passed_on = multiply_heads(second.w_v, second.w_o.mT, heads)
    read = {"q": asked, "k": asked.mT, "v": passed_on}
    return {name: relative_norms(written, read[name]) for name in COMPOSITIONS}


def multiply_heads(left: Float[Tensor, "D H*d"], right: Float[Tensor, "D H*d"], heads: int) -> Float[Tensor, "H D D"]:
    """For each head, its columns of `left` times its columns of `right` transposed."""
    blocks = [matrix.unflatten(-1, (heads, -1)).movedim(-2, 0) for matrix in (left, right)]  # each (H, D, d)
    return blocks[0] @ blocks[1].mT  # (H, D, d) x (H, d, D) -> (H, D, D)


def relative_norms(
    earlier: Float[Tensor, "H D D"], later: Float[Tensor, "H D D"]
) -> Float[Tensor, "H_later H_earlier"]:
    """The norm of each product of an earlier and a later matrix, divided by its bound, the product of both norms."""
    products = earlier @ later[:, None]  # (H, D, D) x (H', 1, D, D) -> (H', H, D, D)
    norms = [matrix.norm(dim=(-2, -1)) for matrix in (products, earlier, later[:, None])]
    return norms[0] / (norms[1] * norms[2])


def check_square(weights: Weights, heads: int) -> None:
    """Checks that the four matrices are D x D, and D is a multiple of heads. Raises AttentionError."""
    given = weights.given()
    for name in ("w_q", "w_k", "w_v", "w_o"):
        if name not in given:
            raise AttentionError("missing_weight", kind="composition_scores", weight=name)
        D = given["w_q"].shape[0]
        if shape_of(given[name]) != (D, D) or D % heads:
            raise AttentionError("weight_shape", weight=name, axes=f"({D}, {D})", shape=shape_of(given[name]))
