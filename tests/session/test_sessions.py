"""Sessions side by side, undo, looking around."""

import pytest

from pages.runs import cache, compute
from pages.setup.codec import run_to_query
from pages.site.words import load_app_texts
from tests.screen.driver import WORDS, Screen, it_to_dog, softmax


def test_two_sessions_never_see_each_others_numbers():
    one, other = Screen(), Screen(lang="zh")
    one.set("temperature", 2.0)
    other.set("scale", "off")
    one.set("masks", ["causal"])
    assert other.blocked() == 0
    other.edit_cells({1: {0: 6.0}})
    assert one.weight(5, 3) == pytest.approx(softmax([-6 / 8**0.5, 0, 0, 6 / 8**0.5, 0, 0], 3), abs=1e-12)
    assert one.set("masks", []).weight(5, 3) == pytest.approx(it_to_dog(8**-0.5), abs=1e-12)
    assert other.weight(5, 3) == pytest.approx(it_to_dog(1.5), abs=1e-12)  # q_it = (-6, 3): 9 and -9
    assert one.fact().startswith("Head") and other.fact().startswith("头")
    assert set(one.link()) & {"w_q", "scale"} == set() and set(other.link()) & {"temp", "mask"} == set()
    one.press_labelled("Undo").press_labelled("Undo").press_labelled("Undo")
    assert one.link() == {}
    assert other.link()["w_q"] == "~1.0=6"


def test_undo_goes_back_step_by_step():
    screen = Screen()
    undo = load_app_texts("en")["header.undo"]
    states = [(run_to_query(screen.setup().run), screen.weight(5, 3))]
    for control, value in (("score", "dot"), ("temperature", 2.0), ("masks", ["causal"]), ("mode", "matrix")):
        screen.set(control, value)
        states.append((run_to_query(screen.setup().run), screen.weight(5, 3)))
    screen.edit_cells({1: {0: 0.5}})
    for link, weight in reversed(states):
        screen.press_labelled(undo)
        assert (run_to_query(screen.setup().run), screen.weight(5, 3)) == (link, weight)
    assert next(button for button in screen.at.button if button.label == undo).disabled
    screen.choose_example("zh_ta").press_labelled(undo)
    assert screen.link() == {}


def test_undo_takes_a_refusal_with_it():
    screen = Screen().set("score", "dot").set("text", "")
    screen.press_labelled("Undo")
    assert screen.errors() == [] and screen.link() == {}
    assert screen.widget("text").value == " ".join(WORDS)


def test_looking_around_computes_nothing(monkeypatch):
    runs = []
    monkeypatch.setattr(cache, "compute_run", lambda *given: runs.append(given) or compute.compute_run(*given))
    cache.cached_run.cache_clear()
    cache.latest_run.clear()
    screen = Screen(seed="4242")
    assert len(runs) == 1
    screen.look_at(query=1)
    assert screen.fact().startswith("Head 1: “fed” attends evenly")
    assert screen.link() == {"seed": "4242", "t": "1", "head": "0"}
    screen.click_cell("flow", "weights", "0,0,5,3")
    assert screen.link() == {"seed": "4242", "t": "5", "head": "0", "step": "weights", "cell": "0,0,5,3"}
    screen.open_step("scores")
    screen.click_cell("flow", "scores", "0,0,5,3")
    followed = {"step": "q", "index": [0, 0, 5, 0]}
    screen.click_part("look", "followed", followed)
    assert screen.link()["cell"] == "0,0,5,0" and screen.link()["step"] == "q"
    screen.press("other_language")
    assert len(runs) == 1
    screen.set("score", "dot")
    assert len(runs) == 2
    screen.press_labelled(load_app_texts("zh")["header.undo"])
    assert len(runs) == 2  # what was computed once is kept


def test_what_was_clicked_once_can_be_clicked_again():
    screen = Screen()
    for _ in range(3):
        assert screen.open_step("scores").link()["step"] == "scores"
        assert screen.click_cell("flow", "weights", "0,0,5,3").link()["cell"] == "0,0,5,3"
        assert "cell" not in screen.look_at(query=1).link()


def test_a_clicked_cell_shows_its_arithmetic():
    screen = Screen().click_cell("flow", "weights", "0,0,5,3").open_step("scores")
    screen.click_cell("flow", "scores", "0,0,5,3")
    pieces = screen.pieces()
    assert "".join(piece["text"] for piece in pieces) == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
    assert pieces[0]["step"] == "q" and pieces[0]["index"] == [0, 0, 5, 0]


def test_messages_from_the_browser_that_no_click_makes_do_no_harm():
    screen = Screen().click_cell("flow", "weights", "0,0,5,3")
    for value in (-1, 7, 10**9, "x", None, 1.5, {"a": 1}):
        screen.look_at(query=value)
    assert screen.link()["t"] == "5"
