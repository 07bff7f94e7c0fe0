"""What a visitor who has left leaves in memory: not the runs that were on the screen, however large they were."""

from itertools import cycle, islice

import numpy as np
import pytest
import torch

from attention_core import Trace
from pages.setup.setup import DEFAULT_SETUP, PANEL_NAMES
from pages.site.catalog import PAGES
from tests.screen.driver import Screen
from tests.screen.held import held_by, reached, size_of
from tests.screen.lesson import Lesson

MOST_BYTES = 1_000_000  # of a session whose drawers are all open, beside what was uploaded: docs/limits.md says it
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "looked", "at", "another", "dog"]
LARGE = {"ex": "eight_heads", "text": " ".join(islice(cycle(WORDS), 512))}  # 8 heads of 512 tokens: a run of 80 MB
ACTS = {
    "opened": [],
    "changed": [("temperature", 2.0), ("masks", ["causal", "sliding", "global"])],
    "of a matrix": [("mode", "matrix")],
    "of q, k, v": [("mode", "qkv")],
    "with a batch": [("batch", True)],
}
LINKS = [{}, {"ex": "model_en"}, {"ex": "model_en_decoder"}, {"ex": "translator"}, {"ex": "built_heads"}]


def held_bytes(session) -> int:
    return sum(size_of(each) for each, _ in held_by(session.at))


def runs_held(session) -> list[tuple[str, ...]]:
    """The way to each run that a session holds."""
    return [tuple(type(on).__name__ for on in way) for each, way in held_by(session.at) if isinstance(each, Trace)]


def test_what_is_held_is_counted_whole():
    numbers = torch.zeros(1000, dtype=torch.float64)
    run = Trace({}, {"T": ()})
    callback = lambda: numbers.sum()  # noqa: E731
    assert sum(size_of(each) for each, _ in reached({"key": [callback]})) > 8000
    assert sum(size_of(each) for each, _ in reached(np.zeros(1000))) > 8000
    assert any(each is run for each, _ in reached({"a": (lambda: run, 1)}))


@pytest.mark.parametrize("acts", ACTS.values(), ids=ACTS)
def test_a_workbench_that_was_left_holds_no_run(acts):
    screen = Screen(**LARGE if acts == [] else {})
    for control, value in acts:
        screen.set(control, value)
    assert runs_held(screen) == []
    assert held_bytes(screen) < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("link", [*LINKS, *[{"ex": "model_en", "panel": panel} for panel in PANEL_NAMES]])
def test_no_kind_of_input_or_panel_of_the_workbench_leaves_a_run(link):
    screen = Screen(**link)
    assert runs_held(screen) == [] and held_bytes(screen) < MOST_BYTES
    if screen.parts("c_temperature"):
        screen.set("temperature", 2.0)
        assert runs_held(screen) == [] and held_bytes(screen) < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("slug", [page.slug for page in PAGES if page.slug != "workbench"])
def test_no_page_leaves_more(slug):
    assert held_bytes(Lesson(slug)) < MOST_BYTES


def test_who_comes_back_finds_the_same_screen():
    """The thread that drew the page has ended, and with it all that it kept: a click and a change still work."""
    screen = Screen().set("temperature", 2.0)
    before = screen.weight(5, 3)
    screen.click_cell("flow", "weights", "0,0,5,3").set("masks", ["causal"]).set("masks", [])
    assert screen.weight(5, 3) == before
    assert screen.setup() != DEFAULT_SETUP
