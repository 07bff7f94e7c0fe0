"""The pronouns of a sentence, each with the noun of the simple rule, and the weight of each head on it."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.language.simple_rule import find_pronouns, nearest_fitting


def find_antecedents(language: str, tokens: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return (position of a pronoun, position of the nearest fitting noun before it) for each pronoun with such a noun.

    The rule reads no reason: if two nouns fit, the nearest noun need not be the one that is meant.

    >>> find_antecedents("en", ("it", "saw", "the", "dog", "because", "it", "was", "old"))
    ((5, 3),)
    """
    nouns = ((at, nearest_fitting(language, tokens, at)) for at in find_pronouns(language, tokens))
    return tuple((at, noun) for at, noun in nouns if noun is not None)


def measure_antecedents(
    weights: Float[Tensor, "*heads T T"], language: str, tokens: tuple[str, ...]
) -> Float[Tensor, "*heads"] | None:
    """The mean weight from a pronoun to its noun, as found by find_antecedents; None if no pronoun has a noun.

    The weights on all mentions of the same word are summed, as in measure_model_heads.

    >>> weights = torch.tensor([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.25, 0.5, 0.25, 0]])
    >>> float(measure_antecedents(weights, "en", ("dog", "saw", "dog", "it")))
    0.5
    """
    found = find_antecedents(language, tokens)
    if not found:
        return None
    shares = []
    for at, noun in found:
        mentions = [place for place, token in enumerate(tokens) if token == tokens[noun]]
        shares.append(weights[..., at, mentions].sum(-1))  # (..., mentions) -> (...)
    return torch.stack(shares).mean(0)  # (pronouns, ...) -> (...)
