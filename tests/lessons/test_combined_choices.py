"""Choices that are good each by itself, and may be refused together: a sentence says so, never a traceback."""

import re
from itertools import combinations, islice
from math import comb

import pytest

from attention_core.record.errors import AttentionError
from pages.panels import link_controls, live_slider
from pages.panels.control import Control
from pages.panels.lesson_choices import format_choice
from pages.site.catalog import LESSONS
from pages.site.words import LANGUAGES
from tests.screen.drawn_part import draw_part
from tests.screen.lesson import Lesson, record_of

TOO_LARGE = {"numbers": "own", "shift": "1000", "logits": "0,999999"}
SENTENCE = {"en": "must lie between -1000000 and 1000000", "zh": "必须在 -1000000 和 1000000 之间"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_refused_in_a_drawer_is_said_there_and_mended_there(lang):
    lesson = Lesson("softmax", open="stable,sharp", lang=lang, **TOO_LARGE)
    (error,) = lesson.errors()
    assert SENTENCE[lang] in error
    stable, sharp = (lesson.at.expander[place] for place in (0, 2))
    assert len(stable.error) == 1 and stable.select_slider and not sharp.error
    assert lesson.has_picture() and lesson.parts("softmax_hero")  # the page and the other drawer are drawn
    mended = lesson.set("shift", 1)
    assert mended.errors() == [] and "stable_weights" in mended.charts()


def test_the_slide_of_a_drawer_says_what_is_refused():
    (warning,) = draw_part("softmax", "stable", **TOO_LARGE).warnings
    assert SENTENCE["en"] in warning


def test_what_is_refused_on_the_page_itself_ends_the_page_with_its_sentence(monkeypatch):
    def refuse(*given, **choices):
        raise AttentionError("no_tokens")

    monkeypatch.setattr("pages.lessons.softmax.drawers.setup_with_scores", refuse)
    assert Lesson("softmax").errors() == ["the text must hold at least one word: it is empty"]
    assert draw_part("softmax").warnings == ["the text must hold at least one word: it is empty"]


# ---- all lessons: every pair of controls, each at both its ends ------------------------------------------------------
TRAINED = ("bottleneck", "scale", "induction", "explanation", "meaning")  # opened, they train or draw for seconds
NUMBERS = re.compile(r"[\s\d.,;−-]+")
LARGEST = "999999"


def long_texts(text):
    """Texts to try instead of one that a lesson begins with, the largest first."""
    if NUMBERS.fullmatch(text):
        return [re.sub(r"\d+(\.\d+)?", LARGEST, text)]
    words = text.split() or ["word"]
    return [" ".join((words * 40)[:count]) for count in (64, 32, 16, 12, 10, 8)]


def is_accepted(text, check):
    try:
        check(text)
    except (AttentionError, ValueError):
        return False
    return True


@pytest.fixture
def found(monkeypatch):
    """The controls that a page draws: {name: the texts of both its ends, as a link has them}."""
    ends = {}

    def note(name, options):
        first, *_, last = (*options, *options)
        ends.setdefault(name, (format_choice(first), format_choice(last)))

    def text_control(name, default, check):
        if name not in ends:
            longest = next((text for text in long_texts(default) if is_accepted(text, check)), default)
            note(name, (default, longest))
        return made_text(name, default, check)

    def draw(self, widget, offered=None, label=None, **how):
        if offered is not None and not isinstance(self.value, tuple):
            note(self.name, offered)
        elif widget.__name__ == "toggle":
            note(self.name, (False, True))
        elif widget.__name__ == "number_input":
            note(self.name, (how["min_value"], how["max_value"]))
        drawn(self, widget, offered, label, **how)

    def draw_slider(control, data, *given, **how):
        note(control.name, data["values"])
        made_slider(control, data, *given, **how)

    made_text, drawn, made_slider = link_controls.text_control, Control.draw, live_slider.draw_slider
    monkeypatch.setattr(link_controls, "text_control", text_control)
    monkeypatch.setattr(Control, "draw", draw)
    monkeypatch.setattr(live_slider, "draw_slider", draw_slider)
    return ends


def covering_rows(count):
    """Rows of 0 and 1, so few that any two of `count` columns have 00, 01, 10 and 11 somewhere (Kleitman and Spencer
    1973): a row of zeros, then as columns different choices of half of the other rows.
    """
    size = next(size for size in range(4, 20) if comb(size - 1, size // 2) >= count)
    chosen = [*islice(combinations(range(size - 1), size // 2), count)]
    return [[0] * count, *([int(row in column) for column in chosen] for row in range(size - 1))]


def test_the_rows_cover_every_pair():
    for count in (2, 7, 21):
        for one, other in combinations(zip(*covering_rows(count), strict=True), 2):
            assert {*zip(one, other, strict=True)} == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug in LESSONS if slug not in TRAINED])
def test_no_two_choices_end_in_a_traceback(slug, found):
    """Each lesson is a page for every row, with all its drawers open; Lesson asks for no exception."""
    opened = {"open": ",".join(record_of(slug).drawers), "lang": "en"}
    for end in (0, -1):  # so that the controls of other tabs are found, too
        Lesson(slug, **{name: ends[end] for name, ends in found.items()}, **opened)
    names = [*found]
    for row in covering_rows(len(names)):
        lesson = Lesson(slug, **{name: found[name][end] for name, end in zip(names, row, strict=True)}, **opened)
        assert lesson.has_picture()
