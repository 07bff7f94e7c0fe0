"""What makes the weights, on the workbench: chosen, numbered, refused at its place, in link, undo and words."""

import math

import pytest

from pages.runs.cache import trace_for
from pages.setup.resolve import config_of
from pages.setup.setup import Setup, make_setup
from tests.screen.driver import Screen, it_to_dog

DOG = 6 / math.sqrt(2)  # the score of dog for "it"; that of Anna is its negative, of five others 0


def sunk_share(sink: float) -> float:
    return math.exp(DOG) / (math.exp(DOG) + math.exp(-DOG) + 5 + math.exp(sink))


def sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-number))


def test_a_sink_takes_its_part_and_the_screen_says_where_it_went():
    screen = Screen(lang="en")
    screen.set("normaliser", "sinks")
    assert screen.link()["norm"] == "sinks"
    assert screen.weight(5, 3) == pytest.approx(sunk_share(0))  # exp(0) = 1
    screen = Screen(lang="en", norm="sinks", sinks="4.2426406871,0")
    assert screen.weight(5, 3) == pytest.approx(sunk_share(DOG))
    sunk = math.exp(DOG) / (2 * math.exp(DOG) + math.exp(-DOG) + 5)
    assert f"The sink takes {100 * sunk:.0f} %, which goes to no token." in screen.fact()
    screen.set("normaliser", "softmax")
    assert "norm" not in screen.link() and screen.weight(5, 3) == pytest.approx(it_to_dog(1 / math.sqrt(2)))
    assert "sink" not in screen.fact()


def test_a_sigmoid_weighs_each_key_for_itself_and_claims_no_share():
    screen = Screen(lang="en")
    screen.set("normaliser", "sigmoid")
    assert screen.weight(5, 3) == pytest.approx(sigmoid(DOG - 2))
    screen.set("sigmoid_bias", -1.5)
    assert screen.link()["norm"] == "sigmoid:-1.5"
    weights = [sigmoid(score - 1.5) for score in (-DOG, 0, 0, DOG, 0, 0, 0)]
    assert screen.weight(5, 3) == pytest.approx(weights[3])
    told = f"need not sum to 1. They sum to {sum(weights):.2f}; the largest is that of “dog”, {weights[3]:.2f}"
    assert told in screen.fact() and "of its attention" not in screen.fact()


WRONG = ["hard", "sigmoid:x", "sigmoid:nan", "sigmoid:1e999", "softmax,sinks", ":", "sigmoid:"]


@pytest.mark.parametrize("text", WRONG)
def test_a_link_with_a_wrong_normaliser_says_so_and_shows_the_rest(text):
    screen = Screen(lang="en", norm=text, temp="2")
    assert screen.errors()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1 / math.sqrt(2) / 2))


def test_a_setup_says_it_to_the_core():
    assert config_of(make_setup(normaliser="sigmoid:-1.5").run).normaliser == ("sigmoid", {"bias": -1.5})
    assert config_of(make_setup(normaliser="sigmoid").run).normaliser == ("sigmoid", {"bias": -2.0})
    assert config_of(Setup().run).normaliser == ("softmax", {})


def test_sinks_are_one_a_head_with_every_number_of_heads():
    for heads in (1, 2, 4):
        assert trace_for(make_setup(normaliser="sinks", heads=heads))["sinks"].shape == (heads,)


def test_it_is_said_in_chinese():
    screen = Screen(lang="zh", ex="en_it", norm="sigmoid")
    assert screen.widget("normaliser").label == "权重的算法"
    assert screen.widget("sigmoid_bias").label == "sigmoid：加到每个得分上的数"
    assert "各个权重之和不必是 1" in screen.fact()
