"""Lesson 7, further sights: the words in another order, sinusoids, what distance does, the four parts of a score."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.permutation import distance_after_reordering, shuffle_order
from attention_core.analysis.rope_rotations import rope_rotation, with_shifted_positions
from attention_core.analysis.score_terms import SCORE_PARTS, score_by_distance, with_score_parts
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.arrows import Arrow, arrow_plane
from attention_core.drawing.bars import row_of
from attention_core.drawing.cell_rows import column_of
from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.formula import formula
from attention_core.inputs.initial_matrices import zero_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.mechanism.positions import wavelengths
from attention_core.record.number_text import format_fixed, format_or_scientific, format_row, format_short
from pages.export.doors import workbench_door
from pages.lessons.pictures import RunPicture, make_cell_rows, show_cell_rows, show_side_by_side, show_step_picture
from pages.panels.chart import show_curve_chart, show_plane_chart
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.session.labels import Selection, current_palette, name_token, place_name, place_names, selection_of
from pages.setup.setup import Setup, config_of
from pages.site.words import escape_markdown, say

UNLABELLED = {"label_visibility": "collapsed"}  # what a drawer shows: its question stands above


def format_position_gap(figure: float) -> str:
    """A difference that may be 0."""
    return format_or_scientific(figure) if figure else "0"


# ---- what if the words are shuffled? ---------------------------------------------------------------------------------
POSITION_VARIANTS = {
    "nothing": {"wiring": ("bare",)},
    "built": {},
    "sinusoidal": {"wiring": ("bare",), "positions": ("sinusoidal",)},
    "alibi": {"wiring": ("bare",), "positions": ("alibi",)},
    "causal": {"wiring": ("bare",), "masks": ("causal",)},
}


OUTPUT_COLUMNS = ("colour", "animal", "action")  # the first columns of the output


def show_order(setup: Setup) -> None:
    """The same words in another order: each takes its output with it, unless something tells positions."""
    kind = choose_option("told", tuple(POSITION_VARIANTS))
    seed = slide("shuffle", range(1, 11), 1)
    before = replace(setup, **POSITION_VARIANTS[kind])
    plain, words = trace_for(before), inputs_of(before).queries
    places = shuffle_order(len(words), seed)
    after = replace(before, text=spell_tokens(tuple(words[place] for place in places), before), token=None)
    permuted = trace_for(after)
    moved = distance_after_reordering(permuted, plain, places)
    most = int(moved.argmax())
    said = {"gap": format_position_gap(float(moved.max())), "word": escape_markdown(name_token(plain, "T", most))}
    st.markdown(say("lessons.positions.stays" if float(moved.max()) < 1e-9 else "lessons.positions.moves", **said))
    show_side_by_side(make_output_rows("order_before", plain), make_output_rows("order_after", permuted))
    workbench_door(after, "order")


def make_output_rows(name: str, trace: Trace) -> RunPicture:
    """The output, a row a word, without the columns of its own place, which W_o leaves empty."""
    words = place_names(trace, "T", trace.sizes()["T"])
    dims = place_names(trace, "D_out", trace.sizes()["D_out"])[: len(OUTPUT_COLUMNS)]
    rows = [row_of(word, trace, "output", (0, t)) for t, word in enumerate(words)]
    rows = [replace(row, refs=row.refs[: len(OUTPUT_COLUMNS)]) for row in rows]
    return make_cell_rows(name, rows, dims, {"": trace}, trace, corner=say(f"lessons.positions.{name}"))


# ---- what do sinusoids look like? ------------------------------------------------------------------------------------
def show_sines(_: Setup) -> None:
    """The table of sines and cosines as a map, as waves, and each row compared with each."""
    sight = choose_option("sines_as", ("map", "waves", "pairs"), **UNLABELLED)
    with st.container(horizontal=True):
        width, count = slide("width", (2, 4, 6, 8, 12), 8), slide("count", (4, 6, 8, 12, 16, 24, 32), 16)
    alone = Setup(
        example="eight_heads",
        x=to_text(zero_matrix((count, width))),
        positions=("sinusoidal",),
        heads=1,
        score="dot",
        **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), "none"),
    )
    trace = trace_for(alone)
    st.latex(formula(trace, "sinusoidal_x", current_palette().families()))
    {"map": show_sine_map, "waves": show_sine_waves, "pairs": show_position_pairs}[sight](trace)
    workbench_door(alone, "sines")


def show_sine_map(trace: Trace) -> None:
    """The table, positions from left to right."""
    count, width = trace["sinusoidal_x"].shape
    lengths = [format_short(length, 3) for length in wavelengths(width) for _ in range(2)][:width]
    kinds = [kind for _ in wavelengths(width) for kind in ("sin", "cos")]
    titles = [
        say("lessons.positions.wave", kind=kind, length=length) for kind, length in zip(kinds, lengths, strict=False)
    ]
    rows = [column_of(title, trace, "sinusoidal_x", (), column) for column, title in enumerate(titles)]
    show_cell_rows("map", rows, [*map(str, range(count))], {"": trace}, trace)


def show_sine_waves(trace: Trace) -> None:
    """The sine of each pair against the position."""
    count, width = trace["sinusoidal_x"].shape
    colours = (
        current_palette().q,
        current_palette().k,
        current_palette().v,
        current_palette().share,
        current_palette().minus,
        current_palette().x,
    )  # at most 6 pairs
    columns = trace["sinusoidal_x"].T[::2].tolist()  # the even ones are sines
    drawn = [
        Curve(say("lessons.positions.wave", kind="sin", length=format_short(length, 3)), range(count), column, colour)
        for length, column, colour in zip(wavelengths(width), columns, colours, strict=False)
    ]
    x, y = Axis(say("lessons.positions.position"), 0, range(count)[-1]), Axis("", -1, 1)
    show_curve_chart(curves(drawn, x, y, current_palette()), "positions_waves", say("lessons.positions.waves_alt"))


def show_position_pairs(trace: Trace) -> None:
    """Every position's sinusoids times every other's: the same along each diagonal."""
    st.markdown(say("lessons.positions.diagonal"))
    show_step_picture("pairs", trace, "scores", selection_of(trace, Setup(example="eight_heads")))


# ---- what do RoPE and ALiBi do at a distance? ------------------------------------------------------------------------
ROTATION_STYLES = ("rope", "rope_half")
MAX_CURVE_DISTANCE = 33  # places of which the curve tells


def show_distance(setup: Setup) -> None:
    """RoPE as a rotation, its score against the distance, and ALiBi's slopes."""
    sight = choose_option("by", ("turn", "curve", "alibi"), **UNLABELLED)
    {"turn": show_rotation, "curve": show_score_decay, "alibi": show_alibi_slopes}[sight](setup)


def with_rope(setup: Setup, style: str) -> Setup:
    """The words alone, head 2 four numbers wide, with RoPE."""
    return replace(setup, wiring=("bare",), d_k=4, head=1, positions=(style,))


def show_rotation(setup: Setup) -> None:
    """Both pairs of the query and of a key, turned by their positions; the score hears of their distance alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rope = with_rope(setup, choose_option("style", ROTATION_STYLES))
        start = trace_for(rope)
        look, names = selection_of(start, rope), place_names(start, "S", start.sizes()["S"])
        matches = trace_for(replace(rope, positions=None))["scores"][look.batch, look.head, look.query]
        key = pick_place("key", names, int(matches.argmax()), width=160)
        by = slide("further", range(0, 21), 0)
    trace = with_shifted_positions(start, by)
    cell = (look.batch, look.head, look.query, key)
    st.markdown(
        say(
            "lessons.positions.turned",
            query=escape_markdown(names[look.query]),
            key=escape_markdown(names[key]),
            match=format_fixed(float(matches[key])),
            score=format_fixed(float(trace["scores"][cell])),
            gap=format_position_gap(float(abs_difference(trace["scores"], start["scores"]).max())),
        )
    )
    with st.container(horizontal=True, gap="medium"):
        for pair, name in enumerate(("first", "second")):
            with st.container(width="content"):
                show_rotated_pair(trace, look, key, pair, name)
    workbench_door(rope, "rope")


def show_rotated_pair(trace: Trace, look: Selection, key: int, pair: int, name: str) -> None:
    """One pair of the query and of a key, before they were turned and after."""
    places = {"q": (look.batch, look.head, look.query), "k": (look.batch, look.kv, key)}
    turns = {role: rope_rotation(trace, role, place, pair) for role, place in places.items()}
    colours, arrows = current_palette().families(), []
    for role, found in turns.items():
        word = name_token(trace, "T" if role == "q" else "S", places[role][-1])
        arrows.append(Arrow("", *found.before, colours[role], faint=True))
        arrows.append(Arrow(f"{role}: {word}", *found.after, colours[role], found.angle))
    angles = {role: format_fixed(found.angle) for role, found in turns.items()}
    st.markdown(say(f"lessons.positions.{name}_pair", **angles))
    if all(found.before == (0.0, 0.0) for found in turns.values()):
        st.markdown(say("lessons.positions.empty_pair"))
        return
    show_plane_chart(arrow_plane(arrows, current_palette()), f"positions_{name}", say(f"lessons.positions.{name}_alt"))


def show_score_decay(setup: Setup) -> None:
    """The query of the word that asks as a query, and as a key so many places away."""
    drawn, colours = [], (current_palette().q, current_palette().k)
    for style, colour in zip(ROTATION_STYLES, colours, strict=True):
        rope = with_rope(setup, style)
        trace = trace_for(rope)
        look = selection_of(trace, rope)
        vector = trace["q_heads"][look.batch, look.head, look.query]
        alone = score_by_distance(vector, MAX_CURVE_DISTANCE, config_of(rope))
        scores = alone["scores"][0, 0, 0].tolist()
        drawn.append(Curve(say(f"lessons.positions.{style}"), range(MAX_CURVE_DISTANCE), scores, colour))
    reach = max(abs(score) for curve in drawn for score in curve.y) or 1.0
    said = {"word": escape_markdown(name_token(trace, "T", look.query)), "q": format_row(vector.tolist())}
    st.markdown(say("lessons.positions.decay", **said))
    x = Axis(say("lessons.positions.distance"), 0, range(MAX_CURVE_DISTANCE)[-1])
    y = Axis(say("lessons.positions.axis_score"), -reach, reach)
    show_curve_chart(curves(drawn, x, y, current_palette()), "positions_decay", say("lessons.positions.decay_alt"))


def show_alibi_slopes(setup: Setup) -> None:
    """What ALiBi takes away from each score, a row a head, or the weights that come of it where scores are equal."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shows = choose_option("alibi", ("bias", "weights"))
        heads = int(choose_option("alibi_heads", ("2", "4", "8"), "8", str))
    alibi = replace(setup, wiring=("bare",), heads=heads, d_k=1, scale=0.0, positions=("alibi",))
    trace = trace_for(alibi)
    look, values = selection_of(trace, alibi), trace.step("bias").operation.params["slopes"]
    rows = []
    for head, slope in enumerate(values):
        at = (head, look.query) if shows == "bias" else (look.batch, head, look.query)
        title = say("lessons.positions.slope", head=place_name(trace, "H", head), slope=format_short(slope, 3))
        rows.append(row_of(title, trace, shows, at))
    first, last = (trace["weights"][look.batch, head, look.query] for head in (0, -1))
    st.markdown(
        say(
            "lessons.positions.alibi",
            word=escape_markdown(name_token(trace, "T", look.query)),
            most=format_fixed(float(first.max()), 3),
            least=format_fixed(float(first.min()), 3),
            last=place_name(trace, "H", range(heads)[-1]),
            last_most=format_fixed(float(last.max()), 3),
            last_least=format_fixed(float(last.min()), 3),
        )
    )
    show_cell_rows("alibi", rows, place_names(trace, "S", trace.sizes()["S"]), {"": trace}, trace)
    workbench_door(alibi, "alibi")


# ---- what in a score is about the word, what about its place? --------------------------------------------------------
def show_parts(setup: Setup) -> None:
    """The four terms of one query's scores, which add up to them."""
    placed = replace(setup, wiring=("bare",), positions=("sinusoidal",), head=None)
    heads = place_names(trace_for(placed), "H", trace_for(placed).sizes()["H"])
    head = pick_place("parts_head", heads, len(heads[1:]), width=160)
    trace = with_score_parts(trace_for(placed))
    look = selection_of(trace, placed)
    at = (look.batch, head, look.query)
    rows = [
        row_of(say(f"lessons.positions.{one}_{other}"), trace, f"{one}_{other}", at)
        for one in SCORE_PARTS
        for other in SCORE_PARTS
    ]
    rows.append(row_of(say("lessons.positions.score"), trace, "scores", at))
    st.markdown(
        say("lessons.positions.four", word=escape_markdown(name_token(trace, "T", look.query)), head=heads[head])
    )
    show_cell_rows("parts", rows, place_names(trace, "S", trace.sizes()["S"]), {"": trace}, trace, sums=1)
    workbench_door(placed, "parts")
