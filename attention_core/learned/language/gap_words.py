"""Words for a gap: predicted by a decoder from the left side or by an encoder from both sides, or each inserted into
the text and scored by a decoder."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.language.surprise import number_words, word_surprises
from attention_core.learned.language.writing import blank_word
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import UNEMBEDDING


@dataclass(frozen=True, eq=False)
class GapWords:
    """Words that may fill a gap.

    numbers: the numbers of the words. shares: the probability of each word. own: the probability of the original word.
    """

    numbers: Int[Tensor, " W"]
    shares: Float[Tensor, " W"]
    own: float

    def likeliest(self, count: int, least: float) -> list[tuple[int, float]]:
        """The (number, probability) pairs of the likeliest words. count: the most to return. least: the least
        probability of a word to return."""
        shares, places = self.shares.sort(descending=True)
        numbers = self.numbers[places]
        likely = list(zip(numbers.tolist(), shares.tolist(), strict=True))[:count]
        return [(number, share) for number, share in likely if share >= least]


def guess_from_left(name: str, tokens: tuple[str, ...], at: int) -> GapWords:
    r"""Return the prediction of a decoder for the gap from the words before it, $p(w \mid \text{left})$.

    name: of a model. tokens: the text, START first. at: the place of the gap, from 1. Raises AttentionError: index.

    >>> round(guess_from_left("en_asked_decoder", ("<start>", "the", "dog", "did", "not"), 4).own, 3)
    1.0
    """
    check_gap(tokens, at)
    return every_word(name, tokens, at, run_model(name, tokens[:at])[UNEMBEDDING]["probabilities"][0, -1])


def guess_from_both(name: str, tokens: tuple[str, ...], at: int) -> GapWords:
    r"""Return the prediction of an encoder for the gap, $p(w \mid \text{left}, \text{right})$; see guess_from_left.

    >>> round(guess_from_both("en_asked_encoder", ("<start>", "the", "dog", "did", "not", "bark"), 4).own, 2)
    1.0
    """
    check_gap(tokens, at)
    return every_word(name, tokens, at, run_model(name, blank_word(tokens, at))[UNEMBEDDING]["probabilities"][0, at])


def every_word(name: str, tokens: tuple[str, ...], at: int, shares: Float[Tensor, " V"]) -> GapWords:
    """The GapWords with all words of the vocabulary. shares: the probability of each word."""
    own = word_numbers(load_recipe(name).language)[tokens[at]]
    return GapWords(torch.arange(len(shares)), shares, float(shares[own]))


def try_words(name: str, tokens: tuple[str, ...], at: int, count: int) -> GapWords:
    r"""Return the probability of some words in the gap, from a decoder's probability of the whole text with each word.

    $p(w \mid \text{left}, \text{right}) \propto p(\text{left}, w, \text{right})$, over the original word and
    the `count` likeliest words after the left side.

    name: of a shipped decoder. tokens, at: see guess_from_left. Raises AttentionError: index,
    positive_integer, decoding_not_causal. Source: Bayes' rule.

    >>> tried = try_words("en_asked_decoder", ("<start>", "the", "dog", "barked", "."), 2, 3)
    >>> len(tried.numbers), round(float(tried.shares.sum()), 6)
    (3, 1.0)
    """
    recipe = load_recipe(name)
    if not recipe.causal:
        raise AttentionError("decoding_not_causal")
    check_gap(tokens, at)
    own = word_numbers(recipe.language)[tokens[at]]
    before = run_model(name, tokens[:at])[UNEMBEDDING]["logits"][0, -1]  # (V)
    likeliest = before.topk(require_positive("count", count)).indices
    others = likeliest[likeliest != own]
    numbers = torch.cat([torch.tensor([own]), others])  # (W)
    texts = number_words(recipe.language, tokens).repeat(len(numbers), 1)  # (W, T)
    texts[:, at] = numbers
    surprises = word_surprises(load_model(name), recipe.language, texts)  # (W, T - 1)
    shares = (-surprises.sum(-1)).softmax(-1)
    return GapWords(numbers, shares, float(shares[0]))


def check_gap(tokens: tuple[str, ...], at: int) -> None:
    """Raise AttentionError if a text has no word after START at a position."""
    if not 1 <= at < len(tokens):
        raise AttentionError("index", name="tokens", axes="T from 1", shape=(len(tokens),), given=at)
