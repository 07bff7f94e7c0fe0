"""A browser keeps each part of the page that says it shows the same: it must be the same that a whole new page has."""

import random

import pytest

from pages.session.fragments import PART_DEPENDENCIES
from tests.screen.driver import DRAWERS, KINDS
from tests.screen.kept_parts import KeptPartsScreen
from tests.session.test_walk import set_to_anything

STARTS = {  # a link, and the kind of input: each shows other controls
    "a sentence": ({}, "sentence"),
    "q, k and v": ({}, "qkv"),
    "a language model": ({"ex": "model_en_decoder", "panel": "heads"}, "sentence"),
}


@pytest.mark.parametrize("link, mode", STARTS.values(), ids=STARTS)
def test_no_control_changes_a_part_that_says_it_shows_the_same(link, mode):
    screen, dice = KeptPartsScreen(*DRAWERS, **link).set("mode", mode), random.Random(0)
    for key in [widget.key for kind in KINDS for widget in screen.at.get(kind)]:
        for widget in [widget for kind in KINDS for widget in screen.at.get(kind) if widget.key == key]:
            if not widget.disabled:
                set_to_anything(screen, widget, dice)


def test_a_part_that_does_not_say_all_that_it_shows_is_seen(monkeypatch):
    screen = KeptPartsScreen()
    monkeypatch.setitem(PART_DEPENDENCIES, "show_flow", lambda screen: None)
    screen.set("text", "the cat sat")
    with pytest.raises(AssertionError, match="show_flow"):
        screen.set("text", "the dog sat")
