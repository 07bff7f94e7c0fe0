"""The drawers of a lesson: numbered in the order of use; the browser ticks those that it has opened."""

import json

import pytest

from attention_core.learned.language.removed_parts import read_removed_figures
from tests.screen.lesson import Lesson


def icons(lesson):
    """What stands before the title of each drawer, from top to bottom."""
    return [box.proto.icon for box in lesson.at.expander]


def seen(lesson):
    """What the browser is told of the drawers."""
    (part,) = lesson.parts("seen_drawers")
    return json.loads(part.proto.json)


def test_drawers_are_numbered_and_the_browser_is_told_which_are_open():
    lesson = Lesson("qkv")
    numbers = icons(lesson)
    assert numbers == [f":material/counter_{number}:" for number in range(1, 1 + len(numbers))]
    assert seen(lesson)["opened"] == [] and len(seen(lesson)["drawn"]) == len(numbers)
    lesson.send(lesson.at.expander[0].proto.id, bool_value=True)
    assert seen(lesson)["opened"] == seen(lesson)["drawn"][:1]
    assert icons(lesson.go_to("masks").go_to("qkv")) == numbers


NATS = {"masks": ("future", "mask"), "scale": ("breaks", "scale"), "positions": ("order", "positions")}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("slug", NATS)
def test_a_claim_has_its_counterpart_in_a_trained_model(slug, language):
    drawer, part = NATS[slug]
    figures = read_removed_figures()[f"{language}_asked_decoder"]
    lesson = Lesson(slug, open=drawer, lang=language)
    assert lesson.says(f"{figures.whole:.2f}") and lesson.says(f"{getattr(figures, part):.2f}")
    lesson.press("door_trained")
    assert lesson.at.session_state["setup"].example == f"model_{language}_decoder"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_head_a_layer_has_its_counterpart(language):
    figures = read_removed_figures()[f"{language}_asked_decoder"]
    lesson = Lesson("heads", open="bring", lang=language)
    assert lesson.says(f"{min(figures.heads):.2f}") and lesson.says(f"{max(figures.heads):.2f}")
