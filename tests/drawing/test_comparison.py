"""Three maps in one picture: what their cells hold, whose cells light up together, whose colours mean the same."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.comparison.differences import subtract_traces
from attention_core.drawing.comparison import format_row_figure, three_maps
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.expressions import Ref
from attention_core.record.trace import RandomParts

WORDS = PictureTexts(str, lambda axis, i: f"{axis}{i}")
FIGURES = [("TV", "half the sum"), ("KL", "surprise")]


def picture_of(a, b, head=0, figures=FIGURES, **more):
    titles = ("A · head", "B", "B − A")
    return three_maps((a, b, subtract_traces(b, a)), (WORDS,) * 3, LIGHT_PALETTE, head, 0, titles, figures, **more)


def rows_of(a, b, head=0, **more):
    """The picture's table, a row a dictionary."""
    picture = picture_of(a, b, head, **more)
    return [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]


def cells(rows, panel="result"):
    return [row for row in rows if row["panel"] == panel and row["kind"] in ("cell", "blocked")]


@pytest.fixture
def runs(generator):
    """Three queries, five keys, two heads; B may attend to fewer keys."""
    q, k, v = (torch.randn(1, 2, n, 7, generator=generator, dtype=torch.float64) for n in (3, 5, 5))
    return [attend_qkv(q, k, v, config=AttentionConfig(masks=masks)) for masks in ([], ["causal"])]


def test_every_cell_stands_three_times_and_tells_all_three_numbers(runs):
    found = cells(rows_of(*runs, head=1))
    assert len(found) == 3 * 3 * 5
    a, b = (run["weights"][0, 1] for run in runs)
    for t in range(3):
        for s in range(5):
            same = [row for row in found if (row["row"], row["column"]) == (t, s)]
            assert {row["index"] for row in same} == {f"0,1,{t},{s}"}
            (told,) = {row["value"] for row in same}  # one tooltip, whichever of them is pointed at
            numbers = [float(part.split(" ")[-1].replace("−", "-")) for part in told.split(", ")]
            assert numbers == [a[t, s].item(), b[t, s].item(), b[t, s].item() - a[t, s].item()]
            x = sorted(row["x"] for row in same)
            assert x[2] - x[1] == pytest.approx(x[1] - x[0]) and x[1] > x[0]
            assert len({row["y"] for row in same}) == 1


def test_on_a_phone_the_maps_stand_below_each_other_and_fit(runs):
    picture = picture_of(*runs, stacked=True)
    padding = picture.spec["padding"]
    alone = picture_of(*runs, figures=[], stacked=True).spec
    for spec in (picture.spec, alone):
        assert spec["width"] + padding["left"] + padding["right"] <= 350  # px: the narrowest phone
    rows = [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    found = cells(rows)
    assert len(found) == 3 * 3 * 5
    for t in range(3):
        for s in range(5):
            same = [row for row in found if (row["row"], row["column"]) == (t, s)]
            assert len({row["x"] for row in same}) == 1
            tops = sorted(row["y"] for row in same)
            assert tops[1] - tops[0] > 3 * (same[0]["y2"] - same[0]["y"]) and tops[2] - tops[1] > tops[1] - tops[0]
    names = [row for row in rows if row["text"] == "T1"]
    assert len(names) == 3  # each map has the words of its rows
    assert max(row["y2"] or row["y"] for row in rows) <= picture.spec["height"]
    distances = cells(rows, "left")
    assert {row["y"] for row in distances} == {max(r["y"] for r in found if r["row"] == t) for t in range(3)}


@pytest.mark.parametrize("drawn", [(), ("a",), ("b",), ("a", "b")])
def test_maps_of_random_matrices_are_grey_and_so_is_a_difference_to_one(runs, drawn):
    random = RandomParts(matrices=("W_q",))
    a, b = (replace(run, chance=random) if name in drawn else run for name, run in zip("ab", runs, strict=True))
    found = sorted(cells(rows_of(a, b)), key=lambda row: row["x"])
    for place, name in ((0, "a"), (1, "b"), (2, "ab")):
        held = found[15 * place : 15 * (place + 1)]  # of three queries and five keys
        spread = max(max(rgb) - min(rgb) for rgb in (bytes.fromhex(row["fill"][1:]) for row in held))
        assert (spread <= 14) == bool({*name} & {*drawn})


def test_without_figures_the_maps_stay_where_they_are_and_the_last_name_has_its_room(runs):
    shown, plain = (picture_of(*runs, figures=figures) for figures in (FIGURES, ()))
    assert plain.spec["width"] == shown.spec["width"]
    assert len(cells(rows_of(*runs, figures=()))) == 3 * 3 * 5 and cells(rows_of(*runs, figures=()), "left") == []


def test_a_and_b_share_one_range_of_colours():
    """The same share has the same colour in both, also where one of them holds a larger one."""
    q = torch.zeros(2, 1, dtype=torch.float64)
    chosen = {"weights": torch.tensor([[0.5, 0.9], [0.5, 0.9]], dtype=torch.float64)}
    even, uneven = attend_qkv(q, q, q), attend_qkv(q, q, q, what_if=chosen)
    half = [row["fill"] for row in cells(rows_of(even, uneven)) if row["text"] == "0.50"]
    assert len(half) == 6 and len({*half}) == 1  # four in A, two in B


def test_in_even_shares_both_reach_full_colour_at_five_of_them():
    """Ten keys: an even share is .1, so .5 and all above have the strongest colour, in A as in B."""
    q = torch.zeros(1, 1, dtype=torch.float64)
    k = torch.zeros(10, 1, dtype=torch.float64)
    fills = {}
    for largest in (0.5, 0.6):
        row = torch.full((1, 10), (1 - largest) / 9, dtype=torch.float64)
        row[0, 0] = largest
        run = attend_qkv(q, k, k, what_if={"weights": row})
        for plain in (False, True):
            drawn = cells(rows_of(run, run, times=not plain))
            fills[largest, plain] = {cell["fill"] for cell in drawn[:20] if cell["column"] == 0}
    assert fills[0.5, False] == fills[0.6, False] and len(fills[0.5, False]) == 1
    assert fills[0.5, True] != fills[0.6, True]


def scale_of_the_difference(rows):
    """Its numbers from left to right."""
    left = max(row["x"] for row in cells(rows) if row["column"] == 0)  # that of the third map
    below = max(row["y2"] for row in cells(rows))
    texts = [row for row in rows if row["kind"] == "label" and row["x"] >= left and row["y"] > below]
    return [row["text"] for row in sorted(texts, key=lambda row: row["x"])]


def test_where_nothing_differs_the_scale_of_the_difference_has_one_number(runs):
    a, b = runs
    assert scale_of_the_difference(rows_of(a, a)) == ["−", "0", "+"]
    farthest = (b["weights"] - a["weights"]).abs().max().item()
    assert scale_of_the_difference(rows_of(a, b)) == [f"−{farthest:.2f}", "0", f"+{farthest:.2f}"]


def test_the_figures_of_a_row_by_hand():
    q, k = torch.tensor([[1.0], [0.0]]).double(), torch.tensor([[math.log(3)], [0.0]]).double()
    a = attend_qkv(q, k, k)  # rows (3/4, 1/4), (1/2, 1/2)
    b = attend_qkv(q, k, k, config=AttentionConfig(masks=["causal"]))  # rows (1, 0), (1/2, 1/2)
    found = cells(rows_of(a, b), "left")
    assert [row["text"] for row in found] == ["0.25", "0", "∞", "0"]
    assert [row["text"] for row in cells(rows_of(b, a), "left")] == ["0.25", "0", "0.29", "0"]  # ln 4/3 = 0.2877
    assert [row["row"] for row in found] == [0, 1, 0, 1]
    assert found[0]["what"] == "half the sum [T0]"


def test_a_click_on_a_row_s_figure_opens_the_weight_that_moved_farthest(runs):
    moved = (runs[1]["weights"] - runs[0]["weights"])[0, 0].abs()
    for row in cells(rows_of(*runs), "left"):
        assert row["step"] == "weights"
        assert row["index"] == f"0,0,{row['row']},{int(moved[row['row']].argmax())}"


def test_the_opened_cell_is_outlined_in_all_three(runs):
    index = (0, 0, 2, 4)
    rows = rows_of(*runs, chosen=Ref("weights", index))
    assert sum(row["kind"] == "chosen" and row["index"] == "0,0,2,4" for row in rows) == 3


def test_a_step_that_only_one_run_has_is_outlined_nowhere_else(runs):
    rows = rows_of(*runs, chosen=Ref("allowed_causal", (0, 0, 2, 4)))
    assert not any(row["kind"] == "chosen" and row["index"] for row in rows)


@pytest.mark.parametrize("value, text", [(0.0049, "5e−3"), (0.005, "0.01"), (math.nan, "NaN"), (math.inf, "∞")])
def test_a_figure_is_never_0_where_it_is_not(value, text):
    assert format_row_figure(value) == text
