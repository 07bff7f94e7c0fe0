"""A and B on the workbench: A stays while B changes, the link holds both, only what differs is listed.

it -> dog weighs e^(6 s) over the row's sum, with s = 1 / (sqrt 2 x temperature): it_to_dog(s).
"""

import math
from dataclasses import dataclass, fields

import numpy as np
import pytest

from attention_core import Weights
from attention_core.inputs.matrix_link import read_matrix
from pages.panels import run_differences
from pages.runs.compute import compute_run
from pages.runs.run_inputs import StartMatrix
from pages.setup.setup import RunSetup, Setup, make_setup
from tests.screen.driver import Screen, it_to_dog, plain
from tests.workbench.test_tensors import bring, npz

ROOT2 = 2**-0.5
IT_TO_DOG = "0,0,5,3"


def panels(screen, index=IT_TO_DOG):
    """What stands in a cell of A, of B and of B − A, from left to right."""
    table = screen.table("compared")
    cells = table[(table["index"] == index) & (table["kind"] != "chosen") & (table["panel"] == "result")]
    return cells.sort_values("x")["text"].tolist()


def figures(screen, row):
    """TV and KL beside a row."""
    table = screen.table("compared")
    return table[(table["panel"] == "left") & (table["row"] == row)].sort_values("x")["text"].tolist()


def said(screen):
    return " ".join(plain(text.value) for text in screen.at.markdown)


def settings(screen):
    (found,) = [plain(text.value) for text in screen.at.markdown if text.value.startswith("A → B: ")]
    return found.removeprefix("A → B: ").split(" · ")


def pinned(**changes):
    screen = Screen().set("pin", True)
    for key, value in changes.items():
        screen.choose_example(value) if key == "example" else screen.set(key, value)
    return screen


def of_temperature(temperature):
    return f"{it_to_dog(ROOT2 / temperature):.2f}"


# ---- A stays ---------------------------------------------------------------------------------------------------------
def test_one_click_pins_a_and_it_stays_while_b_changes():
    screen = Screen().set("pin", True)
    assert "A and B have the same settings" in said(screen)
    assert panels(screen) == ["0.93", "0.93", "0"]
    for temperature in (2.0, 5.0):
        screen.set("temperature", temperature)
        moved = it_to_dog(ROOT2 / temperature) - it_to_dog(ROOT2)
        assert panels(screen) == ["0.93", of_temperature(temperature), f"−{-moved:.2f}"]
    assert screen.link()["against"] == "" and screen.link()["pinned"] == "values"


def test_the_link_restores_both():
    screen = Screen().set("masks", ["causal"]).set("pin", True).set("temperature", 2.0)
    again = Screen(**screen.link())
    assert again.errors() == []
    assert panels(again) == panels(screen)
    assert settings(again) == settings(screen) == ["**Temperature τ** 1 → 2"]
    assert again.link() == screen.link()
    again.set("temperature", 5.0)  # and A stays there too
    assert panels(again)[0] == panels(screen)[0]


def test_the_heading_says_what_changed_most_since_a():
    screen = pinned(temperature=2.0).set("temperature", 5.0)
    assert screen.fact().startswith(
        "Biggest change: the weight of “dog” for “it” in head 1, 0.93 → " + of_temperature(5.0)
    )


def test_another_example_is_another_b():
    screen = pinned(example="en_she")
    assert panels(screen) == ["0.93", "0.00", "−0.93"]
    assert settings(screen)[1] == "**Sentence** Anna fed the dog and it barked → Anna fed the dog and she barked"
    labels = screen.table("compared")["text"].tolist()
    assert "it → she" in labels


# ---- figures of a row ------------------------------------------------------------------------------------------------
def test_each_row_says_how_far_its_weights_lie_apart():
    screen = pinned(temperature=2.0)
    assert figures(screen, 5) == []  # first sight has the maps alone
    screen.set("rows", True)
    a, b = ([e / sum(row) for e in row] for row in map(row_of_it, (ROOT2, ROOT2 / 2)))
    tv = sum(abs(p - q) for p, q in zip(a, b, strict=True)) / 2
    assert figures(screen, 5)[0] == f"{tv:.2f}" == "0.31"
    assert figures(screen, 5)[1] == f"{kl(a, b):.2f}"
    assert figures(screen, 0) == ["0", "0"]  # even in both
    assert not any("∞" in caption for caption in screen.captions())


def row_of_it(sharpness):
    return [math.exp(score * sharpness) for score in (-6, 0, 0, 6, 0, 0, 0)]


def kl(a, b):
    return sum(p * math.log(p / q) for p, q in zip(a, b, strict=True))


def test_where_b_blocks_what_a_attends_to_the_divergence_is_infinite_and_says_why():
    screen = pinned(masks=["causal"]).set("rows", True)
    assert [figures(screen, row)[1] for row in range(7)] == ["∞"] * 6 + ["0"]
    assert any("∞: A attends to a key to which B gives 0." in caption for caption in screen.captions())
    screen.press("swap")  # the other way round it is the logarithm of how many keys there are more
    assert [figures(screen, row)[1] for row in range(3)] == ["1.95", "1.25", "0.85"]  # ln 7, ln 7/2, ln 7/3


# ---- settings that differ --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"masks": ["causal"]}, ["**Masks** none → causal"]),
        ({"masks": ["local"]}, ["**Masks** none → local window 1"]),
        ({"score": "cosine", "temperature": 2.0}, ["**Score** scaled dot product → cosine", "**Temperature τ** 1 → 2"]),
        ({"scale": "off"}, ["**Scale ÷ √d** on → off"]),
        ({"scale": "number"}, ["**Scale ÷ √d** on → × 0.5"]),
        ({"heads": 1}, ["**Heads** 2 → 1"]),
        ({"d_k": 3}, ["**Width dₖ** 2 → 3"]),
        ({"dtype": "float16"}, ["**Precision** float64 → float16"]),
        ({"wiring": ["swapped"]}, ["**Change the layer** none → swap Q and K"]),
        ({"wiring": ["no_output"]}, ["**w_o** 4 × 4 → none"]),
        ({"positions": ["rope", "alibi"]}, ["**Positions** none → RoPE, ALiBi"]),
        ({"text": "Anna fed the dog and she barked"}, None),
    ],
)
def test_only_what_differs_is_listed(changes, expected):
    found = settings(pinned(**changes))
    wanted = ["**Sentence** Anna fed the dog and it barked → Anna fed the dog and she barked"]
    assert found == (wanted if expected is None else expected)


def test_one_changed_number_is_named_and_several_are_counted():
    screen = pinned().set("edited", "w_q").edit_cells({1: {0: 0}})
    assert settings(screen) == ["**w_q [2, 1]** 3 → 0"]
    screen.edit_cells({2: {1: 9}, 3: {0: 9}})
    assert settings(screen) == ["**w_q** 3 numbers"]


@dataclass(frozen=True)
class LargerRun(RunSetup):
    """A run with a weight that no score has today."""

    w_new: str | None = None


def test_a_weight_is_named_as_soon_as_a_setup_and_a_run_have_it():
    runs = []
    for text, number in (("1", 1.0), ("2", 2.0)):
        setup = Setup(LargerRun(w_new=text))
        trace, material = compute_run(setup.run)
        material.put("w_new", StartMatrix([[number]], "typed"))
        runs.append((setup, trace, material))
    assert run_differences.find_setting_differences(*runs) == [("w_new [1, 1]", "1", "2")]


def test_every_part_of_a_setup_that_is_computed_is_compared():
    trace, material = compute_run(make_setup(q=read_matrix("1,2"), k=read_matrix("1,2"), v=read_matrix("1,2")).run)
    compared = run_differences.describe_settings(Setup(), trace, material)
    matrices = {"x", "context", "q", "k", "v", "allowed", *(field.name for field in fields(Weights))}
    shown_by_others = {"cross"}  # a second sequence is there, or not
    parts = {field.name for field in fields(RunSetup)}
    assert parts - {*compared} - matrices == shown_by_others


def test_a_file_is_named_by_its_name_and_not_by_its_digest_alone():
    tensors = {name: np.full((3, 2), number) for number, name in enumerate("qkv")}
    screen = bring(Screen().set("pin", True), ("mine <b>.npz", npz(**tensors)))
    (file,) = [text for text in settings(screen) if "**File**" in text]
    assert file == f"**File** none → mine <b>.npz ({screen.setup().run.file[:6]})"


def test_words_are_shown_and_not_run():
    screen = pinned(text="Anna <b>fed</b> :red[it] $x$ **y**")
    (raw,) = [text.value for text in screen.at.markdown if text.value.startswith("A → B: ")]
    assert "<b>" not in raw.replace("\\<", "") and ":red[" not in raw
    assert "“" not in settings(screen)[0]


# ---- swap, back to A, end --------------------------------------------------------------------------------------------
def test_swap_exchanges_a_and_b_and_undo_exchanges_them_back():
    screen = pinned(temperature=2.0)
    before = panels(screen)
    screen.press("swap")
    assert panels(screen) == [before[1], before[0], before[2].replace("−", "+")]
    assert settings(screen) == ["**Temperature τ** 2 → 1"]
    assert panels(Screen(**screen.link())) == panels(screen)
    assert panels(screen.press("undo")) == before
    assert panels(screen.press("redo"))[0] == before[1]
    assert panels(screen.press("swap")) == before


def test_back_to_a_makes_b_a_and_undo_brings_b_back():
    screen = pinned(temperature=2.0)
    before = panels(screen)
    assert panels(screen.press("back")) == ["0.93", "0.93", "0"]
    assert panels(screen.press("undo")) == before


def test_undo_and_redo_change_b_and_leave_a():
    screen = pinned(temperature=2.0).set("temperature", 5.0)
    assert panels(screen.press("undo"))[:2] == ["0.93", of_temperature(2.0)]
    assert panels(screen.press("undo"))[:2] == ["0.93", "0.93"]
    assert panels(screen.press("redo"))[:2] == ["0.93", of_temperature(2.0)]


def test_the_end_leaves_b():
    screen = pinned(temperature=2.0).press("end")
    assert {"against", "pinned"} & {*screen.link()} == set()
    assert f"{screen.weight(5, 3):.2f}" == of_temperature(2.0)


def test_a_can_be_pinned_anew():
    screen = pinned(temperature=2.0).press("pin").set("temperature", 5.0)
    assert panels(screen)[:2] == [of_temperature(2.0), of_temperature(5.0)]


# ---- what is opened --------------------------------------------------------------------------------------------------
def test_a_cell_opens_with_the_arithmetic_of_both():
    screen = pinned(temperature=2.0).click_cell("compared", "weights", IT_TO_DOG)
    headings = [text for text in map(plain, (each.value for each in screen.at.markdown)) if "weights [head 1" in text]
    a, b = it_to_dog(ROOT2), it_to_dog(ROOT2 / 2)
    numbers = {text[0]: float(text.partition(" = ")[2]) for text in headings if text[0] in "AB"}
    assert numbers == {"A": pytest.approx(a), "B": pytest.approx(b)}


def test_the_steps_show_b_or_the_difference():
    screen = pinned(temperature=2.0).open_step("weights")
    table = screen.table("large")
    assert of_temperature(2.0) in table["text"].tolist()
    screen.set("apart", True)
    assert "−0.31" in screen.table("large")["text"].tolist()
    assert any(text.startswith("weights (B − A)") for text in screen.table("large")["text"])
    assert panels(screen)[0] == "0.93"  # the three maps stay
    assert Screen(**screen.link()).setup().comparison.pinned == "difference"


def test_the_other_head_is_one_click_away():
    screen = pinned(temperature=2.0).set("compared_head", 1)
    assert panels(screen, "0,1,6,3")[:2] == ["0.93", of_temperature(2.0)]


# ---- other sizes, long texts, links ----------------------------------------------------------------------------------
def test_of_other_sizes_both_are_shown_and_the_sentence_says_why_nothing_is_subtracted():
    screen = pinned(text="Anna fed it")
    assert screen.fact().startswith("No B − A: A has 7 tokens, B has 3. Only maps of the same shape")
    a, b = (screen.table(f"compared_{name}") for name in "ab")
    assert sum(a["kind"] == "cell") == 49 and sum(b["kind"] == "cell") == 9
    screen.press("swap")
    assert sum(screen.table("compared_a")["kind"] == "cell") == 9
    screen = pinned(heads=1)
    assert "No B − A: A has 2 heads, B has 1." in screen.fact()
    assert "B · head 1" in " ".join(screen.table("compared_b")["text"])


@pytest.mark.parametrize("lang, why", [("en", "No B − A: A has 7 tokens, B has 3."), ("zh", "没有 B − A")])
def test_the_view_of_all_heads_alone_says_what_it_says_already(lang, why):
    link = pinned(text="Anna fed it").link()
    for stop, times in (("weights", 1), ("heads", 0)):
        screen = Screen(**{**link, "stop": stop, "lang": lang})
        told = [each.value for each in screen.at.markdown]
        assert sum(why in each for each in told) == times
        assert sum("A → B" in each for each in told) == times
    assert why in screen.flow()["no_difference"]


def test_a_long_text_stands_on_three_canvases_and_its_rows_in_a_table():
    text = " ".join(f"w{n}" for n in range(70))
    screen = Screen(text=text)
    screen.set("pin", True).set("masks", ["causal"]).set("rows", True)
    sizes = [screen.packed(f"compared_{name}")[0]["drawn"] for name in ("a", "b", "apart")]
    assert sizes == [[70, 70]] * 3
    (table,) = [frame.value for frame in screen.at.get("dataframe") if "TV" in frame.value.columns]
    assert len(table) == 70 and table["TV"].is_monotonic_decreasing
    assert table["KL"].iloc[0] == "∞" and "Biggest change" in screen.fact()
    first = table.iloc[0]
    assert f"Farthest apart: “{first['Query']}”: TV {first['TV']:.2f}, KL ∞" in said(screen)
    assert settings(screen) == ["**Masks** none → causal"]


@pytest.mark.parametrize("link", [{"pinned": "values"}, {"pinned": "x"}, {"against": "x", "pinned": "values"}])
def test_a_link_that_pins_nothing_opens_the_workbench(link):
    screen = Screen(**link)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(ROOT2))


def test_a_link_too_long_to_be_opened_again_is_refused_at_the_button():
    number = "-123456.12345678901234567"
    screen = Screen(x=";".join([",".join([number] * 4)] * 512)).set("pin", True)
    assert any("100000" in error.replace(",", "") for error in screen.errors())
    assert "pinned" not in screen.link()


def test_a_model_whose_heads_are_all_shown_is_compared_too():
    screen = Screen(ex="model_en_decoder", panel="heads").set("pin", True)
    assert screen.parts("heads") and screen.parts("model_heads")
