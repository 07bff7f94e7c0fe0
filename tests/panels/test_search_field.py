"""The search on the server: what can be found leads somewhere, and what a browser sends is checked."""

import re
from collections import Counter

import pytest

from attention_core.examples.examples import EXAMPLES
from pages.setup.codec import setup_from_link
from pages.site.catalog import LESSONS, PAGES, PAGES_BY_SLUG
from pages.site.controls import CONTROLS
from pages.site.findable import list_findable
from pages.site.milestones import MILESTONES
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import load_app_texts
from tests.screen.lesson import Lesson

FOUND = list_findable()


def test_all_that_there_is_can_be_found_and_has_a_title_in_both_languages():
    counts = Counter(found.kind for found in FOUND)
    assert counts["lesson"] + counts["page"] == len(PAGES) and counts["lesson"] == len(LESSONS)
    drawers = [key for key in load_app_texts("en") if re.match(r"lessons\.\w+\.drawer\.", key)]
    assert counts["drawer"] == len([key for key in drawers if key.split(".")[1] in LESSONS])
    assert counts["sign"] == len(GLOSSARY_SIGNS) and counts["history"] == len(MILESTONES)
    assert counts["example"] == len(EXAMPLES) and counts["control"] == len(CONTROLS)
    for found in FOUND:
        assert found.slug in PAGES_BY_SLUG
        assert all(found.titles[language] and "{" not in found.titles[language] for language in ("en", "zh"))


def test_an_example_is_what_its_link_opens():
    for found in FOUND:
        if found.kind == "example":
            setup, unread = setup_from_link(found.link)
            assert (setup.run.example, unread) == (found.link["ex"], [])


def check_drawers_found(slug):
    """The search offers the drawers of a lesson in the order in which its page shows them."""
    labels = [box.label for box in Lesson(slug, lang="zh").at.expander]
    drawers = [found.titles["zh"] for found in FOUND if (found.kind, found.slug) == ("drawer", slug)]
    assert [label for label in labels if label in drawers] == drawers


def test_the_drawers_that_can_be_found_are_those_of_a_lesson():
    check_drawers_found("cost")


@pytest.mark.slow
@pytest.mark.parametrize("slug", LESSONS)
def test_the_drawers_of_every_lesson_can_be_found_in_its_order(slug):
    check_drawers_found(slug)


def test_what_is_chosen_opens_from_a_lesson():
    number = next(number for number, found in enumerate(FOUND) if found.link == {"open": "bring"})
    lesson = Lesson("cost", lang="en").send_part("search", "chosen", number)
    assert lesson.at.session_state["page"] == "heads"
    assert lesson.at.query_params["open"] == "bring"


@pytest.mark.parametrize("sent", [-1, len(FOUND), True, "0", 0.0, None, [], {"a": 1}])
def test_what_no_search_sends_opens_nothing(sent):
    lesson = Lesson("cost", lang="en").send_part("search", "chosen", sent)
    assert lesson.at.session_state["page"] == "cost"


@pytest.mark.parametrize(
    ("word", "control"),
    [
        ("how many heads", "heads"),
        ("多少个头", "heads"),
        ("头数", "heads"),
        ("graphics card", "device"),
        ("显卡", "device"),
        ("CUDA", "device"),
        ("upload", "file"),
        ("上传", "file"),
        ("file", "mode"),
        ("NumPy", "file"),
        ("JSON", "file"),
        ("paste", "matrix"),
        ("粘贴", "matrix"),
        ("CSV", "editors"),
        ("Excel", "editors"),
    ],
)
def test_words_of_a_beginner_lead_to_the_control(word, control):
    (found,) = [each for each in FOUND if each.kind == "control" and each.link == {"control": control}]
    told = [*found.titles.values(), *found.details.values()]
    assert any(word in text for text in told)
