"""The drawers of a lesson: numbered in the order of use, ticked where they were opened on an earlier visit."""

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
