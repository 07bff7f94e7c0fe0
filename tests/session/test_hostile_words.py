"""Words that are code, markup or invisible are shown as they are."""

import re

import pytest

from pages.site.words import escape_markdown
from tests.screen.driver import Screen, plain

HOSTILE = [
    "<script>alert(1)</script>",
    "<b>x</b>",
    "**x**",
    "_x_ `y`",
    "$x^2$",
    "$$",
    ":red[x]",
    ":smile:",
    ":streamlit:",
    ":material/home:",
    "[a](http://b.c)",
    "![a](b)",
    "www.example.com",
    "https://example.com",
    "a@b.cd",
    "a -> b",
    "a <-> b -- c >= d",
    "# h",
    "1. a",
    "{0}",
    "\\frac",
    "&lt;",
    "~~x~~",
    ":::note",
]
# What Streamlit makes of a text after its escapes are undone: addresses, names between colons, arrows.
MADE_OF_TEXT = re.compile(r"https?://|www\.|[\w.+-]@[\w-]|:[\w+/-]+:|<-|->|--|>=|<=|~=")
ESCAPABLE = "\\`*_{}[]()#+-.!|<>~$:&^=\"'/@"


def test_literal_leaves_no_mark_active():
    for text in [*HOSTILE, *(a + b for a in ESCAPABLE for b in ESCAPABLE), ESCAPABLE]:
        written = escape_markdown(text)
        assert plain(written) == text
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", written)  # what is left when every escaped sign is taken out
        assert not set(ESCAPABLE) & set(bare), text
        assert not MADE_OF_TEXT.search(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written)), text


def test_literal_keeps_one_line_and_leaves_plain_words_alone():
    assert escape_markdown("a\nb") == "a b"
    assert escape_markdown("狗 dog 3,5; “it”？") == "狗 dog 3,5; “it”？"
    assert escape_markdown(7) == "7"


def test_hostile_words_are_shown_as_they_are():
    screen = Screen()
    for start in range(0, len(HOSTILE), 8):
        words = HOSTILE[start : start + 8]
        screen.set("text", "|".join(words))
        assert screen.words() == words
        for n, word in [*enumerate(words)][:: len(words) - 1]:
            screen.look_at(query=n)
            assert f"“{word}”" in screen.fact()
        screen.click_cell("flow", "weights", f"0,0,{start // 8},{len(words) - 1}")
        title = screen.look()["sum"]["title"]
        assert title.startswith("weights [") and words[-1] in title


@pytest.mark.parametrize("typed", ["**x** y $z$ :red[a]", "<b>1</b> 2", "www.example.com 2", "\u202e1 2"])
def test_a_refusal_repeats_hostile_cells_literally(typed):
    screen = Screen(x="~").set("x", typed)
    (error,) = [error.value for error in screen.at.error]
    quoted = re.search("“(.*)”", error)[1]
    assert escape_markdown(plain(quoted)) == quoted
    assert "\u202e" not in error


def test_a_link_that_cannot_be_read_is_repeated_on_one_line_and_from_left_to_right():
    (error,) = Screen(heads="a\r\r    **x** \u202eb").errors()
    assert "a⟨U+000D⟩⟨U+000D⟩    **x** ⟨U+202E⟩b" in error
    (error,) = Screen(w_q="~a\r\r    <b>").errors()
    assert "\r" not in error and "\n" not in error


def test_no_two_choices_are_alike():
    screen = Screen(text="the|the|the #1|dog", step="weights", cell="0,0,0,0")
    assert screen.widget("axis_weights_3").options == ["1: the #1", "2: the #2", "3: the #1", "4: dog"]
    assert screen.set("axis_weights_3", 2).link()["cell"] == "0,0,0,2"


def test_invisible_characters_are_written_out():
    screen = Screen(text="a\u202eb|it")
    assert screen.words() == ["a⟨U+202E⟩b", "it"]
    assert "\u202e" not in " ".join(text.value for text in screen.at.markdown)
