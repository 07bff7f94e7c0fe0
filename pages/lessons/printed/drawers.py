"""Lesson 12: what is given and what is printed; further sights: where the errors began, the reader's own numbers, what
rounding does, what follows from the printed Q, K and V."""

from functools import partial

import streamlit as st

from attention_core.comparison.distances import abs_difference
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.answer_text import answers_text, printed_text, read_answers
from attention_core.exercises.marking import Mark
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.rounding import find_farthest_from, rounding_reach, with_rounded_weights
from attention_core.exercises.stages import STAGES, operand_stages
from attention_core.exercises.worked_example import (
    CheckedWork,
    count_agreeing,
    largest_written_error,
    rounding_explains,
    wrong_through_slip,
)
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from pages.export.doors import exercise_door, workbench_door
from pages.lessons.pictures import show_step_picture
from pages.lessons.worked_example import count_marked_numbers, describe_slip, make_written_part, name_stage, show_work
from pages.panels import link_controls
from pages.panels.link_controls import choose_option, get_typed_text, pick_place, slide, text_box
from pages.runs.cache import checked_answers_for, inputs_of, trace_for
from pages.session.labels import Selection
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

PRINTED_EXAMPLE = "source_004"
GIVEN_MATRICES = ("x", "w_q", "w_k", "w_v")
MAX_TYPED_SIDE = 8  # rows and columns: two matrices of them stand beside each other in cells that can be read
FIRST_SELECTION = Selection(0, 0, 0, 0)
CHAIN_ROWS = (("q", "k", "v"), ("scores", "scaled_scores", "weights", "output"))  # of the chain


# ---- what is given, what is printed ----------------------------------------------------------------------------------
def choose_given_setup(stage: str) -> Setup:
    """x and the projections, as in the example or as the reader typed them, with boxes for those that a stage reads."""
    for name in GIVEN_MATRICES:
        start, check_text = initial_matrix_text(name), partial(check_given_matrix, name)
        if not get_typed_text(name, start, check_text).strip():
            link_controls.store_choice(name, None)  # an emptied box holds the example's numbers again
        if name == "x" or name in operand_stages(EXAMPLES[PRINTED_EXAMPLE].run(), STAGES[stage]):
            text_box(name, start, check_text)
    return setup_with_matrices(get_typed_matrices())


def initial_matrix_text(name: str) -> str:
    """What a box holds before anybody types: the example's numbers, random ones where x has got another width."""
    if name == "x":
        return answers_text(EXAMPLES[PRINTED_EXAMPLE].tensor("x"), None)
    own = {key: text for key, text in get_typed_matrices().items() if key == "x"}
    return answers_text(inputs_of(setup_with_matrices(own)).matrices[name], None)


def get_typed_matrices() -> dict[str, str]:
    """What the reader typed in the place of the example's matrices."""
    return {
        name: text
        for name, text in link_controls.current_lesson_choices().chosen.items()
        if name in GIVEN_MATRICES and str(text).strip()
    }


def setup_with_matrices(texts: dict[str, str]) -> Setup:
    """The example with matrices in the place of its own. Raises AttentionError for what is none."""
    matrices = {name: to_text(parse_matrix(text, name), name) for name, text in texts.items()}
    return Setup(
        example=PRINTED_EXAMPLE, w_o="none" if texts else None, **matrices
    )  # another width of x would bring a W_o


def check_given_matrix(name: str, text: str) -> None:
    """Raises AttentionError where a typed matrix is too large to be drawn, or does not go with the others."""
    others = {key: other for key, other in get_typed_matrices().items() if key != name}
    if text.strip():
        rows, columns = parse_matrix(text, name).shape
        for code, size in (("too_many_rows", rows), ("too_many_columns", columns)):
            if size > MAX_TYPED_SIDE:
                raise AttentionError(code, name=name, limit=MAX_TYPED_SIDE, given=size)
        others[name] = text
    trace_for(setup_with_matrices(others))


def check_printed_stages(setup: Setup, stage: str) -> CheckedWork:
    """What is printed at every stage, checked, with a box for one of them."""
    trace, texts = trace_for(setup), {}
    for name, step in STAGES.items():
        start = printed_text(PRINTED_EXAMPLES[PRINTED_EXAMPLE], name, trace[step])
        box = text_box if name == stage else get_typed_text
        texts[name] = box(name, start, partial(read_answers, right=trace[step], name=name))
    checked = checked_answers_for(setup, texts)
    if STAGES[stage] in checked.misfits:
        st.error(say_refusal(checked.misfits[STAGES[stage]]), icon=":material/error:")
    return checked


# ---- where it began --------------------------------------------------------------------------------------------------
def show_error_origins(checked: CheckedWork) -> None:
    """All stages with their marks; what one slip alone makes wrong."""
    slips = [cell for step in STAGES.values() for cell in checked.cells(step, Mark.SLIP)]
    reached, stage_of = [], {step: name_stage(stage) for stage, step in STAGES.items()}
    if slips:
        names = [say("lessons.printed.slip", **describe_slip(checked, cell, stage_of[cell.step])) for cell in slips]
        slip = slips[pick_place("slip", names, 0)]
        cells = {step: wrong.nonzero().tolist() for step, wrong in wrong_through_slip(checked, slip).items()}
        reached = [slip, *(Ref(step, tuple(index)) for step, found in cells.items() for index in found)]
        told = [f"{stage_of[step]} {len(found)}" for step, found in cells.items() if found]
        st.markdown(
            say("lessons.printed.reached", steps=escape_markdown(say("fact.comma").join(told)))
            if told
            else say("lessons.printed.reached_none")
        )
    else:
        st.markdown(say("lessons.printed.no_slip"))
    rows = [
        [make_written_part(checked, STAGES[stage], count_title(checked, stage), place="chain") for stage in row]
        for row in CHAIN_ROWS
    ]
    show_work("begin", checked, rows, reached=reached)


def count_title(checked: CheckedWork, stage: str) -> str:
    """A stage with its counts, by the signs of the marks."""
    return say(
        "lessons.printed.counted", stage=name_stage(stage), **count_marked_numbers(checked.marked[STAGES[stage]])
    )


# ---- do it yourself --------------------------------------------------------------------------------------------------
def show_own_exercise(setup: Setup) -> None:
    """The way to where the reader's own numbers of this example are checked."""
    st.markdown(say("lessons.printed.own"))
    exercise_door(setup, "own")


# ---- rounding --------------------------------------------------------------------------------------------------------
def show_rounding(checked: CheckedWork) -> None:
    """The weights written with a few decimals: what becomes of Z, and how far it can move at most."""
    digits = slide("digits", range(4), 2)
    trace = with_rounded_weights(checked.trace, digits)
    told = {
        "digits": digits,
        "moved": format_fixed(abs_difference(trace["rounded_outputs"], trace["head_outputs"]).max().item(), 4),
        "most": format_fixed(rounding_reach(trace, "head_outputs", "weights", digits).max().item(), 4),
        "off": format_fixed(largest_written_error(checked, "head_outputs")),
        "sum": format_fixed(find_farthest_from(trace["rounded_weights"].sum(-1), 1.0), digits),
    }
    st.markdown(say("lessons.printed.rounded", **told))
    if count_marked_numbers(checked.marked["head_outputs"])["count"]:
        may = rounding_explains(checked, "head_outputs", "weights", digits)
        st.markdown(say("lessons.printed.rounding_may" if may else "lessons.printed.rounding_not", **told))
    show_step_picture("rounding", trace, "rounded_outputs", FIRST_SELECTION)


# ---- what follows from their own Q, K and V --------------------------------------------------------------------------
def show_onward_run(checked: CheckedWork) -> None:
    """The run that begins with the printed Q, K and V."""
    stage = choose_option("onward", ("scores", "weights", "output"))
    try:
        matrices = {name: to_text(checked.written[STAGES[name]][0].numpy(), name) for name in ("q", "k", "v")}
    except AttentionError as error:  # more than a matrix may hold
        st.error(say_refusal(error), icon=":material/error:")
        return
    setup = Setup(example="one_query", score="scaled_dot", **matrices)
    trace, step = trace_for(setup), STAGES[stage]
    told = count_marked_numbers(checked.marked[step])
    st.markdown(
        say(
            "lessons.printed.onward",
            printed=say(f"lessons.printed.control.{stage}"),
            agree=count_agreeing(checked, step, trace[step]),
            **told,
        )
    )
    show_step_picture("onward", trace, step, FIRST_SELECTION)
    workbench_door(setup, "onward")
