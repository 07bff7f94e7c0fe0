"""What an audience sees of a scene, one beat at a time, in large type and nothing else."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.explanation.facts import row_fact
from attention_core.explanation.formula import axis_latex, formula, sized_formula, step_sizes
from attention_core.explanation.layout import crossing, cut_panel, find_in_panel, panel, product
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from pages.components import lectern
from pages.lectures import talk
from pages.panels import canvas_map
from pages.panels.arithmetic import show_pieces
from pages.panels.chart import show_chart
from pages.panels.head_maps import fact_sentence, head_title, list_large_heads, make_head_picture
from pages.panels.step import follow_operand, list_shown_operands, make_panel_title
from pages.presentation.speaker_notes import note_data
from pages.runs.compute import spell_tokens
from pages.session import setup_state
from pages.session.cell_clicks import open_sent_cell
from pages.session.fragments import page_part, redraw
from pages.session.labels import chosen_cell, current_palette, describe_cell, picture_texts_for
from pages.session.reveal import are_answers_revealed
from pages.session.view import ScreenState
from pages.setup.setup import LINK_KEYS
from pages.site.words import escape_markdown, has, say, say_refusal

MAX_STAGE_CELLS_ACROSS = 16  # cells beside each other whose numbers are read from the last row of a hall


def stage_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The lecture, the place in it, and what the scene has become."""
    own = talk.get_lecture_session()
    return (
        talk.current_lecture(),
        own.at,
        own.beat,
        own.drawer,
        are_answers_revealed(),
        scene.setup,
        *setup_state.get_trail(),
    )


@page_part(stage_dependencies)
def show_stage(scene: ScreenState) -> None:
    """One beat, and the keys that lead on."""
    with st.container(key="stage"):
        st.markdown(f"## {escape_markdown(talk.current_scene().title)}")
        with st.container(key=f"beat_{talk.get_lecture_session().beat}"):
            SCENE_STEP_FUNCTIONS[talk.get_lecture_session().beat](scene)
        show_lecture_trouble()
    show_lectern()
    talk.write_lecture_link()


def show_lectern() -> None:
    """The keys and buttons; what the presenter view in another window is told."""
    own = talk.get_lecture_session()
    on = {"edit": own.drawer, "script": talk.is_scene_changed(), "reveal": are_answers_revealed()}
    data = {
        "presenting": own.beat is not None,
        "language": say("app.tag"),
        "place": say("present.place", **talk.scene_number_and_count()) if own.beat else "",
        "words": {way: say(f"present.way.{way}") for way in LECTERN_ACTIONS},
        "on": [way for way, is_on in on.items() if is_on],
        "address": talk.lecture_query(),
        "notes": note_data(),
    }
    lectern(data=data, key="lectern", on_moved_change=handle_lectern_key, width="content")


LECTERN_ACTIONS = ("start", "previous", "next", "reveal", "edit", "script", "black", "notes", "full", "leave")


def handle_lectern_key() -> None:
    """A key or a button: what a browser names is one of these, or nothing."""
    match st.session_state["lectern"].moved:
        case "start":
            talk.start_lecture()
            st.rerun()
        case "leave" if talk.get_lecture_session().beat is not None:
            talk.leave_lecture()
            st.rerun()
        case "edit" if talk.get_lecture_session().beat is not None:
            talk.get_lecture_session().drawer = not talk.get_lecture_session().drawer
            st.rerun()
        case "script" if talk.get_lecture_session().beat is not None:
            talk.show_scripted_scene()
            redraw()
        case "reveal" if talk.get_lecture_session().beat is not None:
            talk.toggle_answers()
            redraw()
        case "next" | "previous" | "first" | "last" as way if talk.get_lecture_session().beat is not None:
            talk.move_in_lecture(way)
            redraw()


def show_lecture_trouble() -> None:
    """What of the link or the scene could not be read or computed."""
    own = talk.get_lecture_session()
    for key, text in own.unread:
        known = "unread" if key in (*LINK_KEYS, *talk.LECTURE_LINK_KEYS) else "unknown"
        st.error(
            say(f"present.{known}", key=escape_markdown(key), text=escape_markdown(printable_token(text))),
            icon=":material/link_off:",
        )
    for key, error in own.unfit:
        st.error(
            say("present.refused", key=escape_markdown(key), reason=say_refusal(error)), icon=":material/link_off:"
        )


# ---- the beats -------------------------------------------------------------------------------------------------------
def get_focus_cell(scene: ScreenState) -> Ref:
    """The cell that the scene is about: the one that is opened, else the largest weight of the query looked at."""
    if chosen := chosen_cell(scene.trace, scene.setup):
        return chosen
    look = scene.look
    keys = row_fact(scene.trace, look.head, look.query, look.batch).keys
    return Ref("weights", (look.batch, look.head, look.query, keys[0] if keys else 0))


def show_symbol_step(scene: ScreenState) -> None:
    """The formula of the step, under those that lead to it from the scores."""
    step, colours = get_focus_cell(scene).step, current_palette().families()
    with st.container(key="leading"):
        for name in steps_leading_to(scene.trace, step):
            st.latex(formula(scene.trace, name, colours))
    with st.container(key="focus"):
        st.latex(formula(scene.trace, step, colours))


def steps_leading_to(trace: Trace, step: str) -> list[str]:
    """The steps from the scores to one, without the masks that are made on the way."""
    names = [name for name in trace.computed() if not name.startswith("allowed")]
    if "scores" not in names or step not in names:
        return []
    return names[names.index("scores") : names.index(step)]


def show_shapes_step(scene: ScreenState) -> None:
    """The same formula with the sizes of this run under its symbols, and what the letters count."""
    step = get_focus_cell(scene).step
    with st.container(key="focus"):
        st.latex(sized_formula(scene.trace, step, current_palette().families()))
    counted = [
        say(f"present.size.{dim}", letter=f"${axis_latex(dim)}$", count=size)
        for dim, size in step_sizes(scene.trace, step).items()
        if has(f"present.size.{dim}")
    ]
    st.markdown(say("present.sizes", sizes=say("present.comma").join(counted)))


def show_cell_step(scene: ScreenState) -> None:
    """One number's arithmetic, and the row and the column that it is made of."""
    trace, cell = scene.trace, get_focus_cell(scene)
    show_chart(make_cell_picture(trace, cell), "cell", say("step.alt", step=cell.step))
    st.markdown(f"**{escape_markdown(describe_cell(trace, cell))}**")
    if not show_pieces(trace, cell, setup_state.get_trail()[:-1], follow_operand, "arithmetic"):
        st.markdown(say("arithmetic.input"))


def make_cell_picture(trace: Trace, cell: Ref) -> charts.Picture:
    """The row and the column whose product a cell is; of what is no product, its row beside what that is made from."""
    at, words, colours = (
        dict(zip(trace.step(cell.step).dims, cell.index, strict=True)),
        picture_texts_for(trace),
        current_palette(),
    )
    if whole := product(trace, cell.step, at):
        parts = crossing(whole, cell)
        titles = {place: make_panel_title(trace, getattr(whole, place)) for place in ("left", "above", "result")}
        return charts.product_picture(parts, trace, words, colours, titles, cell)
    panels = [panel(trace, name, at) for name in (*list_shown_operands(trace, cell.step), cell.step)]
    row, _ = find_in_panel(panels[-1], cell)
    rows = [cut_panel(each, row=row) for each in panels]
    rows = rows if sum(len(each.refs[0]) for each in rows) <= MAX_STAGE_CELLS_ACROSS else rows[-1:]
    return charts.single_picture(
        rows, trace, words, colours, [make_panel_title(trace, each) for each in panels[-len(rows) :]], cell
    )


def show_question_step(scene: ScreenState) -> None:
    """The sentence, and the question to the audience."""
    with st.container(key="sentence"):
        st.markdown(escape_markdown(printable_token(spell_tokens(scene.inputs.queries, scene.setup))))
    with st.container(key="asked"):
        st.markdown(f"**{escape_markdown(talk.current_scene().question)}**")


def show_map_step(scene: ScreenState) -> None:
    """Who attends to whom, in one sentence and as a map; of a scene that names no head, as the workbench shows them."""
    st.markdown(fact_sentence(scene.trace, scene.look))
    heads = [scene.look.head] if talk.current_scene().setup.head is not None else list_large_heads(scene)
    with st.container(key="maps", horizontal=True, horizontal_alignment="center"):
        for head in heads:
            if canvas_map.is_large(scene.drawn("weights"), "weights"):
                even = row_fact(scene.trace, head, scene.look.query, scene.look.batch).possible
                canvas_map.show_large_map(
                    scene, "weights", scene.look.at, "map", fact_sentence(scene.trace, scene.look, str), even
                )
            else:
                show_chart(make_head_picture(scene, head), f"map{head}", head_title(scene, head), open_sent_cell)


SCENE_STEP_FUNCTIONS: dict[str, Callable[[ScreenState], None]] = {
    "symbol": show_symbol_step,
    "shapes": show_shapes_step,
    "question": show_question_step,
    "cell": show_cell_step,
    "map": show_map_step,
}
