"""The link of a lesson says where the Chinese words of its texts end, as the workbench's link does."""

import pytest

from tests.screen.lesson import Lesson

BRIDGE = "南京市长江大桥"


def tokens(lesson):
    """The words of the run that the lesson is about."""
    return lesson.at.session_state["lesson_run"].run.text.split()


def test_a_lesson_states_the_cut_and_keeps_another_one():
    lesson = Lesson("start", ex="zh_ta", lang="zh", text=BRIDGE)
    assert lesson.errors() == [] and lesson.link()["cut"] == "34" and lesson.link()["text"] == BRIDGE
    other = Lesson("start", **lesson.link() | {"cut": "232"})
    assert other.errors() == [] and tokens(other) == ["南京", "市长江", "大桥"]
    assert "cut" not in other.link()  # its spaces say it
    again = Lesson("start", **other.link())
    assert tokens(again) == tokens(other)
    other.set("text", "我很好")
    assert other.link()["cut"] == "111"


@pytest.mark.parametrize("cut", ["3", "341", "0", "長", "", "nobody:34", "said:34"])
def test_a_cut_that_fits_no_text_is_named_and_the_text_stays(cut):
    lesson = Lesson("start", ex="zh_ta", lang="zh", text=BRIDGE, cut=cut)
    (said,) = lesson.errors()
    assert f"cut={cut}" in said.replace("`", "").replace("\\", "")
    assert lesson.link()["text"] == BRIDGE and lesson.link()["cut"] == "34"


def test_each_text_of_a_lesson_has_its_own_cut_also_in_a_drawer_that_is_closed():
    link = {"ex": "zh_ta", "lang": "zh", "text": "我很好", "routed": BRIDGE, "cut": "111,routed:232"}
    closed = Lesson("cost", **link)
    assert closed.errors() == [] and closed.link()["routed"] == BRIDGE and "routed:232" in closed.link()["cut"]
    opened = Lesson("cost", **closed.link() | {"open": "skip"})
    assert opened.errors() == [] and "routed:" not in opened.link().get("cut", "")
    assert opened.link()["routed"] == "南京 市长江 大桥"  # its spaces say the cut now


def test_beside_a_control_of_that_name_the_cut_has_another_one():
    lesson = Lesson("heads", ex="zh_colour", lang="zh", text="白马追黑狗", open="split", cut="merge")
    assert "words_cut" in lesson.link() and lesson.link()["cut"] == "merge"


def test_links_of_before_and_of_english_texts_have_none():
    assert "cut" not in Lesson("start", ex="en_it", text="my dog sleeps").link()
    assert "cut" not in Lesson("start", ex="zh_ta", lang="zh").link()
