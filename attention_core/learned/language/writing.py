"""The next word of a decoder, sampled or the likeliest, and the input of an encoder with a masked word."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.learned.language.batches import MASK
from attention_core.learned.language.reading import MAX_MODEL_WORDS
from attention_core.mechanism.plain_checks import require_not_negative
from attention_core.record.errors import AttentionError

SENTENCE_ENDS = frozenset(".。?？!！")


def pick_word(probabilities: Float[Tensor, " V"], seed: int | None, step: int) -> int:
    r"""Return the number of the next word: the likeliest word, or a sampled word.

    The sampled word is the first, counted from the likeliest, with $p_1 + \dots + p_n > u$, where $u$ is the random
    number of the seed for this step, see drawn_number.

    probabilities (V): of the words. seed: None for the likeliest word. step: the index of the sample, from 0.

    Raises AttentionError: not_negative, whole_number, at_most. Source: Devroye 1986, section III.2 (inversion).

    >>> probabilities = torch.tensor([0.5, 0.0, 0.5], dtype=torch.float64)
    >>> [pick_word(probabilities, 1, step) for step in range(5)], pick_word(probabilities, None, 0)
    ([0, 0, 0, 0, 2], 0)
    """
    if seed is None:
        return int(probabilities.argmax())
    u = drawn_number(require_not_negative("seed", seed), require_not_negative("step", step))
    shares, numbers = probabilities.double().sort(descending=True, stable=True)
    summed = shares.cumsum(-1)  # (V); the last is 1, up to rounding
    return int(numbers[(summed <= u * summed[-1]).sum()])


def drawn_number(seed: int, step: int) -> float:
    """Return the random number of a seed for a step, at least 0 and below 1; each step has a different number.

    >>> drawn_number(3, 1) == drawn_number(3, 1), drawn_number(3, 1) == drawn_number(3, 2)
    (True, False)
    """
    generator = Generator().manual_seed(seed)
    return float(torch.rand(step + 1, generator=generator, dtype=torch.float64)[step])


def add_word(tokens: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Return the tokens with one more word.

    tokens: START and the words so far. Raises AttentionError: model_too_long, beyond the longest training text.

    >>> add_word(("<start>", "the"), "dog")
    ('<start>', 'the', 'dog')
    """
    if len(tokens) > MAX_MODEL_WORDS:
        raise AttentionError("model_too_long", limit=MAX_MODEL_WORDS, given=len(tokens))
    return (*tokens, word)


def blank_word(tokens: tuple[str, ...], at: int) -> tuple[str, ...]:
    """Return the tokens that an encoder reads with one word masked.

    tokens: START and the words. at: the place of the word, from 1. Raises AttentionError: index, for another place.
    Source: Devlin et al. 2019, section 3.1.

    >>> blank_word(("<start>", "the", "dog"), 2)
    ('<start>', 'the', '<mask>')
    """
    if not 1 <= at < len(tokens):
        raise AttentionError("index", name="tokens", axes="T from 1", shape=(len(tokens),), given=at)
    return (*tokens[:at], MASK, *tokens[at + 1 :])
