"""Spot the bug: numbers first, then a line is said, then it is seen; a click tells what should stand there."""

import json

import pytest

from attention_core.exercises.bugs import BUGS, LAYER_LINES, LAYER_STEPS, format_line
from attention_core.verification.mistakes import MISTAKE_SENTENCES
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import plain
from tests.screen.lesson import Lesson

PLACES = {bug.code: [*LAYER_LINES].index(bug.line) for bug in BUGS}


def number_of(code):
    return str([bug.code for bug in BUGS].index(code) + 1)


def told_lines(page):
    """What the lines of the code are told."""
    (part,) = page.parts("bug_lines")
    return json.loads(part.proto.json)


def shown_lines(page):
    return [line["made"] + line["rest"] for line in told_lines(page)["lines"]]


def shown_codes(page):
    return [block.value for block in page.at.get("code")]


def guess(page, place):
    return page.send_part("bug_lines", "guessed", place)


def look(page, step):
    return page.send_part("bug_lines", "looked", step)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.code)
def test_the_numbers_come_first_and_the_line_after_the_guess(bug, lang):
    page = Lesson("bugs", bug=number_of(bug.code), lang=lang)
    assert page.errors() == [] and page.charts().keys() == {"weights"}
    lines = shown_lines(page)
    assert format_line(bug.line, bug.wrong) not in lines and len(lines) == 12 and shown_codes(page) == []
    assert {line["verdict"] for line in told_lines(page)["lines"]} == {""}
    assert not page.says(plain(load_app_texts(lang)[f"cause.{bug.code}"])[:12])
    guess(page, PLACES[bug.code])
    assert shown_codes(page) == [f"- {format_line(bug.line, bug.wrong)}\n+ {lines[PLACES[bug.code]]}"]
    assert [line["verdict"] for line in told_lines(page)["lines"]].index("✓") == PLACES[bug.code]
    assert page.says(
        plain(load_app_texts(lang)["lessons.bugs.found"].format(number=PLACES[bug.code] + 1))
    ) and page.charts().keys() >= {"theirs", "ours"}
    assert f"{number_of(bug.code)} ✓" in page.widgets()["bug"].options


@pytest.mark.parametrize("lang", LANGUAGES)
def test_padding_that_is_looked_at_is_on_the_screen(lang):
    page = Lesson("bugs", bug=number_of("padding_on_queries"), guess="4", lang=lang)
    theirs, ours = ({*page.table(name)["text"]} for name in ("theirs", "ours"))
    assert "NaN" in theirs and "NaN" not in ours and "<pad>" in ours


def test_a_wrong_guess_is_said_so_and_not_counted():
    page = Lesson("bugs", bug=number_of("no_scale"), guess="0", lang="en")
    assert page.says("Line 1 ran as intended.") and not page.says(MISTAKE_SENTENCES["no_scale"])
    assert shown_codes(page) == [] and told_lines(page)["lines"][0]["verdict"] == "×"
    assert not any("✓" in option for option in page.widgets()["bug"].options)


def test_the_mistake_shows_in_the_numbers():
    """Scores of it: 0, but −6 for Anna and 6 for dog; without a scale dog gets 1 of 1 + 4 exp(−6) + exp(−12)."""
    page = Lesson("bugs", bug=number_of("no_scale"), lang="en")
    weight = page.number("weights", "weights [head 1, it, dog]")
    assert weight == pytest.approx(1 / (1 + 4 * 2.718281828**-6 + 2.718281828**-12), abs=1e-6)


def test_a_clicked_number_says_what_should_stand_there():
    page = Lesson("bugs", bug=number_of("softmax_queries"), lang="en").click_cell("weights", "weights", "0,0,5,3")
    assert page.says("From the same inputs, the intended line gives **0.94")
    look(page, "output").click_cell("step", "output", "0,0,0")
    (told,) = [text for text in page.texts() if text.startswith("The code gave")]
    made, right = told.split("**")[1], told.split("**")[3]
    assert made == right  # the line of the output is right


def test_another_layer_is_guessed_anew():
    page = Lesson("bugs", bug="1", guess="3", lang="en")
    page.choose("bug", "2")
    assert "guess" not in page.link() and shown_codes(page) == []


def test_a_lecturer_reveals_the_line():
    page = Lesson("bugs", bug="3", lang="en")
    page.ran(next(t for t in page.at.toggle if t.key == "c_reveal").set_value(True).run)
    assert len(shown_codes(page)) == 1 and told_lines(page)["lines"][8]["verdict"] == "✓"


def test_the_number_of_a_line_shows_what_the_line_made():
    page = Lesson("bugs", bug="3", lang="en")
    steps = [line["step"] for line in told_lines(page)["lines"]]
    assert steps[0] is None and steps[4] is None and [step for step in steps if step] == [*LAYER_STEPS]
    for step in ("q", "scores", "output"):
        look(page, step)
        assert page.link()["look"] == told_lines(page)["looked"] == step and page.charts().keys() == {"step"}
    assert "look" not in look(page, "weights").link()


@pytest.mark.parametrize("step", LAYER_STEPS)
def test_every_step_has_room_beside_the_code(step):
    page = look(Lesson("bugs", bug="7", lang="en"), step)
    (chart,) = page.charts().values()
    spec = json.loads(chart.proto.spec)
    assert spec["width"] <= 472 and spec["height"] <= 440


@pytest.mark.parametrize("sent", [None, "w_q", 9, ["q", "k"], {"step": "q"}, "<b>"])
def test_a_forged_line_changes_nothing(sent):
    page = Lesson("bugs", bug="3", lang="en")
    before = page.texts(), page.link()
    look(page, sent)
    guess(page, 12 if sent == 9 else sent)
    assert (page.texts(), page.link()) == before


@pytest.mark.parametrize(
    "link", [{"bug": "13"}, {"bug": "<b>"}, {"guess": "13"}, {"look": "w_q"}, {"ex": "eight_heads"}]
)
def test_what_a_link_cannot_say_is_named(link):
    page = Lesson("bugs", lang="en", **link)
    assert len(page.errors()) == 1 and page.charts()
