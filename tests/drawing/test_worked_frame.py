"""The free place of a worked step: it lies behind the operands, and says of which rows and columns it is made."""

import pytest

from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.worked_picture import (
    BESIDE_WIDTH_PX,
    FRAME_HEIGHT_PX,
    FRAME_WIDTH_PX,
    MIN_SHEET_CELL_PX,
    SheetPart,
    worked_frame,
)
from attention_core.exercises.generator import LEVELS, make_exercise
from attention_core.exercises.stages import operand_stages, stages_of
from attention_core.explanation.layout import panel, transpose_panel
from tests.drawing.test_worked_picture import WORDS, rows_of

STEPS = [(level, step) for level in LEVELS for step in stages_of(make_exercise(level, 1).run())]


def frame_of(level, step, right=False, palette=LIGHT_PALETTE):
    trace = make_exercise(level, 1).run()
    parts = [SheetPart("Right", panel(trace, step), "right", "beside", 2)] if right else []
    for place, name in zip(("left", "above"), operand_stages(trace, step), strict=False):
        cells = panel(trace, name)
        cells = transpose_panel(cells) if (step, place) == ("scores", "above") else cells
        parts.append(SheetPart(name, cells, "printed", place, None, sign="×" if place == "above" else ""))
    free = SheetPart("", panel(trace, step), "printed", "result", None)
    return worked_frame(parts, free, WORDS, palette), free.panel.values.shape


def corner(frame, place):
    (cell,) = rows_of(frame.picture, kind="cell", panel=place, row=0, column=0)
    return cell


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
def test_the_numbers_of_a_small_exercise_are_read_from_the_last_row_of_a_lecture_hall(palette):
    frame, _ = frame_of("from_qkv", "scores", palette=palette)
    assert corner(frame, "left")["size"] >= 28 and frame.cell >= 75
    assert 0.6 * 1120 <= frame.picture.spec["width"] <= BESIDE_WIDTH_PX
    assert frame.picture.spec["height"] <= FRAME_HEIGHT_PX + 8


@pytest.mark.parametrize("level, step", STEPS)
def test_the_row_and_the_column_that_a_number_is_made_of_are_those_of_the_operands(level, step):
    frame, _ = frame_of(level, step)
    left = rows_of(frame.picture, kind="cell", panel="left", row=0)
    assert frame.row == pytest.approx((left[0]["x"], left[-1]["x2"] - left[0]["x"]))
    above = rows_of(frame.picture, kind="cell", panel="above", column=0)
    assert (frame.column is None) == (not above)
    if above:
        assert frame.column == pytest.approx((above[0]["x"], above[-1]["y2"] - frame.top))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("level, step", STEPS)
def test_nothing_lies_in_the_free_place_and_the_picture_holds_it(level, step, right):
    frame, (rows, columns) = frame_of(level, step, right)
    ends = frame.left + columns * frame.cell, frame.top + rows * frame.cell
    assert ends[0] <= frame.picture.spec["width"] and ends[1] <= frame.picture.spec["height"]
    assert frame.top == corner(frame, "left")["y"] and frame.cell >= MIN_SHEET_CELL_PX
    assert frame.picture.spec["width"] <= FRAME_WIDTH_PX or frame.cell == MIN_SHEET_CELL_PX
    for cell in rows_of(frame.picture, kind="cell"):
        is_left_or_right = cell["x2"] <= frame.left or cell["x"] >= ends[0]
        is_above = cell["y2"] <= frame.top
        assert is_left_or_right or is_above
    shown = {cell["panel"] for cell in rows_of(frame.picture, kind="cell")}
    assert ("beside" in shown) == right and "result" not in shown
