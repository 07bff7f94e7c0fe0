"""What an audience sees of a scene, one beat at a time, in large type and nothing else."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.explanation.facts import row_fact
from attention_core.explanation.formula import formula, letter, sized_formula, sizes_of
from attention_core.explanation.layout import crossing, only, panel, place_in, product
from attention_core.inputs.tokenizer import shown
from attention_core.record.expressions import Ref
from pages.components import lectern
from pages.lectures import talk
from pages.panels import canvas_map
from pages.panels.arithmetic import show_pieces
from pages.panels.chart import chart
from pages.panels.head_maps import fact_sentence, head_picture, head_title, large_heads
from pages.panels.step import follow, shown_operands, title_of
from pages.presentation.speaker_notes import note_data
from pages.runs.token_vectors import spelled
from pages.session import setup_state
from pages.session.cell_clicks import open_sent
from pages.session.fragments import part, redraw
from pages.session.labels import chosen_cell, describe, palette, words_for
from pages.session.reveal import revealed
from pages.session.view import Scene
from pages.setup.setup import LINK_KEYS
from pages.site.words import has, literal, say, sentence

ACROSS = 16  # cells beside each other whose numbers are read from the last row of a hall


def shows(scene: Scene) -> tuple[object, ...]:
    """The lecture, the place in it, and what the scene has become."""
    own = talk.talk()
    return (talk.lecture(), own.at, own.beat, own.drawer, revealed(), scene.setup, *setup_state.trail())


@part(shows)
def stage(scene: Scene) -> None:
    """One beat, and the keys that lead on."""
    with st.container(key="stage"):
        st.markdown(f"## {literal(talk.act().title)}")
        with st.container(key=f"beat_{talk.talk().beat}"):
            BEATS[talk.talk().beat](scene)
        show_trouble()
    show_lectern()
    talk.show_link()


def show_lectern() -> None:
    """The keys and buttons; what the presenter view in another window is told."""
    own = talk.talk()
    on = {"edit": own.drawer, "script": talk.departed(), "reveal": revealed()}
    data = {
        "presenting": own.beat is not None,
        "language": say("app.tag"),
        "place": say("present.place", **talk.numbered()) if own.beat else "",
        "words": {way: say(f"present.way.{way}") for way in WAYS},
        "on": [way for way, is_on in on.items() if is_on],
        "address": talk.address(),
        "notes": note_data(),
    }
    lectern(data=data, key="lectern", on_moved_change=pressed, width="content")


WAYS = ("start", "previous", "next", "reveal", "edit", "script", "black", "notes", "full", "leave")


def pressed() -> None:
    """A key or a button: what a browser names is one of these, or nothing."""
    match st.session_state["lectern"].moved:
        case "start":
            talk.start()
            st.rerun()
        case "leave" if talk.talk().beat is not None:
            talk.leave()
            st.rerun()
        case "edit" if talk.talk().beat is not None:
            talk.talk().drawer = not talk.talk().drawer
            st.rerun()
        case "script" if talk.talk().beat is not None:
            talk.follow_script()
            redraw()
        case "reveal" if talk.talk().beat is not None:
            talk.reveal()
            redraw()
        case "next" | "previous" | "first" | "last" as way if talk.talk().beat is not None:
            talk.go(way)
            redraw()


def show_trouble() -> None:
    """What of the link or the scene could not be read or computed."""
    own = talk.talk()
    for key, text in own.unread:
        known = "unread" if key in (*LINK_KEYS, *talk.KEYS) else "unknown"
        st.error(say(f"present.{known}", key=literal(key), text=literal(shown(text))), icon=":material/link_off:")
    for key, error in own.unfit.items():
        st.error(say("present.refused", key=literal(key), reason=sentence(error)), icon=":material/link_off:")


# ---- the beats -------------------------------------------------------------------------------------------------------
def focus(scene: Scene) -> Ref:
    """The cell that the scene is about: the one that is opened, else the largest weight of the query looked at."""
    if chosen := chosen_cell(scene.trace, scene.setup):
        return chosen
    look = scene.look
    keys = row_fact(scene.trace, look.head, look.query, look.batch).keys
    return Ref("weights", (look.batch, look.head, look.query, keys[0] if keys else 0))


def show_symbol(scene: Scene) -> None:
    """The formula of the step, under those that lead to it from the scores."""
    step, colours = focus(scene).step, palette().families()
    with st.container(key="leading"):
        for name in leading(scene.trace, step):
            st.latex(formula(scene.trace, name, colours))
    with st.container(key="focus"):
        st.latex(formula(scene.trace, step, colours))


def leading(trace: Trace, step: str) -> list[str]:
    """The steps from the scores to one, without the masks that are made on the way."""
    names = [name for name in trace.computed() if not name.startswith("allowed")]
    if "scores" not in names or step not in names:
        return []
    return names[names.index("scores") : names.index(step)]


def show_shapes(scene: Scene) -> None:
    """The same formula with the sizes of this run under its symbols, and what the letters count."""
    step = focus(scene).step
    with st.container(key="focus"):
        st.latex(sized_formula(scene.trace, step, palette().families()))
    counted = [
        say(f"present.size.{dim}", letter=f"${letter(dim)}$", count=size)
        for dim, size in sizes_of(scene.trace, step).items()
        if has(f"present.size.{dim}")
    ]
    st.markdown(say("present.sizes", sizes=say("present.comma").join(counted)))


def show_cell(scene: Scene) -> None:
    """One number's arithmetic, and the row and the column that it is made of."""
    trace, cell = scene.trace, focus(scene)
    chart(cell_picture(trace, cell), "cell", say("step.alt", step=cell.step))
    st.markdown(f"**{literal(describe(trace, cell))}**")
    if not show_pieces(trace, cell, setup_state.trail()[:-1], follow, "arithmetic"):
        st.markdown(say("arithmetic.input"))


def cell_picture(trace: Trace, cell: Ref) -> charts.Picture:
    """The row and the column whose product a cell is; of what is no product, its row beside what that is made from."""
    at, words, colours = dict(zip(trace.step(cell.step).dims, cell.index, strict=True)), words_for(trace), palette()
    if whole := product(trace, cell.step, at):
        parts = crossing(whole, cell)
        titles = {place: title_of(trace, getattr(whole, place)) for place in ("left", "above", "result")}
        return charts.product_picture(parts, trace, words, colours, titles, cell)
    panels = [panel(trace, name, at) for name in (*shown_operands(trace, cell.step), cell.step)]
    row, _ = place_in(panels[-1], cell)
    rows = [only(each, row=row) for each in panels]
    rows = rows if sum(len(each.refs[0]) for each in rows) <= ACROSS else rows[-1:]
    return charts.single_picture(
        rows, trace, words, colours, [title_of(trace, each) for each in panels[-len(rows) :]], cell
    )


def show_question(scene: Scene) -> None:
    """The sentence, and the question to the audience."""
    with st.container(key="sentence"):
        st.markdown(literal(shown(spelled(scene.material.queries, scene.setup))))
    with st.container(key="asked"):
        st.markdown(f"**{literal(talk.act().question)}**")


def show_map(scene: Scene) -> None:
    """Who attends to whom, in one sentence and as a map; of a scene that names no head, as the workbench shows them."""
    st.markdown(fact_sentence(scene.trace, scene.look))
    heads = [scene.look.head] if talk.act().setup.head is not None else large_heads(scene)
    with st.container(key="maps", horizontal=True, horizontal_alignment="center"):
        for head in heads:
            if canvas_map.is_large(scene.drawn("weights"), "weights"):
                even = row_fact(scene.trace, head, scene.look.query, scene.look.batch).possible
                canvas_map.large_map(
                    scene, "weights", scene.look.at, "map", fact_sentence(scene.trace, scene.look, str), even
                )
            else:
                chart(head_picture(scene, head), f"map{head}", head_title(scene, head), open_sent)


BEATS: dict[str, Callable[[Scene], None]] = {
    "symbol": show_symbol,
    "shapes": show_shapes,
    "question": show_question,
    "cell": show_cell,
    "map": show_map,
}
