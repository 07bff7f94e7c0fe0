"""The drawers of a lesson: numbered in the order of use, ticked where they were opened on an earlier visit."""

import pytest

from attention_core.learned.language.removed_parts import read_removed_figures
from tests.screen.lesson import Lesson


def icons(lesson):
    """What stands before the title of each drawer, from top to bottom."""
    return [box.proto.icon for box in lesson.at.expander]


def test_drawers_are_numbered_and_what_was_opened_on_an_earlier_visit_is_ticked():
    lesson = Lesson("qkv")
    first, *others = icons(lesson)
    assert [first, *others] == [f":material/counter_{number}:" for number in range(1, 2 + len(others))]
    drawer = lesson.at.expander[0].proto.id
    lesson.send(drawer, bool_value=True)
    assert lesson.at.expander[0].proto.expanded
    assert icons(lesson) == [first, *others]  # the mark does not come while one reads
    lesson.go_to("masks").go_to("qkv")
    assert icons(lesson) == [":material/check_circle:", *others]


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
