"""The full run of a language model on the sentence of a page, of which the workbench shows one layer."""

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
    """The sentences of a run that a language model reads; None where none does."""
    kind = sentences_of(run)
    return kind if isinstance(kind, ModelSentences) else None


def model_stack(run: RunSetup, words: tuple[str, ...]) -> Stack:
    """All parts of the model of a run on a sentence, as it was trained, and the sums of them, its axes labelled.

    words: the sentence, START first. Changes of the layer that is shown have no effect: the model is run as it was
    trained.
    """
    kind = model_sentences_of(run)
    return sum_model(kind.model, kind.read(words)).labelled(words, vocabulary=model_vocabulary(kind.model))


@lru_cache(maxsize=16)
def model_weights(name: str, tokens: tuple[str, ...]) -> torch.Tensor:
    """The attention weights of all heads of a model, (L, H, T, T). tokens: the input of the model."""
    parts = run_model(name, tokens).parts
    return torch.stack([trace["weights"][0] for part, trace in parts.items() if part.endswith(".attention")])


def model_vocabulary(name: str) -> tuple[str, ...]:
    """The vocabulary of a model, in the order of its embedding rows."""
    return tuple(vocabulary(load_recipe(name).language))
