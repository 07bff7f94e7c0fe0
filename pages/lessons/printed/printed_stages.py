"""The stages of the printed example, checked; their names, their parts of the picture, their slips."""

from collections.abc import Collection
from functools import partial

import streamlit as st

from attention_core.drawing.worked_picture import SheetPart
from attention_core.exercises.answer_text import cell_text, printed_text, read_answers
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.stages import STAGES, calculated_cell
from attention_core.exercises.worked_example import CheckedWork
from attention_core.record.expressions import Ref
from pages.lessons.printed.given_matrices import PRINTED_EXAMPLE
from pages.lessons.prompts import try_cell
from pages.lessons.worked_example import make_work_parts
from pages.panels.link_controls import get_typed_text, text_box
from pages.runs.cache import checked_answers_for, trace_for
from pages.session.labels import place_name
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal

FIRST_STAGE = "scores"  # that is looked at first


def check_printed_stages(setup: Setup, stage: str) -> CheckedWork:
    """What is printed at every stage, checked, with a box for one of them."""
    trace = trace_for(setup)
    texts = {}
    for name, step in STAGES.items():
        start = printed_text(PRINTED_EXAMPLES[PRINTED_EXAMPLE], name, trace[step])
        box = text_box if name == stage else get_typed_text
        texts[name] = box(name, start, partial(read_answers, right=trace[step], name=name))
    checked = checked_answers_for(setup, texts)
    misfit = checked.misfits.get(STAGES[stage])
    if misfit is not None:
        st.error(say_refusal(misfit), icon=":material/error:")
    return checked


def handle_written_click(checked: CheckedWork, run: str, cell: Ref) -> None:
    """A written number was clicked: the reader holds it wrong."""
    if run == "printed":
        try_cell(calculated_cell(checked.trace, cell))


def name_stage(stage: str) -> str:
    """A stage's name."""
    return say(f"lessons.printed.option.stage.{stage}")


def title_numbers(name: str) -> str:
    """What stands over printed numbers. name: a stage's step, or one of the given matrices."""
    stage_of = {step: stage for stage, step in STAGES.items()}
    return say(f"lessons.printed.control.{stage_of.get(name, name)}")


ASKED_KEY = "printed_right_asked"  # in the session: the stage whose right numbers were asked for


def offer_right_numbers(stage: str) -> bool:
    """A button that shows the right numbers of a stage, before all slips are found; whether it was pressed."""
    if st.session_state.get(ASKED_KEY) == stage:
        return True
    st.button(
        say("lessons.printed.show_right"),
        key="show_right",
        on_click=lambda: st.session_state.update({ASKED_KEY: stage}),
    )
    return False


def make_printed_work(checked: CheckedWork, stage: str, known: Collection[Ref] | None, hidden: bool) -> list[SheetPart]:
    """What is printed of a stage, what is right, and what it was made of. known: the cells whose marks may be seen.
    hidden: whether the right numbers may not be seen yet."""
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
    """A slip's place, what is written there and what should be. stage: its stage's name."""
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
