"""Rows of bars: how long each bar is, where it hangs, and what it says."""

import math

import pytest
import torch

from attention_core import attend_qkv
from attention_core.drawing.bars import BAR_NUMBER_ROOM_PX, Row, bar_rows, row_of
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.expressions import Ref

WORDS = PictureTexts(lambda ref: f"{ref.step}{ref.index}", lambda axis, at: str(at))
HEIGHT = 100.0
ROOM = HEIGHT - BAR_NUMBER_ROOM_PX  # of a bar that stands for the whole scale, where none hangs down


def run(*scores):
    """A run whose scores these are."""
    k = torch.tensor(scores, dtype=torch.float64)[:, None]
    return attend_qkv(torch.ones(1, 1, dtype=torch.float64), k, k)


def drawn(*rows, names=None, chosen=None):
    names = names or ["a"] * len(rows[0].refs)
    columns = bar_rows(rows, names, WORDS, LIGHT_PALETTE, chosen, HEIGHT).table
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def lengths(table):
    return [row["y2"] - row["y"] for row in table if row["kind"] == "bar"]


def test_a_share_of_one_fills_its_field_and_others_in_proportion():
    trace = run(0.0, 0.0, 0.0, 0.0)
    table = drawn(row_of("even", trace, "weights", (0, 0, 0)))
    assert lengths(table) == pytest.approx([ROOM / 4] * 4)
    assert {row["fill"] for row in table if row["kind"] == "bar"} == {LIGHT_PALETTE.share}


def test_scores_of_all_rows_have_one_scale_and_minus_hangs_down():
    one, other = run(2.0, -1.0), run(4.0, 0.0)
    table = drawn(row_of("one", one, "scores", (0, 0, 0), "one"), row_of("other", other, "scores", (0, 0, 0), "other"))
    half = (HEIGHT - 2 * BAR_NUMBER_ROOM_PX) / 2
    assert lengths(table) == pytest.approx([half / 2, half / 4, half, 0.0])
    up, down, *_ = [row for row in table if row["kind"] == "bar"]
    assert up["y2"] == down["y"]  # both begin at zero
    assert (up["fill"], down["fill"]) == (LIGHT_PALETTE.plus, LIGHT_PALETTE.minus)


def test_a_cell_names_its_run_its_step_and_its_number():
    trace = run(2.0, -1.0)
    table = drawn(row_of("one", trace, "scores", (0, 0, 0), "bare"), chosen=("bare", Ref("scores", (0, 0, 0, 1))))
    cells = [(row["step"], row["index"], row["value"], row["panel"]) for row in table if row["kind"] == "cell"]
    assert cells == [("bare:scores", "0,0,0,0", "2", "row0"), ("bare:scores", "0,0,0,1", "−1", "row0")]
    (outline,) = [row for row in table if row["kind"] == "chosen"]
    assert outline["x"] == cells.index(("bare:scores", "0,0,0,1", "−1", "row0")) * (outline["x2"] - outline["x"])


def test_of_many_shares_one_that_has_everything_is_drawn_as_large_as_it_is_where_that_is_wanted():
    trace = run(*[0.0] * 29, 9.0)  # e⁹ against 29: .9964
    rows, names = [row_of("many", trace, "weights", (0, 0, 0))], ["a"] * 30
    for whole, expected in ((False, ROOM), (True, trace["weights"].max().item() * ROOM)):
        columns = bar_rows(rows, names, WORDS, LIGHT_PALETTE, None, HEIGHT, whole=whole).table
        bars = [row for row in zip(columns["kind"], columns["y"], columns["y2"], strict=True) if row[0] == "bar"]
        assert bars[-1][2] - bars[-1][1] == pytest.approx(expected)
        assert any("↑" in text for text in columns["text"]) != whole


def test_of_many_shares_the_largest_are_as_long_as_they_are_beside_each_other():
    trace = run(*[0.0] * 29, 4.0, 5.0)  # both far above five even shares, 5/31
    two = lengths(drawn(row_of("many", trace, "weights", (0, 0, 0))))[-2:]
    assert two == pytest.approx([ROOM / math.e, ROOM])
    table = drawn(row_of("many", trace, "weights", (0, 0, 0)))
    share = math.exp(5) / (29 + math.exp(4) + math.exp(5))
    assert f"↑ {share:.2f}" in [row["text"] for row in table]


def test_many_numbers_without_a_share_to_be_seen():
    """Scores alone, or shares of which none is known yet: nothing is larger than a few even ones."""
    trace = run(*[1.0] * 30)
    assert lengths(drawn(row_of("scores", trace, "scores", (0, 0, 0)))) == pytest.approx([ROOM] * 30)
    hidden = drawn(row_of("later", trace, "weights", (0, 0, 0), hidden=True))
    assert [row["text"] for row in hidden].count("?") == 30


def test_a_hidden_row_says_no_number():
    trace = run(2.0, -1.0)
    table = drawn(row_of("later", trace, "weights", (0, 0, 0), hidden=True))
    assert [row["text"] for row in table if row["text"]] == ["later", "?", "?", "a", "a"]
    assert not [row for row in table if row["kind"] == "cell" or row["value"]]


def test_many_small_shares_fill_the_field_at_five_even_ones_and_it_is_said():
    trace = run(*[0.0] * 25)
    table = drawn(row_of("many", trace, "weights", (0, 0, 0)))
    assert lengths(table) == pytest.approx([ROOM / 5] * 25)  # an even share is 1/25, full height 5/25
    assert "↑ 0.20" in [row["text"] for row in table]


def test_infinity_is_as_long_as_the_field_and_no_number_has_no_length():
    trace = run(1.0, 2.0)
    step = trace.step("scores")
    step.value[0, 0, 0] = torch.tensor([torch.inf, torch.nan], dtype=torch.float64)
    table = drawn(Row("broken", trace, [Ref("scores", (0, 0, 0, s)) for s in range(2)]))
    assert lengths(table) == pytest.approx([ROOM, 0.0])
    assert {"∞", "NaN"} <= {row["text"] for row in table}


def test_the_fields_are_as_wide_as_there_is_room():
    trace = run(*[0.0] * 7)
    rows = [row_of("even", trace, "weights", (0, 0, 0))]
    wide, narrow = (bar_rows(rows, ["a"] * 7, WORDS, LIGHT_PALETTE, room=room) for room in (820.0, 350.0))
    assert [max(picture.table["x2"]) for picture in (wide, narrow)] == [7 * 84, 350]
