"""Upright rows of bars: what is drawn where, on numbers that can be read off."""

import math

import pytest
import torch

from attention_core import attend_qkv
from attention_core.drawing.bars import LYING_NUMBER_ROOM_PX, bar_columns, bar_rows, row_of
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.expressions import Ref

WORDS = PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, at: str(at))
NAMES = ["a", "b", "c"]
LOG2 = math.log(2)


def run(*scores: float, allowed=None):
    """One query whose scores are these."""
    q, k = torch.ones(1, 1, dtype=torch.float64), torch.tensor([[score] for score in scores], dtype=torch.float64)
    return attend_qkv(q, k, k, allowed=allowed)


def drawn(picture, kind):
    rows = [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


def row(title, trace, step="weights", **how):
    return row_of(title, trace, step, (0, 0, 0), title, **how)


def test_a_share_fills_its_part_of_the_field_and_its_number_stands_behind_it():
    picture = bar_columns([row("one", run(LOG2, 0, 0)), row("two", run(0, 0, 0))], NAMES, WORDS, LIGHT_PALETTE)
    cells, bars = drawn(picture, "cell"), drawn(picture, "bar")
    assert [(cell["panel"], cell["row"], cell["column"]) for cell in cells[2:4]] == [("row0", 2, 0), ("row1", 0, 1)]
    assert cells[0]["index"] == "0,0,0,0" and cells[0]["step"] == "one:weights" and cells[0]["value"].startswith("0.5")
    room = cells[0]["x2"] - cells[0]["x"] - LYING_NUMBER_ROOM_PX
    lengths = [bar["x2"] - bar["x"] for bar in bars]
    assert lengths == pytest.approx([room / 2, room / 4, room / 4, *[room / 3] * 3])
    numbers = [label for label in drawn(picture, "label") if label["text"] == "0.50"]
    assert [label["x"] for label in numbers] == [bars[0]["x2"] + 5]
    assert all(cell["y"] < bar["y"] < bar["y2"] < cell["y2"] for cell, bar in zip(cells, bars, strict=True))
    assert picture.spec["width"] == PAGE_WIDTH_PX and max(cell["x2"] for cell in cells) <= PAGE_WIDTH_PX


def test_numbers_below_zero_hang_to_the_left_and_all_rows_have_one_scale():
    rows = [row("one", run(-4, 2, 0), "scores"), row("two", run(1, 1, 1), "scores")]
    bars = drawn(bar_columns(rows, NAMES, WORDS, LIGHT_PALETTE), "bar")
    assert [bar["fill"] for bar in bars[:2]] == [LIGHT_PALETTE.minus, LIGHT_PALETTE.plus]
    assert bars[0]["x2"] == bars[1]["x"]  # both begin at 0
    long, short, _, one, *_ = [bar["x2"] - bar["x"] for bar in bars]
    assert (long / short, long / one) == pytest.approx((2, 4))


def test_a_share_beside_other_numbers_keeps_its_own_scale():
    rows = [row("one", run(LOG2, 0, 0)), row("two", run(8, 4, 4), "scores")]
    bars = drawn(bar_columns(rows, NAMES, WORDS, LIGHT_PALETTE), "bar")
    half, whole = (bar["x2"] - bar["x"] for bar in (bars[0], bars[3]))
    assert half == pytest.approx(whole / 2)  # a half of 1, and the largest score


def test_a_hidden_row_says_nothing_of_its_numbers():
    picture = bar_columns(
        [row("one", run(3, 0, 0), hidden=True), row("two", run(0, 0, 0))], NAMES, WORDS, LIGHT_PALETTE
    )
    assert [cell["step"] for cell in drawn(picture, "cell")] == ["two:weights"] * 3
    assert [label["text"] for label in drawn(picture, "label")].count("?") == 3
    assert len({bar["x2"] - bar["x"] for bar in drawn(picture, "bar")[:3]}) == 1


def test_what_a_mask_blocks_is_hatched_and_0():
    trace = run(1, 1, 1, allowed=torch.tensor([[True, True, False]]))
    picture = bar_columns([row("one", trace)], NAMES, WORDS, LIGHT_PALETTE)
    (blocked,) = drawn(picture, "blocked")
    assert blocked["row"] == 2 and blocked["value"] == "0"
    assert [label["text"] for label in drawn(picture, "label")][-3:] == ["0.50", "0.50", "0"]


def test_the_row_that_is_looked_at_and_the_opened_cell_are_outlined():
    rows = [row("one", run(0, 0, 0)), row("two", run(0, 0, 0))]
    chosen = ("two", Ref("weights", (0, 0, 0, 1)))
    opened, frame = drawn(bar_columns(rows, NAMES, WORDS, LIGHT_PALETTE, chosen, outlined=1), "chosen")
    assert (opened["x"], opened["x2"]) == (frame["x"], frame["x2"])
    assert opened["y2"] - opened["y"] == pytest.approx((frame["y2"] - frame["y"]) / 3)


def test_the_lines_of_a_title_stand_below_each_other():
    labels = drawn(bar_columns([row("cosine\ncos(q, k)", run(0, 0, 0))], NAMES, WORDS, LIGHT_PALETTE), "label")
    places = {label["text"]: label for label in labels}
    assert places["cosine"]["y"] < places["cos(q, k)"]["y"] < places["a"]["y"]
    assert places["cosine"]["size"] > places["cos(q, k)"]["size"] >= 13


def test_a_given_reach_fills_the_field_of_rows_below_each_other():
    (whole, *_), (half, *_) = (
        drawn(bar_rows([row("one", run(2, 1, 0), "scores")], NAMES, WORDS, LIGHT_PALETTE, reach=reach), "bar")
        for reach in (None, 4.0)
    )
    assert half["y2"] - half["y"] == pytest.approx((whole["y2"] - whole["y"]) / 2)


def test_columns_that_would_be_too_narrow_stand_below_beside_the_same_names():
    rows = [row(title, run(LOG2, 0, 0)) for title in "ABCDE"]
    picture = bar_columns(rows, NAMES, WORDS, LIGHT_PALETTE, outlined=4, room=350)
    cells, labels = drawn(picture, "cell"), drawn(picture, "label")
    assert picture.spec["width"] == 350 and max(cell["x2"] for cell in cells) <= 350
    lefts = {title: cells[3 * number]["x"] for number, title in enumerate("ABCDE")}
    tops = {title: cells[3 * number]["y"] for number, title in enumerate("ABCDE")}
    assert lefts["A"] == lefts["D"] < lefts["B"] == lefts["E"] < lefts["C"]
    assert tops["A"] == tops["B"] == tops["C"] < tops["D"] == tops["E"]
    names = [label for label in labels if label["text"] in NAMES]
    assert [label["text"] for label in names] == NAMES * 2
    for name, cell in zip(names, cells[:3] + cells[9:12], strict=True):
        assert cell["y"] < name["y"] < cell["y2"] and name["x"] < cell["x"]
    titles = {label["text"]: label["y"] for label in labels if label["text"] in "ABCDE"}
    assert titles["A"] < tops["A"] and cells[2]["y2"] < titles["D"] < tops["D"]
    (frame,) = drawn(picture, "chosen")
    assert (frame["x"], frame["y"], frame["y2"]) == (lefts["E"], tops["E"], cells[-1]["y2"])


def test_a_title_that_is_wider_than_its_picture_has_two_lines():
    rows = [row("one two three four five", run(LOG2, 0, 0)), row("six", run(0, 0, 0))]
    picture = bar_rows(rows, NAMES, WORDS, LIGHT_PALETTE, room=150)
    cells, labels = drawn(picture, "cell"), drawn(picture, "label")
    above = [label["text"].strip() for label in labels if label["y"] < cells[0]["y"]]
    assert " ".join(above) == "one two three four five" and len(above) == 2
    assert picture.spec["width"] <= 154
    assert cells[3]["y"] - cells[0]["y"] == 84 + 10 + 24  # the row, the gap, and a title of one line
    assert cells[0]["y"] == 24 + 20
