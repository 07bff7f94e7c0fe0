"""Packs the attention maps of all heads and layers of a language model, which the picture shows as small maps."""

import numpy as np

from attention_core.drawing.cells import unblocked_cells
from attention_core.learned.language.batches import START
from attention_core.learned.language.read_model import ReadModel, find_model, remembered
from attention_core.learned.language.reading import run_model
from pages.panels.setup_controls import take_made_change
from pages.panels.thumbnails import select_head
from pages.runs.model_runs import model_of, model_sentences_of
from pages.runs.recorded_layer import RecordedModelLayer, change_layer
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import say


def words_of_model(screen: ScreenState) -> tuple[str, ...] | None:
    """Returns the words on the screen that a model with all its layers reads; those of a language model begin with
    START.

    Returns None if no such model is used, or if the rows on the screen are not words.
    """
    kind = model_sentences_of(screen.setup.run)
    if isinstance(kind, RecordedModelLayer):
        return kind.own_words()
    if kind is None or resolve_run(screen.setup.run).model is None:
        return None
    words = screen.inputs.queries
    if screen.inputs.batch:
        last = len(screen.inputs.batch) - 1
        words = screen.inputs.batch[min(screen.selection.batch, last)].words
    return words if words[:1] == (START,) else None


def pack_layers(screen: ScreenState) -> tuple[dict, bytes]:
    """Returns a description of the model's layers for the picture, and the attention weights of all heads as bytes.

    The description has the number of the current layer and the names of all heads. The bytes are 32-bit floats, one map
    after the other; a blocked cell is NaN. Returns {} and b"" if no language model is used.
    """
    words = words_of_model(screen)
    if words is None:
        return {}, b""
    kind = model_sentences_of(screen.setup.run)
    maps = list_layer_maps(kind.model, kind.read(words))
    heads = find_model(kind.model).heads
    numbers = range(1, len(heads) + 1)
    layers = {
        "now": resolve_run(screen.setup.run).layer,
        "names": [[name_model_head(screen.setup, layer, head) for head in range(heads[0])] for layer in numbers],
        "titles": [say("model.layer", layer=layer) for layer in numbers],
        "shape": maps.shape[-2:],
    }
    return layers, maps.tobytes()


@remembered
def list_layer_maps(name: str, tokens: tuple[str, ...]) -> np.ndarray:
    """Returns the attention weights of every head of every layer, (L, H, T, T); a blocked cell is NaN.

    name: the name of the model. tokens: the input of the model.
    """
    stack = run_model(name, tokens)
    maps = []
    for part, trace in stack.parts.items():
        if part.endswith(".attention"):
            weights = trace.step("weights").window(B=0)  # (H, T, T)
            free = unblocked_cells(trace, "weights")[0]
            maps.append(np.where(free, weights, np.nan).astype(np.float32))
    return np.stack(maps)


def name_model_head(setup: Setup, layer: int, head: int) -> str:
    """Returns the name of a head: the question that the head answers, or else its number."""
    question = model_of(setup.run).question_of(layer, head)
    return str(head + 1) if question is None else say(f"model.question.{question}")


def name_reading(model: ReadModel) -> str:
    """Returns how a model reads the words that it predicts, as the last part of a text key.

    A decoder predicts the next word, an encoder a hidden one; a recorded encoder reads its text without hiding a word.
    """
    if model.causal:
        return "decoder"
    return "encoder" if model.reads_all else "as_read"


def open_head(query: int, layer: int, head: int) -> None:
    """Selects a head of any layer after a click on its small map, if the model has this head.

    query: the word to select. layer: the number of the layer, counted from 1. head: the index of the head, from 0.
    """
    setup = setup_state.current_setup()
    model = model_of(setup.run)
    heads = {} if model is None else dict(enumerate(model.heads, 1))  # layer -> number of heads
    if head not in range(heads.get(layer, 0)):
        return
    if layer == resolve_run(setup.run).layer:
        select_head(head)
    else:
        open_layer(layer, query, head)


def open_layer(layer: int, query: int, head: int, **shown: str | None) -> None:
    """Selects a head of another layer and the word `query`, and closes the opened cell.

    shown: the keyframe or view of the picture, as `stop`, if it changes. A run that is no layer of a model stays as it
    is.
    """
    run = setup_state.current_setup().run
    if resolve_run(run).layer is None:
        return
    chosen = {"head": head, "token": query, "step": None, "cell": None, **shown}
    take_made_change("layer", lambda: {**change_layer(run, layer), **chosen})
    redraw()
