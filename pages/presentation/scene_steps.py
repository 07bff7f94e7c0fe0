"""Draws the steps of a slide: a question, the animated query, an attention map, a cell, a formula, text, code."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import streamlit as st

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.drawing.palette import Palette
from attention_core.explanation.facts import row_fact
from attention_core.explanation.formula import axis_latex, formula, sized_formula, step_sizes
from attention_core.explanation.layout import crossing, cut_panel, find_in_panel, panel, product
from attention_core.explanation.shown_steps import shown_steps
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from pages.lectures import lecture_session
from pages.panels import canvas_map, lesson_choices
from pages.panels.arithmetic import show_pieces
from pages.panels.chart import show_chart
from pages.panels.flow_data import Showing
from pages.panels.flow_numbers import is_too_large
from pages.panels.flow_picture import show_journey
from pages.panels.flow_run import list_motions
from pages.panels.head_maps import fact_sentence
from pages.panels.model_panels import PANELS, open_panel
from pages.panels.step import follow_operand, show_step_code
from pages.panels.step_picture import list_shown_operands, make_panel_title
from pages.runs.compute import spell_tokens
from pages.session import setup_state
from pages.session.labels import chosen_cell, current_palette, describe_cell, formula_names, picture_texts_for
from pages.session.staged import StagedPart, stage_part
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.catalog import LESSONS, PAGES_BY_SLUG
from pages.site.words import escape_markdown, has, say

MAX_STAGE_CELLS_ACROSS = 16  # most cells side by side that are legible from the last row of a hall


def get_focus_cell(screen: ScreenState) -> Ref:
    """Returns the cell that a slide is about: the opened cell, else the selected query's largest weight."""
    opened = chosen_cell(screen.trace, screen.setup)
    if opened:
        return opened
    selection = screen.selection
    fact = row_fact(screen.trace, selection.head, selection.query, selection.batch)
    key = fact.keys[0] if fact.keys else 0
    return Ref("weights", (selection.batch, selection.head, selection.query, key))


def show_symbol_step(screen: ScreenState) -> None:
    """Shows the formula of the slide's step, below the formulas of the steps from the scores up to it."""
    step = get_focus_cell(screen).step
    colours, names = current_palette().families(), formula_names(screen.trace)
    with st.container(key="leading"):
        for name in steps_leading_to(screen.trace, step):
            st.latex(formula(screen.trace, name, colours, names))
    with st.container(key="focus"):
        st.latex(formula(screen.trace, step, colours, names))


def steps_leading_to(trace: Trace, step: str) -> list[str]:
    """Returns the names of the shown steps from the scores to the step before a given one; masks are left out.

    Returns [] if the run has no scores, or if the step is not shown.
    """
    names = [name for name in shown_steps(trace) if not name.startswith("allowed")]
    if "scores" not in names or step not in names:
        return []
    first = names.index("scores")
    end = names.index(step)
    return names[first:end]


def show_shapes_step(screen: ScreenState) -> None:
    """Shows the formula of the slide's step with the sizes of this run, and what their letters mean."""
    step = get_focus_cell(screen).step
    with st.container(key="focus"):
        st.latex(sized_formula(screen.trace, step, current_palette().families(), formula_names(screen.trace)))
    st.markdown(sizes_sentence(screen.trace, step, lambda dim: f"${axis_latex(dim)}$"))


def sizes_sentence(trace: Trace, step: str, spell: Callable[[str], str]) -> str:
    """Returns the sentence that says what the letters in a step's sizes mean.

    spell: a function that formats a letter.
    """
    counts = []
    for dim, size in step_sizes(trace, step).items():
        if has(f"present.size.{dim}"):
            counts.append(say(f"present.size.{dim}", letter=spell(dim), count=size))
    return say("present.sizes", sizes=say("present.comma").join(counts))


def show_cell_step(screen: ScreenState) -> None:
    """Shows the arithmetic of the slide's cell, and a picture of the row and column that are multiplied."""
    trace = screen.trace
    cell = get_focus_cell(screen)
    show_chart(make_cell_picture(trace, cell, current_palette()), "cell", say("step.alt", step=cell.step))
    st.markdown(f"**{escape_markdown(describe_cell(trace, cell))}**")
    cells_before = setup_state.get_trail()[:-1]
    is_computed = show_pieces(trace, cell, cells_before, follow_operand, "arithmetic")
    if not is_computed:
        st.markdown(say("arithmetic.input"))


def make_cell_picture(trace: Trace, cell: Ref, palette: Palette) -> charts.Picture:
    """Returns a picture of the row and the column whose product a cell is.

    For a cell that is no product, the picture shows its row beside the same row of the operands.
    """
    position = dict(zip(trace.step(cell.step).dims, cell.index, strict=True))
    whole = product(trace, cell.step, position)
    if whole is None:
        return make_row_picture(trace, cell, position, palette)
    titles = {place: make_panel_title(trace, getattr(whole, place)) for place in ("left", "above", "result")}
    return charts.product_picture(
        crossing(whole, cell),
        trace,
        picture_texts_for(trace),
        palette,
        titles,
        cell,
    )


def make_row_picture(trace: Trace, cell: Ref, position: dict[str, int], palette: Palette) -> charts.Picture:
    """Returns a picture of a cell's row beside the same row of its operands.

    If the rows together have more than MAX_STAGE_CELLS_ACROSS cells, the picture has the row of the cell alone.
    """
    names = [*list_shown_operands(trace, cell.step), cell.step]
    panels = [panel(trace, name, position) for name in names]
    row, _ = find_in_panel(panels[-1], cell)
    rows = [cut_panel(each, row=row) for each in panels]
    cells_across = sum(len(each.refs[0]) for each in rows)
    if cells_across > MAX_STAGE_CELLS_ACROSS:
        panels, rows = panels[-1:], rows[-1:]
    return charts.single_picture(
        rows,
        trace,
        picture_texts_for(trace),
        palette,
        [make_panel_title(trace, each) for each in panels],
        cell,
    )


def show_question_step(screen: ScreenState) -> None:
    """Shows the question to the audience, and above it the sentence of the slide's run if the slide has a run."""
    if lecture_session.current_scene().setup is not None:
        sentence = spell_tokens(screen.inputs.queries, screen.setup.run)
        with st.container(key="sentence"):
            st.markdown(escape_markdown(printable_token(sentence)))
    show_question()


def show_question() -> None:
    """Shows the question of the current slide."""
    with st.container(key="asked"):
        st.markdown(f"**{escape_markdown(lecture_session.current_scene().question)}**")


def show_journey_step(screen: ScreenState) -> None:
    """Shows the animation of the query, as a step of a slide.

    The keys for next and previous first move between the animation's keyframes, and skip keyframes that an earlier
    slide has shown.
    """
    session = lecture_session.get_lecture_session()
    known = lecture_session.known_motions()
    session.motions[session.at] = list_motions(screen)
    begins = "end" if session.from_behind else "start"
    show_journey(screen, Showing(begins=begins, known=known, fills=True), order=session.moves)


def show_map_step(screen: ScreenState) -> None:
    """Shows the attention map, the end of the animation, with the query's row in strong colours."""
    if is_too_large(screen.trace):
        show_large_map_step(screen)
        return
    moves = lecture_session.get_lecture_session().moves
    show_journey(screen, Showing(begins="end", fills=True), "weights", moves)


def show_large_map_step(screen: ScreenState) -> None:
    """Shows a sentence and, on a canvas, the attention map of a run that is too large for the animation."""
    selection = screen.selection
    st.markdown(fact_sentence(screen.trace, selection))
    description = fact_sentence(screen.trace, selection, str)
    even = row_fact(screen.trace, selection.head, selection.query, selection.batch).possible
    canvas_map.show_large_map(screen, "weights", selection.at, "map", description, even)


def show_model_step(screen: ScreenState) -> None:
    """Shows the open panel of the slide's language model, as on the workbench.

    Without a language model, it shows the animation of the query.
    """
    panel = open_panel(screen)
    if panel is None:
        show_journey_step(screen)
    else:
        PANELS[panel].draw(screen)


# ---- texts, pictures, code -------------------------------------------------------------------------------------------
def show_text_step(screen: ScreenState) -> None:
    """Shows the text of the slide as Markdown; HTML stays plain text, and Markdown images are not loaded."""
    shown = lecture_session.current_scene().shown
    st.markdown(shown.text.replace("![", r"!\["))


def show_own_picture_step(screen: ScreenState) -> None:
    """Shows the picture that the slide contains, and the source of the picture."""
    shown = lecture_session.current_scene().shown
    st.image(shown.data, alt=shown.alt or lecture_session.current_scene().title)
    if shown.source:
        st.caption(say("present.source", source=escape_markdown(shown.source)))


def show_code_step(screen: ScreenState) -> None:
    """Shows the code of the step that the slide opens, in PyTorch and in NumPy."""
    show_step_code(screen.trace, step_of_code(screen.trace, screen.setup))


def step_of_code(trace: Trace, setup: Setup) -> str:
    """Returns the step whose code is shown: the opened step if it is computed, otherwise the weights."""
    return setup.view.step if setup.view.step in trace.computed() else "weights"


# ---- parts of lessons ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class BegunLesson:
    """The state of the presented lesson when the presenter started it.

    begun: the value of LectureSession.begun at that time. link: the lesson's link at that time.
    """

    begun: int
    link: dict[str, str]


def show_lesson_step(screen: ScreenState) -> None:
    """Shows the part of a lesson that the slide contains, first with the choices that the slide contains, later with
    the presenter's.

    Also records whether the presenter has changed these choices.
    """
    session = lecture_session.get_lecture_session()
    shown = lecture_session.current_scene().shown
    begun: BegunLesson | None = st.session_state.get("begun_lesson")
    goes_on = begun is not None and begun.begun == session.begun
    lesson_choices.enter_lesson_on_stage(shown.slug, None if goes_on else dict(shown.choices))
    staged = StagedPart(shown.part, st.container(key="staged_part"), is_answered=shown.slug in LESSONS)
    draw_lesson_part(shown.slug, staged)
    link = lesson_choices.get_lesson_link()
    if not goes_on:
        st.session_state["begun_lesson"] = BegunLesson(session.begun, link)
    session.departed = goes_on and link != begun.link


def forget_begun_lesson() -> None:
    """Makes the presentation restart its lesson, because another lesson was drawn with the presentation's choices."""
    st.session_state.pop("begun_lesson", None)


def draw_lesson_part(slug: str, staged: StagedPart) -> None:
    """Draws a part of a lesson, after enter_lesson_on_stage has set the lesson's choices."""
    with stage_part(staged):
        run_page(PAGES_BY_SLUG[slug].path)


def run_page(path: Path) -> None:
    """Runs the file of a page as a new module, as Streamlit does, so that threads do not share the module."""
    spec = spec_from_file_location(f"staged_{path.parent.name}", path)
    page = module_from_spec(spec)
    spec.loader.exec_module(page)


SCENE_STEP_FUNCTIONS: dict[str, Callable[[ScreenState], None]] = {
    "journey": show_journey_step,
    "map": show_map_step,
    "model": show_model_step,
    "cell": show_cell_step,
    "symbol": show_symbol_step,
    "shapes": show_shapes_step,
    "question": show_question_step,
    "lesson": show_lesson_step,
    "code": show_code_step,
    "text": show_text_step,
    "picture": show_own_picture_step,
}
