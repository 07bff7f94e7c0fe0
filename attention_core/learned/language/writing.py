"""Predicts words: samples or chooses the next word of a decoder, and finds words for a gap in a text."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.learned.language.batches import MASK, word_numbers
from attention_core.learned.language.reading import MAX_MODEL_WORDS, run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.language.surprise import number_words, word_surprises
from attention_core.mechanism.plain_checks import require_not_negative, require_positive
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import UNEMBEDDING

SENTENCE_ENDS = frozenset(".。?？!！")


def pick_word(probabilities: Float[Tensor, " V"], seed: int | None, step: int) -> int:
    r"""Return the vocabulary index of the next word: the likeliest word if `seed` is None, else a word sampled with the
    seed.

    The sampled word is the first, counted from the likeliest, with $p_1 + \dots + p_n > u$, where $u$ is the random
    number that drawn_number returns for this seed and step.

    probabilities (V): the probability of each word. step: the index of the sample, from 0.

    Raises AttentionError: not_negative, whole_number, at_most. Source: Devroye 1986, section III.2 (inversion).

    >>> probabilities = torch.tensor([0.5, 0.0, 0.5], dtype=torch.float64)
    >>> [pick_word(probabilities, 1, step) for step in range(5)], pick_word(probabilities, None, 0)
    ([0, 0, 0, 0, 2], 0)
    """
    if seed is None:
        return int(probabilities.argmax())
    u = drawn_number(require_not_negative("seed", seed), require_not_negative("step", step))
    shares, numbers = probabilities.double().sort(descending=True, stable=True)
    summed = shares.cumsum(-1)  # (V,): cumulative probability, which ends at 1 up to rounding
    return int(numbers[(summed <= u * summed[-1]).sum()])


def drawn_number(seed: int, step: int) -> float:
    """Return the random number in [0, 1) that a seed gives for a step, the same at every call.

    >>> drawn_number(3, 1) == drawn_number(3, 1), drawn_number(3, 1) == drawn_number(3, 2)
    (True, False)
    """
    generator = Generator().manual_seed(seed)
    return float(torch.rand(step + 1, generator=generator, dtype=torch.float64)[step])


def add_word(tokens: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Return the tokens with one more word at the end.

    tokens: START and the words so far. Raises AttentionError: model_too_long, if the result is longer than the longest
    training text.

    >>> add_word(("<start>", "the"), "dog")
    ('<start>', 'the', 'dog')
    """
    if len(tokens) > MAX_MODEL_WORDS:
        raise AttentionError("model_too_long", limit=MAX_MODEL_WORDS, given=len(tokens))
    return (*tokens, word)


def blank_word(tokens: tuple[str, ...], at: int) -> tuple[str, ...]:
    """Return the tokens that an encoder reads with one word masked.

    tokens: START and the words. at: the position of the word to mask, from 1. Raises AttentionError: index, if there is
    no such position. Source: Devlin et al. 2019, section 3.1.

    >>> blank_word(("<start>", "the", "dog"), 2)
    ('<start>', 'the', '<mask>')
    """
    if not 1 <= at < len(tokens):
        raise AttentionError("index", name="tokens", axes="T from 1", shape=(len(tokens),), given=at)
    return (*tokens[:at], MASK, *tokens[at + 1 :])


# ---- words for a gap: from the left side, from both sides, or each inserted and scored by a decoder ------------------
@dataclass(frozen=True, eq=False)
class GapWords:
    """The words that may fill a gap (a left-out word of a text), with their probabilities.

    numbers: the indices of the words in the vocabulary. shares: the probability of each word. own: the probability of
    the word that the text has at the gap.
    """

    numbers: Int[Tensor, " W"]
    shares: Float[Tensor, " W"]
    own: float

    def likeliest(self, count: int, least: float) -> list[tuple[int, float]]:
        """Return (index, probability) of the likeliest words, the likeliest first.

        count: the most words to return. least: the least probability of a returned word.
        """
        shares, places = self.shares.sort(descending=True)
        numbers = self.numbers[places]
        likely = list(zip(numbers.tolist(), shares.tolist(), strict=True))[:count]
        return [(number, share) for number, share in likely if share >= least]


def guess_from_left(name: str, tokens: tuple[str, ...], at: int) -> GapWords:
    r"""Return a decoder's prediction for a left-out word from the words before it, $p(w \mid \text{left})$.

    name: the name of a model. tokens: the text, START first. at: the position of the left-out word, from 1. Raises
    AttentionError: index.

    >>> round(guess_from_left("en_asked_decoder", ("<start>", "the", "dog", "did", "not"), 4).own, 3)
    1.0
    """
    check_gap(tokens, at)
    return every_word(name, tokens, at, run_model(name, tokens[:at])[UNEMBEDDING]["probabilities"][0, -1])


def guess_from_both(name: str, tokens: tuple[str, ...], at: int) -> GapWords:
    r"""Return an encoder's prediction for a left-out word from both sides, $p(w \mid \text{left}, \text{right})$.

    name: the name of a model. tokens: the text, START first. at: the position of the left-out word, from 1. Raises
    AttentionError: index.

    >>> round(guess_from_both("en_asked_encoder", ("<start>", "the", "dog", "did", "not", "bark"), 4).own, 2)
    1.0
    """
    check_gap(tokens, at)
    return every_word(name, tokens, at, run_model(name, blank_word(tokens, at))[UNEMBEDDING]["probabilities"][0, at])


def every_word(name: str, tokens: tuple[str, ...], at: int, shares: Float[Tensor, " V"]) -> GapWords:
    """Return the GapWords with all words of the vocabulary as candidates.

    at: the position of the gap. shares: the probability of each word.
    """
    own = word_numbers(load_recipe(name).language)[tokens[at]]
    return GapWords(torch.arange(len(shares)), shares, float(shares[own]))


def try_words(name: str, tokens: tuple[str, ...], at: int, count: int) -> GapWords:
    r"""Return the probability of some words in a gap, computed from a decoder's probability of the whole text with each
    word in it.

    $p(w \mid \text{left}, \text{right}) \propto p(\text{left}, w, \text{right})$, over the original word and the
    `count` likeliest words after the left side.

    name: a decoder of the package. tokens: the text, START first. at: the position of the gap, from 1. Raises
    AttentionError: index, positive_integer, decoding_not_causal. Source: Bayes' rule.

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
    """Raise AttentionError if a position has no word to leave out: START's position, or one outside the text."""
    if not 1 <= at < len(tokens):
        raise AttentionError("index", name="tokens", axes="T from 1", shape=(len(tokens),), given=at)
