"""What a browser says that a hand has dragged: taken where it can be meant, and never a traceback."""

import math

import numpy as np
import pytest

from attention_core.exercises.plane_goals import plane_goals
from pages.runs import cache
from tests.screen.driver import Screen

IT, DOG = 5, 3
Q_OF_IT = {"handle": "q", "batch": 0, "head": 0, "place": IT, "vector": [0.0, 3.5]}
HOSTILE = [
    None,
    "q",
    [],
    {},
    {"handle": "q"},
    {"handle": "w_q", "batch": 0, "head": 0, "place": 0, "vector": [0, 0]},
    {"handle": "__class__", "batch": 0, "head": 0, "place": 0, "vector": [0, 0]},
    Q_OF_IT | {"place": 7},
    Q_OF_IT | {"place": -1},
    Q_OF_IT | {"place": 1.0},
    Q_OF_IT | {"place": True},
    Q_OF_IT | {"batch": 1},
    Q_OF_IT | {"head": 1},
    Q_OF_IT | {"head": "0"},
    Q_OF_IT | {"vector": [0.0]},
    Q_OF_IT | {"vector": [0.0] * 100_000},
    Q_OF_IT | {"vector": [0.0, "1"]},
    Q_OF_IT | {"vector": [0.0, None]},
    Q_OF_IT | {"vector": [0.0, True]},
    Q_OF_IT | {"vector": [0.0, 1e300]},
    Q_OF_IT | {"vector": [0.0, 10**400]},
    Q_OF_IT | {"vector": {"0": 1}},
    {"handle": "temperature"},
    {"handle": "temperature", "value": "1"},
    {"handle": "temperature", "value": True},
    {"handle": "temperature", "value": None},
    {"handle": "temperature", "value": 0},
    {"handle": "temperature", "value": -1.0},
    {"handle": "temperature", "value": 1e-320},
    {"handle": "temperature", "value": 10.5},
    {"handle": "temperature", "value": 10**400},
]


def release(screen, **said):
    return screen.click_part("look", "released", said)


def vector(screen, role, place, head=0):
    return cache.trace_for(screen.setup())[role][0, head, place].tolist()


@pytest.mark.parametrize("said", HOSTILE, ids=repr)
def test_what_no_hand_can_mean_changes_nothing(said):
    screen = Screen(ex="en_plane")
    screen.click_part("look", "released", said)
    assert screen.link() == {"ex": "en_plane"} and screen.errors() == []


def test_a_dragged_query_is_the_one_that_the_run_then_has():
    screen = release(Screen(ex="en_plane"), **Q_OF_IT)
    assert vector(screen, "q", IT) == [0.0, 3.5]
    assert screen.link() == {"ex": "en_plane", "w_q": "1,1;0,1.75;0,1.75;-1,-1;0,0"}  # by hand: (2, 1.5) / 2 added
    scores = [3.5, -7, -3.5, 3.5, -3.5, 0, -3.5]  # (0, 3.5) times each key
    powers = [math.exp(score / 2**0.5) for score in scores]
    assert screen.weight(IT, DOG) == pytest.approx(powers[DOG] / sum(powers), abs=1e-12)
    assert [goal["reached"] for goal in screen.flow()["plane"]["goals"]] == [True, False]
    release(screen, **Q_OF_IT | {"vector": [0.0, 1.0]})  # as even, but others have a part
    assert [goal["reached"] for goal in screen.flow()["plane"]["goals"]] == [False, False]


def test_a_head_of_several_moves_alone():
    screen = Screen()
    before = vector(screen, "v", DOG, head=0)
    release(screen, handle="v", batch=0, head=1, place=DOG, vector=[2.5, -1.0])
    assert vector(screen, "v", DOG, head=1) == [2.5, -1.0] and vector(screen, "v", DOG, head=0) == before
    assert set(screen.link()) == {"w_v"}


def test_heads_that_share_keys_move_theirs():
    screen = Screen(kv="1")
    width = len(vector(screen, "k", DOG))
    wanted = [1.5, -0.5, 2.0, 0.25][:width]
    release(screen, handle="k", batch=0, head=1, place=DOG, vector=wanted)
    assert vector(screen, "k", DOG) == pytest.approx(wanted)


def test_given_vectors_take_the_numbers_in_their_row_alone():
    screen = Screen(ex="one_query")
    before = cache.inputs_of(screen.setup()).matrices["k"].copy()
    wanted = [0.5, -1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 3.0]
    release(screen, handle="k", batch=0, head=0, place=2, vector=wanted)
    after = cache.inputs_of(screen.setup()).matrices["k"]
    assert after[2].tolist() == pytest.approx(wanted, abs=1e-9)
    others = [0, 1, 3, 4]
    assert np.array_equal(after[others], before[others])
    assert set(screen.link()) == {"ex", "k"}


def test_exchanged_matrices_change_the_one_that_is_read():
    screen = release(Screen(ex="en_plane", wiring="swapped"), **Q_OF_IT)
    assert vector(screen, "q", IT) == pytest.approx([0.0, 3.5])
    assert set(screen.link()) == {"ex", "wiring", "w_k"}


@pytest.mark.parametrize(
    ("link", "role"),
    [
        ({"ex": "en_plane", "pos": "rope"}, "q"),
        ({"ex": "en_plane", "wiring": "tied"}, "k"),
        ({"ex": "en_plane", "w_q": "none", "w_k": "none", "w_v": "none"}, "v"),
    ],
)
def test_what_cannot_be_dragged_says_why_and_stays(link, role):
    screen = Screen(**link)
    described = screen.flow()["plane"]["roles"][role]
    assert described["why"]
    here = screen.link()
    width = len(vector(screen, role, DOG))
    release(screen, handle=role, batch=0, head=0, place=DOG, vector=[1.0] * width)
    assert screen.link() == here and screen.errors() == []


def test_a_word_whose_x_is_zero_cannot_be_dragged_and_says_so():
    screen = Screen(ex="en_it_sink")
    there = dict(screen.link())
    release(screen, handle="q", batch=0, head=0, place=3, vector=[1.0, 1.0])
    assert screen.link() == there
    assert screen.errors() == ["the x of the word must not be all zeros: every matrix turns it into zeros"]


def test_goals_belong_to_the_examples_own_words():
    assert len(Screen(ex="zh_plane").flow()["plane"]["goals"]) == len(plane_goals("zh_plane")) == 2
    assert Screen(ex="en_plane", text="Anna fed the cat").flow()["plane"]["goals"] == []
    assert Screen().flow()["plane"]["goals"] == []


def test_a_run_that_is_sent_in_part_has_no_plane():
    text = " ".join(f"word{number}" for number in range(70))
    flow = Screen(text=text).flow()
    assert "plane" not in flow and list(flow["text"]["views"]) == ["flow", "heads", "map"]
    (missing,) = flow["text"]["missing_views"]
    assert (missing["kind"], missing["why"]) == ("plane", "Drag: up to 64 tokens; here 70")
    (missing,) = Screen(text="word " * 40, heads="8", kv="1", ex="model_layer").flow()["text"]["missing_views"]
    assert missing["why"].startswith("Drag: up to 150,000 numbers; here ")
    assert Screen().flow()["text"]["missing_views"] == []
