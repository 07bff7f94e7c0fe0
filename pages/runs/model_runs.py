"""Runs all layers of a model on the page's sentence; the workbench shows one of the layers.

The model is a language model of this app, or a recorded whole model with the text that it read.
"""

import torch

from attention_core.learned.language.read_model import ReadModel, find_model, remembered
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import sum_model
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import Stack
from pages.runs.compute import sentences_of
from pages.runs.made_sentences import ModelSentences
from pages.runs.recorded_layer import RecordedModelLayer, find_recorded
from pages.setup.resolve import resolve_run
from pages.setup.setup import RunSetup

ModelTexts = ModelSentences | RecordedModelLayer


def model_sentences_of(run: RunSetup) -> ModelTexts | None:
    """Returns the sentences of a run that a model with all its layers reads; None for other kinds of input, and for a
    recorded model that is no longer kept.
    """
    if resolve_run(run).mode != "recorded":
        kind = sentences_of(run)
    else:
        try:
            kind = find_recorded(run)
        except AttentionError:
            return None
    return kind if isinstance(kind, ModelTexts) else None


def model_of(run: RunSetup) -> ReadModel | None:
    """Returns the model that reads the sentences of a run; None for other kinds of input."""
    kind = model_sentences_of(run)
    return None if kind is None else find_model(kind.model)


def model_stack(run: RunSetup, words: tuple[str, ...], word: int | None = None) -> Stack:
    """Runs the model on a sentence; returns every layer, and the residual stream and the logits as sums, with labels.

    words: the sentence, for a language model of this app with START as its first word. word: the vocabulary index of
    the word whose logit is split into contributions, for a recorded model; None to split none. For a language model of
    this app, all logits are split. A visitor's changes of the shown layer have no effect on this run.
    """
    kind = model_sentences_of(run)
    model, tokens = find_model(kind.model), kind.read(words)
    split = model.words_of_sum(word)
    stack = sum_model(kind.model, tokens) if split is None else sum_model(kind.model, tokens, split)
    return stack.labelled(words, vocabulary=model.vocabulary)


@remembered
def model_weights(name: str, tokens: tuple[str, ...]) -> torch.Tensor:
    """Returns the attention weights of all heads of a model, (L, H, T, T). tokens: the input of the model."""
    parts = run_model(name, tokens).parts
    return torch.stack([trace["weights"][0] for part, trace in parts.items() if part.endswith(".attention")])


def model_vocabulary(name: str) -> tuple[str, ...]:
    """Returns the vocabulary of a model, in the order of its embedding rows."""
    return find_model(name).vocabulary
