"""Every picture, drawn for many runs: its specification is valid, and its table says what the run says."""

import inspect
import json
import math
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import altair as alt
import jsonschema
import numpy as np
import pandas as pd
import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.comparison.differences import subtract_traces
from attention_core.drawing import charts
from attention_core.drawing.cells import CELL_COLUMNS, unblocked_cells
from attention_core.drawing.palette import (
    DARK_PALETTE,
    LIGHT_PALETTE,
    Palette,
    blend_colours,
    shade_cells,
    to_hex_colours,
)
from attention_core.drawing.ramps import ramp_texts
from attention_core.drawing.raster import raster
from attention_core.drawing.specifications import Picture, cell_specification
from attention_core.drawing.text_layout import PictureTexts, shorten_text, text_width
from attention_core.explanation.formula import SYMBOL_COLOURS
from attention_core.explanation.layout import panel, product
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import RandomParts
from attention_core.variants.kv_cache import decode
from tests.entries import score_shapes

ROOT = Path(__file__).parents[2]
PALETTES = {"light": LIGHT_PALETTE, "dark": DARK_PALETTE}
TITLES = {"left": "q  1 × 2 × 4 × 4", "above": "k  1 × 2 × 4 × 4", "result": "scores <b>1</b>"}


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


# ---- the runs --------------------------------------------------------------------------------------------------------
HOSTILE = (
    "<script>alert(1)</script>",
    "\"'`\\${x}",
    "שלום",
    "注意力机制",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "the",
    "the",
    "it是mixed",
    "👩‍👩‍👧",
    "datum.kind",
)


def words_like(*tokens: str, count: int) -> tuple[str, ...]:
    return tuple(tokens[i % len(tokens)] for i in range(count))


def run(T: int, H: int, tokens: tuple[str, ...], S: int | None = None, score: str = "scaled_dot", **choices) -> Trace:
    """Attention of T tokens, D 8 cut into H heads; S other ones where it is cross-attention."""
    shapes = {"w_q": (8, 8), "w_k": (8, 8), "w_v": (8, 8), "w_o": (8, 8), "b_q": (8,)}
    shapes |= score_shapes(score, 8 // H, 8 // H, own=3)
    weights = Weights(**{name: random(*shape) for name, shape in shapes.items()})
    allowed = choices.pop("allowed", None)
    config = AttentionConfig(score, heads=H, **choices)
    trace = attend(random(T, 8), None if S is None else random(S, 8), weights=weights, config=config, allowed=allowed)
    return trace.labelled(T=words_like(*tokens, count=T), S=words_like(*tokens, count=S or T))


EMPTY_ROW = torch.tril(torch.ones(5, 5, dtype=torch.bool), -1)  # query 0 may attend to nothing
RUNS = {
    "one token": run(1, 1, ("it",)),
    "two heads": run(4, 2, ("the", "dog", "the", "cat")),
    "eight heads": run(6, 8, ("we", "all", "look", "at", "you", "!"), masks=["causal"]),
    "forty tokens": run(40, 2, ("one", "two", "three"), masks=[("local", {"window": 3})]),
    "more keys": run(3, 2, ("a", "b", "c"), S=7, score="additive"),
    "more queries": run(7, 2, ("他", "吃", "苹果"), S=3, masks=["causal"]),
    "hostile": run(10, 2, HOSTILE, masks=["causal"]),
    "long Chinese": run(12, 2, ("机器学习与深度学习", "attention注意力abc"), positions=["sinusoidal", "alibi"]),
    "nothing allowed": run(5, 1, ("a", "a", "a", "a", "a"), allowed=EMPTY_ROW, dropout=0.5),
    "a mask a head": run(5, 2, ("a", "b", "c", "d", "e"), allowed=random(1, 2, 5, 5) < 0.5, replace="uniform"),
}


every_run = pytest.mark.parametrize("name", RUNS)
both_palettes = pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)


def words_for(trace: Trace) -> PictureTexts:
    """As the pages do: an axis with words has them, another its numbers."""
    labels = trace.labels
    return PictureTexts(
        lambda ref: f"{ref.step} {ref.index}", lambda axis, i: labels[axis][i] if axis in labels else str(i)
    )


# ---- the pictures ----------------------------------------------------------------------------------------------------
def head_maps(trace: Trace, palette: Palette) -> list[Picture]:
    heads = range(trace.sizes()["H"])
    return [charts.head_map(trace, h, words_for(trace), palette, Ref("weights", (0, h, 0, 0)), 0) for h in heads]


def product_pictures(trace: Trace, palette: Palette) -> list[Picture]:
    drawn = {step: product(trace, step) for step in trace.computed()}
    words = words_for(trace)
    return [
        charts.product_picture(each, trace, words, palette, TITLES, each.result.refs[-1][-1])
        for each in drawn.values()
        if each is not None
    ]


def single_pictures(trace: Trace, palette: Palette) -> list[Picture]:
    """Every step beside its first operand, as the pages show it."""
    pictures = []
    for name, step in trace.steps.items():
        reads = step.operation.reads[:1] if step.operation else ()
        panels = [panel(trace, each) for each in (*reads, name)]
        titles = [f"{each.step} <i>" for each in panels]
        pictures.append(charts.single_picture(panels, trace, words_for(trace), palette, titles, None))
    return pictures


PICTURES = {
    "head_map": head_maps,
    "product_picture": product_pictures,
    "single_picture": single_pictures,
}


@cache
def drawn_for(name: str, kind: str, palette: Palette = LIGHT_PALETTE) -> list[Picture]:
    return PICTURES[kind](RUNS[name], palette)


def frame_of(picture: Picture) -> pd.DataFrame:
    """The cells of a picture as a table."""
    return pd.DataFrame(picture.table)


def all_for(name: str, palette: Palette = LIGHT_PALETTE) -> list[Picture]:
    return [picture for kind in PICTURES for picture in drawn_for(name, kind, palette)]


def test_every_picture_there_is_is_drawn_here():
    functions = inspect.getmembers(charts, inspect.isfunction)
    assert {name for name, function in functions if inspect.signature(function).return_annotation is Picture} == {
        *PICTURES
    }


# ---- the specification -----------------------------------------------------------------------------------------------
def keys_of(spec: object) -> set[str]:
    """Every key at any depth."""
    if isinstance(spec, dict):
        return set(spec).union(*map(keys_of, spec.values()))
    return set().union(*map(keys_of, spec)) if isinstance(spec, list) else set()


def assert_drawable(picture: Picture) -> None:
    spec = picture.spec
    assert json.loads(json.dumps(spec)) == spec
    assert not {"data", "datasets", "$schema"} & keys_of(spec)
    assert {key: value for key, value in spec.items() if key not in ("width", "height")} == {
        **cell_specification(),
        "padding": dict.fromkeys(("left", "right", "top", "bottom"), spec["padding"]["left"]),
        "background": "transparent",
    }
    assert 0 < spec["width"] < 2000
    assert 0 < spec["height"] < 2000


@every_run
def test_a_specification_holds_no_data_and_nothing_of_the_run(name):
    for picture in all_for(name):
        assert_drawable(picture)


def test_the_specification_is_valid_vega_lite():
    """By the schema that Altair ships; the page hands over the data that is a stub here."""
    for size in ((1, 1), (394.5, 220.25)):
        alt.LayerChart.from_dict({"data": {"name": "cells"}, **charts.sized_specification(*size)}, validate=True)


def test_an_invalid_specification_is_found():
    broken = charts.sized_specification(10, 10)
    broken["layer"] = [{**broken["layer"][0], "mark": {"type": "rectangle"}}]
    with pytest.raises(jsonschema.ValidationError):
        alt.LayerChart.from_dict({"data": {"name": "cells"}, **broken}, validate=True)


def test_the_fields_of_the_specification_are_columns_of_the_table():
    text = json.dumps(cell_specification())
    used = {*re.findall(r'"field": "([^"]*)"', text), *re.findall(r"datum\.(\w+)", text)} - {"middle", "centre", "said"}
    assert used == set(CELL_COLUMNS) - {"step", "index"}
    params = {each["name"]: each["select"] for each in cell_specification()["params"]}
    assert params["cell"]["fields"] == ["step", "index", "turn"]
    assert params["hover"]["fields"] == ["row", "column", "panel"]


# ---- the table -------------------------------------------------------------------------------------------------------
@every_run
def test_a_table_is_complete_and_can_be_sent(name):
    frames = [frame_of(picture) for picture in all_for(name)]
    assert all(list(frame.columns) == list(CELL_COLUMNS) for frame in frames)
    frame = pd.concat(frames, ignore_index=True)
    assert set(frame.kind) <= {"cell", "blocked", "chosen", "read", "label", "tilted", "bar"}
    assert not frame.isna().any().any()
    assert np.isfinite(frame[["x", "x2", "y", "y2", "size"]].to_numpy()).all()
    boxes = frame[frame.kind.isin(["cell", "blocked", "chosen", "bar"])]
    assert ((boxes.x2 > boxes.x) & (boxes.y2 > boxes.y)).all()
    sent = json.loads(json.dumps([frame[column].tolist() for column in frame], allow_nan=False))
    assert sent == [frame[column].tolist() for column in frame]


def cells(picture: Picture, name: str = "result") -> pd.DataFrame:
    """The cells of a panel, one row each."""
    frame = frame_of(picture)
    return frame[(frame.panel == name) & frame.kind.isin(["cell", "blocked"])]


def index_of(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def assert_cells_are_those_of(trace: Trace, drawn: pd.DataFrame, count: int, turned: bool = False) -> None:
    """One row a cell, its text and its value those of the trace."""
    assert len(drawn) == count
    assert not drawn.duplicated(["step", "index"]).any()
    (step,) = {*drawn.step}
    is_bool = trace[step].dtype == torch.bool
    numbers = trace[step].double().numpy()
    values = [float(numbers[index_of(text)]) for text in drawn["index"]]
    nothing = (drawn.kind == "blocked").to_numpy() & (np.array(values) == 0)  # a blocked weight is 0, not about 0.00
    shown = [("✓" if value else "") if is_bool else format_fixed(value) for value in values]
    shown = ["0" if blocked and not is_bool else text for text, blocked in zip(shown, nothing, strict=True)]
    assert drawn.what.tolist() == [f"{step} {index_of(text)}" for text in drawn["index"]]
    assert drawn.value.tolist() == [format_exact(value) for value in values]
    assert drawn.text.tolist() == (shown if drawn["size"].iloc[0] else [""] * count)
    places = [index_of(text)[-2:] if "," in text else (0, int(text)) for text in drawn["index"]]
    assert [*zip(drawn.row, drawn.column, strict=True)] == [place[::-1] if turned else place for place in places]


@every_run
def test_a_head_map_has_every_weight_of_its_head(name):
    trace = RUNS[name]
    T, S = trace["weights"].shape[2:]
    for h, picture in enumerate(drawn_for(name, "head_map")):
        drawn = cells(picture)
        assert_cells_are_those_of(trace, drawn, T * S)
        assert set(drawn["index"]) == {f"0,{h},{t},{s}" for t in range(T) for s in range(S)}
        one = frame_of(picture)[frame_of(picture).kind == "chosen"].iloc[0]
        assert (one.step, one["index"], one.x, one.y) == ("weights", f"0,{h},0,0", drawn.x.min(), drawn.y.min())


@every_run
def test_the_chosen_querys_row_is_outlined(name):
    trace = RUNS[name]
    T = trace.sizes()["T"]
    picture = charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE, None, T - 1)
    (frame,) = frame_of(picture)[frame_of(picture).kind == "chosen"].to_dict("records")
    row = cells(picture)[lambda each: each.row == T - 1]
    assert (frame["x"], frame["x2"]) == (row.x.min(), row.x2.max())
    assert (frame["y"], frame["y2"]) == (row.y.iloc[0], row.y2.iloc[0])


@every_run
def test_a_product_has_every_cell_of_its_three_parts(name):
    trace = RUNS[name]
    for picture in drawn_for(name, "product_picture"):
        for part in ("left", "above", "result"):
            drawn = cells(picture, part)
            turned = part == "above" and drawn.step.iloc[0] == "k"  # the keys stand upright
            assert_cells_are_those_of(trace, drawn, math.prod(trace[drawn.step.iloc[0]].shape[-2:]), turned)


@every_run
def test_the_cells_of_a_product_are_aligned(name):
    """Row r of left, row r of result: one height. Column c of above, column c of result: one place. All of one size."""
    for picture in drawn_for(name, "product_picture"):
        left, above, result = (cells(picture, part) for part in ("left", "above", "result"))
        for one, axis, start, end in ((left, "row", "y", "y2"), (above, "column", "x", "x2")):
            for each in (one, result):
                assert (each.groupby(axis)[[start, end]].nunique() == 1).all().all()
            first, second = (each.groupby(axis)[[start, end]].first() for each in (one, result))
            pd.testing.assert_frame_equal(first, second)
        assert left.x2.max() < result.x.min()
        assert above.y2.max() < result.y.min()
        everything = pd.concat([left, above, result])
        sides = pd.concat([everything.x2 - everything.x, everything.y2 - everything.y])
        assert sides.max() - sides.min() < 1e-9
        assert 10 <= sides.min() <= 64
        assert picture.spec["width"] <= charts.PAGE_WIDTH_PX  # nothing is cut off on a projector


def outlined(picture: Picture) -> set[tuple[str, str, str]]:
    read = frame_of(picture)[frame_of(picture).kind == "read"]
    return {*zip(read.step, read["index"], read.fill, strict=True)}


def test_what_the_chosen_cell_was_computed_from_is_outlined_in_its_colour():
    trace = RUNS["two heads"]
    words = words_for(trace)
    drawn = product(trace, "scores", {"H": 1})
    picture = charts.product_picture(drawn, trace, words, LIGHT_PALETTE, TITLES, Ref("scores", (0, 1, 2, 3)))
    of_q = {("q", f"0,1,2,{d}", LIGHT_PALETTE.q) for d in range(4)}
    assert outlined(picture) == of_q | {("k", f"0,1,3,{d}", LIGHT_PALETTE.k) for d in range(4)}
    panels = [panel(trace, name, {"H": 1}) for name in ("masked_scores", "weights")]
    picture = charts.single_picture(panels, trace, words, LIGHT_PALETTE, ("from", "to"), Ref("weights", (0, 1, 2, 3)))
    assert outlined(picture) == {("masked_scores", f"0,1,2,{s}", LIGHT_PALETTE.ink) for s in range(4)}
    assert outlined(charts.single_picture(panels, trace, words, LIGHT_PALETTE, ("from", "to"), None)) == set()


def test_a_chosen_cell_of_a_step_that_a_run_lacks_outlines_nothing():
    trace = RUNS["two heads"]
    panels = [panel(trace, "weights", {"H": 1})]
    picture = charts.single_picture(panels, trace, words_for(trace), LIGHT_PALETTE, ("to",), Ref("w_gate", (0, 1)))
    assert outlined(picture) == set()


@every_run
def test_a_matrix_and_its_operand_fit_the_page_and_their_rows_are_aligned(name):
    trace = RUNS[name]
    for step in [step for step in trace.computed() if trace[step].shape[-1] <= 18]:
        panels = [panel(trace, each, widest=9) for each in (*trace.step(step).operation.reads[:1], step)]
        if panels[0].rows == panels[1].rows:
            picture = charts.single_picture(panels, trace, words_for(trace), LIGHT_PALETTE, ("from", "to"), None)
            assert picture.spec["width"] <= charts.PAGE_WIDTH_PX, step
            drawn = frame_of(picture)[frame_of(picture).row >= 0]
            starts = drawn.groupby(["panel", "row"]).y.min().unstack()
            assert (starts.loc["operand"] == starts.loc["result"]).all(), step


@every_run
def test_single_pictures_have_every_cell(name):
    trace = RUNS[name]
    for step, picture in zip(trace.steps, drawn_for(name, "single_picture"), strict=True):
        assert_cells_are_those_of(trace, cells(picture), math.prod(trace[step].shape[-2:]))


def test_rows_that_only_the_result_has_are_labelled_too():
    """A cache, and the same with the key of one more word."""
    *_, step = decode(random(4, 8), config=AttentionConfig(heads=2, masks=["causal"]))
    step = step.labelled(T=("sat",), S=("the", "cat", "that", "sat"))
    panels = [panel(step, name) for name in ("k_cache", "k")]
    picture = charts.single_picture(panels, step, words_for(step), LIGHT_PALETTE, ("kept", "all"), None)
    frame = frame_of(picture)
    labels = frame[frame.text.isin(("the", "cat", "that", "sat"))].set_index("text").y
    middles = frame[(frame.panel == "result") & (frame.column == 0)]
    assert [*labels] == pytest.approx([*(middles.y + middles.y2) / 2])
    assert [*labels.index] == ["the", "cat", "that", "sat"]


# ---- blocked cells ---------------------------------------------------------------------------------------------------
def of_the_scale(palette: Palette) -> set[str]:
    return set(shade_cells(np.linspace(0, 1, 4001), 1.0, True, palette)[0])


MASKED = [name for name, trace in RUNS.items() if trace["masked_scores"].isneginf().any()]


@pytest.mark.parametrize("name", MASKED)
@both_palettes
def test_a_blocked_cell_is_hatched_and_has_no_colour_of_the_scale(name, palette):
    trace = RUNS[name]
    blocked = trace["masked_scores"].isneginf().numpy()
    steps = {"masked_scores", "weights", "computed_weights", "dropped_weights"} & trace.steps.keys()
    pictures = dict(zip(trace.steps, drawn_for(name, "single_picture", palette), strict=True))
    drawn = [cells(pictures[step]) for step in steps] + [cells(each) for each in drawn_for(name, "head_map", palette)]
    drawn = pd.concat(drawn)
    expected = [bool(blocked[index_of(text)]) for text in drawn["index"]]
    assert [kind == "blocked" for kind in drawn.kind] == expected
    fills = set(drawn[drawn.kind == "blocked"].fill)
    assert fills == {palette.ground}
    assert not fills & of_the_scale(palette)


def test_a_weight_of_zero_is_not_blocked():
    """Rounded to zero, but allowed."""
    trace = attend_qkv(torch.tensor([[1000.0]]), torch.tensor([[1.0], [-1.0]]), torch.ones(2, 1))
    assert trace["weights"][0, 0, 0, 1] == 0
    assert set(cells(charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE)).kind) == {"cell"}


def test_a_mask_shows_what_it_allows():
    trace = RUNS["nothing allowed"]
    drawn = cells(charts.single_picture([panel(trace, "allowed")], trace, words_for(trace), LIGHT_PALETTE, [""], None))
    assert [row.kind == "cell" for row in drawn.itertuples()] == EMPTY_ROW.flatten().tolist()
    assert set(zip(drawn.kind, drawn.text, strict=True)) == {("cell", "✓"), ("blocked", "")}


def test_ticks_stand_in_cells_too_small_for_numbers():
    trace = RUNS["nothing allowed"]
    small = charts.single_picture(
        [panel(trace, "allowed")], trace, words_for(trace), LIGHT_PALETTE, [""], None, most=16.0
    )
    drawn = cells(small)
    assert {round(side, 6) for side in [*(drawn.x2 - drawn.x), *(drawn.y2 - drawn.y)]} == {16.0}
    assert set(drawn[drawn.text != ""].text) == {"✓"}
    assert (drawn["size"] >= 9).all()


def test_a_head_map_may_be_wider():
    trace = RUNS["forty tokens"]
    narrow, wide = (
        charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE, room=room)
        for room in (charts.MAP_WIDTH_PX, charts.PAGE_WIDTH_PX)
    )
    sides = [(drawn.x2 - drawn.x).max() for drawn in (cells(narrow), cells(wide))]
    assert sides[0] < sides[1]
    assert narrow.spec["width"] <= wide.spec["width"] <= charts.PAGE_WIDTH_PX


# ---- colours ---------------------------------------------------------------------------------------------------------
def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_wcag_does():
    """Its own examples: black on white, and the lightest grey on white that passes."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@both_palettes
@pytest.mark.parametrize("is_share", [True, False])
def test_numbers_are_readable_on_every_colour(palette, is_share):
    values = np.linspace(0 if is_share else -1, 1, 2001)
    fills, inks = shade_cells(values, 1.0, is_share, palette)
    assert min(map(contrast, fills, inks)) >= 4.5


@both_palettes
def test_everything_else_is_readable_on_the_ground(palette):
    texts = [palette.ink, *palette.families().values()]
    assert min(contrast(text, palette.ground) for text in texts) >= 4.5
    assert contrast(palette.outline, palette.ground) >= 3  # no text: WCAG 1.4.11


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_small_print_is_readable_on_every_ground(theme):
    colours = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"][theme]
    for ground in (colours["backgroundColor"], colours["secondaryBackgroundColor"]):
        print_ = to_hex_colours(blend_colours(ground, colours["textColor"], np.array([0.6])))[
            0
        ]  # as Streamlit mixes captions
        assert contrast(print_, ground) >= 4.5


@pytest.mark.parametrize("name", ["one token", "eight heads", "hostile", "nothing allowed"])
@both_palettes
def test_every_text_is_readable_where_it_stands(name, palette):
    for picture in all_for(name, palette):
        frame = frame_of(picture)[frame_of(picture).text != ""]
        inside = frame.kind.isin(["cell", "blocked"])
        pairs = {*zip(frame.ink[inside], frame.fill[inside], strict=True)}
        pairs |= {(ink, palette.ground) for ink in frame.ink[~inside]}
        assert min(contrast(*pair) for pair in pairs) >= 4.5


def test_the_ends_of_the_scales():
    fills, _ = shade_cells(np.array([0.0, 1.0, 0.5]), 1.0, True, LIGHT_PALETTE)
    assert fills == [LIGHT_PALETTE.low, LIGHT_PALETTE.high, "#a086bc"]  # (f4 + 4c) / 2, (f0 + 1d) / 2, (f9 + 80) / 2
    fills, _ = shade_cells(np.array([0.0, 2.0, -2.0, math.inf, -math.inf, math.nan]), 2.0, False, LIGHT_PALETTE)
    assert fills[0] == fills[4] == fills[5] == LIGHT_PALETTE.ground
    assert fills[1] == fills[3] != fills[2]


def test_a_larger_weight_is_darker():
    fills, _ = shade_cells(np.linspace(0, 1, 100), 1.0, True, LIGHT_PALETTE)
    assert all(luminance(less) > luminance(more) for less, more in pairwise(fills))
    fills, _ = shade_cells(np.linspace(0, 1, 100), 1.0, True, DARK_PALETTE)
    assert all(luminance(less) < luminance(more) for less, more in pairwise(fills))


def test_heads_share_one_range_of_colours():
    """Head 1 holds numbers up to 1, head 2 up to 10: 1 is the same pale grey in both."""
    k = torch.tensor([[[[1.0]], [[10.0]]]])
    trace = attend_qkv(torch.ones(1, 2, 2, 1), torch.cat([k, torch.ones(1, 2, 1, 1)], 2), torch.ones(1, 2, 2, 1))
    words = words_for(trace)
    panels = [panel(trace, "scores", {"H": h}) for h in range(2)]
    first, second = (cells(charts.single_picture([each], trace, words, LIGHT_PALETTE, [""], None)) for each in panels)
    assert first.text.tolist() == ["1.00"] * 4
    assert second.text.tolist() == ["10.00", "1.00"] * 2
    assert {*first.fill} == {second.fill.iloc[1]} != {second.fill.iloc[0]}


def test_compared_matrices_have_the_range_of_colours_that_they_are_given():
    """Scores 1 and 2 beside others up to 4: 2 is half as strong as it would be alone, and its operand keeps its own."""
    trace = attend_qkv(torch.ones(2, 1), torch.tensor([[1.0], [2.0]]), torch.ones(2, 1))
    drawn = [panel(trace, name) for name in ("scores", "scaled_scores")]
    left, right = (
        list(zip(picture.table["panel"], picture.table["fill"], strict=True))
        for picture in (
            charts.single_picture(drawn, trace, words_for(trace), LIGHT_PALETTE, ["", ""], None, reach)
            for reach in (None, 4.0)
        )
    )
    assert [row for row in left if row[0] == "operand"] == [row for row in right if row[0] == "operand"]
    fills, _ = shade_cells(np.array([1.0, 2.0, 1.0, 2.0]), 4.0, False, LIGHT_PALETTE)
    assert [fill for name, fill in right if name == "result"] == fills
    assert [fill for name, fill in left if name == "result"] != fills


def test_weights_have_one_colour_in_every_run():
    """The ramp is on [0, 1], whatever the largest weight is."""
    trace = attend_qkv(torch.zeros(1, 1), torch.zeros(2, 1), torch.zeros(2, 1))
    fills, _ = shade_cells(np.array([0.5]), 1.0, True, LIGHT_PALETTE)
    assert {*cells(charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE)).fill} == {*fills}


def test_formulas_and_charts_have_the_same_colours():
    assert {name: colour.lower() for name, colour in SYMBOL_COLOURS.items()} == LIGHT_PALETTE.families()


def test_a_weight_that_was_typed_for_a_blocked_pair_is_not_blocked():
    nan, x = torch.nan, torch.eye(3, dtype=torch.float64)
    typed = torch.tensor([[nan, 0.25, nan], [nan, nan, nan], [nan, nan, nan]], dtype=torch.float64)
    trace = attend_qkv(x, x, x, config=AttentionConfig(masks=["causal"]), what_if={"weights": typed})
    free = [[True, True, False], [True, True, False], [True, True, True]]
    assert unblocked_cells(trace, "weights")[0, 0].tolist() == free
    assert not unblocked_cells(trace, "masked_scores")[0, 0, 0, 1]


# ---- the ramp --------------------------------------------------------------------------------------------------------
@every_run
def test_the_even_share_stands_at_its_place_on_the_ramp(name):
    trace = RUNS[name]
    S = trace.sizes()["S"]
    frame = frame_of(charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE))
    bars = frame[frame.kind == "bar"]
    ramp, mark = bars[bars.fill != LIGHT_PALETTE.outline], bars[bars.fill == LIGHT_PALETTE.outline]
    start, end = ramp.x.min(), ramp.x2.max()
    (middle,) = (mark.x + mark.x2) / 2
    assert (middle - start) / (end - start) == pytest.approx(1 / S, abs=0.006)
    assert ramp.fill.tolist()[:: len(ramp) - 1] == [LIGHT_PALETTE.low, LIGHT_PALETTE.high]
    labels = frame[(frame.kind == "label") & (frame.y > ramp.y.max())]
    assert labels.text.tolist() == ["0", "1", f"1/{S}"][: 3 if S > 1 else 2]


@pytest.mark.parametrize(("keys", "last"), [(3, "3×"), (5, "5×"), (7, "≥ 5×")])
def test_a_ramp_of_multiples_ends_at_its_keys_or_at_five(keys, last):
    assert ramp_texts(keys, True) == ("1×", last)


# ---- texts -----------------------------------------------------------------------------------------------------------
def labels_of(picture: Picture) -> pd.DataFrame:
    return frame_of(picture)[frame_of(picture).kind.isin(["label", "tilted"])]


def test_a_token_that_comes_twice_has_two_rows_and_two_columns():
    picture = head_maps(RUNS["two heads"], LIGHT_PALETTE)[0]
    labels = labels_of(picture)
    rows, columns = labels[labels["align"] == "right"], labels[labels["align"] == "center"]
    assert rows.text.tolist()[:4] == ["the", "dog", "the", "cat"]
    assert rows.y.nunique() >= 4
    assert columns.text.tolist()[:4] == ["the", "dog", "the", "cat"]
    assert columns.x.tolist()[:4] == sorted({*columns.x.tolist()[:4]})
    middles = cells(picture).groupby("row").y.first() + (cells(picture).y2 - cells(picture).y).iloc[0] / 2
    assert rows.y.tolist()[:4] == pytest.approx(middles.tolist())


def is_whole_or_cut(text: str, full: set[str]) -> bool:
    return text in full or (text.endswith("…") and any(each.startswith(text[:-1]) for each in full))


@every_run
def test_no_label_is_cut_without_an_ellipsis(name):
    trace = RUNS[name]
    full = {*trace.labels["T"], *trace.labels["S"], *map(str, range(64)), *TITLES.values()}
    full |= {f"{step} <i>" for step in trace.steps} | {f"1/{keys + 1}" for keys in range(trace.sizes()["S"])}
    for kind in ("head_map", "product_picture", "single_picture"):
        for picture in drawn_for(name, kind):
            labels = labels_of(picture)
            for (_, _), stack in labels.groupby(["x", "align"]):  # a Chinese label is a stack of characters
                written = "".join(stack.sort_values("y").text) if len(stack) > 1 else ""
                vertical = is_whole_or_cut(written, full) or written.startswith(tuple(TITLES.values()))
                assert vertical or all(is_whole_or_cut(text, full) for text in stack.text), (kind, stack.text.tolist())


@pytest.mark.parametrize("text", [*HOSTILE, "a", ""])
@pytest.mark.parametrize("room", [0, 10, 13, 29, 30.5, 60, 110, 1000])
def test_what_is_cut_fits_and_says_so(text, room):
    short = shorten_text(text, room, 13.0)
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
    assert text_width(short, 13.0) <= room or short == "…"
    assert (short == text) == (text_width(text, 13.0) <= room)


@pytest.mark.parametrize("name", ["more queries", "hostile", "long Chinese"])
def test_chinese_is_never_rotated(name):
    tilted = set()
    for picture in all_for(name):
        tilted |= {*frame_of(picture)[frame_of(picture).kind == "tilted"].text}
    assert not [text for text in tilted if any("\u2e80" <= character <= "\uffef" for character in text)]
    assert tilted or name != "hostile"  # Latin that does not fit is


def test_long_chinese_is_written_downwards():
    """One character above the other, the first one on top."""
    trace = RUNS["long Chinese"]
    labels = labels_of(charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE))
    columns = [
        stack.sort_values("y") for _, stack in labels[labels["align"] == "center"].groupby("x") if len(stack) > 1
    ]
    assert len(columns) == 12
    for stack, full in zip(columns, trace.labels["S"], strict=True):
        assert all(len(text) == 1 for text in stack.text)
        assert is_whole_or_cut("".join(stack.text), {full})
        assert min(b - a for a, b in pairwise(stack.y)) >= stack["size"].max()  # no character upon another


@every_run
def test_nothing_sticks_out_at_the_top_or_at_the_left(name):
    for picture in all_for(name):
        labels = labels_of(picture)
        widths = np.array([text_width(text, size) for text, size in zip(labels.text, labels["size"], strict=True)])
        share = labels["align"].map({"left": 0.0, "center": 0.5, "right": 1.0})
        level = labels.kind == "label"
        assert (labels.x - share * widths)[level].min() >= -3
        assert (labels.y - labels["size"] / 2)[level].min() >= -3
        rise = labels.y - widths * math.sin(math.radians(40)) - labels["size"] / 2  # tilted by 40 degrees
        assert level.all() or rise[~level].min() >= -3
        assert frame_of(picture)[["x", "y"]].min().min() >= -3


@every_run
def test_every_cell_lies_in_the_picture(name):
    for picture in all_for(name):
        boxes = frame_of(picture)[~frame_of(picture).kind.isin(["label", "tilted"])]
        assert boxes.x2.max() <= picture.spec["width"]
        assert boxes.y2.max() <= picture.spec["height"]


@every_run
def test_labels_do_not_lie_on_cells(name):
    """Neither the cells' numbers nor their neighbours' labels are written over."""
    for picture in drawn_for(name, "head_map") + drawn_for(name, "product_picture"):
        boxes = frame_of(picture)[frame_of(picture).kind.isin(["cell", "blocked"])][["x", "x2", "y", "y2"]].to_numpy()
        labels = labels_of(picture)[lambda each: each["align"] != "left"]
        for text, x, y in zip(labels.text, labels.x, labels.y, strict=True):
            left, right, top, bottom = boxes.T
            assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any(), text


# ---- hostile words ---------------------------------------------------------------------------------------------------
def test_words_are_data_and_nothing_else():
    """They stand in the table as they are, and never in the specification."""
    trace = RUNS["hostile"]
    for picture in all_for("hostile"):
        spec = json.dumps(picture.spec, ensure_ascii=False)
        assert not [word for word in (*HOSTILE[:5], *TITLES.values()) if word in spec]
    labels = labels_of(charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE))
    assert {"שלום", "\"'`\\${x}"} <= {*labels.text}
    assert [text for text in labels.text if text.startswith("<script>al")]


def test_a_map_of_smaller_cells():
    trace = RUNS["two heads"]
    usual, small = (charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE, most=most) for most in (40.0, 34.0))
    sides = [
        {round(row.x2 - row.x, 9) for row in frame_of(each).itertuples() if row.kind == "cell"}
        for each in (usual, small)
    ]
    assert sides == [{40.0}, {34.0}]
    assert small.spec["height"] < usual.spec["height"]


def test_pictures_made_equally_large_are_the_same_pictures():
    pictures = [
        charts.head_map(RUNS[name], 0, words_for(RUNS[name]), LIGHT_PALETTE) for name in ("one token", "more keys")
    ]
    alike = charts.make_equally_large(pictures)
    assert alike[0].spec == alike[1].spec
    for side in ("width", "height"):
        assert alike[0].spec[side] == max(picture.spec[side] for picture in pictures)
    assert [each.table for each in alike] == [picture.table for picture in pictures]


def test_a_map_may_be_as_wide_as_the_page():
    trace = RUNS["hostile"]
    rooms = (charts.MAP_WIDTH_PX, charts.PAGE_WIDTH_PX)
    narrow, wide = (
        charts.head_map(trace, 0, words_for(trace), LIGHT_PALETTE, room=room).spec["width"] for room in rooms
    )
    assert narrow <= charts.MAP_WIDTH_PX < wide <= charts.PAGE_WIDTH_PX


def test_small_differences_are_written_as_powers_of_ten_and_what_overflowed_is_hatched():
    exact = attend_qkv(*[random(3, 2)] * 3)
    near = attend_qkv(random(3, 2) * (1 + 1e-6), random(3, 2), random(3, 2))
    lost = replace(subtract_traces(near, exact), steps={**subtract_traces(near, exact).steps})
    lost["weights"][0, 0, 1] = torch.tensor([math.nan, math.inf, 0.0])
    words = words_for(exact)
    drawn = cells(charts.single_picture([panel(lost, "weights")], lost, words, LIGHT_PALETTE, ["errors"], None))
    texts = {(cell["row"], cell["column"]): (cell["kind"], cell["text"]) for cell in drawn.to_dict("records")}
    assert [texts[1, s] for s in range(3)] == [("blocked", "NaN"), ("blocked", "+∞"), ("cell", "0")]
    numbers = [float(texts[t, s][1].replace("−", "-")) for t in (0, 2) for s in range(3)]
    wanted = [lost["weights"][0, 0, t, s].item() for t in (0, 2) for s in range(3)]
    assert numbers == pytest.approx(wanted, rel=0.5)
    assert all("e−" in texts[t, s][1] for t in (0, 2) for s in range(3))
    assert drawn["size"].min() >= 13


# ---- beside other threads --------------------------------------------------------------------------------------------
WHILE_PANDAS_IS_IMPORTED = """
import sys, threading
from attention_core.drawing import specifications
from attention_core.drawing.axes import Axis
from attention_core.drawing.palette import LIGHT_PALETTE
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas.core" and threading.current_thread() is other:
            half_there.set()
            go_on.wait()
def begin():
    other.start()
    half_there.wait()
    assert not hasattr(sys.modules["pandas"], "DataFrame")
    threading.Timer(0.5, go_on.set).start()  # while the specification is made
sys.meta_path.insert(0, Slow())
half_there, go_on = threading.Event(), threading.Event()
other = threading.Thread(target=lambda: __import__("pandas"))
"""
ASKED = {
    "cell_specification()": 6,
    "curve_specification(Axis('x', 0.0, 1.0), Axis('y', 0.0, 1.0), LIGHT_PALETTE, 400, 300)": 8,
    "plane_specification(1.0, 300)": 5,
}


def run_apart(script: str) -> str:
    """What a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "layers"), ASKED.items())
def test_a_specification_waits_for_pandas_that_is_half_there(asked, layers):
    script = WHILE_PANDAS_IS_IMPORTED + f"begin()\nprint(len(specifications.{asked}['layer']))\nother.join()"
    assert run_apart(script) == str(layers)


MEANWHILE = """
layer = specifications.alt.layer
def layer_meanwhile(*given, **more):
    if "pandas" not in sys.modules:
        begin()
    return layer(*given, **more)
specifications.alt.layer = layer_meanwhile
"""


@pytest.mark.slow
def test_nobody_begins_to_import_pandas_while_a_specification_is_made():
    assert (
        run_apart(WHILE_PANDAS_IS_IMPORTED + MEANWHILE + "print(len(specifications.cell_specification()['layer']))")
        == "6"
    )


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
@pytest.mark.parametrize("is_random", [True, False])
def test_maps_of_random_matrices_are_grey_and_others_are_not(palette, is_random):
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    trace = replace(attend(x), chance=RandomParts(matrices=("w_q",) if is_random else ()))
    words = PictureTexts(str, lambda axis, place: f"{axis}{place}")
    table = pd.DataFrame(charts.head_map(trace, 0, words, palette).table)
    whole = charts.single_picture([panel(trace, "scores", {})], trace, words, palette, ["scores"], None)
    shown = [{*found[found["kind"] == "cell"]["fill"]} for found in (table, pd.DataFrame(whole.table))]
    shown += [{*raster(trace, step, words, palette).fills} - {palette.outline} for step in ("weights", "scores")]
    spreads = []
    for colours in shown:
        channels = [bytes.fromhex(colour[1:]) for colour in {*colours} - {palette.ground}]
        spreads.append(max(max(each) - min(each) for each in channels))
    assert max(spreads) <= 14 if is_random else max(spreads) > 60
