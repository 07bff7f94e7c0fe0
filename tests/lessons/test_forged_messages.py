"""What a browser names may be anything: a run says whether it has it, and never raises."""

import math

import pytest
import torch

from attention_core import attend
from pages.components.messages import CELL, UnfitMessage, read
from pages.lessons import opened_cell

TRACE = attend(torch.eye(3))
GOOD = [0, 0, 1, 2]
PLACES = [*("a", "0", "", "١"), None, True, False, 0.5, 1.0, math.nan, math.inf, -1, 3, 10**400, [0], {}, {"a": 0}, ()]
FORGED = [
    *[[*GOOD[:at], place, *GOOD[at + 1 :]] for at in range(4) for place in PLACES],
    *([], GOOD[:3], [*GOOD, 0], [GOOD], "0012", {}, {"0": 0}, None, 0, 0.5, True, math.nan),
]
NAMES = ["", "nothing", None, 0, True, math.nan, [], ["weights"], {}, {"weights": 1}, ("weights",)]


@pytest.mark.parametrize("index", FORGED, ids=repr)
def test_a_forged_index_is_held_by_no_run(index):
    assert not TRACE.holds("weights", index)
    assert not TRACE.holds("weights", tuple(index) if isinstance(index, list) else index)


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_forged_step_is_held_by_no_run(name):
    assert not TRACE.holds(name, tuple(GOOD))
    assert TRACE.holds("weights", tuple(GOOD))


def click(message):
    """A click on a picture, as its component hands it on."""
    try:
        cell = read(CELL, message)
    except UnfitMessage:
        return
    opened_cell.handle_picture_click("hero", {"": TRACE}, cell)


@pytest.mark.parametrize("sent", [*FORGED, *NAMES], ids=repr)
def test_a_forged_click_on_a_picture_opens_nothing(sent, monkeypatch):
    opened = []
    monkeypatch.setattr(opened_cell, "toggle_opened_cell", lambda *named: opened.append(named))
    messages = [sent, {"step": sent, "index": GOOD}, {"step": "weights", "index": sent}, {"step": "weights"}]
    for message in [*messages, {"step": "a:weights", "index": GOOD}]:
        click(message)
    assert not opened
    click({"step": "weights", "index": GOOD})
    assert len(opened) == 1
