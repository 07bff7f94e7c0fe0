"""The surprise of a model at the words of a text, in nats: large for a text unlike its training texts."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.learned.language.batches import MASK, word_numbers
from attention_core.learned.language.model import LanguageModel

MOST_ROWS = 64  # texts that are run together: with more, a layer does not fit into the cache of a processor


def number_words(language: str, tokens: Sequence[str]) -> Int[Tensor, " T"]:
    """The numbers of tokens in the vocabulary of a language, as a tensor."""
    numbers = word_numbers(language)
    return torch.tensor([numbers[token] for token in tokens])


def text_surprise(model: LanguageModel, language: str, tokens: Sequence[str]) -> Float[Tensor, " T-1"]:
    """The surprise of each word of one text after START, see word_surprises."""
    return word_surprises(model, language, number_words(language, tokens)[None])[0]


def word_surprises(model: LanguageModel, language: str, words: Int[Tensor, "B T"]) -> Float[Tensor, "B T-1"]:
    r"""The surprise of each word after START, in nats.

    For a decoder $-\log p(w_t \mid w_{<t})$, whose mean is the logarithm of the perplexity. For an encoder
    $-\log p(w_t \mid w_{\setminus t})$, where w_t alone is masked; the sum is the negative pseudo-log-likelihood
    (Salazar et al. 2020, arXiv 1910.14659, equation 1).

    words: texts of one length, each with START first.
    """
    if model.shape.causal:
        logits = model.word_logits(run_words(model, words)[:, :-1])  # (B, T - 1, V)
        return surprise_of(logits, words[:, 1:])
    texts, length = words.shape
    hidden = words[:, None].repeat(1, length - 1, 1)  # (B, T - 1, T): a text once for each masked word
    steps = torch.arange(length - 1)
    hidden[:, steps, steps + 1] = word_numbers(language)[MASK]
    rows = hidden.flatten(0, 1)  # (B (T - 1), T)
    places = (steps + 1).repeat(texts)  # (B (T - 1),)
    found = []
    for some, here in zip(rows.split(MOST_ROWS), places.split(MOST_ROWS), strict=True):
        found.append(run_words(model, some)[torch.arange(len(some)), here])  # (rows, D)
    logits = model.word_logits(torch.cat(found)).unflatten(0, (texts, length - 1))  # (B, T - 1, V)
    return surprise_of(logits, words[:, 1:])


def run_words(model: LanguageModel, words: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
    """The vectors after the last layer."""
    with torch.inference_mode():
        return model.run_layers(words).end


def surprise_of(logits: Float[Tensor, "B T V"], words: Int[Tensor, "B T"]) -> Float[Tensor, "B T"]:
    """Minus the log probability of each word."""
    return -logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]


def surprises_of_texts(model: LanguageModel, language: str, texts: Sequence[Sequence[str]]) -> list[Tensor]:
    """The surprises of many texts, one tensor per text in the same order; texts of one length are run together."""
    by_length: dict[int, list[int]] = {}
    for index, text in enumerate(texts):
        by_length.setdefault(len(text), []).append(index)
    found: list[Tensor | None] = [None] * len(texts)
    for indices in by_length.values():
        rows = torch.stack([number_words(language, texts[index]) for index in indices])
        for start in range(0, len(rows), MOST_ROWS):
            surprises = word_surprises(model, language, rows[start : start + MOST_ROWS])
            for index, each in zip(indices[start : start + MOST_ROWS], surprises, strict=True):
                found[index] = each
    return found
