"""The drawers of a lesson: numbered in the order of use; the browser ticks those that it has opened."""

import json
import math

import pytest

from attention_core.examples.examples import EXAMPLES
from attention_core.learned.language.removed_parts import REMOVED_FIGURES
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
    *counted, last = numbers  # the last one holds sources and method, which are no question
    assert counted == [f":material/counter_{number}:" for number in range(1, len(numbers))]
    assert last == ":material/notes:"
    assert seen(lesson)["opened"] == [] and len(seen(lesson)["drawn"]) == len(numbers)
    lesson.send(lesson.at.expander[0].proto.id, bool_value=True)
    assert seen(lesson)["opened"] == seen(lesson)["drawn"][:1]
    assert icons(lesson.go_to("masks").go_to("qkv")) == numbers


NATS = {"masks": ("future", "mask"), "scale": ("breaks", "scale"), "positions": ("order", "positions")}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("slug", NATS)
def test_a_claim_has_its_counterpart_in_a_trained_model(slug, language):
    drawer, part = NATS[slug]
    figures = REMOVED_FIGURES.rows[f"{language}_asked_decoder"]
    lesson = Lesson(slug, open=drawer, lang=language)
    assert lesson.says(f"{figures.whole:.2f}") and lesson.says(f"{getattr(figures, part):.2f}")
    lesson.press("door_trained")
    assert lesson.at.session_state["setup"].run.example == f"model_{language}_decoder"


WORDS = {"en": "1,744", "zh": "1,028"}  # that the model has; blind, it is a choice among all of them
BLIND = {"en": "is worse than blind guessing", "zh": "就不如随机猜"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "slug, choices, part",
    [
        ("masks", {"open": "future"}, "mask"),
        ("masks", {"open": "future", "future": "shifted"}, "diagonal"),
        ("heads", {"open": "bring"}, "heads"),
    ],
)
def test_what_is_worse_than_guessing_blindly_is_called_so(slug, choices, part, language):
    figures = REMOVED_FIGURES.rows[f"{language}_asked_decoder"]
    nats = getattr(figures, part)
    worst = math.exp(max(nats) if part == "heads" else nats)
    lesson = Lesson(slug, lang=language, **choices)
    is_worse = worst > int(WORDS[language].replace(",", ""))
    assert lesson.says(BLIND[language]) == lesson.says(WORDS[language]) == is_worse


UNKNOWN = {
    "category": {
        "en": "the vector of its category, which is “other word” unless you choose another",
        "zh": "所属类别的向量；不选类别时归入“其他词”",
    },
    "zeros": {"en": "gets zeros", "zh": "得到全零向量"},
    "random": {"en": "gets a random vector", "zh": "得到随机向量"},
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("slug", ["qkv", "scores", "heads", "positions"])
def test_what_a_word_gets_that_is_in_no_dictionary_is_said_as_it_is(slug, language):
    lesson = Lesson(slug, lang=language)
    setup = lesson.press("door_workbench").at.session_state["setup"]
    _, origin = EXAMPLES[setup.run.example].dictionary().own_numbers("qqq", 0, {})
    found = "random" if origin == "random" else "category"
    told = " ".join(Lesson(slug, lang=language, open="code").texts())
    assert [name for name in UNKNOWN if UNKNOWN[name][language] in told] == [found]


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_a_dictionary_does_with_a_word_that_it_does_not_have(example):
    lexicon = EXAMPLES[example].lexicon
    if lexicon is None or not lexicon.vectors:
        return
    rows, origins = zip(
        *(lexicon.own_numbers("qqq", 0, {"qqq": role}) for role in (*lexicon.roles, "none")), strict=True
    )
    expected = "random" if origins[0] == "random" else "category" if len(set(rows)) > 1 else "zeros"
    assert lexicon.unknown == expected


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_head_a_layer_has_its_counterpart(language):
    figures = REMOVED_FIGURES.rows[f"{language}_asked_decoder"]
    lesson = Lesson("heads", open="bring", lang=language)
    assert lesson.says(f"{min(figures.heads):.2f}") and lesson.says(f"{max(figures.heads):.2f}")
