"""The scale: how sharp the softmax is against d_k, undivided and divided; the variance, and where it is another."""

import json
import math
import re

import numpy as np
import pytest
import streamlit as st

from attention_core.analysis.dot_product_moments import LAWS, measure_variances
from attention_core.drawing.bars import BAR_NUMBER_ROOM_PX
from attention_core.drawing.palette import LIGHT_PALETTE, shade_cells
from attention_core.inputs.matrix_link import read_matrix
from pages.panels import progress
from pages.runs import cache
from pages.runs.compute import compute_run
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES
from tests.golden import loader
from tests.screen.driver import softmax
from tests.screen.lesson import Lesson

(STATED,) = (
    figures for name, figures in loader.read(loader.STORIES)["measured"].items() if name.startswith("sqrt d_k")
)
PICTURES = {
    "hero": "Against dₖ: largest weight",
    "entropy": "Against dₖ: entropy (bits)",
    "slope": "Against dₖ: norm of the Jacobian",
    "dot": "Against dₖ: variance, undivided",
    "scaled_dot": "Against dₖ: variance, divided",
    "breaks": "Against dₖ: variance",
    "scores": "Histogram of scores, undivided and divided",
}
WIDTHS = [2**power for power in range(11)]
LEVEL = "1"  # the guess that is right
QUANTITIES = {"hero": 0, "entropy": 2, "slope": 4}  # where a quantity stands in the stories, divided behind it
ERRORS = {"hero": 0.005, "entropy": 0.02, "slope": 0.004}  # the largest standard error of 2000 draws


def curve(lesson, picture, name):
    """The points of a curve, as they are said."""
    table = lesson.table(PICTURES[picture])
    rows = table[(table["name"] == name) & table["kind"].isin(["point", "zero"])]
    said = [text.removeprefix(f"{name}: ").split(" → ") for text in rows["said"]]
    return {int(x): float(y.replace("−", "-")) for x, y in said}


def band(lesson, picture, name):
    table = lesson.table(PICTURES[picture])
    rows = table[(table["name"] == name) & (table["kind"] == "band")]
    return {int(x): (low, high) for x, low, high in zip(rows["x"], rows["y"], rows["y2"], strict=True)}


def bars(lesson, row, count=8):
    cells = lesson.table("live")
    cells = cells[(cells["panel"] == f"row{row}") & (cells["kind"] == "cell")]
    assert len(cells) == count
    return [float(value) for value in cells["value"]]


def drawn(lesson):
    """The scores of the draw that is shown, by loops over the numbers that the workbench gets."""
    setup = lesson.press("door_workbench").at.session_state["setup"]
    (q,), k = (setup.value_of(name).packed.array().tolist() for name in ("q", "k"))
    return [math.fsum(a * b for a, b in zip(q, row, strict=True)) for row in k]


@pytest.fixture
def few_draws(monkeypatch):
    """Means over 20 draws in place of 2,000, for tests of one draw."""
    measured = cache.cached_saturation
    monkeypatch.setattr(cache, "cached_saturation", lambda d_k, keys, draws, seed: measured(d_k, keys, 20, seed))


# ---- the picture -----------------------------------------------------------------------------------------------------
def test_the_figures_of_the_table():
    lesson = Lesson("scale", guess=LEVEL, d_k="1024")
    assert lesson.fact() == (
        "dₖ = 1024: without the division the largest of 8 weights averages 0.97 and "
        "the gradient at q (median) is 5.0 × 10⁻⁵; with it, 0.36 and 0.37."
    )
    undivided, divided = curve(lesson, "hero", "undivided"), curve(lesson, "hero", "divided")
    assert [*undivided] == [*divided] == WIDTHS
    assert (round(undivided[1], 2), round(undivided[1024], 2)) == (0.31, 0.97)
    assert undivided[1] == divided[1]  # √1 = 1
    assert all(abs(divided[d_k] - 0.36) < 0.01 for d_k in WIDTHS if d_k >= 16)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_figures_of_the_stories_at_every_width(quantity):
    """Two means of 2000 draws each, within four standard errors of their difference; the figures are rounded."""
    lesson = Lesson("scale", guess=LEVEL, quantity=quantity.replace("hero", "largest"))
    for name, place in (("undivided", 0), ("divided", 1)):
        points, room = curve(lesson, quantity, name), band(lesson, quantity, name)
        for d_k, stated in STATED.items():
            expected = stated[QUANTITIES[quantity] + place]
            assert points[int(d_k)] == pytest.approx(expected, abs=4 * math.sqrt(2) * ERRORS[quantity] + 0.005)
            low, high = room[int(d_k)]
            assert low < points[int(d_k)] < high
            assert (high - low) / 2 / 1.96 < ERRORS[quantity]


@pytest.mark.parametrize("keys, draws", [(2, "2,000"), (8, "2,000"), (64, "250")])
def test_all_keys_alike(keys, draws):
    lesson = Lesson("scale", keys=str(keys))
    assert curve(lesson, "hero", "all keys alike") == pytest.approx(dict.fromkeys((1, 1024), 1 / keys))
    assert lesson.says(f"Lines: means over {draws} draws of a query and {keys} keys")
    bars(lesson, 0, keys)
    even = lesson.choose("quantity", "entropy")
    assert curve(even, "entropy", "all keys alike") == pytest.approx(dict.fromkeys((1, 1024), math.log2(keys)))
    even = lesson.choose("quantity", "slope of the softmax")
    assert curve(even, "slope", "all keys alike") == pytest.approx(dict.fromkeys((1, 1024), math.sqrt(keys - 1) / keys))


def test_the_upright_line_stands_at_the_chosen_width():
    lesson = Lesson("scale", d_k="16")
    for _ in range(2):
        table = lesson.table(PICTURES["hero"])
        assert [*table[table["kind"] == "rule"]["x"]] == [int(lesson.link()["d_k"])]
        lesson.set("d_k", 256)


# ---- the cloud -------------------------------------------------------------------------------------------------------
def cloud(lesson):
    """What the cloud was told: the lanes of each width, and how it is told to a screen reader."""
    (part,) = lesson.parts("scale_cloud")
    return json.loads(part.proto.json)


def test_the_cloud_spreads_as_the_root_of_d_k_and_stays_where_it_is_divided():
    told = cloud(Lesson("scale", guess=LEVEL))
    assert len(told["widths"]) == len(WIDTHS)
    for d_k, lanes, said in zip(WIDTHS, told["widths"], told["told"], strict=True):
        undivided, divided = lanes["dot"]["scores"], lanes["scaled_dot"]["scores"]
        assert undivided == sorted(undivided) and len(undivided) == len(divided) == 240
        spread = np.std(undivided, ddof=1)
        assert spread == pytest.approx(math.sqrt(d_k), rel=0.25)  # of products of normal numbers, at 1 far from normal
        assert undivided == pytest.approx([score * math.sqrt(d_k) for score in divided], abs=0.01 * math.sqrt(d_k))
        assert lanes["dot"]["spread"] == f"standard deviation {spread:.2f}"
        assert f"{spread:.2f}" in said and f"dₖ = {d_k}:" in said


def test_the_numbered_dots_are_the_draw_whose_weights_the_bars_show():
    lesson = Lesson("scale", guess=LEVEL, d_k="16")
    lanes = cloud(lesson)["widths"][WIDTHS.index(16)]
    for row, score in enumerate(("dot", "scaled_dot")):
        draw = lanes[score]["draw"]
        assert [softmax(draw, at) for at in range(8)] == pytest.approx(bars(lesson, row), abs=1e-12)
    assert lanes["dot"]["draw"] == pytest.approx(drawn(lesson), abs=1e-9)


def test_the_thermometers_are_the_gradients_of_the_sentence():
    lesson = Lesson("scale", guess=LEVEL, d_k="1024")
    told = cloud(lesson)
    lanes = told["widths"][-1]
    assert (lanes["dot"]["written"], lanes["scaled_dot"]["written"]) == ("5.0 × 10⁻⁵", "0.37")
    assert "is 5.0 × 10⁻⁵; with it, 0.36 and 0.37." in lesson.fact()
    assert told["most"] == max(lane["gradient"] for each in told["widths"] for lane in each.values())


def test_the_divided_cloud_is_not_sent_before_somebody_guesses():
    lesson = Lesson("scale")
    assert all([*lanes] == ["dot"] for lanes in cloud(lesson)["widths"])
    assert not any("after" in said for said in cloud(lesson)["told"])
    lesson.choose("guess", "rises as well")
    assert all([*lanes] == ["dot", "scaled_dot"] for lanes in cloud(lesson)["widths"])


# ---- the guess -------------------------------------------------------------------------------------------------------
def test_what_the_division_does_is_hidden_until_somebody_guesses_or_reveals():
    lesson = Lesson("scale")
    assert lesson.fact() == (
        "dₖ = 64: without the division the largest of 8 weights averages 0.87, and the gradient at q (median) is 0.55."
    )
    assert curve(lesson, "hero", "divided") == {}
    assert [*lesson.table("live")["text"]].count("?") == 8
    lesson.choose("guess", "falls")
    assert lesson.says("Not as predicted")
    assert len(curve(lesson, "hero", "divided")) == 11
    assert "?" not in [*lesson.table("live")["text"]]
    assert "averages 0.87 and the gradient at q (median) is 0.55; with it, 0.36 and 0.36." in lesson.fact()
    assert Lesson("scale", **lesson.link()).says("Not as predicted")
    assert lesson.choose("guess", "hardly changes").says("As predicted")


def test_from_which_width_on_hardly_any_gradient_arrives_undivided():
    """What the line under the picture says, with 8 keys."""
    found = {}
    for d_k in (64, 128, 256, 512, 1024):
        lesson = Lesson("scale", guess=LEVEL, d_k=str(d_k))
        assert lesson.says(
            "With 8 keys and up to dₖ = 64, it is at least as large as with the division; in wider heads it shrinks"
        )
        divided = re.search(r"with it, [\d.]+ and ([\d.]+)\.$", lesson.fact())[1]
        found[d_k] = lesson.figure("(median) is "), float(divided)
    assert found[64][0] > found[64][1] and found[128][0] < found[128][1]
    assert all(undivided < divided / 10 for undivided, divided in (found[256], found[512], found[1024]))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_line_under_the_picture_speaks_of_the_keys_that_the_slider_shows(lang):
    lesson = Lesson("scale", keys="64", guess=LEVEL, lang=lang)
    words = {
        "en": "With 64 keys and up to dₖ = 256, it is at least as large as with the division",
        "zh": "有 64 个键、dₖ 不超过 256 时",
    }
    assert lesson.says(words[lang])
    assert not Lesson("scale", keys="64", lang=lang).says(words[lang])  # it says what the division does


# ---- one draw --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("d_k, keys, seed", [(64, 8, 1268), (1, 2, 0), (16, 4, 7)])
def test_one_draw_by_loops(d_k, keys, seed, few_draws):
    lesson = Lesson("scale", guess=LEVEL, d_k=str(d_k), keys=str(keys), seed=str(seed))
    undivided, divided = bars(lesson, 0, keys), bars(lesson, 1, keys)
    scores = drawn(lesson)
    assert undivided == pytest.approx([softmax(scores, at) for at in range(keys)], abs=1e-12)
    scaled = [score / math.sqrt(d_k) for score in scores]
    assert divided == pytest.approx([softmax(scaled, at) for at in range(keys)], abs=1e-12)


def test_the_example_that_it_opens_on_is_much_like_the_mean():
    lesson = Lesson("scale", guess=LEVEL)
    assert max(bars(lesson, 0)) == pytest.approx(0.87, abs=0.05)
    assert max(bars(lesson, 1)) == pytest.approx(0.36, abs=0.06)


def test_another_seed_is_another_draw_and_other_means():
    lesson = Lesson("scale")
    before, means = bars(lesson, 0), curve(lesson, "hero", "undivided")
    lesson.set("seed", 17)
    assert bars(lesson, 0) != before
    assert curve(lesson, "hero", "undivided") != means
    assert curve(lesson, "hero", "undivided")[1024] == pytest.approx(means[1024], abs=0.015)
    assert lesson.link()["seed"] == "17"
    assert bars(Lesson("scale", **lesson.link()), 0) == bars(lesson, 0)


@pytest.mark.parametrize("seed", ["-1", "1000000000", "1.5", "x", "9" * 40])
def test_a_seed_that_is_none_is_named_and_the_usual_one_is_taken(seed):
    lesson = Lesson("scale", seed=seed, lang="en")
    assert lesson.errors() == [f"The link says seed={seed[:40]}, which cannot be read; the rest of the link is shown."]
    assert bars(lesson, 0) == bars(Lesson("scale"), 0)


def test_many_bars_stand_on_one_scale_from_0_to_1():
    lesson = Lesson("scale", keys="64", d_k="1024")
    table = lesson.table("live")
    fields = table[table["panel"] == "row0"]
    bars_of_row = table[(table["kind"] == "bar") & (table["y2"] == fields["y2"].max())]  # they stand on its bottom
    heights = bars_of_row.eval("y2 - y").tolist()
    room = fields.eval("y2 - y").max() - BAR_NUMBER_ROOM_PX
    assert heights == pytest.approx([share * room for share in bars(lesson, 0, 64)])
    assert "↑" not in "".join(table["text"])


def test_the_workbench_gets_exactly_this_run(few_draws):
    lesson = Lesson("scale", d_k="2", keys="2", seed="0", guess=LEVEL).press("door_workbench")
    assert lesson.at.session_state["setup"] == make_setup(
        example="one_query",
        q=read_matrix("1.54,-0.29"),  # the first numbers that torch draws from N(0, 1) with seed 0
        k=read_matrix("-2.18,0.57;-1.08,-1.4"),
        v=read_matrix("-3.5225;-1.2572"),
        score="scaled_dot",
    )
    undivided = Lesson("scale", d_k="2", keys="2", seed="0").press("door_workbench").at.session_state["setup"]
    assert undivided.run.score == "dot"


def test_the_largest_draw_fits_into_a_link():
    setup = Lesson("scale", d_k="64", keys="64").press("door_workbench").at.session_state["setup"]
    assert setup_from_link(setup_to_link(setup)) == (setup, [])
    assert compute_run(setup.run)[0]["k"].shape == (1, 1, 64, 64)  # which check_link has let pass


def test_a_wide_draw_begins_with_its_scores_and_says_why():
    lesson = Lesson("scale", guess=LEVEL, d_k="256")
    assert any("do not fit into a link" in caption.value for caption in lesson.at.caption)
    weights = bars(lesson, 1)
    setup = lesson.press("door_workbench").at.session_state["setup"]
    assert (setup.run.q, setup.run.score, setup.run.scale) == (read_matrix("1"), "dot", 0.0625)
    scores = [score / 16 for (score,) in setup.run.k.packed.array()]
    assert weights == pytest.approx([softmax(scores, at) for at in range(8)], abs=1e-12)
    assert not any("do not fit" in caption.value for caption in Lesson("scale", d_k="64").at.caption)


# ---- further sights --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", ["normal", "signs", "uniform"])
def test_the_measured_variance_beside_d_k_and_beside_1(law):
    lesson = Lesson("scale", open="variance", law=law)
    golden = loader.read(loader.FOLDER / "s36_variance_of_dot_exact.json")["expected"]["rows"]
    for picture, stated in (("dot", "var_dot"), ("scaled_dot", "var_scaled")):
        exact, measured = curve(lesson, picture, "exact"), curve(lesson, picture, "measured")
        rooms = band(lesson, picture, "measured")
        for row in golden:
            if row["d_k"] in exact:
                assert exact[row["d_k"]] == pytest.approx(row[stated])
        assert exact == pytest.approx({d_k: d_k if picture == "dot" else 1 for d_k in WIDTHS})
        assert all(low < exact[d_k] < high for d_k, (low, high) in rooms.items() if (law, d_k) != ("signs", 1))
        inside = [low <= measured[d_k] <= high for d_k, (low, high) in rooms.items() if picture == "scaled_dot"]
        assert sum(inside) >= len(inside) - 2  # each with 95 of 100


LAW = {
    "en": "so the variance of q · k is exactly dₖ for each, and 1 after the division by √dₖ; only how far",
    "zh": "所以 q · k 的方差都恰好是 dₖ，除以 √dₖ 后恰好是 1；不同的只是测量值的离散程度",
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_law_changes_the_variance_and_each_scatters_otherwise(lang):
    assert Lesson("scale", open="variance", lang=lang).says(LAW[lang])
    for d_k in WIDTHS:
        found = {law: measure_variances(law, "independent", d_k, draws=100) for law in LAWS}
        assert {each["dot"].exact for each in found.values()} == {d_k}
        assert [each["scaled_dot"].exact for each in found.values()] == pytest.approx([1.0] * 3)
        assert len({round(each["dot"].high - each["dot"].low, 9) for each in found.values()}) == 3


def test_more_draws_make_a_narrower_band_and_all_laws_are_told():
    lesson = Lesson("scale", open="variance")
    assert lesson.says("Variance of 5,000 products q · k at dₖ = 64: **normal 64.06, ±1 64.19, uniform 62.09**")
    wide = {}
    for draws in (5000, 100):
        low, high = band(lesson.set("draws", draws), "scaled_dot", "measured")[64]
        wide[draws] = high - low
    assert wide[100] / wide[5000] == pytest.approx(math.sqrt(50), rel=0.02)


@pytest.mark.parametrize(
    "dependence, law, variance",
    [
        ("same", "normal", lambda d_k: 2 * d_k),
        ("same", "uniform", lambda d_k: 0.8 * d_k),
        ("same", "signs", lambda d_k: 0),
        ("silent", "normal", lambda d_k: 2 * d_k),
        ("repeated", "normal", lambda d_k: d_k**2),
    ],
)
def test_where_the_argument_breaks(dependence, law, variance):
    lesson = Lesson("scale", open="breaks", dependence=dependence, law_breaks=law)
    undivided, divided = curve(lesson, "breaks", "undivided"), curve(lesson, "breaks", "divided")
    for d_k in WIDTHS:
        assert undivided[d_k] == pytest.approx(variance(d_k), rel=0.15)
        assert divided[d_k] == pytest.approx(undivided[d_k] / d_k)
    assert curve(lesson, "breaks", "independent: dₖ") == pytest.approx({d_k: d_k for d_k in WIDTHS})
    assert curve(lesson, "breaks", "independent: 1") == pytest.approx(dict.fromkeys(WIDTHS, 1))
    assert lesson.says({"same": "(128)", "silent": "(exactly 128)", "repeated": "4096)"}[dependence]) == (
        law == "normal"
    )


def test_q_equals_k_has_the_mean_d_k_and_the_variance_2_d_k():
    lesson = Lesson("scale", open="breaks")
    (told,) = [text for text in lesson.texts() if text.startswith("**q = k**")]
    mean, variance = (float(part.split("**")[0]) for part in told.split("is **")[1:2] + told.split("variance **")[1:2])
    assert mean == pytest.approx(64, abs=4 * math.sqrt(128 / 5000))
    assert variance == pytest.approx(128, rel=0.1)
    assert "(exactly 64)" in told and "(128)" in told


def test_how_many_scores_lie_outside():
    """Of 5,000 with a standard deviation of 8, 21 of 100 lie beyond 10; of those with 1 none."""
    lesson = Lesson("scale", open="scores")
    (told,) = [text for text in lesson.texts() if text.startswith("Outside ±10")]
    undivided = int(told.split("**")[1].replace(",", ""))
    assert undivided == pytest.approx(5000 * math.erfc(10 / 8 / math.sqrt(2)), abs=5 * math.sqrt(5000 * 0.21 * 0.79))
    assert "**0** after it" in told
    table = lesson.table(PICTURES["scores"])
    for fill, outside in ((LIGHT_PALETTE.plus, undivided), (LIGHT_PALETTE.share, 0)):
        shares = table[(table["kind"] == "bar") & (table["fill"] == fill)]["y"]
        assert len(shares) == 40
        assert shares.sum() == pytest.approx(1 - outside / 5000)
    lesson.set("limit", 100)
    assert lesson.says("Outside ±100: **0** of 5,000")
    lesson.set("d_k", 1).choose("law_scores", "±1")
    table = lesson.table(PICTURES["scores"])
    assert (table[table["kind"] == "bar"]["y"] > 0).sum() == 2 + 2  # 1 and −1 alone, undivided and divided


def test_the_jacobians_of_the_draw_have_one_scale_of_colours():
    lesson = Lesson("scale", open="gradient", guess=LEVEL)
    norms, cells = {}, {}
    for row, name in enumerate(("dot", "scaled_dot")):
        weights, table = bars(lesson, row), lesson.table(f"jacobian_{name}")
        cells[name] = table[table["kind"] == "cell"]
        slopes = [w * ((i == j) - weights[j]) for i, w in enumerate(weights) for j in range(8)]
        found = [float(value.replace("−", "-")) for value in cells[name]["value"]]
        assert found == pytest.approx(slopes, abs=1e-12)
        norms[name] = math.sqrt(math.fsum(slope**2 for slope in slopes))
    assert lesson.says(f"**{norms['dot']:.3f}** without the division, **{norms['scaled_dot']:.3f}** with it")
    values = {name: [float(v.replace("−", "-")) for v in each["value"]] for name, each in cells.items()}
    reach = max(abs(value) for each in values.values() for value in each)
    assert max(map(abs, values["dot"])) < reach == max(map(abs, values["scaled_dot"]))
    for name, each in cells.items():
        fills, _ = shade_cells(np.array(values[name]), reach, False, LIGHT_PALETTE)
        assert [*each["fill"]] == fills


def test_who_stops_the_measurement_is_back_where_the_lesson_opens(few_draws, monkeypatch):
    def with_a_button(compute, items, stop=None):
        if stop:
            st.button("stop", key="stop", on_click=stop)
        return [compute(item) for item in items]

    monkeypatch.setattr(progress, "compute_one_by_one", with_a_button)
    lesson = Lesson("scale", keys="4", seed="3", d_k="16").press("stop")
    assert lesson.link() == {"d_k": "16"}
    bars(lesson, 0, 8)


def test_what_was_measured_is_kept_for_all_sessions(few_draws, monkeypatch):
    Lesson("scale", seed="23")
    monkeypatch.setattr(
        "attention_core.analysis.softmax_saturation.draw_queries", lambda *_: pytest.fail("drawn again")
    )
    assert len(curve(Lesson("scale", seed="23", guess=LEVEL), "hero", "undivided")) == 11
