"""Lesson 7, further sights: the words in another order, sinusoids, what distance does, the four parts of a score."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.permutation import moved_by_order, shuffled
from attention_core.analysis.rope_rotations import shifted, turn
from attention_core.analysis.score_terms import PARTS, by_distance, score_parts
from attention_core.comparison.distances import apart
from attention_core.drawing.arrows import Arrow, plane
from attention_core.drawing.bars import row_of
from attention_core.drawing.cell_rows import column_of
from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.formula import formula
from attention_core.inputs.initial_matrices import blank_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.mechanism.positions import wavelengths
from attention_core.record.number_text import fixed, row_text, short, told
from pages.export.doors import workbench_door
from pages.lessons.pictures import Shown, rows_shown, show_beside, show_rows, show_step
from pages.panels.chart import curve_chart, plane_chart
from pages.panels.link_controls import choose, pick_place, slide
from pages.runs.cache import material_of, trace_of
from pages.runs.token_vectors import spelled
from pages.session.labels import Look, looked_at, palette, place_name, place_names, token
from pages.setup.setup import Setup, config_of
from pages.site.words import literal, say

UNLABELLED = {"label_visibility": "collapsed"}  # what a drawer shows: its question stands above


def gap(figure: float) -> str:
    """A difference that may be 0."""
    return told(figure) if figure else "0"


# ---- what if the words are shuffled? ---------------------------------------------------------------------------------
TOLD = {
    "nothing": {"wiring": ("bare",)},
    "built": {},
    "sinusoidal": {"wiring": ("bare",), "positions": ("sinusoidal",)},
    "alibi": {"wiring": ("bare",), "positions": ("alibi",)},
    "causal": {"wiring": ("bare",), "masks": ("causal",)},
}


SPOKEN = ("colour", "animal", "action")  # the first columns of the output


def order(setup: Setup) -> None:
    """The same words in another order: each takes its output with it, unless something tells positions."""
    kind = choose("told", tuple(TOLD))
    seed = slide("shuffle", range(1, 11), 1)
    before = replace(setup, **TOLD[kind])
    plain, words = trace_of(before), material_of(before).queries
    places = shuffled(len(words), seed)
    after = replace(before, text=spelled(tuple(words[place] for place in places), before), token=None)
    permuted = trace_of(after)
    moved = moved_by_order(permuted, plain, places)
    most = int(moved.argmax())
    said = {"gap": gap(float(moved.max())), "word": literal(token(plain, "T", most))}
    st.markdown(say("lessons.positions.stays" if float(moved.max()) < 1e-9 else "lessons.positions.moves", **said))
    show_beside(outputs("order_before", plain), outputs("order_after", permuted))
    workbench_door(after, "order")


def outputs(name: str, trace: Trace) -> Shown:
    """The output, a row a word, without the columns of its own place, which W_o leaves empty."""
    words = place_names(trace, "T", trace.sizes()["T"])
    dims = place_names(trace, "D_out", trace.sizes()["D_out"])[: len(SPOKEN)]
    rows = [row_of(word, trace, "output", (0, t)) for t, word in enumerate(words)]
    rows = [replace(row, refs=row.refs[: len(SPOKEN)]) for row in rows]
    return rows_shown(name, rows, dims, {"": trace}, trace, corner=say(f"lessons.positions.{name}"))


# ---- what do sinusoids look like? ------------------------------------------------------------------------------------
def sines(_: Setup) -> None:
    """The table of sines and cosines as a map, as waves, and each row compared with each."""
    sight = choose("sines_as", ("map", "waves", "pairs"), **UNLABELLED)
    with st.container(horizontal=True):
        width, count = slide("width", (2, 4, 6, 8, 12), 8), slide("count", (4, 6, 8, 12, 16, 24, 32), 16)
    alone = Setup(
        example="eight_heads",
        x=to_text(blank_matrix((count, width))),
        positions=("sinusoidal",),
        heads=1,
        score="dot",
        **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), "none"),
    )
    trace = trace_of(alone)
    st.latex(formula(trace, "sinusoidal_x", palette().families()))
    {"map": sine_map, "waves": waves, "pairs": pairs}[sight](trace)
    workbench_door(alone, "sines")


def sine_map(trace: Trace) -> None:
    """The table, positions from left to right."""
    count, width = trace["sinusoidal_x"].shape
    lengths = [short(length, 3) for length in wavelengths(width) for _ in range(2)][:width]
    kinds = [kind for _ in wavelengths(width) for kind in ("sin", "cos")]
    titles = [
        say("lessons.positions.wave", kind=kind, length=length) for kind, length in zip(kinds, lengths, strict=False)
    ]
    rows = [column_of(title, trace, "sinusoidal_x", (), column) for column, title in enumerate(titles)]
    show_rows("map", rows, [*map(str, range(count))], {"": trace}, trace)


def waves(trace: Trace) -> None:
    """The sine of each pair against the position."""
    count, width = trace["sinusoidal_x"].shape
    colours = (palette().q, palette().k, palette().v, palette().share, palette().minus, palette().x)  # at most 6 pairs
    columns = trace["sinusoidal_x"].T[::2].tolist()  # the even ones are sines
    drawn = [
        Curve(say("lessons.positions.wave", kind="sin", length=short(length, 3)), range(count), column, colour)
        for length, column, colour in zip(wavelengths(width), columns, colours, strict=False)
    ]
    x, y = Axis(say("lessons.positions.position"), 0, range(count)[-1]), Axis("", -1, 1)
    curve_chart(curves(drawn, x, y, palette()), "positions_waves", say("lessons.positions.waves_alt"))


def pairs(trace: Trace) -> None:
    """Every position's sinusoids times every other's: the same along each diagonal."""
    st.markdown(say("lessons.positions.diagonal"))
    show_step("pairs", trace, "scores", looked_at(trace, Setup(example="eight_heads")))


# ---- what do RoPE and ALiBi do at a distance? ------------------------------------------------------------------------
STYLES = ("rope", "rope_half")
FARTHEST = 33  # places of which the curve tells


def distance(setup: Setup) -> None:
    """RoPE as a rotation, its score against the distance, and ALiBi's slopes."""
    sight = choose("by", ("turn", "curve", "alibi"), **UNLABELLED)
    {"turn": rotation, "curve": decay, "alibi": slopes}[sight](setup)


def with_rope(setup: Setup, style: str) -> Setup:
    """The words alone, head 2 four numbers wide, with RoPE."""
    return replace(setup, wiring=("bare",), d_k=4, head=1, positions=(style,))


def rotation(setup: Setup) -> None:
    """Both pairs of the query and of a key, turned by their positions; the score hears of their distance alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rope = with_rope(setup, choose("style", STYLES))
        start = trace_of(rope)
        look, names = looked_at(start, rope), place_names(start, "S", start.sizes()["S"])
        matches = trace_of(replace(rope, positions=None))["scores"][look.batch, look.head, look.query]
        key = pick_place("key", names, int(matches.argmax()), width=160)
        by = slide("further", range(0, 21), 0)
    trace = shifted(start, by)
    cell = (look.batch, look.head, look.query, key)
    st.markdown(
        say(
            "lessons.positions.turned",
            query=literal(names[look.query]),
            key=literal(names[key]),
            match=fixed(float(matches[key])),
            score=fixed(float(trace["scores"][cell])),
            gap=gap(float(apart(trace["scores"], start["scores"]).max())),
        )
    )
    with st.container(horizontal=True, gap="medium"):
        for pair, name in enumerate(("first", "second")):
            with st.container(width="content"):
                show_plane(trace, look, key, pair, name)
    workbench_door(rope, "rope")


def show_plane(trace: Trace, look: Look, key: int, pair: int, name: str) -> None:
    """One pair of the query and of a key, before they were turned and after."""
    places = {"q": (look.batch, look.head, look.query), "k": (look.batch, look.kv, key)}
    turns = {role: turn(trace, role, place, pair) for role, place in places.items()}
    colours, arrows = palette().families(), []
    for role, found in turns.items():
        word = token(trace, "T" if role == "q" else "S", places[role][-1])
        arrows.append(Arrow("", *found.before, colours[role], faint=True))
        arrows.append(Arrow(f"{role}: {word}", *found.after, colours[role], found.angle))
    angles = {role: fixed(found.angle) for role, found in turns.items()}
    st.markdown(say(f"lessons.positions.{name}_pair", **angles))
    if all(found.before == (0.0, 0.0) for found in turns.values()):
        st.markdown(say("lessons.positions.empty_pair"))
        return
    plane_chart(plane(arrows, palette()), f"positions_{name}", say(f"lessons.positions.{name}_alt"))


def decay(setup: Setup) -> None:
    """The query of the word that asks as a query, and as a key so many places away."""
    drawn, colours = [], (palette().q, palette().k)
    for style, colour in zip(STYLES, colours, strict=True):
        rope = with_rope(setup, style)
        trace = trace_of(rope)
        look = looked_at(trace, rope)
        vector = trace["q_heads"][look.batch, look.head, look.query]
        alone = by_distance(vector, FARTHEST, config_of(rope))
        scores = alone["scores"][0, 0, 0].tolist()
        drawn.append(Curve(say(f"lessons.positions.{style}"), range(FARTHEST), scores, colour))
    reach = max(abs(score) for curve in drawn for score in curve.y) or 1.0
    said = {"word": literal(token(trace, "T", look.query)), "q": row_text(vector.tolist())}
    st.markdown(say("lessons.positions.decay", **said))
    x = Axis(say("lessons.positions.distance"), 0, range(FARTHEST)[-1])
    y = Axis(say("lessons.positions.axis_score"), -reach, reach)
    curve_chart(curves(drawn, x, y, palette()), "positions_decay", say("lessons.positions.decay_alt"))


def slopes(setup: Setup) -> None:
    """What ALiBi takes away from each score, a row a head, or the weights that come of it where scores are equal."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shows = choose("alibi", ("bias", "weights"))
        heads = int(choose("alibi_heads", ("2", "4", "8"), "8", str))
    alibi = replace(setup, wiring=("bare",), heads=heads, d_k=1, scale=0.0, positions=("alibi",))
    trace = trace_of(alibi)
    look, values = looked_at(trace, alibi), trace.step("bias").operation.params["slopes"]
    rows = []
    for head, slope in enumerate(values):
        at = (head, look.query) if shows == "bias" else (look.batch, head, look.query)
        title = say("lessons.positions.slope", head=place_name(trace, "H", head), slope=short(slope, 3))
        rows.append(row_of(title, trace, shows, at))
    first, last = (trace["weights"][look.batch, head, look.query] for head in (0, -1))
    st.markdown(
        say(
            "lessons.positions.alibi",
            word=literal(token(trace, "T", look.query)),
            most=fixed(float(first.max()), 3),
            least=fixed(float(first.min()), 3),
            last=place_name(trace, "H", range(heads)[-1]),
            last_most=fixed(float(last.max()), 3),
            last_least=fixed(float(last.min()), 3),
        )
    )
    show_rows("alibi", rows, place_names(trace, "S", trace.sizes()["S"]), {"": trace}, trace)
    workbench_door(alibi, "alibi")


# ---- what in a score is about the word, what about its place? --------------------------------------------------------
def parts(setup: Setup) -> None:
    """The four terms of one query's scores, which add up to them."""
    placed = replace(setup, wiring=("bare",), positions=("sinusoidal",), head=None)
    heads = place_names(trace_of(placed), "H", trace_of(placed).sizes()["H"])
    head = pick_place("parts_head", heads, len(heads[1:]), width=160)
    trace = score_parts(trace_of(placed))
    look = looked_at(trace, placed)
    at = (look.batch, head, look.query)
    rows = [
        row_of(say(f"lessons.positions.{one}_{other}"), trace, f"{one}_{other}", at) for one in PARTS for other in PARTS
    ]
    rows.append(row_of(say("lessons.positions.score"), trace, "scores", at))
    st.markdown(say("lessons.positions.four", word=literal(token(trace, "T", look.query)), head=heads[head]))
    show_rows("parts", rows, place_names(trace, "S", trace.sizes()["S"]), {"": trace}, trace, sums=1)
    workbench_door(placed, "parts")
