"""Two classifiers of which it is known what decides: their texts, their runs, and what other weights do to them."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from attention_core.learned.insight.attention_swaps import Shift, shift_of
from attention_core.learned.insight.attributions import right_without, with_witnesses
from attention_core.learned.insight.views import classifies, numbers, symbols_of
from attention_core.learned.tasks import evidence
from attention_core.record.trace import Trace
from pages.runs.cache import kept, trace_of
from pages.runs.network_store import find
from pages.setup.setup import Setup

EXAMPLES = {"lookup": "learned_lookup", "vote": "learned_vote"}
TEXTS = {"lookup": "b7c>3ah1f", "vote": "+.-++.-+"}  # what is read at first


def check_text(task: str, text: str) -> None:
    """Raises AttentionError for a text that no classifier of the task can read."""
    symbols_of(text, evidence.TASKS[task].symbols)


def setup_of(task: str, network: str, text: str, heads: int = 1) -> Setup:
    """The run of a classifier's attention."""
    return Setup(EXAMPLES[task], context_text=text, network=network, heads=None if heads == 1 else heads)


# ---- what it says ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Verdict:
    """The class that is held most probable, by its number and name, and how probable."""

    number: int
    name: str
    share: float


@kept
def verdict_of(task: str, network: str, text: str) -> Verdict:
    """What a classifier says of a text."""
    shares = classifies(find(network), text)
    number = max(range(len(shares)), key=shares.__getitem__)
    return Verdict(number, evidence.TASKS[task].classes[number], shares[number])


@kept
def witnesses_of(task: str, network: str, text: str) -> Trace:
    """The run, with gradient x input and what leaving each symbol out does to the class."""
    verdict = verdict_of(task, network, text)
    return with_witnesses(trace_of(setup_of(task, network, text)), find(network), text, verdict.number)


# ---- other weights ---------------------------------------------------------------------------------------------------
@kept
def shifts_of(task: str, network: str, kind: str) -> Shift:
    """What other weights do to the predictions for all texts that are measured."""
    texts, _ = evidence.held_out(task)
    with torch.inference_mode(False):
        return shift_of(find(network).model(torch.float32), texts, kind)


@kept
def other_run(network: str, text: str, kind: str) -> tuple[Trace, float]:
    """A text under other weights, and how far the prediction moves."""
    trained = find(network)
    with torch.inference_mode(False):
        shift = shift_of(trained.exact_model, numbers(trained, text), kind)
        run = trained.exact_model.trace(numbers(trained, text), shift.weights)
    return run, shift.shift.item()


# ---- several heads ---------------------------------------------------------------------------------------------------
@kept
def right_by_heads(network: str, heads: int) -> Mapping[tuple[int, ...], float]:
    """The share of texts that get their class: with all heads, without each one, and with each one alone."""
    texts, classes = evidence.held_out("lookup")
    every = range(heads)
    offs = [(), *((head,) for head in every), *(tuple(other for other in every if other != head) for head in every)]
    return find(network).measure(lambda model: {off: right_without(model, texts, classes, off) for off in offs})
