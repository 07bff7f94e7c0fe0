"""Draws the accordions of the lesson on positions."""

from dataclasses import replace
from itertools import product

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.analysis.position_effects import (
    SCORE_PARTS,
    distance_after_reordering,
    rope_rotation,
    score_by_distance,
    shuffle_order,
    with_score_parts,
    with_shifted_positions,
)
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.arrows import Arrow, arrow_plane
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.cell_rows import column_of
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.formula import formula
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import REMOVED
from attention_core.mechanism.positions import wavelengths
from attention_core.record.number_text import format_fixed, format_row, format_short
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import RunPicture, make_cell_rows, show_cell_rows, show_side_by_side, show_step_picture
from pages.lessons.sentences import format_gap, list_place_names, quote_token, show_sentence
from pages.lessons.trained_model import show_without
from pages.panels.chart import show_curve_chart, show_plane_chart
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.sentences import PROJECTIONS
from pages.session.labels import Selection, current_palette, formula_names, name_token, place_name, selection_of
from pages.setup.resolve import config_of
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- the words under RoPE, with either way of pairing numbers --------------------------------------------------------
ROTATION_STYLES = ("rope", "rope_half")


def with_rope(setup: Setup, style: str) -> Setup:
    """Returns the Setup with RoPE instead of the position columns of x, with d_k = 4 and head 2 selected.

    style: how RoPE pairs components.
    """
    return setup.with_fields(wiring=("bare",), d_k=4, head=1, positions=(style,))


# ---- drawer "sines": what do sinusoids look like? --------------------------------------------------------------------
SINE_WIDTHS = (2, 4, 6, 8, 12)  # numbers of columns to choose from; 12 columns are 6 pairs of a sine and a cosine
SINE_COUNTS = (4, 6, 8, 12, 16, 24, 32)  # numbers of positions to choose from, each a row of the table


def choose_table() -> Setup:
    """Shows the controls for the size of the table of sinusoids, and its formula; returns the Setup of this table."""
    with st.container(horizontal=True):
        width = slide("width", SINE_WIDTHS, 8)
        count = slide("count", SINE_COUNTS, 16)
    alone = setup_of_positions_alone(count, width)
    trace = trace_for(alone)
    st.latex(formula(trace, "sinusoidal_x", current_palette().families(), formula_names(trace)))
    return alone


def setup_of_positions_alone(count: int, width: int) -> Setup:
    """Returns the Setup whose vectors are sinusoids alone, with their dot products as scores.

    count: the number of positions. width: the number of columns.
    """
    return make_setup(
        example="eight_heads",
        x=pack_matrix(np.zeros((count, width))),
        positions=("sinusoidal",),
        heads=1,
        score="dot",
        **dict.fromkeys(PROJECTIONS, REMOVED),
    )


def show_sine_map(_: Setup) -> None:
    """Shows the table of sinusoids as coloured cells; a row per column of the table, positions from left to right."""
    alone = choose_table()
    trace = trace_for(alone)
    count, width = trace.step("sinusoidal_x").shape
    rows = []
    for column in range(width):
        title = title_column(column, width)
        rows.append(
            column_of(
                title,
                trace,
                "sinusoidal_x",
                (),
                column,
            )
        )
    positions = [str(position) for position in range(count)]
    show_cell_rows("map", rows, positions, {"": trace}, trace)
    link_to_workbench(alone, "sines")


def title_column(column: int, width: int) -> str:
    """Returns the title of a column of the table of sinusoids: sine or cosine, and the wavelength."""
    pair, odd = divmod(column, 2)
    kind = "cos" if odd else "sin"
    length = wavelengths(width)[pair]
    return say("lessons.positions.wave", kind=kind, length=format_short(length, 3))


def show_sine_waves(_: Setup) -> None:
    """Shows the sine of each pair of columns as a curve over the positions."""
    alone = choose_table()
    trace = trace_for(alone)
    count, width = trace.step("sinusoidal_x").shape
    palette = current_palette()
    colours = (palette.q, palette.k, palette.v, palette.share, palette.minus, palette.x)
    positions = range(count)
    sine_columns = range(0, width, 2)  # every second column, because the others are cosines
    waves = []
    for column, colour in zip(sine_columns, colours, strict=False):
        title = title_column(column, width)
        heights = trace["sinusoidal_x"][:, column]  # (T,)
        wave = Curve(title, positions, heights.tolist(), colour)
        waves.append(wave)
    x = Axis(say("lessons.positions.position"), 0, positions[-1])
    y = Axis("", -1, 1)
    picture = curves(waves, x, y, palette)
    show_curve_chart(picture, "positions_waves", say("lessons.positions.waves_alt"))
    link_to_workbench(alone, "sines")


def show_position_pairs(_: Setup) -> None:
    """Shows the dot products of the sinusoids of every two positions, which are equal along each diagonal."""
    alone = choose_table()
    trace = trace_for(alone)
    show_sentence("lessons.positions.diagonal")
    selection = selection_of(trace, make_setup(example="eight_heads"))
    show_step_picture("pairs", trace, "scores", selection)
    link_to_workbench(alone, "sines")


# ---- drawer "order": what if the words are shuffled? -----------------------------------------------------------------
POSITION_VARIANTS = {
    "nothing": {"wiring": ("bare",)},
    "built": {},
    "sinusoidal": {"wiring": ("bare",), "positions": ("sinusoidal",)},
    "alibi": {"wiring": ("bare",), "positions": ("alibi",)},
    "causal": {"wiring": ("bare",), "masks": ("causal",)},
}
OUTPUT_COLUMNS = ("colour", "animal", "action")  # columns of the output that the picture shows
ROUNDING_GAP = 1e-9  # a smaller difference between outputs counts as a rounding error


def show_order(setup: Setup) -> None:
    """Shows that shuffled words keep their outputs only if positions are not encoded."""
    variant = choose_option("told", tuple(POSITION_VARIANTS))
    seed = slide("shuffle", range(1, 11), 1)
    before = setup.with_fields(**POSITION_VARIANTS[variant])
    words = inputs_of(before).queries
    order = shuffle_order(len(words), seed)
    shuffled = tuple(words[place] for place in order)
    after = before.with_fields(text=spell_tokens(shuffled, before.run), token=None)
    plain = trace_for(before)
    permuted = trace_for(after)
    moved = distance_after_reordering(permuted, plain, order)  # (T,)
    largest = float(moved.max())
    word = quote_token(plain, "T", int(moved.argmax()))
    verdict = "stays" if largest < ROUNDING_GAP else "moves"
    show_sentence(f"lessons.positions.{verdict}", gap=format_gap(largest), word=word)
    show_side_by_side(
        make_output_rows("order_before", plain),
        make_output_rows("order_after", permuted),
    )
    link_to_workbench(after, "order")
    show_without("positions")


def make_output_rows(name: str, trace: Trace) -> RunPicture:
    """Returns a picture of the output with one row per word and the columns OUTPUT_COLUMNS."""
    columns = len(OUTPUT_COLUMNS)
    rows = []
    for query, word in enumerate(list_place_names(trace, "T")):
        row = row_of(word, trace, "output", (0, query))
        rows.append(replace(row, refs=row.refs[:columns]))
    return make_cell_rows(
        name,
        rows,
        list_place_names(trace, "D_out")[:columns],
        {"": trace},
        trace,
        corner=say(f"lessons.positions.{name}"),
    )


# ---- drawer "distance", tab: RoPE rotates both pairs of numbers of a query and of a key ------------------------------
def show_rotation(setup: Setup) -> None:
    """Shows how RoPE rotates pairs of components of q and k, so that their score depends only on their distance."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rope = with_rope(setup, choose_option("style", ROTATION_STYLES))
        start = trace_for(rope)
        selection = selection_of(start, rope)
        row = (selection.batch, selection.head, selection.query)
        names = list_place_names(start, "S")
        unturned = trace_for(rope.with_fields(positions=None))
        matches = unturned["scores"][row]  # (S,)
        key = pick_place("key", names, int(matches.argmax()), width=160)
        shift = slide("further", range(0, 21), 0)
    trace = with_shifted_positions(start, shift)
    moved = abs_difference(trace["scores"], start["scores"]).max()
    show_sentence(
        "lessons.positions.turned",
        query=escape_markdown(names[selection.query]),
        key=escape_markdown(names[key]),
        match=format_fixed(float(matches[key])),
        score=format_fixed(float(trace["scores"][row][key])),
        gap=format_gap(float(moved)),
    )
    with st.container(horizontal=True, gap="medium"):
        for pair, name in enumerate(("first", "second")):
            with st.container(width="content"):
                show_rotated_pair(trace, selection, key, pair, name)
    link_to_workbench(rope, "rope")


def show_rotated_pair(trace: Trace, selection: Selection, key: int, pair: int, name: str) -> None:
    """Shows one pair of components of the query and of a key, before and after the rotation.

    pair: the index of the pair.
    """
    q_place = (selection.batch, selection.head, selection.query)
    k_place = (selection.batch, selection.kv, key)
    q_turn = rope_rotation(trace, "q", q_place, pair)
    k_turn = rope_rotation(trace, "k", k_place, pair)
    show_sentence(
        f"lessons.positions.{name}_pair",
        q=format_fixed(q_turn.angle),
        k=format_fixed(k_turn.angle),
    )
    if q_turn.before == k_turn.before == (0.0, 0.0):
        show_sentence("lessons.positions.empty_pair")
        return
    query_word = name_token(trace, "T", selection.query)
    key_word = name_token(trace, "S", key)
    palette = current_palette()
    arrows = [
        Arrow("", *q_turn.before, palette.q, faint=True),
        Arrow(f"q: {query_word}", *q_turn.after, palette.q, q_turn.angle),
        Arrow("", *k_turn.before, palette.k, faint=True),
        Arrow(f"k: {key_word}", *k_turn.after, palette.k, k_turn.angle),
    ]
    picture = arrow_plane(arrows, palette)
    alt = say(f"lessons.positions.{name}_alt")
    show_plane_chart(picture, f"positions_{name}", alt)


# ---- drawer "distance", tab: a score of RoPE against the distance ----------------------------------------------------
MAX_CURVE_DISTANCE = 33  # number of distances in the curve of scores, counted from 0


def show_score_decay(setup: Setup) -> None:
    """Shows the score of the selected query with an equal key, as a curve over the distance between query and key."""
    palette = current_palette()
    distances = range(MAX_CURVE_DISTANCE)
    decays = []
    for style, colour in zip(ROTATION_STYLES, (palette.q, palette.k), strict=True):
        rope = with_rope(setup, style)
        trace = trace_for(rope)
        selection = selection_of(trace, rope)
        q = trace["q_heads"][selection.batch, selection.head, selection.query]  # (d_k,)
        alone = score_by_distance(q, MAX_CURVE_DISTANCE, config_of(rope.run))
        scores = alone["scores"][0, 0, 0]  # (S,)
        name = say(f"lessons.positions.{style}")
        decays.append(Curve(name, distances, scores.tolist(), colour))
    word = quote_token(trace, "T", selection.query)
    show_sentence("lessons.positions.decay", word=word, q=format_row(q.tolist()))
    reach = largest_magnitude_of_curves(decays) or 1.0
    x = Axis(say("lessons.positions.distance"), 0, distances[-1])
    y = Axis(say("lessons.positions.axis_score"), -reach, reach)
    picture = curves(decays, x, y, palette)
    show_curve_chart(picture, "positions_decay", say("lessons.positions.decay_alt"))


def largest_magnitude_of_curves(decays: list[Curve]) -> float:
    """Returns the largest magnitude in several curves."""
    largest = 0.0
    for decay in decays:
        magnitudes = [abs(number) for number in decay.y]
        largest = max(largest, *magnitudes)
    return largest


# ---- drawer "distance", tab: what ALiBi subtracts from each score ----------------------------------------------------
def show_alibi_slopes(setup: Setup) -> None:
    """Shows what ALiBi subtracts from each score, one row per head, or the weights that equal scores then have."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choose_option("alibi", ("bias", "weights"))
        heads = int(choose_option("alibi_heads", ("2", "4", "8"), "8", str))
    alibi = setup.with_fields(
        wiring=("bare",),
        heads=heads,
        d_k=1,
        scale=0.0,
        positions=("alibi",),
    )
    trace = trace_for(alibi)
    selection = selection_of(trace, alibi)
    rows = []
    for head, slope in enumerate(trace.step("bias").operation.params["slopes"]):
        place = (head, selection.query)
        if step == "weights":
            place = (selection.batch, *place)
        name = place_name(trace, "H", head)
        title = say("lessons.positions.slope", head=name, slope=format_short(slope, 3))
        rows.append(row_of(title, trace, step, place))
    weights = trace["weights"][selection.batch, :, selection.query]  # (H, S)
    first, last = weights[0], weights[-1]
    show_sentence(
        "lessons.positions.alibi",
        word=quote_token(trace, "T", selection.query),
        most=format_fixed(float(first.max()), 3),
        least=format_fixed(float(first.min()), 3),
        last=place_name(trace, "H", heads - 1),
        last_most=format_fixed(float(last.max()), 3),
        last_least=format_fixed(float(last.min()), 3),
    )
    show_cell_rows("alibi", rows, list_place_names(trace, "S"), {"": trace}, trace)
    link_to_workbench(alibi, "alibi")


# ---- drawer "parts": which part of a score depends on the word, which part on its position? --------------------------
def show_score_parts(setup: Setup) -> None:
    """Shows, for one query, the four terms whose sum is the score."""
    placed = setup.with_fields(wiring=("bare",), positions=("sinusoidal",), head=None)
    plain = trace_for(placed)
    heads = list_place_names(plain, "H")
    head = pick_place("parts_head", heads, len(heads) - 1, width=160)
    trace = with_score_parts(plain)
    selection = selection_of(trace, placed)
    place = (selection.batch, head, selection.query)
    rows = []
    for of_query, of_key in product(SCORE_PARTS, repeat=2):
        part = f"{of_query}_{of_key}"
        title = say(f"lessons.positions.{part}")
        rows.append(row_of(title, trace, part, place))
    title = say("lessons.positions.score")
    rows.append(row_of(title, trace, "scores", place))
    word = quote_token(trace, "T", selection.query)
    show_sentence("lessons.positions.four", word=word, head=heads[head])
    show_cell_rows("parts", rows, list_place_names(trace, "S"), {"": trace}, trace, sums=1)
    link_to_workbench(placed, "parts")


LESSON = Lesson(
    "positions",
    drawers={
        "sines": Tabs("sines_as", {"map": show_sine_map, "waves": show_sine_waves, "pairs": show_position_pairs}),
        "order": show_order,
        "distance": Tabs("by", {"turn": show_rotation, "curve": show_score_decay, "alibi": show_alibi_slopes}),
        "parts": show_score_parts,
    },
    code=("q", "scores", "weights", "head_outputs", "output"),
)
