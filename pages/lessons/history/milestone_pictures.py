"""Draws the small pictures of the history page, one for each paper, from computed numbers if the app has them."""

from collections.abc import Callable, Sequence

import numpy as np

from attention_core.drawing.small_pictures import (
    Box,
    Shape,
    arc_shapes,
    arrow_shapes,
    bar_shapes,
    block_shapes,
    compared_shapes,
    curve_shapes,
    shape,
    shared_head_shapes,
    spread_evenly,
    strip_shapes,
)
from attention_core.variants.encoders import Encoder
from attention_core.variants.influence import default_position, distances_heard
from pages.lessons.attention_pictures import (
    draw_alignment,
    draw_groups,
    draw_hidden_word,
    draw_masked,
    draw_patches,
)
from pages.lessons.encoders import COMPARED_ENCODER_WIDTH, cached_influence
from pages.lessons.learned.learning import load_shipped_training
from pages.lessons.learned.writers import WRITING_TASKS
from pages.runs.cache import cache_measurement, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import make_setup

SENTENCE = make_setup(example="en_it")
LEFT_HALF, RIGHT_HALF = (8.0, 10.0, 66.0, 70.0), (86.0, 10.0, 66.0, 70.0)
UPPER_HALF, LOWER_HALF = (8.0, 8.0, 144.0, 33.0), (8.0, 49.0, 144.0, 33.0)
ROW_OF_STATES: Box = (8.0, 35.0, 144.0, 20.0)
PALE = 0.25
WEAKEST_STATE = 0.08  # least strength of a state's colour, so that it is visible


@cache_measurement
def draw_milestone(milestone: str) -> list[Shape]:
    """Returns the shapes of a milestone's picture."""
    return MILESTONE_PICTURES[milestone]()


# ---- recurrent states ------------------------------------------------------------------------------------------------
def draw_states(encoder: Encoder) -> list[Shape]:
    """Draws the states of a recurrent network; the stronger a colour, the more its word influences the last state."""
    at = default_position(False, trace_for(SENTENCE).sizes()["T"])
    distances = distances_heard(False, at + 1, at)
    heard = cached_influence(encoder, SENTENCE, at, "share", 8)
    from_far_to_near = [heard.at(distance) for distance in sorted(distances, reverse=True)]
    return chain_shapes(np.array(from_far_to_near) / max(from_far_to_near), ROW_OF_STATES)


def chain_shapes(strengths: Sequence[float], row: Box) -> list[Shape]:
    """Draws a row of dots on a line, for the states of a recurrent network; each dot's colour has the
    given strength.
    """
    across = spread_evenly(len(strengths), row)
    middle = row[1] + row[3] / 2
    shapes = [shape("line", "faint", 1.0, (across[0], middle, across[-1], middle, 2))]
    for x, strength in zip(across, strengths, strict=True):
        shapes.append(shape("dot", "ground", 1.0, (x, middle, 7)))
        shapes.append(shape("dot", "share", max(WEAKEST_STATE, strength), (x, middle, 7)))
    return shapes


def draw_elman() -> list[Shape]:
    """Draws the states of a simple RNN (Elman), each step of which partly overwrites the state."""
    return draw_states(Encoder("rnn", width=COMPARED_ENCODER_WIDTH, gain=0.9))


def draw_lstm() -> list[Shape]:
    """Draws the states of an LSTM, which its gates preserve."""
    return draw_states(Encoder("lstm", width=COMPARED_ENCODER_WIDTH, keep=2))


def draw_memory() -> list[Shape]:
    """Draws a head that reads the rows of a memory, with weights from a softmax over cosines."""
    trace = trace_for(SENTENCE.with_fields(score="cosine"))
    chosen = selection_of(trace, SENTENCE)
    shares = trace["weights"][0, chosen.head, chosen.query].numpy()  # (S,)
    shapes = []
    for key, share in enumerate(shares):
        top = 9.0 + 10.5 * key
        vector = trace["k"][0, chosen.kv, key].numpy()  # (d_k,)
        shapes.append(shape("line", "share", max(PALE, share), (22, 45, 104, top + 4, 8 * share)))
        shapes += strip_shapes(vector, "k", (106, top, 24, 10))
    return [*shapes, shape("dot", "q", 1.0, (20, 45, 7))]


def draw_one_vector() -> list[Shape]:
    """Draws a sentence encoded into one vector, and a sentence generated from that vector."""
    shapes = [shape("line", "x", 1.0, (20, 45, 140, 45, 2))]
    for x in (16, 32, 48):
        shapes.append(shape("dot", "k", 1.0, (x, 45, 6)))
        shapes.append(shape("dot", "q", 1.0, (160 - x, 45, 6)))
    return [*shapes, shape("dot", "share", 1.0, (80, 45, 13))]


def draw_limit() -> list[Shape]:
    """Draws the share of texts that are generated exactly from one vector, by length of the text."""
    record = load_shipped_training("reversal_one")
    return curve_shapes([("share", record.places, record.figures_at(WRITING_TASKS["reversal"].telling))])


# ---- weights over a source -------------------------------------------------------------------------------------------
def draw_products() -> list[Shape]:
    """Draws a query and keys as arrows, compared by their dot product."""
    trace = trace_for(SENTENCE)
    chosen = selection_of(trace, SENTENCE)
    keys = trace["k"][0, chosen.kv].numpy()  # (S, d_k)
    return compared_shapes(trace["q"][0, chosen.head, chosen.query].numpy(), keys)


# ---- attention alone -------------------------------------------------------------------------------------------------
def draw_projections() -> list[Shape]:
    """Draws the vector x of one word, and the query, key and value computed from x."""
    trace = trace_for(SENTENCE)
    chosen = selection_of(trace, SENTENCE)
    heads = {"q": chosen.head, "k": chosen.kv, "v": chosen.kv}
    shapes = []
    for row, (name, head) in enumerate(heads.items()):
        top = 11.0 + 25 * row
        shapes.append(shape("line", name, 1.0, (80, 45, 104, top + 9, 2)))
        shapes += strip_shapes(trace[name][0, head, chosen.query].numpy(), name, (106, top, 46, 20))
    return shapes + strip_shapes(trace["x"][0, chosen.query].numpy(), "x", (8, 36, 76, 20))


def draw_causal() -> list[Shape]:
    """Draws a causal mask: each word attends to itself and the words before it."""
    return draw_masked("causal")


def draw_other_weights() -> list[Shape]:
    """Draws learned weights, and below them uniform weights."""
    shares = trace_for(make_setup(example="learned_lookup"))["weights"][0, 0, 0].numpy()
    even = np.full_like(shares, 1 / len(shares))
    return bar_shapes(shares, "share", UPPER_HALF, 1.0) + bar_shapes(even, "x", LOWER_HALF, 1.0)


def draw_one_shared_head() -> list[Shape]:
    """Draws multi-query attention: one key/value head for all query heads."""
    return shared_head_shapes(1)


def draw_strides() -> list[Shape]:
    """Draws a dilated causal mask: every second word, up to six away."""
    return draw_masked("dilated:3:2", "causal")


def draw_window() -> list[Shape]:
    """Draws a local window with one global word, which attends to all words and is attended to by all."""
    return draw_masked("local_global:1:0")


def draw_turned() -> list[Shape]:
    """Draws RoPE: one query as an arrow, which is rotated further at each position."""
    trace = trace_for(SENTENCE.with_fields(text="it it it it", positions=("rope",)))
    head = selection_of(trace, SENTENCE).head
    return arrow_shapes([("q", query) for query in trace["q"][0, head].numpy()])


def draw_penalty() -> list[Shape]:
    """Draws ALiBi: the bias added to the scores of the last word, lower for farther keys."""
    bias = trace_for(SENTENCE.with_fields(positions=("alibi",)))["bias"][0, -1].numpy()  # (S,)
    return bar_shapes(bias, "minus")


def draw_copying() -> list[Shape]:
    """Draws an induction head: each symbol attends to what followed its previous occurrence."""
    heads = trace_for(make_setup(example="learned_copy"))["weights"][0].numpy()  # (H, T, T)
    return arc_shapes(max(heads, key=lambda weights: weights[-5:].max()))


def draw_blocks() -> list[Shape]:
    """Draws an attention map in blocks, of which only one is in memory at a time."""
    return block_shapes(3)


def draw_sink() -> list[Shape]:
    """Draws an attention sink: words that match nothing give their weight to the first token."""
    return draw_masked(example="en_it_sink")


MILESTONE_PICTURES: dict[str, Callable[[], list[Shape]]] = {
    "1990_elman": draw_elman,
    "1997_lstm": draw_lstm,
    "2014_ntm": draw_memory,
    "2014_seq2seq": draw_one_vector,
    "2014_cho": draw_limit,
    "2015_bahdanau": draw_alignment,
    "2015_luong": draw_products,
    "2015_xu": draw_patches,
    "2017_vaswani": draw_projections,
    "2018_gpt": draw_causal,
    "2019_bert": draw_hidden_word,
    "2019_jain": draw_other_weights,
    "2019_shazeer": draw_one_shared_head,
    "2019_child": draw_strides,
    "2020_longformer": draw_window,
    "2021_rope": draw_turned,
    "2022_alibi": draw_penalty,
    "2022_olsson": draw_copying,
    "2022_flash": draw_blocks,
    "2023_gqa": draw_groups,
    "2024_sinks": draw_sink,
}
