"""The share of a word's last vector that comes from attention, and so can be explained by attention weights."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.residual_sum import with_residual_sum
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.reading import run_model

SHARED_TEXTS = 20  # measured texts
KINDS = ("embedding", "attention", "feed_forward")


@dataclass(frozen=True)
class VectorShares:
    """The mean shares of the words' vectors before the last norm; they sum to 1.

    words: the number of measured words. growth: the norm of a word's vector divided by the norm of its embedding,
    averaged over the words.
    """

    embedding: float
    attention: float
    feed_forward: float
    words: int
    growth: float


def shares_along(parts: Float[Tensor, "part T D"]) -> Float[Tensor, "part T"]:
    r"""Compute the share of each part in a sum: the part's projection, $p \cdot x / (x \cdot x)$ with $x = \sum p$.

    A part that points against the sum has a negative share; a word's shares sum to 1.

    >>> shares_along(torch.tensor([[[3.0, 1.0]], [[1.0, -1.0]]])).flatten()
    tensor([0.7500, 0.2500])
    """
    whole = parts.sum(0)  # (part, T, D) -> (T, D)
    return (parts * whole).sum(-1) / whole.square().sum(-1)  # (part, T, D) -> (part, T)


@lru_cache(maxsize=4)
def measure_vector_shares(language: str) -> VectorShares:
    """Measure the encoder of a language, "en" or "zh", on held-out texts.

    Source: the sum, Elhage et al. 2021; that maps leave residuals and norms out, Kobayashi et al. 2021, Incorporating
    Residual and Normalization Layers into Analysis of Masked Language Models.

    >>> found = measure_vector_shares("en")
    >>> round(found.embedding + found.attention + found.feed_forward, 3)
    1.0
    """
    shares = []
    growths = []
    for text in held_out_texts(language, "held", "report", SHARED_TEXTS):
        with torch.inference_mode():
            run = with_residual_sum(run_model(f"{language}_asked_encoder", text.words))["residual_sum"]
        parts = run["parts"][:, 0].double()  # (part, 1, T, D) -> (part, T, D)
        labels = run.labels["part"]
        along = shares_along(parts)
        by_kind = [along[[kind in label for label in labels]].sum(0) for kind in KINDS]  # (part, T) -> (T,) each
        shares.append(torch.stack(by_kind))  # (3, T)
        growths.append(parts.sum(0).norm(dim=-1) / parts[0].norm(dim=-1))  # (T,)
    every = torch.cat(shares, dim=-1)  # (3, words)
    means = every.mean(-1).tolist()
    return VectorShares(*means, words=every.shape[-1], growth=torch.cat(growths).mean().item())
