"""The heads of every layer of a language model, as small maps beside each other: a rail through the whole model."""

from attention_core.drawing.raster import small_raster
from attention_core.learned.language.batches import START
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import Stack
from pages.panels.setup_controls import take_made_change
from pages.runs.model_runs import model_sentences_of, model_stack
from pages.session.fragments import redraw
from pages.session.view import ScreenState
from pages.setup.setup import Setup, layer_of, model_of
from pages.site.words import say

RAIL_MAP_SIDE = 40  # rows or columns of a head's small map


def words_of_model(screen: ScreenState) -> tuple[str, ...] | None:
    """The words on the screen as a language model reads them; None where none does, or where rows are no words."""
    if model_of(screen.setup) is None or model_sentences_of(screen.setup) is None:
        return None
    words = screen.inputs.queries
    if screen.inputs.batch:
        last = len(screen.inputs.batch) - 1
        words = screen.inputs.batch[min(screen.selection.batch, last)].words
    return words if words[:1] == (START,) else None


def pack_layers(screen: ScreenState) -> tuple[dict, bytes]:
    """The layers for the picture: which one is on the screen, how each head is called; and the maps of them all, as
    colour numbers, one map behind the other. Nothing where no language model reads the sentence."""
    words = words_of_model(screen)
    if words is None:
        return {}, b""
    stack = model_stack(screen.setup, words)
    maps, names = [], []
    for layer in range(1, count_layers(stack) + 1):
        trace = stack[f"{layer}.attention"]
        heads = trace.sizes()["H"]
        maps += [small_raster(trace, "weights", {"B": 0, "H": head}, most=RAIL_MAP_SIDE) for head in range(heads)]
        names.append([name_model_head(screen.setup, layer, head) for head in range(heads)])
    layers = {
        "now": layer_of(screen.setup),
        "names": names,
        "titles": [say("model.layer", layer=layer) for layer in range(1, len(names) + 1)],
        "shape": maps[0].drawn,
    }
    return layers, b"".join(each.cells for each in maps)


def count_layers(stack: Stack) -> int:
    """How many layers a stack has."""
    return sum(name.endswith(".attention") for name in stack.parts)


def name_model_head(setup: Setup, layer: int, head: int) -> str:
    """What a head is called: the question that it answers, if it is one out of which an answer is read."""
    recipe = load_recipe(model_of(setup))
    shape = recipe.shape()
    if shape.answers == "heads" and layer == shape.layers and head in recipe.questions:
        return say(f"model.question.{QUESTIONS[head]}")
    return str(head + 1)


def open_layer(layer: int, query: int, head: int) -> None:
    """Opens a head of another layer."""
    take_made_change("layer", lambda: {"layer": layer, "head": head, "token": query, "step": None, "cell": None})
    redraw()
