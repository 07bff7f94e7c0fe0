"""Draws the accordions of the lesson on a printed worked example, and provides functions that its page uses too."""

from collections.abc import Collection
from functools import partial

import streamlit as st

from attention_core.comparison.distances import abs_difference
from attention_core.drawing.worked_picture import SheetPart
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.answer_text import answers_text, cell_text, printed_text, read_answers
from attention_core.exercises.marking import Mark
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.rounding import find_farthest_from, rounding_reach, with_rounded_weights
from attention_core.exercises.stages import STAGES, calculated_cell, operand_stages
from attention_core.exercises.worked_example import (
    CheckedWork,
    count_agreeing,
    largest_written_error,
    rounding_explains,
    wrong_through_slip,
)
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_values import REMOVED, MatrixValue
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from pages.export.page_links import link_to_exercise, link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.prompts import try_cell
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.lessons.worked_example import count_marked_numbers, make_work_parts, make_written_part, show_work
from pages.panels import lesson_choices
from pages.panels.link_controls import choose_option, pick_place, slide, text_box, text_control
from pages.runs.cache import checked_answers_for, inputs_of, trace_for
from pages.session.labels import place_name
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say, say_refusal

# ---- the given matrices of the worked example: x and the projections, printed or typed -------------------------------
PRINTED_EXAMPLE = "source_004"
GIVEN_MATRICES = ("x", "w_q", "w_k", "w_v")
MAX_TYPED_SIDE = 8  # most rows or columns of a typed matrix: two matrices fit side by side, with legible cells


def choose_given_setup(stage: str) -> Setup:
    """Shows text inputs for those given matrices from which the selected stage of the calculation is computed.

    Returns the Setup with all matrices that the visitor has typed.
    """
    printed_run = EXAMPLES[PRINTED_EXAMPLE].run()
    read_by_stage = operand_stages(printed_run, STAGES[stage])
    for name in GIVEN_MATRICES:
        start = initial_matrix_text(name)
        check_text = partial(check_given_matrix, name)
        if not text_control(name, start, check_text).value.strip():
            lesson_choices.store_choice(name, None)  # an emptied input stands for the example's matrix
        if name == "x" or name in read_by_stage:
            text_box(name, start, check_text)
    return setup_with_matrices(get_typed_matrices())


def initial_matrix_text(name: str) -> str:
    """Returns the default text of a matrix's input: the example's numbers, or random numbers for another width of x."""
    if name == "x":
        return answers_text(EXAMPLES[PRINTED_EXAMPLE].tensor("x"), None)
    typed = get_typed_matrices()
    typed_x = {"x": typed["x"]} if "x" in typed else {}
    matrices = inputs_of(setup_with_matrices(typed_x)).matrices
    return answers_text(matrices[name], None)


def get_typed_matrices() -> dict[str, str]:
    """Returns {name: text} of the matrices that the visitor typed instead of the example's."""
    typed = {}
    for name, text in lesson_choices.current_lesson_choices().chosen.items():
        if name in GIVEN_MATRICES and str(text).strip():
            typed[name] = text
    return typed


def setup_with_matrices(texts: dict[str, str]) -> Setup:
    """Returns the example's Setup with typed matrices. Raises AttentionError for a text that is not a matrix."""
    matrices = {name: pack_matrix(parse_matrix(text, name), name) for name, text in texts.items()}
    w_o = REMOVED if texts else None  # no W_o, which the Setup would add for an x of another width
    return make_setup(example=PRINTED_EXAMPLE, w_o=w_o, **matrices)


def check_given_matrix(name: str, text: str) -> None:
    """Raises AttentionError if a typed matrix is too large to be drawn, or does not fit the other matrices."""
    matrices = get_typed_matrices()
    matrices.pop(name, None)
    if text.strip():
        check_matrix_size(name, text)
        matrices[name] = text
    trace_for(setup_with_matrices(matrices))


def check_matrix_size(name: str, text: str) -> None:
    """Raises AttentionError if a typed matrix has too many rows or columns."""
    rows, columns = parse_matrix(text, name).shape
    sizes = {"too_many_rows": rows, "too_many_columns": columns}
    for refusal, size in sizes.items():
        if size > MAX_TYPED_SIDE:
            raise AttentionError(refusal, name=name, limit=MAX_TYPED_SIDE, given=size)


# ---- the stages of the printed example: checked numbers, names, parts of the picture, slips --------------------------
FIRST_STAGE = "scores"  # the stage of the calculation that is selected by default


def check_printed_stages(setup: Setup, stage: str) -> CheckedWork:
    """Checks the numbers of every stage of the calculation, printed or typed, and shows the text input of one stage."""
    trace = trace_for(setup)
    texts = {}
    for name, step in STAGES.items():
        start = printed_text(PRINTED_EXAMPLES[PRINTED_EXAMPLE], name, trace[step])
        check = partial(read_answers, right=trace[step], name=name)
        texts[name] = text_box(name, start, check) if name == stage else text_control(name, start, check).value
    checked = checked_answers_for(setup, texts)
    misfit = checked.misfits.get(STAGES[stage])
    if misfit is not None:
        st.error(say_refusal(misfit), icon=":material/error:")
    return checked


def handle_written_click(checked: CheckedWork, run: str, cell: Ref) -> None:
    """Records that the visitor marked the clicked number of the printed page as wrong.

    run: the name of the clicked run; a click in any run but "printed" has no effect.
    """
    if run == "printed":
        try_cell(calculated_cell(checked.trace, cell))


def name_stage(stage: str) -> str:
    """Returns the name of a stage of the calculation in the page's language."""
    return say(f"lessons.printed.option.stage.{stage}")


def title_numbers(name: str) -> str:
    """Returns the title of a matrix of printed numbers.

    name: the step of a run that a stage of the calculation computes, or the name of a given matrix.
    """
    stage_of = {step: stage for stage, step in STAGES.items()}
    return say(f"lessons.printed.control.{stage_of.get(name, name)}")


ASKED_KEY = "printed_right_asked"  # session key of the stage whose right numbers were requested


def offer_right_numbers(stage: str) -> bool:
    """Shows a button that reveals the right numbers of a stage of the calculation; returns whether they are revealed.

    After a click, the button is not shown again.
    """
    if st.session_state.get(ASKED_KEY) == stage:
        return True
    st.button(
        say("lessons.printed.show_right"),
        key="show_right",
        on_click=lambda: st.session_state.update({ASKED_KEY: stage}),
    )
    return False


def make_printed_work(checked: CheckedWork, stage: str, known: Collection[Ref] | None, hidden: bool) -> list[SheetPart]:
    """Returns the matrices of a stage for the picture: printed numbers, right numbers and operands.

    known: the cells whose marks may be shown; None for all. hidden: whether the right numbers are left out.
    """
    return make_work_parts(
        checked,
        STAGES[stage],
        title_numbers,
        own=say("lessons.printed.by_printed"),
        right=say(f"lessons.printed.right_{stage}"),
        known=known,
        hidden=hidden,
    )


def describe_slip(checked: CheckedWork, cell: Ref, stage: str) -> str:
    """Returns the sentence about a wrong printed number: its row and column, the number itself and the right number.

    stage: the name of the stage as shown.
    """
    marked = checked.marked[cell.step]
    digits = checked.digits[cell.step]
    *_, row_axis, column_axis = checked.trace.step(cell.step).dims
    *_, row, column = cell.index
    return say(
        "lessons.printed.slip",
        stage=stage,
        row=place_name(checked.trace, row_axis, row),
        column=place_name(checked.trace, column_axis, column),
        written=cell_text(marked.theirs[cell.index].item(), digits),
        own=cell_text(marked.own[cell.index].item(), digits),
    )


# ---- drawer "begin": where did the errors begin? ---------------------------------------------------------------------
# stages (steps of a run) in each of the two rows
CHAIN_ROWS = (("q", "k", "v"), ("scores", "scaled_scores", "weights", "output"))


def show_error_origins(checked: CheckedWork, _: Setup) -> None:
    """Shows the printed numbers of all stages with their marks, and which later numbers one error makes wrong."""
    slips = []
    for step in STAGES.values():
        slips.extend(checked.cells(step, Mark.SLIP))
    reached = []
    if slips:
        slip = choose_slip(checked, slips)
        reached = [slip, *show_reached_cells(checked, slip)]
    else:
        show_sentence("lessons.printed.no_slip")
    rows = []
    for stages in CHAIN_ROWS:
        parts = []
        for stage in stages:
            counts = count_marked_numbers(checked.marked[STAGES[stage]])
            title = say("lessons.printed.counted", stage=name_stage(stage), **counts)
            part = make_written_part(checked, STAGES[stage], title, place="chain")
            parts.append(part)
        rows.append(parts)
    show_work("begin", checked, rows, reached=reached)


def choose_slip(checked: CheckedWork, slips: list[Ref]) -> Ref:
    """Shows the choice of an error whose consequences are then shown, and returns its cell.

    slips: the cells of all errors.
    """
    stage_of = name_stages_by_step()
    names = []
    for slip in slips:
        name = describe_slip(checked, slip, stage_of[slip.step])
        names.append(name)
    return slips[pick_place("slip", names, 0)]


def show_reached_cells(checked: CheckedWork, slip: Ref) -> list[Ref]:
    """Shows how many later numbers a single error makes wrong, and returns their cells."""
    stage_of = name_stages_by_step()
    reached = []
    counts = []
    for step, wrong in wrong_through_slip(checked, slip).items():
        cells = wrong.nonzero().tolist()
        reached.extend(Ref(step, tuple(index)) for index in cells)
        if cells:
            counts.append(say("lessons.printed.reached_step", step=stage_of[step], count=len(cells)))
    if counts:
        show_sentence("lessons.printed.reached", steps=escape_markdown(join_with_commas(counts)))
    else:
        show_sentence("lessons.printed.reached_none")
    return reached


def name_stages_by_step() -> dict[str, str]:
    """Returns {step of a run: name, as shown, of the stage of the calculation that computes it}."""
    return {step: name_stage(stage) for stage, step in STAGES.items()}


# ---- drawer "own": the same example with the reader's own numbers ----------------------------------------------------
def show_own_exercise(_: CheckedWork, setup: Setup) -> None:
    """Shows a link to the exercise in which the visitor's own numbers for this example are checked."""
    show_sentence("lessons.printed.own")
    link_to_exercise(setup, "own")


# ---- drawer "rounding": did rounding cause the error? ----------------------------------------------------------------
def show_rounding(checked: CheckedWork, _: Setup) -> None:
    """Shows how far the output Z moves, and how far it could move, if the weights are rounded to a few decimals."""
    digits = slide("digits", range(4), 2)
    trace = with_rounded_weights(checked.trace, digits)
    moved = abs_difference(trace["rounded_outputs"], trace["head_outputs"]).max()
    reach = rounding_reach(trace, "head_outputs", "weights", digits).max()
    row_sums = trace["rounded_weights"].sum(-1)
    written_error = largest_written_error(checked, "head_outputs")
    values = {
        "digits": digits,
        "moved": format_fixed(moved.item(), 4),
        "most": format_fixed(reach.item(), 4),
        "off": format_fixed(written_error),
        "sum": format_fixed(find_farthest_from(row_sums, 1.0), digits),
    }
    show_sentence("lessons.printed.rounded", **values)
    counts = count_marked_numbers(checked.marked["head_outputs"])
    if counts["count"]:
        is_explained = rounding_explains(checked, "head_outputs", "weights", digits)
        verdict = "rounding_may" if is_explained else "rounding_not"
        show_sentence(f"lessons.printed.{verdict}", **values)
    show_step_picture("rounding", trace, "rounded_outputs", FIRST_SELECTION)


# ---- drawer "onward": what follows from the printed Q, K and V? ------------------------------------------------------
def show_onward_run(checked: CheckedWork, _: Setup) -> None:
    """Shows the run that continues with the printed Q, K and V.

    Raises AttentionError if a printed number is too large for a matrix; the frame shows it.
    """
    stage = choose_option("onward", ("scores", "weights", "output"))
    setup = make_setup(example="one_query", score="scaled_dot", **pack_printed_projections(checked))
    trace = trace_for(setup)
    step = STAGES[stage]
    counts = count_marked_numbers(checked.marked[step])
    show_sentence(
        "lessons.printed.onward",
        printed=say(f"lessons.printed.control.{stage}"),
        agree=count_agreeing(checked, step, trace[step]),
        **counts,
    )
    show_step_picture("onward", trace, step, FIRST_SELECTION)
    link_to_workbench(setup, "onward")


def pack_printed_projections(checked: CheckedWork) -> dict[str, MatrixValue]:
    """Returns the printed Q, K and V as values of a Setup. Raises AttentionError if a number is too large."""
    matrices = {}
    for name in ("q", "k", "v"):
        printed = checked.written[STAGES[name]][0]  # (T, d)
        matrices[name] = pack_matrix(printed.numpy(), name)
    return matrices


LESSON = Lesson(
    "printed",
    drawers={
        "begin": show_error_origins,
        "own": show_own_exercise,
        "rounding": show_rounding,
        "onward": show_onward_run,
    },
    code=tuple(STAGES.values()),
)
