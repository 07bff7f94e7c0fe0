"""The numbers of the panel of a language model that is open: each table as a step of a Trace."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attention_core import Trace
from attention_core.analysis.rollout import roll_out
from attention_core.learned.language.circuits import CIRCUIT
from attention_core.learned.language.what_if import shares_before_and_after
from attention_core.record.trace import Step
from attention_core.transformer.stack import UNEMBEDDING
from pages.panels.model_circuits import MAPS, view_circuit
from pages.panels.model_look import LOGITS, SUM, view_block
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import words_of_model
from pages.panels.model_what_if import take_changes
from pages.panels.model_words import view_next_word
from pages.panels.what_if_data import title_of
from pages.runs.model_runs import model_sentences_of, model_vocabulary, model_weights
from pages.session.view import ScreenState
from pages.setup.setup import layer_of
from pages.site.words import say

Table = tuple[Trace, str]  # the run, and the step that is a table


def list_panel_numbers(screen: ScreenState) -> Iterator[Table]:
    """The tables of the open panel, of a screen that a language model reads; and what changes do, whatever is open."""
    tables = TABLES.get(open_panel(screen))
    if tables is not None:
        yield from tables(screen)
    yield from list_changed_words(screen)


def list_sum(screen: ScreenState) -> Iterator[Table]:
    """What each part adds to each word's vector, and how far it pushes the logit of the word that is looked at."""
    view = view_block(screen)
    yield view.stack[SUM], "parts"
    logits = view.stack[LOGITS]
    pushes = logits["pushes"][:, 0, :, view.target]  # (part, B, T, V) -> (part, T)
    yield make_step("pushes", pushes, part=logits.labels["part"], T=words_of_model(screen))


def list_rollout(screen: ScreenState) -> Iterator[Table]:
    """Attention rollout after each layer."""
    kind, words = model_sentences_of(screen.setup), words_of_model(screen)
    weights = model_weights(kind.model, kind.read(words))  # (L, H, T, T)
    rolled = roll_out(weights)
    layers = tuple(str(layer) for layer, _ in enumerate(rolled, start=1))
    yield make_step("rollout", rolled, layer=layers, T=words, S=words)


def list_next_words(screen: ScreenState) -> Iterator[Table]:
    """How probable each word is: the one that comes next, or the one that is hidden."""
    view = view_next_word(screen)
    if view is not None:
        shares = view.stack[UNEMBEDDING]["probabilities"][0, view.at]  # (B, T, V) -> (V,)
        yield make_step("next_word", shares, V=model_vocabulary(view.name))


def list_circuits(screen: ScreenState) -> Iterator[Table]:
    """What each head of the layer asks, writes and answers on words alone."""
    trace = view_circuit(screen).stack[f"{layer_of(screen.setup)}.{CIRCUIT}"]
    for step in MAPS:
        if step in trace:
            yield trace, step


def list_changed_words(screen: ScreenState) -> Iterator[Table]:
    """The probability of each word before and after what is changed in the model; nothing where nothing is."""
    if not screen.setup.changes:
        return
    shown = take_changes(screen)
    both = [shares_before_and_after(shown.name, shown.tokens, each, shown.changes) for each in shown.outcomes]
    shares = torch.stack([torch.stack(pair, -1) for pair in both])  # (outcome, V, run)
    outcomes = tuple(title_of(shown, each) for each in shown.outcomes)
    runs = (say("what_if.before"), say("what_if.after"))
    yield make_step("what_if", shares, outcome=outcomes, V=model_vocabulary(shown.name), run=runs)


def make_step(name: str, values: Tensor, **labels: tuple[str, ...]) -> Table:
    """Numbers as a step of this name. labels: of each axis, in their order."""
    return Trace({name: Step(name, values, tuple(labels))}, labels), name


TABLES = {"sum": list_sum, "heads": list_rollout, "words": list_next_words, "circuits": list_circuits}
