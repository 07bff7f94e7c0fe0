"""Runs a language model in full on the sentence of a page, of which the workbench shows one layer."""

from functools import lru_cache

import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import sum_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import Stack
from pages.runs.compute import sentences_of
from pages.runs.made_sentences import ModelSentences
from pages.setup.setup import RunSetup


def model_sentences_of(run: RunSetup) -> ModelSentences | None:
    """Returns the sentences of a run if a language model reads them, else None."""
    kind = sentences_of(run)
    return kind if isinstance(kind, ModelSentences) else None


def model_stack(run: RunSetup, words: tuple[str, ...]) -> Stack:
    """Runs the trained model on a sentence; returns every layer and the sums of their outputs, with labelled axes.

    words: the sentence, with START as its first word. Changes of the shown layer have no effect, because the model runs
    as it was trained.
    """
    kind = model_sentences_of(run)
    return sum_model(kind.model, kind.read(words)).labelled(words, vocabulary=model_vocabulary(kind.model))


@lru_cache(maxsize=16)
def model_weights(name: str, tokens: tuple[str, ...]) -> torch.Tensor:
    """Returns the attention weights of all heads of a model, (L, H, T, T). tokens: the input of the model."""
    parts = run_model(name, tokens).parts
    return torch.stack([trace["weights"][0] for part, trace in parts.items() if part.endswith(".attention")])


def model_vocabulary(name: str) -> tuple[str, ...]:
    """Returns the vocabulary of a model, in the order of its embedding rows."""
    return tuple(vocabulary(load_recipe(name).language))
