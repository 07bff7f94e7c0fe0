"""Shows the answers of an exercise: in cells, placed beside the operands as the result of a product, or as one text."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.worked_picture import BESIDE_WIDTH_PX, SheetPart, WorkedFrame, worked_frame
from attention_core.exercises.answer_text import BLANK_MARK, read_answers
from attention_core.exercises.worked_example import CheckedWork
from attention_core.inputs.matrix_cells import split_cells
from attention_core.record.errors import AttentionError
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import (
    RunPicture,
    draw_picture,
    show_opened_arithmetic,
)
from pages.lessons.worked_example import (
    close_blank,
    is_blank,
    list_cell_marks,
    make_written_part,
    open_written_cell,
    show_mark_verdict,
)
from pages.panels.lesson_choices import current_lesson_choices
from pages.panels.link_controls import link_control, read_switch, show_choice_refusal, text_control
from pages.panels.number_cells import show_number_cells
from pages.session.answers import are_answers_revealed
from pages.session.cell_clicks import read_typed_cells
from pages.session.labels import current_palette, inline_step_name, picture_texts_for, place_names
from pages.site.words import say

NAME = "work"  # name of the exercise's picture on the page


def show_worked_table(
    checked: CheckedWork,
    step: str,
    head: int,
    parts: list[SheetPart],
    starts: Mapping[str, str],
    show_verdict: Callable[[], None],
) -> None:
    """Shows the cells of a step beside its operands; a click on a typed number opens its arithmetic and its verdict.

    parts: the operands, and the right numbers if these may be shown. starts: {step: initial text of its cells}.
    show_verdict: a function that draws the verdict; it is called beside the picture if there is room.
    """
    runs = {"printed": checked.written, "right": checked.trace}
    frame = draw_frame(checked, step, head, parts)
    shown = make_work_picture(checked, frame, runs)
    opens_beside = frame.picture.spec["width"] <= BESIDE_WIDTH_PX
    with st.container(horizontal=opens_beside, gap="medium", key="shrinks" if opens_beside else None):  # page.css
        with st.container(key="worked", width="content"):  # page.css moves these cells into the picture
            draw_picture(shown)
            answer_cells(
                checked.trace,
                step,
                starts[step],
                head,
                list_cell_marks(checked, step, head),
                partial(open_written_cell, checked, NAME, step, head),
                CellPlace(frame.left, frame.top, frame.cell, frame.row, frame.column, frame.seen),
            )
        with st.container():
            show_choice_refusal(step)
            show_verdict()
            show_opened_arithmetic(shown, "stretch")


def draw_frame(checked: CheckedWork, step: str, head: int, parts: list[SheetPart]) -> WorkedFrame:
    """Returns the picture of a step's operands, with free space in which the page puts the input cells."""
    opened = get_opened_cell(NAME, {"printed": checked.written, "right": checked.trace})
    free = make_written_part(checked, step, "", head=head)
    words = picture_texts_for(checked.trace)
    return worked_frame(parts, free, words, current_palette(), opened)


def make_work_picture(checked: CheckedWork, frame: WorkedFrame, runs: dict) -> RunPicture:
    """Returns the picture of an exercise with its runs: that of the visitor's numbers, and that of the right ones.

    A cell without a typed number opens only if all answers are revealed.
    """
    opened = get_opened_cell(NAME, runs)
    if opened is not None:
        run, cell = opened
        if run == "printed":
            runs["printed"] = checked.computed_at(cell.step)
    is_asked = are_answers_revealed()
    return RunPicture(
        NAME,
        frame.picture,
        runs,
        say("lessons.printed.alt"),
        on_click=None if is_asked else partial(close_blank, checked),
        show_above=partial(show_mark_verdict, checked),
        is_secret=None if is_asked else partial(is_blank, checked),
    )


# ---- the answers: typed into cells or pasted as text, and stored as one text in the link -----------------------------
CellMarks = list[list[tuple[str, str]]]  # for each cell: (symbol of its mark, meaning of the mark)
CellOpener = Callable[[int, int], None]

ANSWERS_VERSION_KEY = "answers_version"  # session key of a counter; a new value makes cells discard typed text
MAX_ANSWER_CELL_CHARS = 12  # most characters of a cell's text; a longer text is cut


@dataclass(frozen=True)
class CellPlace:
    """The position of the input cells in a picture: left and upper edge, and the side of one cell, in pixels.

    The numbers in the cells are computed from rows of one matrix and, if there is another, from its columns. row: left
    edge and width of the first matrix. column: top edge and height of the second, or None. Both matrices are
    highlighted while a cell is edited. seen: the share of the picture's width that a phone shows, where the cells stand
    below the picture.
    """

    left: float
    top: float
    cell: float
    row: tuple[float, float]
    column: tuple[float, float] | None
    seen: float


def get_answer_text(trace: Trace, step: str, start: str) -> str:
    """Returns the text of the answers for a step, without drawing a control.

    start: the text before any answer.
    """
    return text_control(step, start, make_answer_check(trace, step)).value


def make_answer_check(trace: Trace, step: str):
    """Returns a function that checks a text with the answers for a step.

    A valid text has numbers in the step's shape, with question marks for missing numbers.
    """
    return partial(read_answers, right=trace[step], name=step)


def is_text_chosen() -> bool:
    """Returns whether the visitor chose to type the answers for a step as one text instead of in cells."""
    return link_control("as_text", False, read_switch).value


def answer_cells(
    trace: Trace,
    step: str,
    start: str,
    head: int,
    marks: CellMarks,
    on_open: CellOpener,
    place: CellPlace | None = None,
) -> None:
    """Draws the answers for one head of a step as input cells; if a typed text is invalid, the cells keep their
    numbers.

    start: the text before any answer. marks: for each cell, the symbol of its mark and an explanation. on_open: a
    callback that gets the row and column of a clicked number. place: the position of the cells in a picture.
    """
    found = trace.step(step)
    row_names, column_names = list_cell_names(trace, step)
    head_number = found.leading({"H": head}).get("H", 0)
    first = head_number * len(row_names)  # index of the head's first row, because the heads' rows follow one another
    rows = split_cells(get_answer_text(trace, step, start), step)
    key = f"cells_{step}"

    def take_typed_cells(sent: Iterable[Mapping]) -> None:
        try:
            cells = read_typed_cells(sent, len(row_names), len(column_names), step)
        except AttentionError as error:
            current_lesson_choices().refuse(step, error)
            return
        control = text_control(step, start, make_answer_check(trace, step))
        text, refusal = write_answers(control.value, [(first + row, *typed) for row, *typed in cells], trace, step)
        control.take(text)
        if refusal is not None:
            current_lesson_choices().refuse(step, refusal)

    rows_of_head = rows[first : first + len(row_names)]
    data = {
        "name": inline_step_name(step),
        "rows": row_names,
        "columns": column_names,
        "numbers": [format_answer_row(row) for row in rows_of_head],
        "changed": [[False] * len(column_names)] * len(row_names),
        "marks": marks,
        "place": None if place is None else vars(place),
    }
    version = f"{step} {head} {st.session_state.get(ANSWERS_VERSION_KEY, 0)}"
    show_number_cells(key, data, version, take_typed_cells, lambda cell: on_open(cell["row"], cell["column"]))


def write_answers(
    text: str, cells: Iterable[tuple[int, int, str]], trace: Trace, step: str
) -> tuple[str, AttentionError | None]:
    """Returns the text of the answers with the typed cells, and the error of the last cell that is no number, or None.

    text: the answers until now. cells: (row, column, typed text); one that is no number keeps its former text.
    """
    check = make_answer_check(trace, step)
    rows, refusal = split_cells(text, step), None
    for row, column, typed in cells:
        former, rows[row][column] = rows[row][column], clean_cell_text(typed)
        try:
            check(join_cells(rows))
        except AttentionError as error:
            rows[row][column], refusal = former, error
    return join_cells(rows), refusal


def join_cells(rows: list[list[str]]) -> str:
    """Returns the text with the given cells: rows separated by semicolons, cells by spaces."""
    return "; ".join(" ".join(row) for row in rows)


def list_cell_names(trace: Trace, step: str) -> tuple[list[str], list[str]]:
    """Returns the row names and the column names of a step."""
    dims = trace.step(step).dims
    sizes = trace.step(step).shape
    row_names = place_names(trace, dims[-2], sizes[-2])
    column_names = place_names(trace, dims[-1], sizes[-1])
    return row_names, column_names


def renew_answer_cells() -> None:
    """Makes the browser's input cells discard typed text and show the stored answers again."""
    version = st.session_state.get(ANSWERS_VERSION_KEY, 0)
    st.session_state[ANSWERS_VERSION_KEY] = version + 1


def format_answer_row(row: list[str]) -> list[str]:
    """Returns the numbers of a row as texts for cells: "" for a missing number, a minus sign for a hyphen."""
    return [text.replace(BLANK_MARK, "").replace("-", "−") for text in row]


def clean_cell_text(typed_text: str) -> str:
    """Normalises a text typed into a cell: an empty text becomes a question mark, a decimal comma becomes a point."""
    plain = unicodedata.normalize("NFKC", typed_text)  # NFKC converts full-width digits to ASCII digits
    without_spaces = "".join(plain.split())
    number_text = without_spaces[:MAX_ANSWER_CELL_CHARS].replace(",", ".")
    return number_text or BLANK_MARK
