"""The heads of every layer of a language model as small maps side by side."""

from functools import lru_cache

from attention_core.drawing.raster import SmallRaster, small_raster
from attention_core.learned.language.batches import START
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from pages.panels.setup_controls import take_made_change
from pages.panels.thumbnails import select_head
from pages.runs.model_runs import model_sentences_of
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import say

RAIL_MAP_SIDE = 40  # rows or columns of a head's small map


def words_of_model(screen: ScreenState) -> tuple[str, ...] | None:
    """The words on the screen that a language model reads, START first; None if no language model is used, or if rows
    are not words.
    """
    if resolve_run(screen.setup.run).model is None:
        return None
    words = screen.inputs.queries
    if screen.inputs.batch:
        last = len(screen.inputs.batch) - 1
        words = screen.inputs.batch[min(screen.selection.batch, last)].words
    return words if words[:1] == (START,) else None


def pack_layers(screen: ScreenState) -> tuple[dict, bytes]:
    """Returns the layers for the picture (the current one, the names of the heads), and the maps of all heads as bytes
    of colour numbers, map after map; both are empty if no language model is used.
    """
    words = words_of_model(screen)
    if words is None:
        return {}, b""
    kind = model_sentences_of(screen.setup.run)
    maps = draw_layer_maps(kind.model, kind.read(words))
    shape = load_recipe(kind.model).shape()
    numbers = range(1, shape.layers + 1)
    layers = {
        "now": resolve_run(screen.setup.run).layer,
        "names": [[name_model_head(screen.setup, layer, head) for head in range(shape.heads)] for layer in numbers],
        "titles": [say("model.layer", layer=layer) for layer in numbers],
        "shape": maps[0].drawn,
    }
    return layers, b"".join(each.cells for each in maps)


@lru_cache(maxsize=16)  # sentences; each map has at most 40 x 40 cells. Every selected layer calls it again
def draw_layer_maps(name: str, tokens: tuple[str, ...]) -> tuple[SmallRaster, ...]:
    """The weights of every head of every layer as small maps. name: of a model. tokens: its input."""
    stack = run_model(name, tokens)
    maps = []
    for part, trace in stack.parts.items():
        if part.endswith(".attention"):
            places = [{"B": 0, "H": head} for head in range(trace.sizes()["H"])]
            maps += [small_raster(trace, "weights", place, most=RAIL_MAP_SIDE) for place in places]
    return tuple(maps)


def name_model_head(setup: Setup, layer: int, head: int) -> str:
    """The name of a head: the question that the head answers, if any, otherwise its number."""
    recipe = load_recipe(resolve_run(setup.run).model)
    shape = recipe.shape()
    if shape.answers == "heads" and layer == shape.layers and head in recipe.questions:
        return say(f"model.question.{QUESTIONS[head]}")
    return str(head + 1)


def open_head(query: int, layer: int, head: int) -> None:
    """Opens a head of any layer in the picture; returns early if the model has no such head.

    query: the word to select. layer: counted from 1.
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


def open_layer(layer: int, query: int, head: int) -> None:
    """Opens a head of another layer."""
    take_made_change("layer", lambda: {"layer": layer, "head": head, "token": query, "step": None, "cell": None})
    redraw()
