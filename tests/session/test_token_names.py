"""A word that stands there more than once: its place, written alike in sentences and pictures, in both languages."""

import re

import pytest

from pages.runs.cache import trace_for
from pages.session.labels import name_token
from pages.setup.setup import make_setup
from pages.site.words import CONTENT_FOLDER
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson


@pytest.mark.parametrize(
    "lang, fact, tie",
    [
        ("en", "Head 1: “it” gives 49 % each to “dog #1” and “dog #3”.", "it: 2 words tied"),
        ("zh", "头 1：“it”给“dog #1”和“dog #3”各分配 49% 的注意力。", "it：2 个词并列"),
    ],
)
def test_a_sentence_says_the_place_and_the_rail_a_tie(lang, fact, tie):
    screen = Screen(text="dog fed dog it", lang=lang, ex="en_it")
    assert screen.fact() == fact
    assert screen.heads()[0].endswith(tie)


def test_of_many_words_that_tie_none_is_named():
    screen = Screen(text="dog dog dog dog dog it", lang="en", ex="en_it")
    assert screen.fact() == "Head 1: “it” splits its attention evenly over 5 of 6 tokens: 20 % each."


def test_the_few_words_that_are_drawn_of_many_carry_their_places():
    screen = Screen(text=" ".join(["dog", "it", *["fed"] * 80]), t="1", lang="en")
    words = screen.words("S")
    assert words[:4] == ["dog", "it", "fed #3", "fed #4"] and words[81] == "fed #82"


def test_bars_have_the_short_names():
    lesson = Lesson("explanation", lang="en", text_vote="+-+")
    assert {"+ #1", "-", "+ #3"} <= set(lesson.table("own_vote")["text"])


def test_the_sign_that_a_text_of_a_model_begins_with_is_not_counted():
    trace = trace_for(make_setup(example="model_en", text="the dog fed the cat ."))
    assert trace.labels["T"][0] == "<start>"
    names = [name_token(trace, "T", position) for position in range(7)]
    assert names == ["<start>", "the #1", "dog", "fed", "the #4", "cat", "."]


def test_no_text_writes_a_place_in_another_way():
    texts = {path: path.read_text(encoding="utf-8") for path in CONTENT_FOLDER.rglob("*.toml")}
    assert len(texts) > 40
    assert [str(path) for path, text in texts.items() if re.search(r"\(no\. \{|（第 ?\{\w+\} ?个）", text)] == []
