"""The picture of a worked example: numbers, marks that are not a colour alone, and how wide it is."""

import pytest
import torch

from attention_core import Weights, attend
from attention_core.drawing.charts import PAGE
from attention_core.drawing.palette import DARK, LIGHT
from attention_core.drawing.text_layout import Words, text_width
from attention_core.drawing.worked_picture import LEAST, SIGNS, Part, sheet
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.marking import PRINTED, Mark
from attention_core.exercises.worked_example import STAGES, answers_text, check, printed_text
from attention_core.explanation.layout import panel, turned
from attention_core.record.expressions import Ref

CALLED = {Mark.RIGHT: "right", Mark.FOLLOWED: "followed", Mark.SLIP: "slip"}
WORDS = Words(lambda ref: f"{ref.step} {ref.index}", lambda axis, at: f"x{at + 1}")


def checked(trace=None, texts=None):
    trace = EXAMPLES["source_004"].run() if trace is None else trace
    printed = {stage: printed_text(PRINTED["source_004"], stage, trace[step]) for stage, step in STAGES.items()}
    return check(trace, texts or printed)


def parts_of(done, step, known=None):
    theirs = panel(done.written, step)
    return [
        Part("Printed", theirs, "printed", "result", done.digits[step], marked=done.marked[step], known=known),
        Part("Right", panel(done.trace, step), "right", "beside", 2),
        Part("Q", panel(done.written, "q_projected"), "printed", "left", None, spare=True),
        Part("K", turned(panel(done.written, "k_projected")), "printed", "above", None, sign="×", spare=True),
    ]


def rows_of(picture, **wanted):
    names = list(picture.table)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def texts_of(picture, place):
    cells = sorted(rows_of(picture, kind="cell", panel=place), key=lambda row: (row["row"], row["column"]))
    return [row["text"] for row in cells]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_printed_right_and_operands_stand_row_by_row(palette):
    picture = sheet([parts_of(checked(), "scores")], WORDS, palette, CALLED)
    assert texts_of(picture, "result") == ["1", "2", "3", "4", "8", "8", "3", "6", "7"]
    assert texts_of(picture, "beside") == [f"{n}.00" for n in (3, 6, 6, 6, 12, 12, 6, 12, 12)]
    assert texts_of(picture, "left") == [*"101222212"]
    assert texts_of(picture, "above") == [*"042102121"]  # K is 011/402/221, turned
    assert rows_of(picture, kind="cell", panel="above", row=0, column=2)[0]["index"] == "0,2,0"  # of k_projected
    tops = [{row["y"] for row in rows_of(picture, kind="cell", panel=place, row=1)} for place in ("result", "beside")]
    assert tops[0] == tops[1] and len(tops[0]) == 1
    assert picture.spec["width"] <= PAGE


def test_each_mark_has_its_sign_its_word_and_its_outline():
    picture = sheet([parts_of(checked(), "weights")], WORDS, LIGHT, CALLED)
    cells = {row["index"]: row for row in rows_of(picture, kind="cell", panel="result")}
    assert cells["0,0,0,0"]["value"] == "0.2, slip"
    assert cells["0,0,0,1"]["value"] == "0.3, followed"
    assert cells["0,0,1,0"]["value"] == "0.02, right"
    outlined = {row["index"]: row["fill"] for row in rows_of(picture, kind="read")}
    assert len(outlined) == 6 and outlined["0,0,0,0"] != outlined["0,0,0,1"]
    signs = [row["text"] for row in rows_of(picture, kind="label") if row["text"] in SIGNS.values()]
    assert [signs.count(sign) for sign in "✓→×"] == [3 + 1, 1 + 1, 5 + 1 + 1]  # the legend's, and the product's
    assert {"right", "followed", "slip"} <= {row["text"] for row in rows_of(picture, kind="label")}


def test_only_known_marks_are_seen():
    known = {Ref("scores", (0, 0, 0, 1))}
    picture = sheet([parts_of(checked(), "scores", known)], WORDS, LIGHT, CALLED)
    values = {row["index"]: row["value"] for row in rows_of(picture, kind="cell", panel="result")}
    assert values["0,0,0,1"] == "2, slip"
    assert values["0,0,0,0"] == "1"
    assert len(rows_of(picture, kind="read")) == 1
    nothing = sheet([parts_of(checked(), "scores", set())], WORDS, LIGHT, CALLED)
    assert not rows_of(nothing, kind="read")
    assert not {"right", "followed", "slip"} & {row["text"] for row in rows_of(nothing, kind="label")}  # no legend


def test_what_the_signs_mean_is_never_cut():
    long = {mark: f"{word}, as everybody says of it" for mark, word in CALLED.items()}
    picture = sheet([parts_of(checked(), "weights")[:1]], WORDS, LIGHT, long)
    ends = [row["x"] + text_width(row["text"], row["size"]) for row in rows_of(picture, kind="label")]
    assert max(ends) <= picture.spec["width"]


def test_what_is_not_written_tells_nothing():
    done = checked(texts={"scores": "1 ? 3; ? ? ?; ? ? 7"})
    picture = sheet([parts_of(done, "scores")], WORDS, LIGHT, CALLED)
    assert texts_of(picture, "result") == ["1", "", "3", "", "", "", "", "", "7"]
    assert rows_of(picture, kind="cell", index="0,0,0,1", panel="result")[0]["value"] == "–"


def test_the_opened_cell_and_what_a_slip_reaches_are_outlined():
    cell = Ref("scores", (0, 0, 2, 1))
    chosen = sheet([parts_of(checked(), "scores")], WORDS, LIGHT, CALLED, ("right", cell))
    assert [row["panel"] for row in rows_of(chosen, kind="chosen")] == ["beside"]
    rows = [parts_of(checked(), "scores")[:1], parts_of(checked(), "weights")[:1]]
    reached = sheet(rows, WORDS, LIGHT, CALLED, reached=[cell, Ref("weights", (0, 0, 2, 0))])
    assert [row["step"] for row in rows_of(reached, kind="chosen")] == ["printed:scores", "printed:weights"]
    below = [row["y"] for row in rows_of(reached, kind="cell", step="printed:weights")]
    assert min(below) > max(row["y2"] for row in rows_of(reached, kind="cell", step="printed:scores"))


def test_eight_tokens_can_be_read_and_operands_make_room():
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(8, 8, generator=generator).double() * 40 for _ in range(2))
    trace = attend(x, weights=Weights(w_q=w, w_k=w, w_v=w))
    done = checked(trace, {"scores": answers_text(trace["scores"][0, 0], 2)})
    picture = sheet([parts_of(done, "scores")], WORDS, LIGHT, CALLED)
    cells = rows_of(picture, kind="cell")
    assert {row["panel"] for row in cells} == {"result", "beside"}
    assert all(row["x2"] - row["x"] >= LEAST for row in cells)
    assert picture.spec["width"] <= PAGE
    small = checked(trace, {"weights": answers_text(trace["weights"][0, 0], 2)})
    numbers = rows_of(sheet([parts_of(small, "weights")], WORDS, LIGHT, CALLED), kind="cell")
    assert all(row["size"] >= 13 for row in numbers)
