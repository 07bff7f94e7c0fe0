"""Measures the surprise of a language model at the words of a text: minus the log probability of each word, in nats."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.learned.language.batches import MASK, word_numbers
from attention_core.learned.language.model import LanguageModel

MOST_ROWS = 64  # most texts in a batch, so that a layer fits into a processor's cache


def number_words(language: str, tokens: Sequence[str]) -> Int[Tensor, " T"]:
    """Return the indices of tokens in the vocabulary of a language, as a tensor."""
    numbers = word_numbers(language)
    return torch.tensor([numbers[token] for token in tokens])


def text_surprise(model: LanguageModel, language: str, tokens: Sequence[str]) -> Float[Tensor, " T-1"]:
    """Return the surprise of a model at each word after START in one text, in nats."""
    return word_surprises(model, language, number_words(language, tokens)[None])[0]


def word_surprises(model: LanguageModel, language: str, words: Int[Tensor, "B T"]) -> Float[Tensor, "B T-1"]:
    r"""Return the surprise of each word after START, in nats.

    For a decoder it is $-\log p(w_t \mid w_{<t})$, whose mean is the logarithm of the perplexity. For an encoder it is
    $-\log p(w_t \mid w_{\setminus t})$, where w_t alone is masked; its sum is the negative
    pseudo-log-likelihood (Salazar et al. 2020, arXiv 1910.14659, equation 1).

    words: texts of equal length, each beginning with START.
    """
    if model.shape.causal:
        logits = model.word_logits(run_words(model, words)[:, :-1])  # (B, T - 1, V)
        return surprise_of(logits, words[:, 1:])
    texts, length = words.shape
    hidden = words[:, None].repeat(1, length - 1, 1)  # (B, T - 1, T): one copy of each text per masked word
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
    """Return the vectors of all words after the model's last layer."""
    with torch.inference_mode():
        return model.run_layers(words).end


def surprise_of(logits: Float[Tensor, "B T V"], words: Int[Tensor, "B T"]) -> Float[Tensor, "B T"]:
    """Return the surprise of each word, minus its log probability, in nats."""
    return -logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]


def surprises_of_texts(model: LanguageModel, language: str, texts: Sequence[Sequence[str]]) -> list[Tensor]:
    """Return the surprise at each word after START, in nats, as one tensor per text, in the order of the texts.

    Texts of equal length are run as one batch.
    """
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
