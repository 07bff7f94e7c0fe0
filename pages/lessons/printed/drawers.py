"""Lesson 12: what is given and what is printed; further sights: where the errors began, the reader's own numbers, what
rounding does, what follows from the printed Q, K and V."""

from functools import partial

import streamlit as st

from attention_core.comparison.distances import apart
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.marking import PRINTED, Mark
from attention_core.exercises.rounding import farthest_from, rounding_reach, with_rounded_weights
from attention_core.exercises.worked_example import (
    STAGES,
    Checked,
    agreeing,
    answers_text,
    largest_error,
    made_of,
    made_wrong,
    printed_text,
    read_answers,
    rounding_explains,
)
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import fixed
from pages.export.doors import exercise_door, workbench_door
from pages.lessons.pictures import show_step
from pages.lessons.worked_example import called, counts, part_of, show_work, slip_told
from pages.panels import link_controls
from pages.panels.link_controls import choose, pick_place, slide, text_box, typed
from pages.runs.cache import checked_of, material_of, trace_of
from pages.session.labels import Look
from pages.setup.setup import Setup
from pages.site.words import literal, say, sentence

EXAMPLE = "source_004"
GIVEN = ("x", "w_q", "w_k", "w_v")
MOST = 8  # rows and columns: two matrices of them stand beside each other in cells that can be read
FIRST = Look(0, 0, 0, 0)
ROWS = (("q", "k", "v"), ("scores", "scaled_scores", "weights", "output"))  # of the chain


# ---- what is given, what is printed ----------------------------------------------------------------------------------
def given(stage: str) -> Setup:
    """x and the projections, as in the example or as the reader typed them, with boxes for those that a stage reads."""
    for name in GIVEN:
        start, check_text = start_of(name), partial(check_given, name)
        if not typed(name, start, check_text).strip():
            link_controls.keep(name, None)  # an emptied box holds the example's numbers again
        if name == "x" or name in made_of(EXAMPLES[EXAMPLE].run(), STAGES[stage]):
            text_box(name, start, check_text)
    return setup_of(typed_texts())


def start_of(name: str) -> str:
    """What a box holds before anybody types: the example's numbers, random ones where x has got another width."""
    if name == "x":
        return answers_text(EXAMPLES[EXAMPLE].tensor("x"), None)
    own = {key: text for key, text in typed_texts().items() if key == "x"}
    return answers_text(material_of(setup_of(own)).matrices[name], None)


def typed_texts() -> dict[str, str]:
    """What the reader typed in the place of the example's matrices."""
    return {name: text for name, text in link_controls.kept().chosen.items() if name in GIVEN and str(text).strip()}


def setup_of(texts: dict[str, str]) -> Setup:
    """The example with matrices in the place of its own. Raises AttentionError for what is none."""
    matrices = {name: to_text(parse_matrix(text, name), name) for name, text in texts.items()}
    return Setup(example=EXAMPLE, w_o="none" if texts else None, **matrices)  # another width of x would bring a W_o


def check_given(name: str, text: str) -> None:
    """Raises AttentionError where a typed matrix is too large to be drawn, or does not go with the others."""
    others = {key: other for key, other in typed_texts().items() if key != name}
    if text.strip():
        rows, columns = parse_matrix(text, name).shape
        for code, size in (("too_many_rows", rows), ("too_many_columns", columns)):
            if size > MOST:
                raise AttentionError(code, name=name, limit=MOST, given=size)
        others[name] = text
    trace_of(setup_of(others))


def printed(setup: Setup, stage: str) -> Checked:
    """What is printed at every stage, checked, with a box for one of them."""
    trace, texts = trace_of(setup), {}
    for name, step in STAGES.items():
        start = printed_text(PRINTED[EXAMPLE], name, trace[step])
        box = text_box if name == stage else typed
        texts[name] = box(name, start, partial(read_answers, right=trace[step], name=name))
    checked = checked_of(setup, texts)
    if STAGES[stage] in checked.misfits:
        st.error(sentence(checked.misfits[STAGES[stage]]), icon=":material/error:")
    return checked


# ---- where it began --------------------------------------------------------------------------------------------------
def begin(checked: Checked) -> None:
    """All stages with their marks; what one slip alone makes wrong."""
    slips = [cell for step in STAGES.values() for cell in checked.cells(step, Mark.SLIP)]
    reached, stage_of = [], {step: called(stage) for stage, step in STAGES.items()}
    if slips:
        names = [say("lessons.printed.slip", **slip_told(checked, cell, stage_of[cell.step])) for cell in slips]
        slip = slips[pick_place("slip", names, 0)]
        cells = {step: wrong.nonzero().tolist() for step, wrong in made_wrong(checked, slip).items()}
        reached = [slip, *(Ref(step, tuple(index)) for step, found in cells.items() for index in found)]
        told = [f"{stage_of[step]} {len(found)}" for step, found in cells.items() if found]
        st.markdown(
            say("lessons.printed.reached", steps=literal(say("fact.comma").join(told)))
            if told
            else say("lessons.printed.reached_none")
        )
    else:
        st.markdown(say("lessons.printed.no_slip"))
    rows = [
        [part_of(checked, STAGES[stage], count_title(checked, stage), place="chain") for stage in row] for row in ROWS
    ]
    show_work("begin", checked, rows, reached=reached)


def count_title(checked: Checked, stage: str) -> str:
    """A stage with its counts, by the signs of the marks."""
    return say("lessons.printed.counted", stage=called(stage), **counts(checked.marked[STAGES[stage]]))


# ---- do it yourself --------------------------------------------------------------------------------------------------
def own(setup: Setup) -> None:
    """The way to where the reader's own numbers of this example are checked."""
    st.markdown(say("lessons.printed.own"))
    exercise_door(setup, "own")


# ---- rounding --------------------------------------------------------------------------------------------------------
def rounding(checked: Checked) -> None:
    """The weights written with a few decimals: what becomes of Z, and how far it can move at most."""
    digits = slide("digits", range(4), 2)
    trace = with_rounded_weights(checked.trace, digits)
    told = {
        "digits": digits,
        "moved": fixed(apart(trace["rounded_outputs"], trace["head_outputs"]).max().item(), 4),
        "most": fixed(rounding_reach(trace, "head_outputs", "weights", digits).max().item(), 4),
        "off": fixed(largest_error(checked, "head_outputs")),
        "sum": fixed(farthest_from(trace["rounded_weights"].sum(-1), 1.0), digits),
    }
    st.markdown(say("lessons.printed.rounded", **told))
    if counts(checked.marked["head_outputs"])["count"]:
        may = rounding_explains(checked, "head_outputs", "weights", digits)
        st.markdown(say("lessons.printed.rounding_may" if may else "lessons.printed.rounding_not", **told))
    show_step("rounding", trace, "rounded_outputs", FIRST)


# ---- what follows from their own Q, K and V --------------------------------------------------------------------------
def onward(checked: Checked) -> None:
    """The run that begins with the printed Q, K and V."""
    stage = choose("onward", ("scores", "weights", "output"))
    try:
        matrices = {name: to_text(checked.written[STAGES[name]][0].numpy(), name) for name in ("q", "k", "v")}
    except AttentionError as error:  # more than a matrix may hold
        st.error(sentence(error), icon=":material/error:")
        return
    setup = Setup(example="one_query", score="scaled_dot", **matrices)
    trace, step = trace_of(setup), STAGES[stage]
    told = counts(checked.marked[step])
    st.markdown(
        say(
            "lessons.printed.onward",
            printed=say(f"lessons.printed.control.{stage}"),
            agree=agreeing(checked, step, trace[step]),
            **told,
        )
    )
    show_step("onward", trace, step, FIRST)
    workbench_door(setup, "onward")
