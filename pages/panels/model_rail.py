"""Packs the attention maps of all heads and layers of a language model, which the picture shows as small maps."""

import numpy as np

from attention_core.drawing.cells import unblocked_cells
from attention_core.learned.language.batches import START
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.model_cache import MODEL_CACHE
from pages.panels.setup_controls import take_made_change
from pages.panels.thumbnails import select_head
from pages.runs.model_runs import model_sentences_of
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import say


def words_of_model(screen: ScreenState) -> tuple[str, ...] | None:
    """Returns the words on the screen that a language model reads, START first.

    Returns None if no language model is used, or if the rows on the screen are not words.
    """
    if resolve_run(screen.setup.run).model is None:
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
    shape = load_recipe(kind.model).shape()
    numbers = range(1, shape.layers + 1)
    layers = {
        "now": resolve_run(screen.setup.run).layer,
        "names": [[name_model_head(screen.setup, layer, head) for head in range(shape.heads)] for layer in numbers],
        "titles": [say("model.layer", layer=layer) for layer in numbers],
        "shape": maps.shape[-2:],
    }
    return layers, maps.tobytes()


@MODEL_CACHE.keep
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
    recipe = load_recipe(resolve_run(setup.run).model)
    shape = recipe.shape()
    if shape.answers == "heads" and layer == shape.layers and head in recipe.questions:
        return say(f"model.question.{QUESTIONS[head]}")
    return str(head + 1)


def open_head(query: int, layer: int, head: int) -> None:
    """Selects a head of any layer after a click on its small map, if the model has this head.

    query: the word to select. layer: the number of the layer, counted from 1. head: the index of the head, from 0.
    """
    setup = setup_state.current_setup()
    name = resolve_run(setup.run).model
    shape = None if name is None else load_recipe(name).shape()
    if shape is None or layer not in range(1, shape.layers + 1) or head not in range(shape.heads):
        return
    if layer == resolve_run(setup.run).layer:
        select_head(head)
    else:
        open_layer(layer, query, head)


def open_layer(layer: int, query: int, head: int, **shown: str | None) -> None:
    """Selects a head of another layer and the word `query`, and closes the opened cell.

    shown: the keyframe or view of the picture, as `stop`, if it changes. A run that is no layer of a language model
    stays as it is.
    """
    if resolve_run(setup_state.current_setup().run).layer is None:
        return
    chosen = {"layer": layer, "head": head, "token": query, "step": None, "cell": None, **shown}
    take_made_change("layer", lambda: chosen)
    redraw()
