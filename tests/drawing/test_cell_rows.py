"""Rows of cells: every number at its place, in its colour, under its name; what is hidden is not told."""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.head_contributions import with_contributions
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.cell_rows import SUM_LINE_ROOM_PX, cell_rows, colour_rows, column_of
from attention_core.drawing.cells import CELL_COLUMNS
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, colour_channels, luminance, tint_cells
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact

WORDS = PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, at: f"{axis}{at}")


def rows_of(picture, kind):
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


@pytest.fixture
def trace(generator):
    x = torch.randn(5, 6, generator=generator, dtype=torch.float64)
    w_o = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return with_contributions(attend(x, weights=Weights(w_o=w_o), config=AttentionConfig(heads=2)))


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
def test_every_number_stands_in_its_row_and_under_its_name(trace, palette):
    rows = [row_of(f"head {h}", trace, "contributions", (0, h, 4)) for h in range(2)]
    rows.append(row_of("sum", trace, "output", (0, 4), "other"))
    picture = cell_rows(rows, ["a", "b", "c"], WORDS, palette, sums=1)
    cells = rows_of(picture, "cell")
    assert [cell["value"] for cell in cells] == [format_exact(value) for row in rows for value in row.values]
    assert [(cell["row"], cell["column"]) for cell in cells] == [(r, c) for r in range(3) for c in range(3)]
    assert [cell["step"] for cell in cells[::3]] == ["contributions", "contributions", "other:output"]
    assert cells[4]["index"] == "0,1,4,1"
    labels = {label["text"]: label for label in rows_of(picture, "label")}
    for cell, name in zip(cells, "abcabcabc", strict=True):
        assert cell["x"] < labels[name]["x"] < cell["x2"]
        assert labels[name]["y"] < cell["y"]
    for cell, title in zip(cells[::3], ("head 0", "head 1", "sum"), strict=True):
        assert cell["y"] < labels[title]["y"] < cell["y2"]
    (line,) = rows_of(picture, "bar")  # above the sum, below what is added up
    assert cells[3]["y2"] < line["y"] < cells[6]["y"] == cells[3]["y2"] + SUM_LINE_ROOM_PX
    assert picture.spec["width"] <= PAGE_WIDTH_PX + 8
    assert max(cell["x2"] for cell in cells) < picture.spec["width"]
    assert max(cell["y2"] for cell in cells) < picture.spec["height"]
    assert set(picture.table) == set(CELL_COLUMNS)


def test_what_is_added_up_is_the_sum(trace):
    first, second = (row_of("", trace, "contributions", (0, h, 4)).values for h in range(2))
    total = row_of("", trace, "output", (0, 4)).values
    assert [one + other for one, other in zip(first, second, strict=True)] == pytest.approx(total, abs=1e-12)


def test_a_hidden_row_tells_no_number(trace):
    rows = [row_of("seen", trace, "output", (0, 1)), row_of("hidden", trace, "output", (0, 4), hidden=True)]
    picture = cell_rows(rows, ["a", "b", "c"], WORDS, LIGHT_PALETTE)
    assert [label["text"] for label in rows_of(picture, "label")].count("?") == 3
    told = {format_exact(value) for value in rows[1].values}
    assert not told & {*picture.table["value"]}
    assert len(rows_of(picture, "cell")) == 3


def test_a_colour_is_the_number_itself():
    """Black at 1, white at -1, grey between, beyond them no blacker or whiter; ink that can be read."""
    fills, inks = tint_cells(np.array([1.0, 0.0, -1.0, 7.0, -7.0, np.nan]))
    assert fills == ["#000000", "#808080", "#ffffff", "#000000", "#ffffff", "#808080"]
    for fill, ink in zip(fills, inks, strict=True):
        one, other = sorted(luminance(np.array([colour_channels(each)]))[0] for each in (fill, ink))
        assert (other + 0.05) / (one + 0.05) >= 4.5


def test_tinted_cells_have_the_colours_of_their_numbers():
    v = torch.tensor([[1.0], [-1.0], [0.0]])
    picture = colour_rows([column_of("own", attend_qkv(v, v, v), "v", (0, 0), 0)], "abc", WORDS, LIGHT_PALETTE)
    assert [cell["fill"] for cell in rows_of(picture, "cell")] == ["#000000", "#ffffff", "#808080"]
    (title,) = [label for label in rows_of(picture, "label") if label["text"] == "own"]
    assert title["y"] < rows_of(picture, "cell")[0]["y"]
    assert picture.spec["width"] < 350  # a phone's


def test_shares_and_signed_numbers_keep_their_own_scales(trace):
    """A weight of a half is half way up its ramp, however large the numbers of the other row."""
    even = attend_qkv(torch.zeros(2, 3), torch.zeros(2, 3), 1000 * torch.ones(2, 2))
    rows = [row_of("weights", even, "weights", (0, 0, 0)), row_of("output", even, "output", (0, 0))]
    cells = rows_of(cell_rows(rows, "ab", WORDS, LIGHT_PALETTE), "cell")
    alone = rows_of(cell_rows(rows[:1], "ab", WORDS, LIGHT_PALETTE), "cell")
    assert [cell["fill"] for cell in cells[:2]] == [cell["fill"] for cell in alone]


def test_the_opened_cell_and_the_column_that_is_looked_at_are_outlined(trace):
    rows = [row_of("one", trace, "output", (0, 1), "a"), row_of("other", trace, "output", (0, 1), "b")]
    opened = ("b", Ref("output", (0, 1, 2)))
    picture = colour_rows(rows, "abc", WORDS, LIGHT_PALETTE, opened, looked=1)
    frames = [(frame["x"], frame["y"]) for frame in rows_of(picture, "chosen")]
    cells = rows_of(picture, "cell")
    assert frames == [(cells[at]["x"], cells[at]["y"]) for at in (1, 5, 4)]
    (frame,) = rows_of(cell_rows(rows, "abc", WORDS, LIGHT_PALETTE, opened), "chosen")
    assert (frame["step"], frame["index"], frame["row"]) == ("b:output", "0,1,2", 1)


def test_a_row_may_end_with_the_cell_of_another_step(trace):
    run = with_dropout(trace, 0.5, seed=1)
    row = row_of("dropped", run, "dropped_weights", (0, 1, 2))
    whole = Row(row.title, run, [*row.refs, Ref("row_sums", (0, 1, 2))])
    cells = rows_of(cell_rows([whole], ["a", "b", "c", "d", "e", "sum"], WORDS, LIGHT_PALETTE), "cell")
    assert cells[-1]["value"] == format_exact(run["row_sums"][0, 1, 2].item())


def test_a_blocked_pair_is_hatched():
    trace = attend(torch.eye(3), config=AttentionConfig(masks=["causal"]))
    picture = cell_rows([row_of("first", trace, "weights", (0, 0, 0))], "abc", WORDS, LIGHT_PALETTE)
    assert [row["column"] for row in rows_of(picture, "blocked")] == [1, 2]


def test_many_columns_stay_on_the_page(trace):
    row = Row("a title that is much too long to stand beside a row of cells", trace, [Ref("output", (0, 0, 0))] * 32)
    picture = cell_rows([row], [str(at) for at in range(32)], WORDS, LIGHT_PALETTE)
    assert picture.spec["width"] <= PAGE_WIDTH_PX + 8
    assert rows_of(picture, "label")[32]["text"].endswith("…")


def test_titles_above_leave_the_width_to_cells_and_long_names_have_two_lines():
    trace = attend(torch.eye(11, 4, dtype=torch.float64))
    rows = [row_of("the title of a row", trace, "weights", (0, 0, query)) for query in range(2)]
    names = ["受伤了", *["它"] * 10]
    picture = cell_rows(rows, names, WORDS, LIGHT_PALETTE, room=350, titles_above=True)
    cells, labels = rows_of(picture, "cell"), rows_of(picture, "label")
    assert cells[0]["x"] == 0 and max(cell["x2"] for cell in cells) == pytest.approx(350)
    above, below = [label["y"] for label in labels if label["text"] == "the title of a row"]
    assert above < cells[0]["y"] < cells[0]["y2"] < below < cells[11]["y"]
    assert [label["text"] for label in labels][:2] == ["受伤", "了"]
    assert 0 < labels[0]["y"] < labels[1]["y"] < above and labels[0]["size"] >= 11
    beside = cell_rows(rows, names, WORDS, LIGHT_PALETTE, room=350)
    assert rows_of(beside, "cell")[0]["x"] > 100
