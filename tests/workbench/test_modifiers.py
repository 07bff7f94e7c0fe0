"""Modifiers on the workbench: switched on, numbered, refused at their place, in link, undo and files."""

import math

import pytest

from pages.setup.resolve import config_of
from pages.setup.setup import make_setup
from tests.screen.driver import Screen, it_to_dog, score_of, softmax


def capped_share(cap: float) -> float:
    """The weight of dog for "it" under a cap: its score is 6/√2, that of Anna -6/√2, and of five others 0."""
    dog = cap * math.tanh(6 / math.sqrt(2) / cap)
    return softmax([-dog, 0, 0, dog, 0, 0, 0], 3)


def test_a_cap_is_put_on_numbered_and_taken_off():
    screen = Screen(lang="en")
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1 / math.sqrt(2)))
    screen.set("modifiers", ["softcap"])
    assert screen.link()["mod"] == "softcap:50"
    assert screen.weight(5, 3) == pytest.approx(capped_share(50))
    screen.set("softcap_cap", 1.5)
    assert screen.link()["mod"] == "softcap:1.5"
    assert screen.weight(5, 3) == pytest.approx(capped_share(1.5))
    assert "capped_scores" in screen.steps()
    screen.set("modifiers", [])
    assert "mod" not in screen.link()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1 / math.sqrt(2)))
    assert score_of(screen, 5, 3) == 6


@pytest.mark.parametrize(
    ("cap", "says"), [(0.0, "“Score cap: limit of every score” must be a finite number above 0"), (-2.0, "got -2.0")]
)
def test_a_cap_that_caps_nothing_is_refused_where_it_stands_and_nothing_is_lost(cap, says):
    screen = Screen(lang="en", mod="softcap:3")
    screen.set("softcap_cap", cap)
    assert says in screen.error_at("c_softcap_cap")
    assert screen.link()["mod"] == "softcap:3"
    assert screen.weight(5, 3) == pytest.approx(capped_share(3))


@pytest.mark.parametrize(
    "text", ["softcap:0", "softcap:x", "softcap:1e999", "softcap:nan", "softcap:-3", "hard", ":", "softcap:1:2:3:x"]
)
def test_a_link_with_a_wrong_modifier_says_so_and_shows_the_rest(text):
    screen = Screen(lang="en", mod=text, temp="2")
    assert screen.errors()
    assert "capped_scores" not in screen.steps()


def test_a_setup_says_it_to_the_core():
    assert config_of(make_setup(modifiers=("softcap:2.5",)).run).modifiers == (("softcap", {"cap": 2.5}),)
    assert config_of(make_setup(modifiers=("softcap",)).run).modifiers == (("softcap", {"cap": 50.0}),)


def test_it_is_said_in_chinese():
    screen = Screen(lang="zh", ex="en_it", mod="softcap:3")
    assert screen.widget("modifiers").label == "附加的步骤"
    assert screen.widget("softcap_cap").label == "得分上限：上限的数值"


def test_two_positions_that_turn_have_controls_of_their_own():
    screen = Screen(lang="en", pos="rope,decoupled_rope")
    screen.set("decoupled_rope_style", "half")
    assert screen.link()["pos"].startswith("rope,decoupled_rope:half")
