"""Draws for each task a small picture of suitable attention, from computed weights if the app has a run of it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attention_core.drawing.small_pictures import Box, Shape, map_shapes, shape, strip_shapes, thread_shapes
from pages.lessons.attention_pictures import (
    draw_alignment,
    draw_groups,
    draw_hidden_word,
    draw_masked,
    draw_patches,
)
from pages.runs.cache import cache_measurement, trace_for
from pages.setup.setup import make_setup

NOUN = 3  # index of the word "dog" in the example
HALVES: tuple[Box, Box] = ((8.0, 10.0, 66.0, 70.0), (86.0, 10.0, 66.0, 70.0))


@cache_measurement
def draw_task(task: str) -> list[Shape]:
    """Returns the shapes of a task's picture."""
    return TASK_PICTURES[task]()


def draw_heads() -> list[Shape]:
    """Draws the maps of two heads on one sentence, each of which follows a different relation between words."""
    weights = trace_for(make_setup(example="en_it"))["weights"][0].numpy()  # (H, T, S)
    return [each for head, half in enumerate(HALVES) for each in map_shapes(weights[head], box=half)]


def draw_set() -> list[Shape]:
    """Draws the weights of one query on the same words in two orders: the weights move with their words."""
    weights = trace_for(make_setup(example="en_it"))["weights"][0, 0, 5].numpy()  # (S,)
    places = np.arange(len(weights))
    shapes = []
    for order, half in zip((places, np.roll(places, 3)), HALVES, strict=True):
        shapes += thread_shapes(weights[None, order], half)
    return shapes


def draw_latent() -> list[Shape]:
    """Draws the vector of a word, its short cached latent, and the keys of two heads computed from the latent."""
    trace = trace_for(make_setup(example="en_it", modifiers=("latent",)))
    shapes = [shape("line", "x", 1.0, (52, 45, 68, 45, 2))]
    shapes += strip_shapes(trace["x"][0, NOUN].numpy(), "x", (8, 38, 44, 14))
    shapes += strip_shapes(trace["latent_x"][0, NOUN].numpy(), "share", (70, 38, 22, 14))
    keys = trace["k"][0, :, NOUN].numpy()  # (H, d_k)
    for top, key in zip((17, 59), keys, strict=True):
        shapes.append(shape("line", "k", 1.0, (92, 45, 108, top + 7, 2)))
        shapes += strip_shapes(key, "k", (110, top, 42, 14))
    return shapes


def draw_state() -> list[Shape]:
    """Draws a row of words that are added, one after the other, to a state of constant size."""
    words = [shape("dot", "k", 1.0, (14 + 17 * place, 45, 5)) for place in range(6)]
    line = shape("line", "faint", 1.0, (14, 45, 126, 45, 2))
    state = [shape("rect", "share", 0.75, (120, 25, 32, 40))]
    return [line, *words, *state]


TASK_PICTURES: dict[str, Callable[[], list[Shape]]] = {
    "translate": partial(draw_masked, example="translator"),
    "write": partial(draw_masked, "causal"),
    "understand": draw_hidden_word,
    "relations": draw_heads,
    "image": draw_patches,
    "align": draw_alignment,
    "set": draw_set,
    "long": partial(draw_masked, "local:1"),
    "serve": draw_groups,
    "latent": draw_latent,
    "stream": draw_state,
}
