"""Draws small pictures of kinds of attention, from computed weights, for the pages that mention these kinds."""

import numpy as np

from attention_core.drawing.small_pictures import (
    WHOLE_FIELD,
    Shape,
    map_shapes,
    shape,
    shared_head_shapes,
    spread_evenly,
    thread_shapes,
)
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import make_setup

PALE, WORDS_AROUND = 0.25, 7


def draw_masked(*masks: str, example: str = "en_it") -> list[Shape]:
    """Draws the attention map of one head under all the given masks together; blocked pairs are blank."""
    setup = make_setup(example=example, masks=masks)
    trace = trace_for(setup)
    head = selection_of(trace, setup).head
    allowed = np.isfinite(trace["masked_scores"][0, head].numpy())
    return map_shapes(trace["weights"][0, head].numpy(), allowed)


def draw_alignment() -> list[Shape]:
    """Draws a learned alignment: lines from each generated symbol to the source symbols, whose thickness shows the
    weights.
    """
    return thread_shapes(trace_for(make_setup(example="learned_dates"))["weights"][0, 0].numpy())


def draw_patches() -> list[Shape]:
    """Draws one word as a dot, and the word's weights on the patches of an image."""
    shares = trace_for(make_setup(example="picture"))["weights"][0, 0, 0].numpy()  # (S,)
    side = int(len(shares) ** 0.5)
    patches = shares.reshape(side, side) / shares.max()  # (S,) -> (rows, columns)
    thread = shape("line", "share", PALE, (22, 45, 62, 45, 3))
    return [thread, shape("dot", "q", 1.0, (20, 45, 7)), *map_shapes(patches, box=(64, 8, 88, 74))]


def draw_hidden_word() -> list[Shape]:
    """Draws a masked word that attends to the words on both sides, as an encoder does."""
    across = spread_evenly(WORDS_AROUND, WHOLE_FIELD)
    hidden = across[WORDS_AROUND // 2]
    shapes = []
    for x in across[across != hidden]:
        height = 30 + 0.5 * abs(x - hidden)
        shapes.append(shape("arc", "share", 1.0, (hidden, x, 66, height, 2.5)))
        shapes.append(shape("dot", "k", 1.0, (x, 72, 5)))
    return [*shapes, shape("frame", "q", 1.0, (hidden - 8, 66, 16, 14))]


def draw_groups() -> list[Shape]:
    """Draws grouped-query attention: one key/value head for each group of query heads."""
    return shared_head_shapes(2)
