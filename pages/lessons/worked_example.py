"""A worked example on the screen: what somebody wrote beside what is right, each number with its mark."""

from collections.abc import Callable, Collection, Sequence
from functools import partial

import streamlit as st

from attention_core.drawing.worked_picture import SheetPart, worked_sheet
from attention_core.exercises.answer_text import cell_text, right_decimals
from attention_core.exercises.marking import Mark, MarkedStep
from attention_core.exercises.stages import STAGES, calculated_cell, operand_stages
from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.layout import panel, transpose_panel
from attention_core.record.expressions import Ref
from pages.lessons.pictures import OPENED_CELL_KEY, get_opened_cell, read_opened_cell, show_picture
from pages.lessons.prompts import try_cell
from pages.panels import link_controls
from pages.panels.answers import go_to
from pages.session.labels import current_palette, inline_step_name, picture_texts_for, place_name
from pages.site.words import say

MARK_TEXT_KEYS = {Mark.RIGHT: "right", Mark.FOLLOWED: "followed", Mark.SLIP: "slip"}


def count_marked_numbers(marked: MarkedStep) -> dict[str, int]:
    """How many numbers of a stage have which mark, and how many there are."""
    told = {name: marked.count(mark) for mark, name in MARK_TEXT_KEYS.items()}
    return {**told, "blank": marked.count(Mark.UNANSWERED), "count": sum(told.values())}


def is_step_right(checked: CheckedWork, step: str) -> bool:
    """Whether every number of a step is right."""
    return checked.marked[step].count(Mark.RIGHT) == checked.marked[step].marks.numel()


def label_stage(checked: CheckedWork, step: str) -> str:
    """A step's name with how it stands: all right, or how many slips it holds."""
    slips = checked.marked[step].count(Mark.SLIP)
    sign = f" ×{slips}" if slips else " ✓" if is_step_right(checked, step) else ""
    return inline_step_name(step) + sign


def make_work_parts(
    checked: CheckedWork,
    step: str,
    titles: Callable[[str], str],
    own: str,
    right: str,
    known: Collection[Ref] | None = None,
    hidden: bool = False,
    head: int = 0,
) -> list[SheetPart]:
    """What is written of a step, what is right, and what it was made of. titles: of the operands; own, right: over the
    written and the right numbers; known: the cells whose marks may be seen; hidden: the right numbers may not."""
    at, digits = {"H": head}, checked.digits[step]
    truth = SheetPart(right, panel(checked.trace, step, at), "right", "beside", right_decimals(digits))
    parts = [make_written_part(checked, step, own, known, head=head), *([] if hidden else [truth])]
    for place, name in zip(("left", "above"), operand_stages(checked.trace, step), strict=False):
        turn = step == "scores" and place == "above"
        operand = panel(checked.written, name, at)
        parts.append(
            SheetPart(
                f"{titles(name)}{'ᵀ' if turn else ''}",
                transpose_panel(operand) if turn else operand,
                "printed",
                place,
                checked.digits.get(name),
                sign="×" if place == "above" else "",
                spare=True,
            )
        )
    return parts


def make_written_part(
    checked: CheckedWork,
    step: str,
    title: str,
    known: Collection[Ref] | None = None,
    place: str = "result",
    head: int = 0,
) -> SheetPart:
    """The written numbers of a stage."""
    cells = panel(checked.written, step, {"H": head})
    return SheetPart(title, cells, "printed", place, checked.digits[step], marked=checked.marked[step], known=known)


def show_work(
    name: str,
    checked: CheckedWork,
    rows: Sequence[Sequence[SheetPart]],
    tell: Callable[[CheckedWork, str, Ref], None] | None = None,
    reached: Collection[Ref] = (),
    secret: Callable[[CheckedWork, str, Ref], bool] | None = None,
) -> None:
    """The picture; a number of the writer's opens to the arithmetic with his own operands, and to its mark. tell,
    secret: as Shown has them, of a worked example."""
    runs = {"printed": checked.written}
    if any(part.run == "right" for parts in rows for part in parts):
        runs["right"] = checked.trace
    opened = get_opened_cell(name, runs)
    if opened and opened[0] == "printed":
        runs["printed"] = checked.computed_at(opened[1].step)
    marks = {mark: say(f"lessons.printed.mark_{word}") for mark, word in MARK_TEXT_KEYS.items()}
    picture = worked_sheet(rows, picture_texts_for(checked.trace), current_palette(), marks, opened, reached)
    how = {"tell": tell and partial(tell, checked), "secret": secret and partial(secret, checked)}
    show_picture(name, picture, runs, say("lessons.printed.alt"), above=partial(show_mark_verdict, checked), **how)


def show_exercise(name: str, checked: CheckedWork, rows: Sequence[Sequence[SheetPart]], asked: bool) -> None:
    """The picture of an exercise: a click on a cell without a number leads to where it is written. asked: whether the
    right numbers were asked for, so that such a cell opens as well."""
    if asked:
        show_work(name, checked, rows)
    else:
        show_work(name, checked, rows, tell=begin_to_write, secret=is_blank)


def is_blank(checked: CheckedWork, run: str, cell: Ref) -> bool:
    """Whether a number is still to be written."""
    at = calculated_cell(checked.trace, cell)
    if run != "printed" or at.step not in checked.marked:
        return False
    return bool(checked.marked[at.step].theirs[at.index].isnan())


def begin_to_write(checked: CheckedWork, run: str, cell: Ref) -> None:
    """A cell was clicked: one without a number is not opened, it is written into."""
    if is_blank(checked, run, cell):
        link_controls.store_choice(OPENED_CELL_KEY, None)
        go_to(calculated_cell(checked.trace, cell))


def close_with(name: str, *drawn: object) -> None:
    """Closes what was opened in a picture while something else was drawn in it."""
    key = f"{link_controls.current_slug()}_{name}_drawn"
    before = st.session_state.get(key, drawn)
    st.session_state[key] = drawn
    opened, *_ = link_controls.get_choice(OPENED_CELL_KEY, ("",), read_opened_cell)
    if before != drawn and opened == name:
        link_controls.store_choice(OPENED_CELL_KEY, None)


def handle_written_click(checked: CheckedWork, run: str, cell: Ref) -> None:
    """A written number was clicked: the reader holds it wrong."""
    if run == "printed":
        try_cell(calculated_cell(checked.trace, cell))


def show_mark_verdict(checked: CheckedWork, run: str, cell: Ref) -> None:
    """What a written number is."""
    at = calculated_cell(checked.trace, cell)
    if run != "printed" or at.step not in checked.marked:
        return
    marked, digits = checked.marked[at.step], checked.digits[at.step]
    mark = Mark(marked.marks[at.index].item())
    told = {
        "written": cell_text(marked.theirs[at.index].item(), digits),
        "own": cell_text(marked.own[at.index].item(), right_decimals(digits)),
        "right": cell_text(checked.trace[at.step][at.index].item(), right_decimals(digits)),
    }
    word = MARK_TEXT_KEYS.get(mark, "blank")
    met = marked.met[at.index]
    st.markdown(say(f"lessons.printed.verdict_{'met' if met else word}", **told))


def describe_slip(checked: CheckedWork, cell: Ref, stage: str) -> dict[str, str]:
    """A slip's place, what is written there and what should be."""
    marked, digits = checked.marked[cell.step], checked.digits[cell.step]
    dims = checked.trace.step(cell.step).dims
    row, column = (place_name(checked.trace, dims[axis], cell.index[axis]) for axis in (-2, -1))
    written, own = (cell_text(numbers[cell.index].item(), digits) for numbers in (marked.theirs, marked.own))
    return {"stage": stage, "row": row, "column": column, "written": written, "own": own}


# ---- a printed example -----------------------------------------------------------------------------------------------
def name_stage(stage: str) -> str:
    """A stage's name."""
    return say(f"lessons.printed.option.stage.{stage}")


def printed_title(name: str) -> str:
    """What stands over printed numbers: a stage's, or one of the given matrices."""
    stage = next((stage for stage, step in STAGES.items() if step == name), name)
    return say(f"lessons.printed.control.{stage}")


def make_printed_work(checked: CheckedWork, stage: str, known: Collection[Ref] | None) -> list[SheetPart]:
    """What is printed of a stage, what is right, and what it was made of; known: the cells whose marks may be seen."""
    titles = (say("lessons.printed.by_printed"), say(f"lessons.printed.right_{stage}"))
    return make_work_parts(checked, STAGES[stage], printed_title, *titles, known)
