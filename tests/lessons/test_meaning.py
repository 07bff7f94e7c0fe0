"""The lesson on meaning: a guess first; heads and answers of three trainings, at each step, with the head changed."""

import json

import pytest

from attention_core.learned.language.shipped import read_figures
from pages.lessons.meaning.drawers import LANGUAGES, OFFERED_PAIRS, read_by_all
from tests.screen.lesson import Lesson

PICTURE = "heads"


def fact(lesson):
    """The headline at each position of the slider."""
    (data,) = [data for key, data in lesson.following() if key.endswith("-meaning_fact")]
    return ["".join(pieces) for pieces in data["texts"]]


def cells(lesson, position):
    """What stands in the picture at a position."""
    return lesson.rows_at(PICTURE, position)


def texts(lesson, position=-1):
    return [row["text"] for row in cells(lesson, position) if row.get("text")]


def test_the_head_of_b_is_hidden_until_somebody_guesses():
    lesson = Lesson("meaning", lang="en")
    assert texts(lesson).count("?") == 26 and "B ? %" in fact(lesson)[-1]
    lesson.choose("guess", "in fewer than 20")
    assert lesson.says("As predicted") and "?" not in texts(lesson)
    assert "the best head of A 1 %, B 13 %, C 99 %; the answers of B 76 %, C 99 %" in fact(lesson)[-1]
    wrong = Lesson("meaning", guess="0", lang="en")
    assert wrong.says("Not as predicted") and "?" not in texts(wrong)


def test_answers_are_those_that_the_models_table_has():
    """The answers' figures of the lesson and of the table in the docs were measured by two ways."""
    figures = read_figures()
    told = fact(Lesson("meaning", guess="2", lang="en"))[-1]
    for letter, kind in (("B", "named"), ("C", "asked")):
        share = figures[f"en_{kind}_encoder"].figures["answered"]
        assert f"{letter} {100 * share:.0f} %" in told.partition("the answers of ")[2]


def test_each_step_that_comes_along_has_its_own_numbers():
    lesson = Lesson("meaning", guess="2", lang="en")
    assert [text.partition(" steps")[0] for text in fact(lesson)] == [
        f"After {step}" for step in ("0", "500", "1,000", "2,000", "5,000")
    ]
    drawn = [json.dumps(cells(lesson, position)) for position in range(5)]
    assert len(set(drawn)) == 5
    lesson.set("step_of", 1000)
    assert lesson.link()["step_of"] == "1000"
    again = Lesson("meaning", **lesson.link())
    assert again.texts() == lesson.texts()


@pytest.mark.parametrize(
    "change, told", [("off", "B 76 → 77 %, of C 99 → 0 %"), ("even", "B 76 → 77 %, of C 99 → 0 %")]
)
def test_the_head_is_changed_and_c_alone_loses_its_answer(change, told):
    lesson = Lesson("meaning", guess="2", change=change, lang="en")
    assert lesson.says(told)
    titles = [text for text in texts(lesson) if " · " in text]
    assert [title for title in titles if title.startswith("B")] and all(
        title.endswith("✗") for title in titles if title.startswith("C")
    )
    assert any(title.startswith("B") and title.endswith("✓") for title in titles)


@pytest.mark.parametrize("example, language", LANGUAGES.items())
@pytest.mark.parametrize("number", OFFERED_PAIRS)
def test_of_each_pair_that_is_offered_c_shows_and_answers_both(example, language, number):
    pairs = read_by_all(language, 5000, number, "own")
    assert all(reading.shown and reading.right for reading in pairs["C"])
    assert not all(reading.shown for reading in pairs["A"]) or not all(reading.shown for reading in pairs["B"])


def test_a_cell_opens_its_arithmetic():
    lesson = Lesson("meaning", guess="2", lang="en")
    lesson.click_cell(PICTURE, "C1:weights", "0,0,11,3")
    assert lesson.parts("arithmetic_meaning_heads")


def test_chinese_has_networks_of_its_own():
    lesson = Lesson("meaning", guess="2", lang="zh")
    assert any("大门" in text for text in texts(lesson)) and len(fact(lesson)) == 2


# ---- drawers ---------------------------------------------------------------------------------------------------------
def test_nothing_gives_the_answer_away_before_the_guess():
    lesson = Lesson("meaning", open="grow,every,why,conclude", lang="en")
    assert len([info for info in lesson.at.info if "Guess first" in info.value]) == 4 and not lesson.at.table


def test_every_head_is_in_the_table():
    lesson = Lesson("meaning", open="every", guess="2", lang="en")
    (found,) = lesson.at.table
    rows = found.value.to_dict("records")
    assert [row["Head"] for row in rows] == [f"{layer}.{head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    assert max(rows, key=lambda row: float(row["C: shows it"].rstrip(" %")))["Head"] == "3.1"
    assert all(float(row["B: shows it"].rstrip(" %")) <= 13 for row in rows)
    assert rows[8]["C: answers without it"] == "0 %"


def test_what_comes_first_is_told_by_the_figures():
    told = " ".join(Lesson("meaning", open="grow", guess="2", lang="en").texts())
    assert "B's answers are right in 1, 8, 57, 76 % of the pairs" in told
    assert "C's head is right in 1, 20, 58, 99 %, its answers in 0, 1, 47, 99 %: the head learns first" in told


def test_nearly_all_of_a_table_is_no_quotation():
    (found,) = Lesson("meaning", open="every", guess="2", lang="zh").at.table
    assert not any(str(cell).startswith(">") for row in found.value.to_dict("records") for cell in row.values())


@pytest.mark.parametrize("letter, model", [("A", "foretold"), ("B", "named"), ("C", "asked")])
def test_each_network_opens_in_the_workbench(letter, model):
    lesson = Lesson("meaning", open="why", guess="2", lang="en")
    lesson.press(f"door_why_{letter}")
    assert lesson.at.session_state["setup"].run.model == f"en_{model}_encoder"


def test_what_may_be_concluded_is_said():
    lesson = Lesson("meaning", open="conclude", guess="2", lang="en")
    assert lesson.says(
        "B answers 76 % of the pairs correctly, its best head shows who is meant in 13 %, "
        "and without that head B still answers 77 % correctly"
    )


@pytest.mark.parametrize("lang, told", [("en", "two steps, 0 and 5,000"), ("zh", "只附带训练到 0 步和 5,000 步的两份")])
def test_where_the_slider_has_two_steps_it_says_so_and_why(lang, told):
    chinese = Lesson("meaning", lang=lang, ex="model_zh")
    assert len(fact(chinese)) == 2
    assert any(told in text.value and "4 MB" in text.value for text in chinese.at.caption)
    english = Lesson("meaning", lang=lang, ex="model_en")
    assert len(fact(english)) == 5 and not any(told in text.value for text in english.at.caption)


def test_how_many_seeds_were_trained_stands_beside_what_is_concluded():
    lesson = Lesson("meaning", guess="2", lang="en", open="conclude")
    assert lesson.says("Number of seeds trained: A 1, B 1, C 3") and lesson.says("from another seed was not tried")
