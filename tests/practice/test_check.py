"""Check your work: cells judged twice, mistakes named, any state an exercise; whatever is typed or linked is safe."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.exercises.generator import LEVELS, make_exercise
from attention_core.exercises.stages import stages_of
from pages.site.words import LANGUAGES, load_app_texts
from tests.often import often
from tests.screen.lesson import Lesson
from tests.session.test_hostile_words import HOSTILE

QKV = {"kind": "from_qkv", "lang": "en"}
# Exercise 1 from q, k, v: Q −2 2/2 1/1 1, K −1 −1/2 0/1 2: scores 0 −4 2/−3 4 4/−2 2 3.
SCORES = "0 -4 2; -3 4 4; -2 2 3"


def marks(check):
    """The numbers that were written and what their marks mean, read off the cells, or off the picture beside a text."""
    if not grids(check):
        table = check.table("work")
        own = table[(table["panel"] == "result") & (table["kind"] == "cell") & (table["what"] != "")]
        return [*own["text"]], [value.partition(", ")[2] for value in own["value"]]
    told = grid(check)
    cells = [cell for row in told["marks"] for cell in row]
    assert all(bool(sign) == bool(meaning) for sign, meaning in cells)
    return [text for row in told["numbers"] for text in row], [meaning for _, meaning in cells]


def grids(check):
    return [part for part in check.at.get("bidi_component") if "-cells_" in part.proto.id]


def grid(check):
    """What the cells to write into are told."""
    (part,) = grids(check)
    return json.loads(part.proto.json)


def open_written(check, row, column):
    """A click on a cell."""
    (part,) = grids(check)
    return check.send_part(part.proto.id.rpartition("-")[2], "opened", {"row": row, "column": column})


def type_cells(check, cells):
    """Types texts into the cells of the head that is shown, (row, column, text) each."""
    (part,) = [part for part in check.at.get("bidi_component") if "-cells_" in part.proto.id]
    name = part.proto.id.rpartition("-")[2]
    return check.type_cells(name, [{"row": r, "column": c, "text": text} for r, c, text in cells])


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", [*LEVELS, "printed"])
def test_every_exercise_opens_with_its_steps(kind, lang):
    check = Lesson("check", kind=kind, lang=lang)
    assert check.errors() == [] and check.says(load_app_texts(lang)["lessons.check.question"])
    wanted = stages_of(make_exercise(kind, 1).run()) if kind in LEVELS else range(7)
    assert len(check.widgets()["stage"].options) == len(wanted)
    assert not [label for label in check.widgets()["stage"].options if "_" in label and "$" not in label]
    written = marks(check)[0]
    assert ("–" in {text or "–" for text in written}) == (kind != "printed")


def test_the_exercise_of_a_seed_by_hand():
    check = Lesson("check", stage="scores", scores=SCORES, **QKV)
    assert marks(check) == (["0", "−4", "2", "−3", "4", "4", "−2", "2", "3"], ["right"] * 9)
    assert check.says("All 9 numbers of this step are right.")
    assert "scores ✓" in check.widgets()["stage"].options


def test_one_slip_does_not_make_everything_after_it_wrong():
    """4 written as 5: over √2 that is 3.54, and 2.83 would be right."""
    wrong = {"scores": "0 -4 2; -3 5 4; -2 2 3", "scaled_scores": "0 -2.83 1.41; -2.12 3.54 2.83; -1.41 1.41 2.12"}
    check = Lesson("check", stage="scaled_scores", **wrong, **QKV)
    assert marks(check)[1] == [*["right"] * 4, "followed from an earlier slip", *["right"] * 4]
    assert check.says("one number is wrong, at [2, 2]: **5** does not follow from the numbers before it.")
    assert "scores (1 wrong)" in check.widgets()["stage"].options


def test_the_mistake_is_named():
    """Divided by 2, which is d_k: 4 / 2."""
    halves = "0 -2 1; -1.5 2 2; -1 1 1.5"
    check = Lesson("check", stage="scaled_scores", scores=SCORES, scaled_scores=halves, **QKV)
    assert check.says("the scores are divided by dₖ, not √dₖ")
    told = [each.value for each in check.at.markdown]
    reason, count = (next(i for i, text in enumerate(told) if part in text) for part in ("by dₖ", "Of 9 numbers:"))
    assert reason < count
    chinese = Lesson("check", stage="scaled_scores", scores=SCORES, scaled_scores=halves, kind="from_qkv", lang="zh")
    assert chinese.says("得分除以了 dₖ，而不是 √dₖ")


def test_where_nobody_can_tell_both_are_named():
    """Three tokens, d_model 4, two heads: √d_model = d_k. x is what is typed in the workbench."""
    x, w = "1,2,0,1;0,1,1,2;2,0,1,1", "1,0,1,0;0,1,0,1;1,1,0,0;0,0,1,1"
    state = f"ex=source_004&x={x}&w_q={w}&w_k={w}&w_v={w}&w_o=none&heads=2"
    check = Lesson("check", kind="state", state=state, stage="scores", lang="en")
    assert check.errors() == []
    from pages.practice.check.exercise import read_exercise_link
    from pages.runs.cache import trace_for
    from pages.setup.codec import run_from_query
    from pages.setup.setup import Setup

    scores = trace_for(Setup(run_from_query(read_exercise_link(state))))["scores"].flatten(0, -2) / 2
    text = "; ".join(" ".join(f"{n:g}" for n in row) for row in scores.tolist())
    check = Lesson("check", kind="state", state=state, stage="scaled_scores", scaled_scores=text, lang="en")
    assert check.says("either of these")
    assert check.says("divided by dₖ, not √dₖ") and check.says("divided by √(H·dₖ)")


def test_cells_are_typed_into_and_stay_in_the_link():
    check = Lesson("check", stage="scores", **QKV)
    type_cells(check, [(0, 0, "0"), (0, 1, "−4"), (1, 2, "8/2")])
    assert marks(check)[1][:2] == ["right"] * 2 and marks(check)[1][5] == "right"
    assert check.link()["scores"] == "0 −4 ?; ? ? 8/2; ? ? ?"
    again = Lesson("check", **check.link())
    assert marks(again) == marks(check) and again.link() == check.link()
    type_cells(check, [(0, 0, "0"), (0, 1, "−4"), (1, 2, "8/2"), (2, 2, "1,5")])
    assert check.link()["scores"].endswith("? ? 1.5")
    type_cells(check, [(0, 2, "２．０")])  # as a Chinese keyboard writes it
    assert check.link()["scores"].startswith("0 −4 2.0;")


def test_a_cell_that_is_no_number_is_refused_at_its_place_and_the_others_stay():
    check = Lesson("check", stage="scores", scores="0 ? ?; ? ? ?; ? ? ?", **QKV)
    type_cells(check, [(1, 1, "<b>x</b>")])
    (error,) = check.errors()
    assert "scores" in error and "row 2, column 2" in error and "<b>x</b>" in error
    assert check.link()["scores"] == "0 ? ?; ? ? ?; ? ? ?"


def test_of_several_cells_those_that_are_numbers_are_taken_and_one_that_is_none_is_refused():
    check = Lesson("check", stage="scores", scores="0 ? ?; ? ? ?; ? ? ?", **QKV)
    type_cells(check, [(0, 1, "-4"), (1, 1, "x"), (2, 2, "3")])
    (error,) = check.errors()
    assert "row 2, column 2" in error
    assert check.link()["scores"] == "0 -4 ?; ? ? ?; ? ? 3"


def test_numbers_for_an_exercise_that_was_left_change_nothing_and_are_answered():
    check = Lesson("check", stage="scores", **QKV)
    left = grid(check)["version"]
    check.press("next_exercise")
    cells = [{"row": 0, "column": 0, "text": "7"}]
    check.send_part("cells_scores", "typed", {"version": left, "serial": 5, "cells": cells})
    assert "scores" not in check.link() and grid(check)["answered"] == 5
    check.type_cells("cells_scores", cells)
    assert check.link()["scores"].startswith("7 ?") and grid(check)["answered"] == 6


def test_a_whole_step_is_pasted_as_text():
    check = Lesson("check", stage="scores", as_text="True", **QKV)
    check.set("scores", "0\t-4\t2\n-3\t4\t4\n-2\t2\t3")
    assert marks(check)[1] == ["right"] * 9
    check.set("scores", "1 2 3")
    assert "must have the axes 3 x 3" in check.errors()[0]
    assert marks(check)[1] == ["right"] * 9  # the last good one stays


def test_each_head_has_its_own_cells():
    check = Lesson("check", kind="two_heads", stage="scores", head="1", lang="en")
    trace = make_exercise("two_heads", 1).run()
    right = f"{trace['scores'][0, 1, 2, 3].item():g}"
    type_cells(check, [(2, 3, right)])
    assert marks(check)[1].count("right") == 1
    assert check.link()["scores"].split("; ")[6].split()[3] == right


def test_another_exercise_begins_anew():
    check = Lesson("check", stage="scores", scores=SCORES, **QKV)
    check.press("next_exercise")
    assert check.link()["seed"] == "2" and "scores" not in check.link()
    assert set(marks(check)[0]) == {""}


def test_the_printed_example_is_one_case():
    """Worked out by hand in test_marking.py."""
    check = Lesson("check", kind="printed", stage="scores", lang="en")
    assert marks(check)[1].count("new slip") == 5 and marks(check)[1].count("followed from an earlier slip") == 4


def test_what_is_right_is_shown_once_it_is_revealed_and_a_picture_that_is_done_stays_as_large():
    check = Lesson("check", stage="scores", **QKV)
    type_cells(check, [(0, 0, "0")])
    size = grid(check)["place"]["cell"]
    check.set("as_text", True)
    check.set("scores", SCORES)
    check.set("as_text", False)
    assert marks(check)[1] == ["right"] * 9 and grid(check)["place"]["cell"] == size
    assert "beside" not in set(check.table("work")["panel"])
    check.ran(next(t for t in check.at.toggle if t.key == "c_reveal").set_value(True).run)
    shown = check.table("work")
    assert [*shown[shown["panel"] == "beside"]["text"]] == ["0", "−4", "2", "−3", "4", "4", "−2", "2", "3"]


# ---- what a click on the picture gives away --------------------------------------------------------------------------
BLANK = "? ? ?; ? ? ?; ? ? ?"
BLANK_SAID = {"en": "Nothing is written here yet.", "zh": "这里还没有写数。"}


def opened(check):
    """What the panel beside the picture says: the number that is opened, and the pieces of its arithmetic."""
    parts = [part for part in check.at.get("bidi_component") if "-arithmetic_" in part.proto.id]
    told = [text for text in check.texts() if text.startswith("**") and "] = " in text.replace("**", "")]
    return told, [piece["text"] for part in parts for piece in json.loads(part.proto.json)["pieces"]]


@pytest.mark.parametrize("kind", LEVELS)
def test_there_is_one_table_to_type_in_and_none_beside_it_that_tells(kind):
    check = Lesson("check", stage="scores", kind=kind, lang="en")
    table = check.table("work")
    assert not {"result", "beside"} & {*table["panel"]} and "printed:scores" not in {*table["step"]}
    assert {text for row in grid(check)["numbers"] for text in row} == {""}


def test_a_click_on_an_empty_cell_gives_nothing_away():
    check = Lesson("check", stage="scores", **QKV)
    before = check.texts()
    for row, column in ((0, 1), (2, 2)):
        open_written(check, row, column)
        assert opened(check) == ([], []) and check.texts() == before and "cell" not in check.link()
    for sent in ({"row": 9, "column": 0}, {"row": "0", "column": 0}, [0, 0]):  # what no browser of ours sends
        (part,) = grids(check)
        check.send_part(part.proto.id.rpartition("-")[2], "opened", sent)
        assert opened(check) == ([], [])


@pytest.mark.parametrize(
    ("language", "untouched", "told"),
    [
        (
            "en",
            "None of the 9 cells is filled in yet.",
            "Of 9 numbers: 1 right, 1 wrong because of a new slip, 7 still empty.",
        ),
        ("zh", "9 个数都还没有填。", "共 9 个数：1 个正确、1 个算错、7 个未填。"),
    ],
)
def test_how_a_step_stands_is_a_sentence_whose_numbers_add_up_to_all(language, untouched, told):
    check = Lesson("check", kind="from_qkv", stage="scores", lang=language)
    assert check.says(untouched)
    assert Lesson("check", kind="from_qkv", stage="scores", scores="0 5 ?; ? ? ?; ? ? ?", lang=language).says(told)
    late = {"scores": "0 -4 2; -3 5 4; -2 2 3", "scaled_scores": "0 ? ?; ? 3.54 ?; ? ? ?"}
    followed = {
        "en": "1 right, 1 wrong only because of an earlier slip, 7",
        "zh": "1 个正确、1 个只因前面的错误而错、7",
    }
    assert Lesson("check", kind="from_qkv", stage="scaled_scores", lang=language, **late).says(followed[language])


def test_the_right_numbers_of_a_step_are_shown_on_demand():
    check = Lesson("check", stage="scores", **QKV)
    check.press("show_right")
    shown = check.table("work")
    assert [*shown[shown["panel"] == "beside"]["text"]] == ["0", "−4", "2", "−3", "4", "4", "−2", "2", "3"]
    assert "beside" not in {*check.choose("stage", "scaled").table("work")["panel"]}


def test_a_number_that_was_written_opens_to_its_mark_and_its_arithmetic():
    check = Lesson("check", stage="scores", scores="0 5 ?; ? ? ?; ? ? ?", **QKV)
    open_written(check, 0, 1)
    assert check.says("You wrote **5**; the right number is −4. **A new slip:**")
    assert opened(check)[0] == ["**scores [head 1, 1, 2]** = −4"] and opened(check)[1]
    assert opened(Lesson("check", **check.link())) == opened(check)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_link_to_an_empty_cell_gives_nothing_away(lang):
    place = {"stage": "scores", "cell": "work,printed,scores,0,0,0,1", "kind": "from_qkv", "lang": lang}
    check = Lesson("check", **place)
    assert check.says(BLANK_SAID[lang]) and opened(check) == ([], [])
    check.ran(next(t for t in check.at.toggle if t.key == "c_reveal").set_value(True).run)
    told, pieces = opened(check)
    assert told and told[0].endswith("= −4") and pieces


def test_all_is_opened_once_all_answers_are_shown():
    check = Lesson("check", stage="scores", **QKV)
    check.ran(next(t for t in check.at.toggle if t.key == "c_reveal").set_value(True).run)
    check.click_cell("work", "right:scores", "0,0,0,1")
    assert opened(check)[0] == ["**scores [head 1, 1, 2]** = −4"]


def test_an_operand_of_a_step_that_was_left_open_is_not_worked_out():
    """Two heads: the weights are written, the scaled scores are not; from a weight one comes to them."""
    trace = make_exercise("one_head", 1).run()
    weights = "; ".join(" ".join(f"{share:.2f}" for share in row) for row in trace["weights"][0, 0].tolist())
    check = Lesson("check", kind="one_head", stage="weights", weights=weights, lang="en")
    open_written(check, 1, 0)
    assert opened(check)[0][0].startswith("**weights [")
    check.follow("work", "masked_scores", [0, 0, 1, 0])
    check.follow("work", "scaled_scores", [0, 0, 1, 0])
    assert check.says("Nothing is written here yet.") and opened(check) == ([], [])


@pytest.mark.parametrize("act", ["step", "exercise", "head"])
def test_what_was_opened_is_closed_where_another_picture_stands(act):
    written = {"scores": SCORES, **QKV}
    if act == "head":
        numbers = make_exercise("two_heads", 1).run()["scores"].flatten(0, -2).tolist()
        text = "; ".join(" ".join(f"{number:g}" for number in row) for row in numbers)
        written = {"kind": "two_heads", "scores": text, "head": "0", "lang": "en"}
    check = Lesson("check", stage="scores", **written)
    open_written(check, 2, 2)
    assert opened(check)[0]
    if act == "exercise":
        check.press("next_exercise")
    else:
        check.choose("stage", "weights") if act == "step" else check.choose("head", "head 2")
    assert opened(check) == ([], []) and "cell" not in check.link()


FORMULAS = {
    ("from_qkv", "weights"): r"\mathrm{softmax}_S(\mathrm{scaled\_scores})",
    ("one_head", "weights"): r"\mathrm{softmax}_S(\mathrm{masked\_scores})",  # a mask, which is seen
}


@pytest.mark.parametrize("kind, stage", FORMULAS)
def test_the_formula_names_what_stands_beside_it(kind, stage):
    check = Lesson("check", kind=kind, stage=stage, lang="en")
    (shown,) = [latex.value for latex in check.at.latex]
    assert FORMULAS[kind, stage] in shown
    assert {"from_qkv": "scaled", "one_head": "masked"}[kind] in [*check.table("work")["text"]]


def test_a_state_that_nobody_can_write_down_is_no_exercise():
    check = Lesson("check", state="ex=eight_heads", kind="state", lang="en")
    assert any("state=" in error for error in check.errors())
    assert check.charts()


@pytest.mark.parametrize("text", [*HOSTILE[:8], "? " * 5000, "1e999", "nan nan nan", "[[1,2],[3", "1 2 3; 4 5", "∞"])
def test_hostile_answers_are_named_and_nothing_breaks(text):
    check = Lesson("check", stage="scores", scores=text, state=text, head=text, **QKV)
    assert check.charts() and any("scores=" in error for error in check.errors())


def test_whatever_is_typed_into_a_cell_is_taken_or_refused():
    check = Lesson("check", stage="scores", **QKV)

    @often(12, 2000)
    @given(st.text(max_size=40))
    def type_text(text):
        type_cells(check, [(0, 0, text)])
        assert len(check.errors()) <= 1 and check.charts()

    type_text()


@pytest.mark.parametrize(
    "sent", [None, 1, "x", [1], [{"row": 99, "column": 0, "text": "1"}], [{"row": 0, "text": "1"}]]
)
def test_what_a_browser_cannot_send_changes_nothing(sent):
    check = Lesson("check", stage="scores", scores=SCORES, **QKV)
    check.send_part("cells_scores", "typed", sent)
    check.type_cells("cells_scores", sent)
    assert marks(check)[1] == ["right"] * 9 and check.link()["scores"] == SCORES
