"""The lesson on query, key and value: the row of "it" with and without projections, and what each matrix does."""

import json
import math
import re

import pytest
import torch

from attention_core.inputs.matrix_values import REMOVED
from pages.runs.cache import trace_for
from pages.setup.setup import Setup, make_setup
from tests.screen.lesson import Lesson

SAME = math.e / (math.e + 6)  # "it" has one 1 in its row: x x = 1 with itself, 0 with six others
E424 = math.exp(6 / math.sqrt(2))  # q_it k_dog = (-3)(-1) + 3 * 1 = 6, over the root of 2
DOG = E424 / (E424 + 5 + 1 / E424)  # five words with score 0, and Anna with -6


def test_the_row_of_it_twice():
    lesson = Lesson("qkv", guess="3")
    assert lesson.number("hero", "weights [head 1, it, it]", row=0) == pytest.approx(SAME, abs=1e-12)  # .31
    assert lesson.number("hero", "weights [head 1, it, dog]", row=0) == pytest.approx(
        1 / (math.e + 6), abs=1e-12
    )  # .11
    assert lesson.number("hero", "weights [head 1, it, dog]", row=1) == pytest.approx(DOG, abs=1e-12)  # .93
    assert [round(SAME, 2), round(DOG, 2)] == [0.31, 0.93]
    assert "“it” gives 93 % of its attention to “dog”" in lesson.fact()


def test_the_answer_is_hidden_until_somebody_guesses_compares_or_reveals():
    lesson = Lesson("qkv")
    assert "“it” gives 31 % of its attention to “it”" in lesson.fact()
    assert [*lesson.table("hero")["text"]].count("?") == 7
    assert lesson.link() == {"ex": "en_it"}
    lesson.choose("guess", "Anna")
    assert lesson.says("Not as predicted")
    assert "93 %" in lesson.fact()
    assert lesson.link() == {"ex": "en_it", "guess": "0"}
    lesson.choose("guess", "dog")
    assert lesson.says("As predicted")
    assert "93 %" in Lesson("qkv").choose("words", "with W").fact()


def test_another_sentence_and_another_word_that_asks():
    lesson = Lesson("qkv", words="with").set("text", "Tom read and he laughed")
    assert "“he” gives 95 % of its attention to “Tom”" in lesson.fact()
    assert lesson.link()["text"] == "Tom read and he laughed"
    lesson.set("token", 0)
    assert "“Tom” attends evenly" in lesson.fact()  # nouns ask for nothing in head 1
    again = Lesson("qkv", **lesson.link())
    assert again.fact() == lesson.fact()


def test_a_sentence_that_is_too_long_is_refused_at_its_place_and_the_last_one_stays():
    lesson = Lesson("qkv", words="with").set("text", "Tom read and he laughed")
    lesson.set("text", "a " * 17)
    assert len(lesson.errors()) == 1 and "at most 16 tokens" in lesson.errors()[0]
    assert "“he” gives 95 %" in lesson.fact()
    assert lesson.widgets()["text"].value.startswith("a a")  # what was typed is not lost
    assert lesson.set("text", "Tom laughed").errors() == []


def test_exchanging_q_and_k_transposes_the_raw_scores():
    lesson = Lesson("qkv", open="change")
    assert lesson.says("“dog” gives 92 % of its attention to “it”")
    assert lesson.says("largest difference 0)")
    assert lesson.number("change_before", "scores [head 1, it, dog]") == 6
    assert lesson.number("change_now", "scores [head 1, dog, it]") == 6
    assert lesson.number("change_now", "scores [head 1, it, dog]") == 0


def test_one_matrix_for_all_three_makes_symmetric_scores_of_a_third_of_the_numbers():
    lesson = Lesson("qkv", open="change", change="share")
    assert lesson.says("“it” gives over 99 % of its attention to “it”")
    assert lesson.says("from their transpose 0)")
    assert lesson.says("16 learned numbers replace three times as many")
    asked = lesson.set("text", "Tom read and he laughed")
    assert asked.number("change_now", "scores [head 1, he, he]") == 18  # (3, -3) with itself


def test_another_v_moves_what_is_delivered_and_nothing_before_it():
    lesson = Lesson("qkv", open="change", change="value")
    assert lesson.says("Only these changed: v_projected, v, head_outputs, concat, output.")


def test_shapes_that_fit_and_each_broken_rule():
    lesson = Lesson("qkv", open="shapes")
    assert lesson.says("the scores are 1 × 5 (queries × keys), the output is 1 × 10")
    drawn = lesson.table("shapes")
    assert {*drawn["index"][drawn["step"] == "head_outputs"]} == {f"0,0,0,{at}" for at in range(10)}  # all of them
    lesson.set("queries", 3)
    assert lesson.says("the scores are 3 × 5")
    assert lesson.set("values", 4).errors() == ["there must be as many values as keys: k is (5, 8), v is (4, 10)"]
    lesson.set("values", 5)
    assert "width" in lesson.set("d_q", 7).errors()[0]
    assert lesson.choose("score", "additive").errors() == []  # compares different widths
    assert lesson.says("the scores are 3 × 5")


def test_roles_have_the_numbers_of_the_run():
    lesson = Lesson("qkv", open="roles")
    assert lesson.says("“it” asks: q = (−3.00, 3.00)")
    assert lesson.says("“dog” is matched: k = (−1.00, 1.00), q · k = 6.00")
    assert lesson.says("of which 0.93 arrives")
    assert lesson.choose("analogy", "a library").says("the question you bring to a library")
    lesson.set("text", "Tom read and he laughed")
    assert lesson.says("“Tom” is matched: k = (1.00, −1.00), q · k = 6.00")


def test_one_row_alone_is_the_row_of_the_matrix():
    lesson = Lesson("qkv", open="row", form="weights")
    assert lesson.says("the two differ by 0. No row depends")
    alone = lesson.number("alone", "weights [head 1, it, dog]")
    assert alone == pytest.approx(DOG, abs=1e-12)
    assert lesson.number("whole", "weights [head 1, it, dog]") == alone


def test_a_query_written_in_rows_and_in_columns_is_the_same_numbers():
    """it is (-1, 0, 0, 0); head 1 of W_q has the rows (0, 0), (3, -3), (0, 0), (0, 0): the numbers of the example."""
    lesson = Lesson("qkv", open="row", written="conventions", lang="en")
    trace = trace_for(Setup())
    x, w_q, q = trace["x"][0, 5], trace["w_q"][:, :2], trace["q"][0, 0, 5]
    for convention, parts in (("rows", (x[None], w_q, q[None])), ("columns", (w_q.T, x[:, None], q[:, None]))):
        lesson.choose("convention", {"rows": "rows: $q = x\\,W_q$", "columns": "columns: q = W x"}[convention])
        (written,) = [latex.value for latex in lesson.at.get("latex") if "bmatrix" in latex.value]
        found = [read_matrix(part) for part in re.findall(r"begin{bmatrix}(.*?)\\end", written)]
        for numbers, expected in zip(found, parts, strict=True):
            assert numbers.shape == expected.shape and torch.allclose(numbers, expected, atol=0.005)
        assert torch.equal(found[0] @ found[1], found[2])


def read_matrix(latex):
    """The numbers of a matrix in LaTeX."""
    rows = [[float(number.replace("−", "-")) for number in row.split("&")] for row in latex.split(r"\\")]
    return torch.tensor(rows, dtype=torch.float64)


def test_a_click_opens_a_number_and_its_operands_lead_on():
    it_dog = "weights [head 1, it, dog]"
    lesson = Lesson("qkv", words="with").click_cell("hero", "projected:weights", "0,0,5,3")
    assert lesson.says(f"**{it_dog}** = 0.93")
    assert lesson.link()["cell"] == "hero,projected,weights,0,0,5,3"
    assert Lesson("qkv", **lesson.link()).says(f"**{it_dog}** = 0.93")
    lesson.click_cell("hero", "bare:weights", "0,0,5,3")  # the same cell of the row above belongs to another run
    assert lesson.says(f"**{it_dog}** = 0.11")
    lesson.follow("hero", "masked_scores", [0, 0, 5, 3])
    assert lesson.says("**masked_scores [head 1, it, dog]** = 0")
    lesson.follow("hero", "weights", [0, 0, 5, 3])  # the way back
    assert lesson.says(f"**{it_dog}** = 0.11")
    assert not lesson.click_cell("hero", "bare:weights", "0,0,5,3").says(f"**{it_dog}**")


@pytest.mark.parametrize(
    "place", [None, 7, {"step": "weights"}, {"step": "x", "index": [9, 9, 9]}, {"step": "q", "index": ["0"]}]
)
def test_a_forged_click_opens_nothing(place):
    lesson = Lesson("qkv", words="with").click_cell("hero", "projected:weights", "0,0,5,3")
    before = lesson.texts()
    lesson.send_part("arithmetic_qkv_hero", "followed", place)
    assert lesson.texts() == before


def test_the_workbench_gets_exactly_what_the_lesson_shows():
    lesson = Lesson("qkv", words="with").set("text", "Tom read and he laughed")
    lesson.press("door_workbench")
    assert lesson.at.session_state["setup"] == make_setup(text="Tom read and he laughed", token=3)
    plain = Lesson("qkv").press("door_workbench").at.session_state["setup"]
    assert (plain.run.w_q, plain.run.heads, plain.run.scale, plain.view.token) == (REMOVED, 1, 1.0, 5)


# ---- one row times one matrix ----------------------------------------------------------------------------------------
def product(lesson):
    (part,) = lesson.parts("qkv_product")
    return json.loads(part.proto.json)


def texts(cells):
    return [cell["text"] for cell in cells]


def test_the_row_of_it_times_w_q_is_its_query():
    told = product(Lesson("qkv"))
    assert (told["word"], told["names"]) == ("it", ["noun", "pronoun", "verb", "other"])
    query = told["roles"]["q"]
    assert texts(query["row"]) == ["0.00", "−1.00", "0.00", "0.00"]
    assert [texts(line) for line in query["matrix"]] == [["0.00"] * 2, ["3.00", "−3.00"], ["0.00"] * 2, ["0.00"] * 2]
    assert texts(query["result"]) == ["−3.00", "3.00"]
    assert texts(told["roles"]["k"]["result"]) == texts(told["roles"]["v"]["result"]) == ["0.00", "0.00"]


def test_the_product_is_that_of_the_word_and_the_head_that_are_looked_at():
    told = product(Lesson("qkv", words="with").set("token", 3))
    assert told["word"] == "dog"
    assert texts(told["roles"]["k"]["result"]) == ["−1.00", "1.00"]
    assert product(Lesson("qkv", lang="zh"))["names"] != told["names"]  # said in Chinese
