"""Puzzles: every goal by hand, several solutions, near misses and cheats, slopes against finite differences."""

from dataclasses import replace
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
import torch

from attention_core.exercises.puzzle import (
    MAX_TYPED_MAGNITUDE,
    Bound,
    BoundReading,
    count_changes,
    find_hint,
    format_changes,
    goal_slopes,
    is_solved,
    judge_run,
    read_changes,
)
from attention_core.exercises.puzzles import PUZZLE_LIST, PUZZLES
from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_link import read_chosen, read_matrix
from attention_core.inputs.matrix_values import REMOVED
from attention_core.record.errors import AttentionError
from pages.runs.compute import compute_run
from pages.setup.setup import make_setup

LANGUAGES = ("en", "zh")
E = exp(6 / sqrt(2))  # of a word that is found in "Anna fed the dog and it barked": q k = 6, over the root of 2
FOUND = E / (E + 5 + 1 / E)  # five words with score 0, and one with -6


def start_of(name, language="en"):
    """The Setup that a puzzle begins with, its run, and the matrices that may be changed."""
    puzzle = PUZZLES[name]
    setup = make_setup(**puzzle.start(language))
    trace, material = compute_run(setup.run)
    return setup, trace, material


def run_of(name, numbers, language="en", **others):
    """The run with changed numbers, and the one that it begins with."""
    setup, trace, material = start_of(name, language)
    matrices = read_changes(PUZZLES[name], numbers, {each: material.matrices[each] for each in PUZZLES[name].open})
    values = {each: shorten_matrix(matrix, material.bases[each], each) for each, matrix in matrices.items()}
    return compute_run(setup.with_fields(**values, **others).run)[0], trace


def readings(name, text, language="en"):
    trace, start = run_of(name, text, language)
    return judge_run(PUZZLES[name], trace, start)


def failing(name, text):
    return [reading.bound.name for reading in readings(name, text) if not reading.holds]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PUZZLES)
def test_a_puzzle_begins_with_its_goal_alone_missed_and_its_solution_reaches_it(name, language):
    first, *others = readings(name, "", language)
    assert not first.holds and all(reading.holds for reading in others)
    assert is_solved(readings(name, PUZZLES[name].solution, language))


def test_both_languages_have_the_same_numbers():
    for name in PUZZLES:
        for text in ("", PUZZLES[name].solution):
            assert [each.value for each in readings(name, text, "en")] == [
                each.value for each in readings(name, text, "zh")
            ]


# ---- by hand ---------------------------------------------------------------------------------------------------------
def two_signs(power):
    """The share of a word with score ln(power), beside five with 0 and one with the opposite."""
    return power / (power + 5 + 1 / power)


def nouns(score):
    """The value that comes of a noun with this score and the other noun, of the opposite value, with its opposite."""
    return (exp(score) - exp(-score)) / (exp(score) + 5 + exp(-score))


BY_HAND = [
    ("wake", "", 0, 1 / 7),
    ("wake", "w_q~1.0=2,w_k~0.0=2", 0, two_signs(exp(4 / sqrt(2)))),  # (-2)(-2) over the root of 2
    ("wake", "w_q~1.0=2,w_k~0.0=2", 1, 2),
    ("turn", "", 0, 1 / (E + 5 + 1 / E)),
    # q of barked is (-3, 3), k of it now (-2, 2): 12; dog keeps 6, Anna -6
    ("turn", "w_k~1.2=2;1.3=-2", 0, E**2 / (E**2 + E + 4 + 1 / E)),
    ("turn", "w_k~1.2=2;1.3=-2", 3, E / (E + 4 + 1 / E + 1 / E**2)),  # fed asks (3, -3): it has -12
    ("even", "", 0, FOUND),
    ("even", "w_k~0.1=1", 0, 1 / 7),
    ("even", "w_k~0.1=1", 1, 1),
    ("copy", "", 0, 1),
    ("copy", "w_q~0.0=-3;0.1=-3,w_k~2.0=1;2.1=1", 0, 1 - (E - 1 / E) / (E + 5 + 1 / E)),  # fed less barked
    ("cancel", "", 0, sqrt(3) * nouns(6 / sqrt(2))),  # it, fed and barked
    ("cancel", "", 1, nouns(6 / sqrt(2))),
    ("half", "", 0, sqrt(3) * (nouns(6 / sqrt(2)) - nouns(3))),  # the first column alone, over the root of 1
    ("half", "w_q~1.0=4.24;2.1=4.24", 0, sqrt(3) * (nouns(6 / sqrt(2)) - nouns(4.24))),
    ("sink", "", 0, 1 / 8),
    # q of an idle word is (1, 1): 4 with the sink's key (2, 2), 0 with all others
    ("sink", "w_k~3.0=1;3.1=1", 0, exp(4 / sqrt(2)) / (exp(4 / sqrt(2)) + 7)),
    # q of it is (-2, 4): 4 with the sink, 6 with dog's (-1, 1), -6 with Anna's (1, -1)
    ("sink", "w_k~3.0=1;3.1=1", 1, E / (E + exp(4 / sqrt(2)) + 5 + 1 / E)),
]


@pytest.mark.parametrize("name, text, at, expected", BY_HAND)
def test_numbers_by_hand(name, text, at, expected):
    assert readings(name, text)[at].value == pytest.approx(expected, abs=1e-12)


def test_the_head_of_positions_by_hand():
    """Scores of head 1 are -4 (p_i + o - p_j)^2 over the root of 3, less what no key changes; o = 1 after the flip."""
    places = range(-2, 3)

    def typical(wanted, pairs):
        logs = []
        for own, other in pairs:
            powers = {key: exp(-4 * (wanted(own) - key) ** 2 / sqrt(3)) for key in places}
            logs.append(np.log(powers[other] / sum(powers.values())))
        return exp(np.mean(logs))

    onward = [(own, own + 1) for own in range(-2, 2)]
    assert readings("next", "w_q~3.0=8")[0].value == pytest.approx(typical(lambda p: p + 1, onward), abs=1e-12)
    assert readings("next", "")[0].value == pytest.approx(typical(lambda p: p - 1, onward), abs=1e-12)
    turned = [(own, -own) for own in places]
    assert readings("mirror", "w_q~3.0=0;4.0=-8")[0].value == pytest.approx(typical(lambda p: -p, turned), abs=1e-12)


def test_repeats_count_together():
    """Each word's vector has one 1: its own word scores 36 / 2, the opposite verb less, all others 0."""
    power = exp(6 / 2)
    twice, once = 2 * power / (2 * power + 4), power / (power + 4 + 1 / power)
    expected = (twice**4 * once**2) ** (1 / 6)
    assert readings("same", "w_q~0.0=6;1.1=6;2.2=6;3.3=6")[0].value == pytest.approx(expected, abs=1e-12)


# ---- several solutions, near misses, cheats --------------------------------------------------------------------------
OTHERS = {
    "wake": ["w_q~1.0=-2,w_k~0.0=-2", "w_q~1.1=3,w_k~0.1=2", "w_q~1.1=1,w_k~0.1=4", "w_q~1.0=20,w_k~0.0=20"],
    "turn": ["w_k~1.2=2;1.3=-2", "w_k~1.3=-3", "w_k~1.2=2.5;1.3=-2.5", "w_k~1.0=-3;1.1=3;1.2=3;1.3=-3"],
    "even": ["w_k~0.0=-1", "w_k~0.0=2;0.1=2", "w_k~0.0=0;0.1=0;3.0=5;3.1=5", "w_k~0.0=0;0.1=0;2.0=1;2.1=1"],
    "mirror": ["w_q~3.0=0;4.0=-7", "w_q~3.0=0;4.0=-8.5", "w_q~3.0=0.5;4.0=-8"],
    "same": [
        "w_q~0.0=6;1.1=6;2.2=6;3.3=6",
        "w_q~0.0=5;1.1=5;2.2=5;3.3=5",
        "w_k~0.0=-2;1.1=-2;2.2=-2;3.3=-2",
        "w_q~0.0=0;1.1=0;2.2=0;3.3=0;0.1=6;1.2=6;2.3=6;3.0=6,"
        "w_k~0.0=0;1.1=0;2.2=0;3.3=0;0.1=1;1.2=1;2.3=1;3.0=1",  # every word by another column
    ],
    "copy": [
        "w_q~0.0=-3;0.1=-3,w_k~2.0=1;2.1=1",
        "w_q~0.2=-3;0.3=-3,w_k~2.2=1;2.3=1",  # the other head
        "w_q~0.0=-2;0.1=-2,w_k~2.0=2;2.1=2",
        "w_q~0.0=3;0.1=3,w_k~2.0=-1;2.1=-1",
    ],
    "cancel": [
        "w_q~1.2=3;1.3=-3;2.2=0;2.3=0,w_o~2.0=-1;3.2=-1",
        "w_q~1.2=3;1.3=-3;2.0=3;2.1=-3,w_o~2.0=-1;3.2=-1",  # both heads ask for both
        "w_q~1.2=3;1.3=-3;2.2=0;2.3=0,w_o~0.0=-1;1.2=-1",
        "w_q~1.2=-3;1.3=3;2.2=0;2.3=0",  # the second looks for the opposite: Anna
    ],
    "half": ["w_k~0.0=1.41;0.1=1.41", "w_q~1.0=4.2,w_k~0.1=1.4", "w_q~1.0=-4.24;2.1=4.3,w_k~0.0=-1"],
    "sink": ["w_k~3.0=1;3.1=1", "w_k~3.0=4;3.1=-1", "w_k~3.0=1.5;3.1=0.8", "w_k~0.0=2;0.1=-2;3.0=1.4;3.1=1.4"],
}
MISSES = {
    "wake": {
        "w_q~1.0=1,w_k~0.0=1": ["it_dog"],
        "w_q~1.0=2,w_k~0.0=-2": ["it_dog"],  # Anna
        "w_q~1.0=2": ["it_dog"],
        "w_q~1.0=3;1.1=-3,w_k~0.0=2": ["numbers"],
        "w_q~1.0=20;1.1=-20,w_k~0.0=20;0.1=-20": ["numbers"],
    },
    "turn": {
        "w_k~1.2=1;1.3=-1": ["barked_it"],
        "w_k~0.2=0;0.3=0;1.2=3": ["rows", "fed_anna"],
        "w_k~0.2=0;0.3=0": ["barked_it", "fed_anna"],
        "w_k~1.0=2;1.1=-2;1.2=2;1.3=-2": ["it_dog"],  # the whole row: now it asks itself
        "w_k~0.0=0;0.1=0;0.2=0;0.3=0": ["barked_it", "it_dog", "fed_anna"],
    },
    "even": {
        "w_k~0.0=0;0.1=0": ["not_zero"],
        "w_k~0.0=0.001;0.1=0.001": ["not_zero"],
        "w_k~0.0=0.5": ["largest"],
        "w_k~0.0=-1;0.1=1": ["largest"],
    },
    "next": {
        "w_q~3.0=7": ["sizes"],
        "w_q~4.0=-8": ["follower"],
        "w_q~3.0=8;4.0=-8": ["follower", "numbers"],
        "w_q~3.0=9;4.0=9": ["numbers", "sizes"],
        "w_q~3.0=0;4.0=0;3.1=0": ["follower", "numbers", "sizes"],
    },
    "mirror": {"w_q~4.0=-8": ["mirrored"], "w_q~3.0=0": ["mirrored"], "w_q~3.0=0;4.0=-4": ["mirrored"]},
    "same": {
        "w_q~0.0=3;1.1=3;2.2=3;3.3=3": ["itself"],
        "w_q~0.0=0;1.1=0;2.2=0;3.3=0": ["itself"],
        "w_q~0.0=6;1.1=6;2.2=6": ["itself"],
    },
    "copy": {
        "w_q~0.0=-3,w_k~2.0=2": ["apart", "it_dog"],  # one column alone meets the nouns' keys
        "w_q~0.0=-3;0.1=-3": ["apart"],
        "w_q~0.0=-3;0.1=-3;0.2=-3;0.3=-3,w_k~2.0=1;2.1=1;2.2=1;2.3=1": ["apart"],  # both heads bring it: twice fed
    },
    "cancel": {
        "w_o~0.0=0;1.2=0;2.0=0;3.2=0": ["first", "second"],
        "w_o~2.0=-1;3.2=-1": ["output"],
        "w_q~1.0=0;1.1=0;2.2=0;2.3=0": ["first", "second"],
        "w_q~1.2=3;1.3=-3;2.2=0;2.3=0,w_o~0.0=0.1;1.2=0;2.0=-0.1;3.2=0": ["first", "second"],
    },
    "half": {"w_q~1.0=4;2.1=4": ["whole"], "w_q~1.0=4.24": ["whole"], "w_q~1.0=20;2.1=20": ["whole"]},
    "sink": {
        "w_k~3.0=2;3.1=2": ["it_dog"],
        "w_k~3.0=0.9;3.1=0.9": ["sunk"],
        "w_k~3.0=2;3.1=-2": ["sunk"],
        "w_k~0.0=0;0.1=0": ["sunk", "it_dog"],
    },
}


@pytest.mark.parametrize("name, text", [(name, text) for name, texts in OTHERS.items() for text in texts])
def test_other_solutions_are_accepted(name, text):
    assert failing(name, text) == []


@pytest.mark.parametrize("name, text", [(name, text) for name, texts in MISSES.items() for text in texts])
def test_near_misses_and_cheats_are_refused(name, text):
    assert failing(name, text) == MISSES[name][text]


def test_every_puzzle_has_other_solutions_but_the_one_sign_and_near_misses():
    assert {*OTHERS} | {"next"} == {*PUZZLES} == {*MISSES}
    assert all(len(texts) >= 3 for texts in (*OTHERS.values(), *MISSES.values()))
    assert all(len({*MISSES[name]}) >= 3 for name in MISSES)


FEWEST = {
    "wake": 2,
    "turn": 1,
    "even": 1,
    "next": 1,
    "mirror": 2,
    "same": 3,
    "copy": 2,
    "cancel": 2,
    "half": 2,
    "sink": 1,
}


@pytest.mark.parametrize("name", PUZZLES)
def test_no_solution_is_known_with_fewer_changes(name):
    matrices = start_of(name)[2].matrices
    start = {each: matrices[each] for each in PUZZLES[name].open}
    solution = read_changes(PUZZLES[name], PUZZLES[name].solution, start)
    assert count_changes(solution, start) == FEWEST[name]
    for text in OTHERS.get(name, ()):
        assert count_changes(read_changes(PUZZLES[name], text, start), start) >= FEWEST[name]


@pytest.mark.parametrize("name", [name for name, fewest in FEWEST.items() if fewest == 2 and name != "wake"])
def test_one_number_alone_is_not_enough_where_two_are_the_fewest(name):
    matrices = start_of(name)[2].matrices
    for each, (first, behind) in PUZZLES[name].open.items():
        for row, column in product(range(len(matrices[each])), range(first, behind)):
            for number in (-20, -6, -3, -1, 0, 1, 3, 6, 20):
                if number != matrices[each][row, column]:
                    assert failing(name, f"{each}~{row}.{column}={number}")


def test_one_sign_alone_makes_the_previous_the_next():
    _, start, _ = start_of("next")
    matrix = start["w_q"]
    flips = [(row, column) for row, column in product(range(6), range(3)) if matrix[row, column]]
    right = [place for place in flips if failing("next", f"w_q~{place[0]}.{place[1]}={-matrix[place]:g}") == []]
    assert len(flips) > 2 and right == [(3, 0)]


def test_one_number_alone_wakes_no_dead_head():
    for name, row, column in product(("w_q", "w_k"), range(4), range(2)):
        assert readings("wake", f"{name}~{row}.{column}=20")[0].value == pytest.approx(1 / 7, abs=1e-12)


@pytest.mark.parametrize("name", PUZZLES)
def test_zeros_everywhere_solve_nothing(name):
    _, start, _ = start_of(name)
    cells = [
        f"{matrix}~" + ";".join(f"{row}.{column}=0" for row, column in product(range(len(start[matrix])), range(*open)))
        for matrix, open in PUZZLES[name].open.items()
    ]
    assert failing(name, ",".join(cells))


# ---- what may not be changed -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, code",
    [
        ("w_q~1.2=2", "puzzle_closed"),  # head 2
        ("w_v~0.0=2", "edit_form"),
        ("x~0.0=2", "edit_form"),
        ("w_q", "edit_form"),
        ("w_q~9.9=1", "edit_form"),
        ("w_q~1.0", "edit_form"),
        ("w_q~-1.0=2", "edit_form"),
        ("w_q~1.0=nan", "not_a_number"),
        ("w_q~1.0=inf", "not_a_number"),
        ("w_q~1.0=1e999", "cell_not_finite"),
        ("w_q~1.0=20.5", "too_large"),
        ("w_q~1.0=1e5", "too_large"),
        ("w_q~1.0=<script>", "not_a_number"),
        ("1,2;3,4", "edit_form"),
        (",", "edit_form"),
    ],
)
def test_a_text_that_changes_something_else_is_refused(text, code):
    with pytest.raises(AttentionError) as refused:
        run_of("wake", text)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "others",
    [
        {"w_v": read_matrix("~0.0=2")},
        {"x": read_matrix("~0.0=2")},
        {"scale": 5.0},
        {"temperature": 0.1},
        {"masks": ("causal",)},
        {"score": "cosine"},
        {"w_o": REMOVED},
        {"wiring": ("residual",)},
        {"weights": read_chosen("0.0.5.3=1")},
        {"text": "Anna fed the dog and she barked"},
    ],
)
def test_a_run_in_which_something_else_was_changed_is_refused(others):
    trace, start = run_of("wake", PUZZLES["wake"].solution, **others)
    with pytest.raises(AttentionError) as refused:
        judge_run(PUZZLES["wake"], trace, start)
    assert refused.value.code == "puzzle_other"


def test_a_run_with_a_closed_or_huge_number_is_refused():
    trace, start = start_of("even")[1], start_of("even")[1]
    for text, code in (("~0.2=0", "puzzle_closed"), ("~0.1=21", "too_large"), ("1,1;2,2;3,3;4,4", "puzzle_other")):
        try:
            trace = compute_run(
                make_setup(
                    w_k=read_matrix(text), w_q=read_matrix("1,1;2,2;3,3;4,4") if code == "puzzle_other" else None
                ).run
            )[0]
        except AttentionError:
            pytest.fail("the run itself is possible")
        with pytest.raises(AttentionError) as refused:
            judge_run(PUZZLES["even"], trace, start)
        assert refused.value.code == code


def test_no_number_keeps_to_no_limit():
    for least in (True, False):
        assert not BoundReading(Bound("", lambda trace, start: torch.tensor(torch.nan), 1.0, least), float("nan")).holds


@pytest.mark.parametrize("name", PUZZLES)
def test_what_was_changed_is_read_back(name):
    material = start_of(name)[2]
    before = {each: material.matrices[each] for each in PUZZLES[name].open}
    for text in ("", PUZZLES[name].solution, *OTHERS.get(name, ())):
        matrices = read_changes(PUZZLES[name], text, before)
        again = read_changes(PUZZLES[name], format_changes(matrices, before), before)
        assert all(np.array_equal(again[each], matrices[each]) for each in before)
    assert format_changes(before, before) == ""


# ---- slopes ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PUZZLES)
def test_slopes_are_what_finite_differences_give(name, generator):
    """Away from the start, where ties and zeros lie: every number that may be changed is moved a little first."""
    puzzle, (setup, start, material) = PUZZLES[name], start_of(name)
    matrices = {each: material.matrices[each].copy() for each in puzzle.open}
    for each, (first, behind) in puzzle.open.items():
        part = matrices[each][:, first:behind]
        part += 0.3 * torch.randn(part.shape, generator=generator, dtype=torch.float64).numpy()

    def at(changed_ones):
        values = {each: shorten_matrix(matrix, material.bases[each], each) for each, matrix in changed_ones.items()}
        return compute_run(setup.with_fields(**values).run)[0]

    found, h, count = goal_slopes(puzzle, at(matrices), start), 1e-5, 0
    for each, (first, behind) in puzzle.open.items():
        for row, column in product(range(len(matrices[each])), range(first, behind)):
            sides = []
            for step in (h, -h):
                moved = {**matrices, each: matrices[each].copy()}
                moved[each][row, column] += step
                sides.append(np.log(float(puzzle.goal.number(at(moved), start))))
            slope = (sides[0] - sides[1]) / (2 * h) * (1 if puzzle.goal.least else -1)
            assert found[each][row, column] == pytest.approx(slope, abs=1e-6), (each, row, column)
            count += slope != 0
    assert count >= 2


@pytest.mark.parametrize("name", PUZZLES)
def test_a_hint_leads_nearer_or_there_is_none(name):
    puzzle, (_, start, material) = PUZZLES[name], start_of(name)
    found = goal_slopes(puzzle, start, start)
    hint = find_hint(puzzle, start, found)
    if name in ("wake", "copy"):  # q and k are both 0: no number alone moves a product of zeros
        assert hint is None and all(np.abs(each).max() < 1e-12 for each in found.values())
        return
    first, behind = puzzle.open[hint.name]
    assert first <= hint.column < behind
    before = {each: material.matrices[each] for each in puzzle.open}
    nudged = {each: matrix.copy() for each, matrix in before.items()}
    nudged[hint.name][hint.row, hint.column] += 0.01 * np.sign(hint.slope)
    first, then = readings(name, "")[0], readings(name, format_changes(nudged, before))[0]
    assert (then.value - first.value) * (1 if puzzle.goal.least else -1) > 0


def test_what_the_hints_name():
    def named(name, text=""):
        trace, start = run_of(name, text)
        hint = find_hint(PUZZLES[name], trace, goal_slopes(PUZZLES[name], trace, start))
        return hint.name, hint.row, hint.column, hint.slope > 0

    assert named("next") == ("w_q", 3, 0, True)  # the one sign
    assert named("mirror") == ("w_q", 4, 0, False)
    assert named("sink") == ("w_k", 3, 0, True)
    assert named("turn") == ("w_k", 1, 2, True)
    assert named("wake", "w_q~1.0=2") == ("w_k", 0, 0, True)  # with one factor there, the other has a slope


def test_a_slope_by_hand():
    """ln of it -> dog: with s, its score, d ln w = (1 - w) ds - w_Anna d(-s), and s = (-2)(-W_k[noun, 1]) / root 2."""
    trace, start = run_of("wake", "w_q~1.0=2")
    even = 1 / 7
    expected = 2 / sqrt(2) * (1 - even + even)  # dog's score rises as Anna's falls
    assert goal_slopes(PUZZLES["wake"], trace, start)["w_k"][0, 0] == pytest.approx(expected, abs=1e-12)


def test_a_saturated_goal_has_no_hint():
    trace, start = run_of("mirror", "w_q~3.0=-20;4.0=20;5.0=-20;5.1=-20")
    zero = replace(PUZZLES["mirror"], goal=Bound("never", lambda trace, start: trace["weights"].amin() * 0.0, 1.0))
    assert find_hint(zero, trace, goal_slopes(zero, trace, start)) is None


def test_the_names_are_the_keys_and_limits_are_within_reach():
    assert [puzzle.name for puzzle in PUZZLE_LIST] == [*PUZZLES] and len(PUZZLES) == 10
    assert MAX_TYPED_MAGNITUDE == 20
