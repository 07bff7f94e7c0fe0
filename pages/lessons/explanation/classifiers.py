"""Computes runs, attributions, and predictions under other weights, for two classifiers with known evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from attention_core.learned.insight.attention_swaps import PredictionShift, measure_shift
from attention_core.learned.insight.attributions import classifier_accuracy_without, with_attributions
from attention_core.learned.insight.views import classify_text, symbol_numbers, symbols_of
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.tasks import evidence
from attention_core.record.trace import Trace
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.setup.setup import Setup, make_setup

CLASSIFIER_EXAMPLES = {"lookup": "learned_lookup", "vote": "learned_vote"}
CLASSIFIER_START_TEXTS = {"lookup": "b7c>3ah1f", "vote": "+.-++.-+"}  # task of a classifier -> default text


def check_classifier_text(task: str, text: str) -> None:
    """Raises AttentionError for a text that no classifier of the task can read."""
    symbols_of(text, evidence.TASKS[task].symbols)


def setup_for_classifier(task: str, network: str, text: str, heads: int = 1) -> Setup:
    """Returns the Setup of a classifier's attention layer with a text as input."""
    return make_setup(
        example=CLASSIFIER_EXAMPLES[task],
        context_text=text,
        network=network,
        heads=None if heads == 1 else heads,
    )


# ---- the prediction of a classifier ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class ClassPrediction:
    """The most probable class of a text: its index, its name and its probability."""

    number: int
    name: str
    share: float


@cache_by_setup
def predict_text_class(task: str, network: str, text: str) -> ClassPrediction:
    """Returns the class that a classifier predicts for a text."""
    classes = evidence.TASKS[task].classes
    shares = classify_text(find_network(network), text)
    largest = max(shares)
    number = list(shares).index(largest)
    return ClassPrediction(number, classes[number], largest)


@cache_by_setup
def trace_with_attributions(task: str, network: str, text: str) -> Trace:
    """Returns the run of a classifier on a text, with two attributions (gradient x input, leave-one-out) for its
    prediction.
    """
    setup = setup_for_classifier(task, network, text)
    prediction = predict_text_class(task, network, text)
    return with_attributions(
        trace_for(setup),
        find_network(network),
        text,
        prediction.number,
    )


# ---- other weights ---------------------------------------------------------------------------------------------------
@cache_by_setup
def measure_prediction_shift(task: str, network: str, kind: str) -> PredictionShift:
    """Measures how far replacement weights shift a classifier's predictions for held-out texts.

    kind: the kind of replacement weights, such as "uniform".
    """
    texts, _ = evidence.held_out(task)
    with torch.inference_mode(False):
        model = find_network(network).model(torch.float32)
        return measure_shift(model, texts, kind)


@cache_by_setup
def run_with_other_weights(network: str, text: str, kind: str) -> tuple[Trace, float]:
    """Returns the run of a text with replacement weights instead of the learned ones, and how far the prediction
    shifts.

    kind: the kind of replacement weights, such as "uniform".
    """
    trained = find_network(network)
    with torch.inference_mode(False):
        symbols = symbol_numbers(trained, text)
        shift = measure_shift(trained.exact_model, symbols, kind)
        run = trained.exact_model.trace(symbols, shift.weights)
    return run, shift.shift.item()


# ---- several heads ---------------------------------------------------------------------------------------------------
@cache_by_setup
def measure_accuracy_by_heads(network: str, heads: int) -> Mapping[tuple[int, ...], float]:
    """Returns {tuple of ablated heads: accuracy on held-out texts}.

    The tuples are: no head, each head alone, and all heads but one.
    """
    texts, classes = evidence.held_out("lookup")
    sets_off = list_heads_to_switch_off(heads)

    def measure(model: Classifier) -> Mapping[tuple[int, ...], float]:
        return {off: classifier_accuracy_without(model, texts, classes, off) for off in sets_off}

    return find_network(network).measure(measure)


def list_heads_to_switch_off(heads: int) -> list[tuple[int, ...]]:
    """Returns the sets of heads to ablate: none; each head alone; all heads but one."""
    alone = [(head,) for head in range(heads)]
    all_but_one = []
    for kept in range(heads):
        others = [head for head in range(heads) if head != kept]
        all_but_one.append(tuple(others))
    return [(), *alone, *all_but_one]
