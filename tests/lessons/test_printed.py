"""The printed example, mark by mark; the reader's own; what lies behind it."""

import json
from pathlib import Path

import pytest

from attention_core.inputs.matrix_link import read_matrix, write_matrix
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES
from tests.screen.driver import softmax
from tests.screen.lesson import Lesson

GOLDEN = Path(__file__).parents[1] / "golden"
# R right, F followed, S a new slip, worked out by hand in test_marking.py.
BY_HAND = {
    "q": "RSR RRR RSR",
    "k": "RSR RRR RRS",
    "v": "RRR SRR RRS",
    "scores": "FSF FSS FSS",
    "scaled_scores": "FFF FFF FFF",
    "weights": "SFS RRR SSS",
    "output": "FFF FRF FFS",
}
WORDS = {"R": "right", "F": "followed from an earlier slip", "S": "new slip"}
STEPS = {"q": "q_projected", "k": "k_projected", "v": "v_projected", "output": "head_outputs"}
PRINTED = {
    "q": "101 222 212",
    "k": "011 402 221",
    "v": "011 222 221",
    "scores": "123 488 367",
    "weights": ".20 .30 .50 .02 .49 .49 .04 .24 .72",
    "output": "1.6 1.8 1.3 2.0 2.0 1.5 1.9 1.9 1.1",
}


def cells(lesson, place, picture="hero"):
    """The numbers of a panel, and what is said of their marks."""
    table = lesson.table(picture)
    found = table[(table["panel"] == place) & (table["kind"] == "cell")].sort_values(["row", "column"])
    pairs = [value.replace("−", "-").partition(", ") for value in found["value"]]
    return [number for number, _, _ in pairs], [mark for *_, mark in pairs]


def reveal(lesson):
    toggle = next(toggle for toggle in lesson.at.toggle if toggle.key == "c_reveal")
    return lesson.ran(toggle.set_value(True).run)


@pytest.mark.parametrize("stage", BY_HAND)
def test_each_step_of_the_printed_example(stage):
    lesson = reveal(Lesson("printed", stage=stage))
    marks = BY_HAND[stage].replace(" ", "")
    assert cells(lesson, "result")[1] == [WORDS[mark] for mark in marks]
    told = f"{marks.count('R')} of 9 right; new slips: {marks.count('S')}; followed from earlier slips:"
    assert lesson.fact().endswith(f": {told} {marks.count('F')}.")
    if stage in PRINTED:
        stated = PRINTED[stage].split() if "." in PRINTED[stage] else PRINTED[stage].replace(" ", "")
        assert [float(number) for number in cells(lesson, "result")[0]] == [float(number) for number in stated]
    golden = json.loads((GOLDEN / "s01_seed004_corrected.json").read_text(encoding="utf-8"))["expected"]
    right = [number for row in golden[stage] for number in row]
    assert [float(number) for number in cells(lesson, "beside")[0]] == pytest.approx(right, abs=1e-10)


def test_it_opens_on_the_scores_with_the_marks_hidden():
    lesson = Lesson("printed", lang="en")
    assert lesson.fact() == "Printed scores: which of the 9 numbers are new slips?"
    assert cells(lesson, "result") == ([*"123488367"], [""] * 9)
    assert cells(lesson, "left")[0] == [*"101222212"] and cells(lesson, "above")[0] == [*"042102121"]


@pytest.mark.parametrize("stage", BY_HAND)
def test_the_right_numbers_stand_under_their_task_only_when_they_were_asked_for(stage):
    lesson = Lesson("printed", stage=stage, lang="en")
    has_slips = "S" in BY_HAND[stage]
    assert (cells(lesson, "beside")[0] == []) == has_slips
    if not has_slips:
        return
    assert not any("of 9 right" in text or "right is" in text for text in lesson.texts())
    lesson.press("show_right")
    assert len(cells(lesson, "beside")[0]) == 9 and "of 9 right" in lesson.fact()
    assert not any(cells(lesson, "result")[1])  # which of them are wrong is still to be found
    assert cells(Lesson("printed", stage=stage, lang="en"), "beside")[0] == []


# ---- find the error --------------------------------------------------------------------------------------------------
def test_a_click_on_a_printed_number_tells_what_it_is():
    lesson = Lesson("printed", lang="en").click_cell("hero", "printed:scores", "0,0,0,1")
    assert lesson.says("You wrote **2**; the right number is 6. **A new slip:** the written numbers before it give 6.")
    assert lesson.says("**scores [head 1, x1, x2]** = 6")
    assert lesson.says("Found: 1 of 5.")
    assert cells(lesson, "result")[1] == ["", "new slip", *[""] * 7]
    lesson.click_cell("hero", "printed:scores", "0,0,1,0")
    assert lesson.says(
        "You wrote **4**; the right number is 6. **Followed:** the written numbers before it give 4, so an earlier slip"
    )
    assert lesson.says("Found: 1 of 5.")
    assert lesson.link()["guess"] == "scores.0.0.0.1,scores.0.0.1.0"
    again = Lesson("printed", **lesson.link())
    assert again.texts() == lesson.texts() and cells(again, "result") == cells(lesson, "result")


def page_of(lesson):
    """What stands on the page, and what is ringed there, by stage."""
    (part,) = lesson.parts("printed_paper")
    stages = json.loads(part.proto.json)["stages"]
    rings = {each["name"]: "".join("01"[number["ringed"]] for row in each["rows"] for number in row) for each in stages}
    return {each["name"]: [number["text"] for row in each["rows"] for number in row] for each in stages}, rings


def test_the_page_rings_what_was_found_to_be_wrong_in_itself():
    lesson = Lesson("printed", lang="en")
    texts, rings = page_of(lesson)
    assert {name: texts[name] for name in "qkv"} == {name: [*PRINTED[name].replace(" ", "")] for name in "qkv"}
    assert set("".join(rings.values())) == {"0"}
    for column in (1, 0):
        lesson.send_part("printed_paper", "pressed", ["scores", 0, column])
    assert page_of(lesson)[1]["scores"] == "010000000"  # the first one only followed
    assert lesson.says("Found: 1 of 5.")
    lesson.send_part("printed_paper", "pressed", ["q", 0, 1])
    assert lesson.link()["stage"] == "q" and lesson.says("Found: 1 of 2.")
    before = lesson.link()
    for sent in (None, ["q"], ["x", 0, 0], ["q", 3, 0], ["q", 0, "1"], [["q"], 0, 0]):
        assert lesson.send_part("printed_paper", "pressed", sent).link() == before
    wanted = {name: marks.replace(" ", "").translate({70: "0", 82: "0", 83: "1"}) for name, marks in BY_HAND.items()}
    assert page_of(reveal(lesson))[1] == wanted


def test_all_marks_are_seen_once_all_slips_are_found():
    lesson = Lesson("printed", stage="q", lang="en").click_cell("hero", "printed:q_projected", "0,0,1")
    assert cells(lesson, "result")[1].count("") == 8
    lesson.click_cell("hero", "printed:q_projected", "0,2,1")
    assert lesson.says("All new slips of this step are marked: 2.")
    assert cells(lesson, "result")[1] == [WORDS[mark] for mark in "RSRRRRRSR"]
    assert Lesson("printed", stage="scaled_scores", lang="en").says("No new slip in this step.")


def test_a_right_number_that_does_not_follow_is_named():
    """The second row of weights: .02 .49 .49 is right, their own scores give .05 .48 .48."""
    lesson = Lesson("printed", stage="weights", lang="en").click_cell("hero", "printed:weights", "0,0,1,0")
    assert lesson.says("Written: **0.02**. Right, though the written numbers before it give 0.05")
    lesson.click_cell("hero", "printed:weights", "0,0,0,1")
    assert lesson.says("**Followed:** the written numbers before it give 0.30")


MET = {
    "en": ("3 of the right numbers do not follow from the numbers written before them", "[x2, x1], [x2, x2], [x2, x3]"),
    "zh": ("有 3 个正确的数并不能由前面所写的数得出", "[x2, x1]、[x2, x2]、[x2, x3]"),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_right_number_that_does_not_follow_is_told_without_a_click(lang):
    """2.31 4.62 4.62 are printed before .02 .49 .49, and give .05 .48 .48."""
    own = [softmax([2.31, 4.62, 4.62], at) for at in range(3)]
    assert [round(share, 2) for share in own] == [0.05, 0.48, 0.48]
    told, places = MET[lang]
    lesson = Lesson("printed", stage="weights", lang=lang)
    assert lesson.says(told) and not lesson.says(places)  # which ones is a part of the search
    assert reveal(lesson).says(told) and lesson.says(places)
    assert Lesson("check", kind="printed", stage="weights", lang=lang).says(told)
    assert not Lesson("printed", stage="output", lang=lang).says(told[2:])


def test_a_number_is_followed_back_through_their_own():
    """Score 2 of x1 and x2 reads the printed Q, 101; its 0 is a slip; behind it stand X and W_q."""
    lesson = Lesson("printed", lang="en").click_cell("hero", "printed:scores", "0,0,0,1")
    lesson.follow("hero", "q", [0, 0, 0, 1])
    assert lesson.says("**q [head 1, x1, 2]** = 0")
    assert lesson.says("You wrote **0**; the right number is 1. **A new slip:** the written numbers before it give 1.")
    lesson.follow("hero", "q_projected", [0, 0, 1])
    assert lesson.says("**q_projected [x1, 2]** = 1")
    assert "guess" in lesson.link() and "q_projected" not in lesson.link()["guess"]


def test_what_was_opened_is_closed_where_another_step_is_shown():
    lesson = Lesson("printed", open="begin", lang="en").click_cell("hero", "printed:scores", "0,0,0,1")
    assert lesson.says("**scores [head 1, x1, x2]** = 6")
    lesson.choose("stage", "weights")
    assert not lesson.says("**scores [head 1, x1, x2]** = 6") and "cell" not in lesson.link()
    assert lesson.says("Found: 0 of 5.")  # of this step
    lesson.click_cell("begin", "printed:scores", "0,0,0,1").choose("stage", "Q")
    assert lesson.says("**scores [head 1, x1, x2]** = 6")  # its picture is as it was


def test_a_right_number_opens_to_its_arithmetic_and_is_no_guess():
    lesson = Lesson("printed", lang="en").press("show_right").click_cell("hero", "right:scores", "0,0,0,1")
    assert lesson.says("**scores [head 1, x1, x2]** = 6")
    assert not lesson.says("Written")
    assert "guess" not in lesson.link()


def test_guesses_that_a_link_makes_up_are_refused_or_mean_nothing():
    lesson = Lesson("printed", guess="scores.0.0.9.9,nothing.1,scores.0.0.0.1", lang="en")
    assert lesson.says("Found: 1 of 5.") and lesson.errors() == []
    for bad in ("scores", "scores.x", "..", "scores.1111", ",".join(["scores.0.0.0.1"] * 501)):
        assert len(Lesson("printed", guess=bad, lang="en").errors()) == 1, bad[:20]


# ---- the reader's own ------------------------------------------------------------------------------------------------
def test_another_x_gives_other_right_numbers():
    """x1 = 2 0 0 0: Q 2 0 2, K 0 2 2; the printed Q 101 is no longer nearly right."""
    lesson = Lesson("printed", stage="q", lang="en").set("x", "2 0 0 0; 0 2 0 2; 1 1 1 1").press("show_right")
    assert cells(lesson, "beside")[0] == ["2", "0", "2", *"222222"]
    assert lesson.fact() == "Printed Q: 6 of 9 right; new slips: 3; followed from earlier slips: 0."
    lesson.press("door_workbench")
    setup = make_setup(example="source_004", x=read_matrix("2,0,0,0;0,2,0,2;1,1,1,1"), w_o=read_matrix("none"))
    assert lesson.at.session_state["setup"] == setup


def test_another_printed_number_is_another_mark_there_and_further_on():
    """The two slips of Q put right: then the scores follow from K alone. 111 · 402 = 6, where 2 is printed."""
    lesson = reveal(Lesson("printed", stage="q", lang="en")).set("q", "1 1 1; 2 2 2; 2 2 2")
    assert lesson.fact() == "Printed Q: 9 of 9 right; new slips: 0; followed from earlier slips: 0."
    lesson.choose("stage", "scores")
    # 111 and 222 on the printed K 011/402/221: 2 6 5/4 12 10/4 12 10; printed 1 2 3/4 8 8/3 6 7.
    assert cells(lesson, "result")[1] == [WORDS[mark] for mark in "SSSFSSSSS"]
    assert reveal(Lesson("printed", **lesson.link())).fact() == lesson.fact()


def test_another_matrix_of_projection():
    """W_q 100/010/001/000: Q is the first three numbers of each x."""
    lesson = Lesson("printed", stage="q", lang="en").set("w_q", "1 0 0; 0 1 0; 0 0 1; 0 0 0")
    lesson.press("show_right")
    assert cells(lesson, "beside")[0] == [*"101020111"]
    assert lesson.set("w_q", "").errors() == []
    assert cells(lesson, "beside")[0] == [*"111222222"]


def test_a_longer_example_has_nothing_printed_until_somebody_types():
    lesson = Lesson("printed", stage="q", lang="en").set("x", "1 0 1 0; 0 2 0 2; 1 1 1 1; 0 0 0 1")
    assert lesson.fact() == "Printed Q: nothing yet. Type the numbers that you want checked."
    assert not lesson.says("slip")
    assert cells(lesson, "result")[0] == ["–"] * 12
    lesson.set("q", "1 1 1; 2 2 2; 2 2 2; 0 1 ?")
    assert lesson.fact() == "Printed Q: 11 of 11 right; new slips: 0; followed from earlier slips: 0."


def test_what_cannot_be_an_example_is_refused_where_it_was_typed():
    lesson = Lesson("printed", stage="q", lang="en").set("x", "1 2; three 4")
    assert lesson.errors() == ["x, row 2, column 1, must be a number: got “three”"]
    assert "may have at most 8 rows" in lesson.set("x", ";".join(["1 0 1 0"] * 9)).errors()[0]
    assert "may have at most 8 columns" in lesson.set("x", "1 " * 9).errors()[0]
    assert lesson.set("x", "1 0 1 0; 0 2 0 2").errors() == []  # Q as printed has three rows: nothing is printed now
    assert lesson.set("q", "1 1 1; 2 2").errors() == ["all rows of q must be equally long: the rows have 3, 2 numbers"]
    assert lesson.set("q", "1 1 1").errors() == ["q must have the axes 2 x 3: its shape is (1, 3)"]
    lesson.set("q", "1 1 1; 2 2 2").set("x", "1 0 1 0")
    assert lesson.errors() == ["q must have the axes 1 x 3: its shape is (2, 3)"]  # told, and left out
    assert lesson.set("x", "1 0 1 0; 0 2 0 2").errors() == []
    assert lesson.fact().startswith("Printed Q: 6 of 6 right")


def test_matrices_that_do_not_go_together_are_refused():
    lesson = Lesson("printed", stage="q", lang="en").set("w_q", "1 0; 0 1; 0 0; 0 0")
    assert "k must have the width of q" in lesson.errors()[0]
    lesson.set("w_q", "1 0 0; 0 1 0; 0 0 1; 0 0 0").set("x", "1 0; 0 1")
    assert "w_q must have as many rows as x has columns" in lesson.errors()[0]
    assert cells(lesson, "left")[0] == [*"101002021111"]  # the last that fitted
    lesson = Lesson("printed", stage="q", x="1 0; 0 1", lang="en")  # no W typed: random ones of this width
    assert lesson.errors() == [] and len(cells(lesson, "above")[0]) == 4
    lesson.set("w_q", "1 2; 3 4")
    assert lesson.errors() == [] and cells(lesson, "beside")[0] == [*"1234"]
    lesson.set("x", "")  # back to the width of 4, which W_q does not have
    assert "w_q must have as many rows as x has columns" in lesson.errors()[0]
    bad = Lesson("printed", x="1 0; 0 1", w_q="1 2 3", lang="en")
    assert len(bad.errors()) == 1 and bad.charts()


# ---- drawers ---------------------------------------------------------------------------------------------------------
def test_where_it_began():
    lesson = Lesson("printed", open="begin", lang="en")
    titles = [*lesson.table("begin")["text"]]
    for title in ("Q ✓7 →0 ✗2", "scores ✓0 →4 ✗5", "scaled ✓0 →9 ✗0", "weights ✓3 →1 ✗5", "Z ✓1 →7 ✗1"):
        assert title in titles
    assert lesson.widgets()["slip"].options[:2] == ["Q [x1, 2]: 0 instead of 1", "Q [x3, 2]: 1 instead of 2"]
    assert len(lesson.widgets()["slip"].options) == 2 + 2 + 2 + 5 + 5 + 1
    assert lesson.says("This slip alone makes later numbers wrong (outlined): scores 2, scaled 2, weights 3, Z 1.")
    table = lesson.table("begin")
    assert (table["kind"] == "chosen").sum() == 1 + 2 + 2 + 3 + 1
    lesson.set("slip", 4)  # V of x2
    assert lesson.says("This slip alone makes later numbers wrong (outlined): Z 3.")
    lesson.set("slip", 16)
    assert lesson.says("This slip alone makes no later number wrong.")
    right = {"q": "1 1 1;2 2 2;2 2 2", "k": "0 2 1;4 0 2;2 2 2", "v": "0 1 1;4 2 2;2 2 2"}
    others = dict.fromkeys(("scores", "scaled_scores", "weights", "output"), "? ? ?;? ? ?;? ? ?")
    assert Lesson("printed", open="begin", lang="en", **right, **others).says("There is no slip in any step.")


def test_the_way_to_ones_own_numbers():
    lesson = Lesson("printed", open="own", lang="en")
    assert lesson.says("compared with the right number")
    lesson.press("exercise_own")
    lesson.go_to("check")
    assert lesson.link()["kind"] == "state" and lesson.link()["state"] == "ex=source_004"


def test_what_rounding_did():
    lesson = Lesson("printed", open="rounding", lang="en")
    assert lesson.says(
        "With weights rounded to 2 decimals **Z moves by 0.0138**; it can never move by more than 0.0300."
    )
    assert lesson.says("The printed Z is off by 1.16: rounding cannot explain that.")
    lesson.set("digits", 1)  # .1 .5 .5
    assert lesson.says("A row of these weights adds up to 1.1.")
    assert lesson.number("rounding", "rounded_weights [head 1, x1, x2]") == pytest.approx(0.5)
    assert lesson.number("rounding", "rounded_outputs [head 1, x1, 1]") == pytest.approx(3.0)  # .5 × 4 + .5 × 2
    lesson.set("digits", 0)
    assert lesson.says("never move by more than 3.0000") and lesson.says("rounding can explain that")


@pytest.mark.parametrize(
    ("language", "titles"),
    [
        ("en", ("rounded_weights (weights, few decimals) · 3 × 3", "rounded_outputs (from rounded weights) · 3 × 3")),
        ("zh", ("舍入后的权重 rounded_weights · 3 × 3", "舍入后的头输出 rounded_outputs · 3 × 3")),
    ],
)
def test_the_rounded_steps_have_names(language, titles):
    assert {*titles} <= {*Lesson("printed", open="rounding", lang=language).table("rounding")["text"]}


def test_numbers_as_large_as_can_be_typed():
    """A Q of them is more than a matrix in a link may hold: that is told where the run from it would begin."""
    typed = {"x": ";".join(["1000000 1000000 -1000000 1000000"] * 3), "w_q": "1 1 1;1000000 0 0;0 0 0;0 0 0"}
    opened = {"stage": "q", "open": "begin,own,rounding,onward,code", "lang": "en"}
    lesson = Lesson("printed", **opened, **typed).press("show_right")
    assert lesson.errors() == [] and cells(lesson, "beside")[0][0] == "1000001000000"
    (error,) = lesson.set("q", "? ? ?; ? ? ?; ? ? ?").errors()
    assert error.startswith("q, row 1, column 1, must lie between -1000000 and 1000000")


def test_a_z_that_nobody_printed_is_not_off():
    blank = Lesson("printed", open="rounding", output="? ? ?;? ? ?;? ? ?", lang="en")
    assert blank.says("With weights rounded to 2 decimals") and not blank.says("is off by")


def test_what_follows_from_their_q_k_and_v():
    golden = json.loads((GOLDEN / "s02_seed004_from_its_printed_qkv.json").read_text(encoding="utf-8"))["expected"]
    lesson = Lesson("printed", open="onward", lang="en")
    assert lesson.says("Printed scores: 4 of 9 agree.")
    for stage, shown in (("scores", "scores"), ("weights", "weights"), ("output", "Z")):
        lesson.choose("onward", shown)
        table, step = lesson.table("onward"), STEPS.get(stage, stage)
        found = table[(table["step"] == step) & (table["kind"] == "cell")].sort_values(["row", "column"])
        numbers = [float(value.replace("−", "-")) for value in found["value"]]
        assert numbers == pytest.approx([number for row in golden[stage] for number in row], abs=1e-10)
    lesson.press("door_onward")
    setup = lesson.at.session_state["setup"]
    q, k, v = (write_matrix(matrix) for matrix in (setup.run.q, setup.run.k, setup.run.v))
    assert (q, k, v) == ("1,0,1;2,2,2;2,1,2", "0,1,1;4,0,2;2,2,1", "0,1,1;2,2,2;2,2,1")


def test_the_workbench_gets_exactly_this_run():
    assert Lesson("printed").press("door_workbench").at.session_state["setup"] == make_setup(example="source_004")
