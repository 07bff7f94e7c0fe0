"""Runs all layers of a language model on the page's sentence; the workbench shows one of the layers."""

import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import sum_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.transformer.stack import Stack
from pages.runs.compute import sentences_of
from pages.runs.made_sentences import ModelSentences
from pages.setup.setup import RunSetup


def model_sentences_of(run: RunSetup) -> ModelSentences | None:
    """Returns the sentences of a run that a language model reads; None for other kinds of input."""
    kind = sentences_of(run)
    return kind if isinstance(kind, ModelSentences) else None


def model_stack(run: RunSetup, words: tuple[str, ...]) -> Stack:
    """Runs the trained model on a sentence; returns every layer and the residual stream, with labelled axes.

    words: the sentence, with START as its first word. A visitor's changes of the shown layer have no effect here.
    """
    kind = model_sentences_of(run)
    return sum_model(kind.model, kind.read(words)).labelled(words, vocabulary=model_vocabulary(kind.model))


@MODEL_CACHE.keep
def model_weights(name: str, tokens: tuple[str, ...]) -> torch.Tensor:
    """Returns the attention weights of all heads of a model, (L, H, T, T). tokens: the input of the model."""
    parts = run_model(name, tokens).parts
    return torch.stack([trace["weights"][0] for part, trace in parts.items() if part.endswith(".attention")])


def model_vocabulary(name: str) -> tuple[str, ...]:
    """Returns the vocabulary of a model, in the order of its embedding rows."""
    return tuple(vocabulary(load_recipe(name).language))
