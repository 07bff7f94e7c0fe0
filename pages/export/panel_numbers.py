"""The numbers of the panel of a language model that is open: each table as a step of a Trace."""

from collections.abc import Iterator

from torch import Tensor

from attention_core import Trace
from attention_core.analysis.rollout import roll_out
from attention_core.learned.language.circuits import CIRCUIT
from attention_core.learned.language.shipped import load_recipe
from attention_core.record.trace import Step
from attention_core.transformer.stack import UNEMBEDDING
from pages.panels.model_circuits import MAPS, view_circuit
from pages.panels.model_look import LOGITS, SUM, view_block
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import words_of_model
from pages.panels.model_words import current_writing, view_blank, view_words
from pages.runs.model_runs import model_sentences_of, model_vocabulary, model_weights
from pages.session.view import ScreenState
from pages.setup.setup import layer_of

Table = tuple[Trace, str]  # the run, and the step that is a table


def list_panel_numbers(screen: ScreenState) -> Iterator[Table]:
    """The tables of the open panel, of a screen that a language model reads."""
    tables = TABLES.get(open_panel(screen))
    return iter(()) if tables is None else tables(screen)


def list_sum(screen: ScreenState) -> Iterator[Table]:
    """What each part adds to each word's vector, and how far it pushes the logit of the word that is looked at."""
    view = view_block(screen)
    yield view.stack[SUM], "parts"
    logits = view.stack[LOGITS]
    pushes = logits["pushes"][:, 0, :, view.target]  # (part, B, T, V) -> (part, T)
    yield make_table("pushes", pushes, part=logits.labels["part"], T=words_of_model(screen))


def list_rollout(screen: ScreenState) -> Iterator[Table]:
    """Attention rollout after each layer."""
    kind, words = model_sentences_of(screen.setup), words_of_model(screen)
    weights = model_weights(kind.model, kind.read(words))  # (L, H, T, T)
    rolled = roll_out(weights)
    layers = tuple(str(layer) for layer, _ in enumerate(rolled, start=1))
    yield make_table("rollout", rolled, layer=layers, T=words, S=words)


def list_next_words(screen: ScreenState) -> Iterator[Table]:
    """How probable each word is: the one that comes next, or the one that is hidden."""
    kind = model_sentences_of(screen.setup)
    if load_recipe(kind.model).causal:
        words = current_writing(screen).words
        view = view_words(screen, words, words)
    else:
        view = view_blank(screen)
    if view is not None:
        shares = view.stack[UNEMBEDDING]["probabilities"][0, view.at]  # (B, T, V) -> (V,)
        yield make_table("next_word", shares, V=model_vocabulary(kind.model))


def list_circuits(screen: ScreenState) -> Iterator[Table]:
    """What each head of the layer asks, writes and answers on words alone."""
    layer = layer_of(screen.setup)
    trace = view_circuit(screen, model_sentences_of(screen.setup).model, layer).stack[f"{layer}.{CIRCUIT}"]
    for step in MAPS:
        if step in trace:
            yield trace, step


def make_table(name: str, values: Tensor, **labels: tuple[str, ...]) -> Table:
    """Numbers as a step of this name. labels: of each axis, in their order."""
    return Trace({name: Step(name, values, tuple(labels))}, labels), name


TABLES = {"sum": list_sum, "heads": list_rollout, "words": list_next_words, "circuits": list_circuits}
