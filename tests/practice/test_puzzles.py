"""Puzzles: each opens in both languages, is solved through its cells, refuses, remembers and restores."""

import json
import re
from math import exp, sqrt

import pytest

from attention_core.exercises.puzzles import PUZZLES
from pages.practice.puzzles.game import FIRST_PUZZLE
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import plain
from tests.screen.lesson import Lesson

NAMES = [*PUZZLES]


def opened(name, **link):
    return Lesson("puzzles", **({} if name == FIRST_PUZZLE else {"puzzle": name}), **{"lang": "en", **link})


def shown(lesson, name):
    """What the cells of a matrix show."""
    (part,) = [part for part in lesson.at.get("bidi_component") if part.proto.id.endswith(f"-cells_{name}")]
    return json.loads(part.proto.json)


def typed(lesson, name, cells):
    """Texts typed into the cells of a matrix: {(row, column of the cells): text}."""
    sent = [{"row": row, "column": column, "text": text} for (row, column), text in cells.items()]
    return lesson.type_cells(f"cells_{name}", sent)


def type_numbers(lesson, puzzle, text):
    """Numbers as a text of changes says them, matrix by matrix."""
    for part in text.split(","):
        name, _, cells = part.partition("~")
        first = puzzle.open[name][0]
        places = [re.fullmatch(r"(\d+)\.(\d+)=(.+)", cell).groups() for cell in cells.split(";")]
        typed(lesson, name, {(int(row), int(column) - first): number for row, column, number in places})
    return lesson


def ticks(lesson):
    """Whether each of the lines of what must come of it has its tick."""
    (lines,) = [
        text.value for text in lesson.at.markdown if ":material/radio_button" in text.value or "al/check:" in text.value
    ]
    return ["al/check:" in line for line in lines.splitlines()]


def listed(lesson):
    """What stands on the list."""
    (group,) = [each for each in lesson.at.get("button_group") if each.key == "puzzles.puzzle"]
    return [*group.options]


def solved(lesson):
    return [plain(box.value) for box in lesson.at.success]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_puzzle_opens_unsolved_and_is_solved_through_its_cells(name, lang):
    puzzle = PUZZLES[name]
    lesson = opened(name, lang=lang)
    assert lesson.errors() == [] and lesson.says(f"#### {NAMES.index(name) + 1} · ")
    assert ticks(lesson) == [False, *[True] * len(puzzle.bounds)] and solved(lesson) == []
    assert {each: shown(lesson, each)["name"] for each in puzzle.open} == {each: each for each in puzzle.open}
    assert {f"head_{head}" for head in puzzle.heads} <= {*lesson.charts()}
    assert all("✓" not in number for number in listed(lesson))
    type_numbers(lesson, puzzle, puzzle.solution)
    assert all(ticks(lesson)) and lesson.errors() == []
    (told,) = solved(lesson)
    assert load_app_texts(lang)[f"lessons.puzzles.done.{name}"][:3] in told
    assert told.startswith("### ") and load_app_texts(lang)["lessons.puzzles.with_fewest"] in told
    assert [number for number in listed(lesson) if "✓" in number] == [f"{NAMES.index(name) + 1} ✓"]
    again = Lesson("puzzles", **lesson.link())
    assert again.texts() == lesson.texts() and again.link() == lesson.link()


def test_what_a_hand_calculates_stands_on_the_screen():
    lesson = typed(opened("wake"), "w_q", {(1, 0): "2"})
    lesson = typed(lesson, "w_k", {(0, 0): "2"})
    power = exp(4 / sqrt(2))
    share = power / (power + 5 + 1 / power)
    assert lesson.number("head_0", "weights [head 1, it, dog]") == pytest.approx(share, abs=1e-12)
    assert lesson.says("**0.77**, goal ≥ 0.70") and round(share, 2) == 0.77
    assert lesson.link()["numbers"] == "w_q~1.0=2,w_k~0.0=2"


def test_a_number_of_a_map_opens_its_arithmetic():
    lesson = opened("turn").click_cell("head_1", "weights", "0,1,6,3")
    assert lesson.says("weights [head 2, barked, dog]")
    assert lesson.link()["cell"] == "head_1,,weights,0,1,6,3"


@pytest.mark.parametrize("text", ["nan", "inf", "two", "", " ", "21", "-1e9", "1e999", "=1+1", "<b>2</b>"])
def test_what_is_no_number_for_a_cell_is_refused_at_the_cells_and_nothing_changes(text):
    lesson = typed(opened("wake"), "w_q", {(1, 0): "2"})
    before, answered = lesson.link(), shown(lesson, "w_q")["answered"]
    typed(lesson, "w_q", {(1, 0): "2", (1, 1): text})
    (error,) = lesson.errors()
    assert "w_q, row 2, column 2" in error
    assert lesson.link() == before
    assert shown(lesson, "w_q")["numbers"][1] == ["2", "0"]
    assert shown(lesson, "w_q")["answered"] == answered + 1  # by which the cell shows its number again
    assert typed(lesson, "w_q", {(1, 1): "1/2"}).errors() == []
    assert lesson.link()["numbers"] == "w_q~1.0=2;1.1=0.5"


@pytest.mark.parametrize(
    "sent",
    [
        None,
        7,
        "w_q",
        {"row": 1, "column": 0, "text": "2"},
        [{"row": 9, "column": 0, "text": "2"}],
        [{"row": 1, "column": 2, "text": "2"}],  # head 2
        [{"row": -1, "column": 0, "text": "2"}],
        [{"row": True, "column": 0, "text": "2"}],
        [{"row": 1, "column": 0, "text": 2}],
        [{"row": 1, "column": 0}],
        [["1", "0", "2"]],
    ],
)
def test_a_forged_change_of_other_cells_changes_nothing(sent):
    lesson = opened("wake")
    before = lesson.texts()
    lesson.send_part("cells_w_q", "typed", sent)
    lesson.type_cells("cells_w_q", sent)
    assert lesson.texts() == before and "numbers" not in lesson.link()


@pytest.mark.parametrize(
    "numbers",
    [
        "w_q~1.2=2",
        "w_v~0.0=2",
        "x~0.0=9",
        "w_q~1.0=nan",
        "w_q~1.0=1e5",
        "w_q~9.9=1",
        "w_q",
        "~",
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "w_q~" + "1.0=1;" * 9000,
    ],
)
def test_a_link_that_changes_something_else_is_named_and_the_puzzle_is_as_it_begins(numbers):
    lesson = opened("wake", numbers=numbers)
    (error,) = lesson.errors()
    assert "numbers=" in error and "cannot be read" in error
    assert ticks(lesson) == [False, True] and "numbers" not in lesson.link()
    assert lesson.at.session_state["puzzles_solved"] == set()


def test_other_parts_of_a_link_are_read_or_named():
    lesson = opened("wake", puzzle="nowhere", hint="perhaps", nonsense="1", cell="head_0,,weights,9,9,9,9")
    assert len(lesson.errors()) == 3
    assert lesson.says("#### 1 · ") and lesson.charts()


def test_each_puzzle_is_found_as_it_was_left_and_the_list_remembers():
    lesson = type_numbers(opened("wake"), PUZZLES["wake"], PUZZLES["wake"].solution)
    lesson.press("puzzles_next")
    assert lesson.says("#### 2 · ") and lesson.link() == {"lang": "en", "puzzle": "turn"}
    typed(lesson, "w_k", {(1, 2): "1"})
    assert lesson.link()["numbers"] == "w_k~1.2=1"
    lesson.choose("puzzle", "1 ✓")
    assert lesson.link()["numbers"] == PUZZLES["wake"].solution and solved(lesson)
    lesson.choose("puzzle", "2")
    assert lesson.link()["numbers"] == "w_k~1.2=1"
    assert shown(lesson, "w_k")["numbers"][1] == ["0", "0", "1", "0"]
    lesson.press("puzzles_reset")
    assert "numbers" not in lesson.link() and shown(lesson, "w_k")["numbers"][1] == ["0"] * 4
    assert listed(lesson)[0] == "1 ✓"
    elsewhere = lesson.go_to("glossary")
    lesson.slug = "puzzles"
    assert listed(elsewhere.go_to("puzzles"))[0] == "1 ✓"


def going_on(lesson):
    """The buttons that lead from a puzzle that is solved."""
    return [button for button in lesson.at.button if button.key == "puzzles_go_on"]


def test_the_counter_and_what_is_said_of_more_and_of_fewer_changes(monkeypatch):
    lesson = opened("sink")
    assert lesson.says("changed: 0 · fewest known: 1") and lesson.says("**$W_{k}$** · changed: 0")
    typed(lesson, "w_k", {(3, 0): "1", (3, 1): "1"})
    assert lesson.says("changed: 2 · fewest known: 1")
    assert "It can be done with fewer changes: 1" in solved(lesson)[0]
    monkeypatch.setattr("pages.practice.puzzles.game.PlayedPuzzle.fewest", 3)
    assert "fewer changes than the best known solution has: 3" in solved(opened("sink", numbers="w_k~3.0=1;3.1=1"))[0]


def test_a_solved_puzzle_leads_to_the_next_that_is_not():
    lesson = opened("half")
    assert going_on(lesson) == []
    lesson = type_numbers(lesson, PUZZLES["half"], PUZZLES["half"].solution)
    (button,) = going_on(lesson)
    assert button.label == "Next: 10 · A sink that leaves “it” → “dog” alone"
    type_numbers(lesson.press("puzzles_go_on"), PUZZLES["sink"], PUZZLES["sink"].solution)
    (button,) = going_on(lesson)
    assert button.label == "Next: 1 · Wake a dead head with two numbers"
    lesson.at.session_state["puzzles_solved"] = {*PUZZLES}
    lesson.ran(lesson.at.run)
    assert going_on(lesson) == [] and lesson.says("All 10 puzzles are solved.")


def test_arrow_keys_lead_on_and_back_and_stop_at_the_ends():
    lesson = opened("wake").send_part("arrows", "moved", "next")
    assert lesson.says("#### 2 · ")
    assert lesson.send_part("arrows", "moved", "previous").says("#### 1 · ")
    assert lesson.send_part("arrows", "moved", "previous").says("#### 1 · ")
    assert lesson.send_part("arrows", "moved", ["next"]).says("#### 1 · ")
    assert opened("sink").send_part("arrows", "moved", "next").says("#### 10 · ")


def test_words_are_as_many_as_what_they_name():
    said = {
        "title": {*NAMES},
        "task": {*NAMES},
        "done": {*NAMES},
        "bound": {bound.name for puzzle in PUZZLES.values() for bound in (puzzle.goal, *puzzle.bounds)},
    }
    for family, names in said.items():
        start = f"lessons.puzzles.{family}."
        assert {key.removeprefix(start) for key in load_app_texts("en") if key.startswith(start)} == names


def test_a_solution_is_shown_when_answers_may_be_seen_and_counts_for_nothing():
    lesson = opened("half")
    button = next(each for each in lesson.at.button if each.key == "puzzles_solution")
    assert button.disabled
    lesson.ran(next(each for each in lesson.at.toggle if each.key == "c_reveal").set_value(True).run)
    lesson.press("puzzles_solution")
    assert all(ticks(lesson)) and solved(lesson)
    assert solved(lesson)[0].startswith("### :material/check_circle: This is a solution")
    assert lesson.link()["numbers"] == PUZZLES["half"].solution
    assert all("✓" not in number for number in listed(lesson))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_hint_names_a_number_or_says_why_there_is_none(name, lang):
    lesson = opened(name, hint="True", lang=lang)
    slopes = {f"slope_{matrix}" for matrix in PUZZLES[name].open}
    if name in ("wake", "copy"):
        assert lesson.says(plain(load_app_texts(lang)["lessons.puzzles.hint_flat"])) and not slopes & {*lesson.charts()}
        return
    assert slopes <= {*lesson.charts()}
    assert lesson.says(load_app_texts(lang)["lessons.puzzles.hint_grows"].partition("*")[0])
    for matrix, (first, behind) in PUZZLES[name].open.items():
        cells = lesson.table(f"slope_{matrix}")
        assert {int(index.split(",")[1]) for index in cells["index"] if index} == {*range(first, behind)}


def test_the_hint_of_a_head_half_awake_and_of_one_that_is_awake():
    lesson = opened("wake", hint="True", numbers="w_q~1.0=2")
    assert lesson.says("w_k [1 noun, H1·1]**, now 0.00: raise it")
    slope = 2 / sqrt(2)  # of the score of dog; Anna's falls as fast: even shares of both are moved
    assert lesson.number("slope_w_k", "slope_w_k [noun, 1]") == pytest.approx(slope, abs=1e-12)
    assert lesson.says("about 14 % larger") and round(slope * 10) == 14
    done = opened("wake", hint="True", numbers=PUZZLES["wake"].solution)
    assert done.says("Solved: no hint is needed.")
    assert opened("next", hint="True").says("w_q [4 one, H1·1]**, now −8.00: flip its sign")


@pytest.mark.parametrize("name", NAMES)
def test_the_workbench_gets_exactly_this_run(name):
    lesson = opened(name, numbers=PUZZLES[name].solution)
    begin = make_setup(**PUZZLES[name].start("en"))
    setup = lesson.press("door_workbench").at.session_state["setup"]
    changed = {field: value for field, value in vars(setup.run).items() if value != getattr(begin.run, field)}
    assert changed and {*changed} <= {*PUZZLES[name].open}


def test_both_languages_ask_for_the_same_numbers():
    lesson = opened("sink", numbers=PUZZLES["sink"].solution, lang="zh")
    assert all(ticks(lesson)) and lesson.says("它")
    assert "名词" in shown(lesson, "w_k")["rows"][0]  # also where its vectors were typed
