"""The picture of a worked example: numbers, marks that are not a colour alone, and how wide it is."""

import pytest
import torch

from attention_core import Weights, attend
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.drawing.text_layout import PictureTexts, text_width
from attention_core.drawing.worked_picture import MARK_SIGNS, MIN_SHEET_CELL_PX, SheetPart, worked_sheet
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.answer_text import answers_text, printed_text
from attention_core.exercises.marking import Mark
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.stages import STAGES
from attention_core.exercises.worked_example import check_work
from attention_core.explanation.layout import panel, transpose_panel
from attention_core.record.expressions import Ref

CALLED = {Mark.RIGHT: "right", Mark.FOLLOWED: "followed", Mark.SLIP: "slip"}
WORDS = PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, at: f"x{at + 1}")


def checked(trace=None, texts=None):
    trace = EXAMPLES["source_004"].run() if trace is None else trace
    printed = {
        stage: printed_text(PRINTED_EXAMPLES["source_004"], stage, trace[step]) for stage, step in STAGES.items()
    }
    return check_work(trace, texts or printed)


def parts_of(done, step, known=None):
    theirs = panel(done.written, step)
    return [
        SheetPart("Printed", theirs, "printed", "result", done.digits[step], marked=done.marked[step], known=known),
        SheetPart("Right", panel(done.trace, step), "right", "beside", 2),
        SheetPart("Q", panel(done.written, "q_projected"), "printed", "left", None, spare=True),
        SheetPart(
            "K", transpose_panel(panel(done.written, "k_projected")), "printed", "above", None, sign="×", spare=True
        ),
    ]


def rows_of(picture, **wanted):
    names = list(picture.table)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def texts_of(picture, place):
    cells = sorted(rows_of(picture, kind="cell", panel=place), key=lambda row: (row["row"], row["column"]))
    return [row["text"] for row in cells]


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
def test_printed_right_and_operands_stand_row_by_row(palette):
    picture = worked_sheet([parts_of(checked(), "scores")], WORDS, palette, CALLED)
    assert texts_of(picture, "result") == ["1", "2", "3", "4", "8", "8", "3", "6", "7"]
    assert texts_of(picture, "beside") == [f"{n}.00" for n in (3, 6, 6, 6, 12, 12, 6, 12, 12)]
    assert texts_of(picture, "left") == [*"101222212"]
    assert texts_of(picture, "above") == [*"042102121"]  # K is 011/402/221, turned
    assert rows_of(picture, kind="cell", panel="above", row=0, column=2)[0]["index"] == "0,2,0"  # of k_projected
    tops = [{row["y"] for row in rows_of(picture, kind="cell", panel=place, row=1)} for place in ("result", "beside")]
    assert tops[0] == tops[1] and len(tops[0]) == 1
    assert picture.spec["width"] <= PAGE_WIDTH_PX


def test_each_mark_has_its_sign_its_word_and_its_outline():
    picture = worked_sheet([parts_of(checked(), "weights")], WORDS, LIGHT_PALETTE, CALLED)
    cells = {row["index"]: row for row in rows_of(picture, kind="cell", panel="result")}
    assert cells["0,0,0,0"]["value"] == "0.2, slip"
    assert cells["0,0,0,1"]["value"] == "0.3, followed"
    assert cells["0,0,1,0"]["value"] == "0.02, right"
    outlined = {row["index"]: row["fill"] for row in rows_of(picture, kind="read")}
    assert len(outlined) == 6 and outlined["0,0,0,0"] != outlined["0,0,0,1"]
    signs = [row["text"] for row in rows_of(picture, kind="label") if row["text"] in MARK_SIGNS.values()]
    assert [signs.count(sign) for sign in "✓→×"] == [3 + 1, 1 + 1, 5 + 1 + 1]  # the legend's, and the product's
    assert {"right", "followed", "slip"} <= {row["text"] for row in rows_of(picture, kind="label")}


def test_only_known_marks_are_seen():
    known = {Ref("scores", (0, 0, 0, 1))}
    picture = worked_sheet([parts_of(checked(), "scores", known)], WORDS, LIGHT_PALETTE, CALLED)
    values = {row["index"]: row["value"] for row in rows_of(picture, kind="cell", panel="result")}
    assert values["0,0,0,1"] == "2, slip"
    assert values["0,0,0,0"] == "1"
    assert len(rows_of(picture, kind="read")) == 1
    nothing = worked_sheet([parts_of(checked(), "scores", set())], WORDS, LIGHT_PALETTE, CALLED)
    assert not rows_of(nothing, kind="read")
    assert not {"right", "followed", "slip"} & {row["text"] for row in rows_of(nothing, kind="label")}  # no legend


def test_the_legend_names_only_the_signs_that_are_drawn():
    known = {Ref("weights", (0, 0, 0, 1))}  # followed from an earlier slip
    picture = worked_sheet([parts_of(checked(), "weights", known)[:1]], WORDS, LIGHT_PALETTE, CALLED)
    labels = [row["text"] for row in rows_of(picture, kind="label")]
    assert (labels.count("→"), labels.count("followed")) == (2, 1)  # at the number and in the legend
    assert not {"✓", "×", "right", "slip"} & set(labels)


def test_what_the_signs_mean_is_never_cut():
    long = {mark: f"{word}, as everybody says of it" for mark, word in CALLED.items()}
    picture = worked_sheet([parts_of(checked(), "weights")[:1]], WORDS, LIGHT_PALETTE, long)
    ends = [row["x"] + text_width(row["text"], row["size"]) for row in rows_of(picture, kind="label")]
    assert max(ends) <= picture.spec["width"]


def test_what_is_not_written_tells_nothing():
    done = checked(texts={"scores": "1 ? 3; ? ? ?; ? ? 7"})
    picture = worked_sheet([parts_of(done, "scores")], WORDS, LIGHT_PALETTE, CALLED)
    assert texts_of(picture, "result") == ["1", "", "3", "", "", "", "", "", "7"]
    assert rows_of(picture, kind="cell", index="0,0,0,1", panel="result")[0]["value"] == "–"


def test_the_opened_cell_and_what_a_slip_reaches_are_outlined():
    cell = Ref("scores", (0, 0, 2, 1))
    chosen = worked_sheet([parts_of(checked(), "scores")], WORDS, LIGHT_PALETTE, CALLED, ("right", cell))
    assert [row["panel"] for row in rows_of(chosen, kind="chosen")] == ["beside"]
    rows = [parts_of(checked(), "scores")[:1], parts_of(checked(), "weights")[:1]]
    reached = worked_sheet(rows, WORDS, LIGHT_PALETTE, CALLED, reached=[cell, Ref("weights", (0, 0, 2, 0))])
    assert [row["step"] for row in rows_of(reached, kind="chosen")] == ["printed:scores", "printed:weights"]
    below = [row["y"] for row in rows_of(reached, kind="cell", step="printed:weights")]
    assert min(below) > max(row["y2"] for row in rows_of(reached, kind="cell", step="printed:scores"))


def test_eight_tokens_can_be_read_and_operands_make_room():
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(8, 8, generator=generator).double() * 40 for _ in range(2))
    trace = attend(x, weights=Weights(w_q=w, w_k=w, w_v=w))
    done = checked(trace, {"scores": answers_text(trace["scores"][0, 0], 2)})
    picture = worked_sheet([parts_of(done, "scores")], WORDS, LIGHT_PALETTE, CALLED)
    cells = rows_of(picture, kind="cell")
    assert {row["panel"] for row in cells} == {"result", "beside"}
    assert all(row["x2"] - row["x"] >= MIN_SHEET_CELL_PX for row in cells)
    assert picture.spec["width"] <= PAGE_WIDTH_PX
    small = checked(trace, {"weights": answers_text(trace["weights"][0, 0], 2)})
    numbers = rows_of(worked_sheet([parts_of(small, "weights")], WORDS, LIGHT_PALETTE, CALLED), kind="cell")
    assert all(row["size"] >= 13 for row in numbers)
