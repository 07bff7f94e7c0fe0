"""What stands there before anybody does anything: every example, both languages, few tokens and many."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_core.examples.examples import EXAMPLES
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts
from tests.screen.driver import ROOT, STORIES, Screen, softmax
from tests.screen.lesson import Lesson

# ---- cold, on every example, in both languages -----------------------------------------------------------------------
IN_ANOTHER_LANGUAGE = [("en_it", "zh"), ("cross_en_zh", "zh"), ("model_zh", "en"), ("zh_ta", "en")]


@pytest.mark.parametrize(
    "name, language", [(name, "zh" if "zh" in name.split("_") else "en") for name in EXAMPLES] + IN_ANOTHER_LANGUAGE
)
def test_opens_cold(name, language):
    screen, example = Screen(ex=name, lang=language), EXAMPLES[name]
    assert screen.errors() == []
    silent = (name, language) == ("en_it", "en")  # what a link without an example means, and whoever reads it finds
    link = screen.link()
    link.pop("rev", None)  # the weights of a language model
    assert link == ({} if silent else {"ex": name}) | {"lang": language}
    assert screen.words() == list(example.tokens)
    assert load_app_texts(language)[f"example.{name}"] in screen.name()
    if name in STORIES and example.focus:
        (head, query), weights = example.focus, STORIES[name]["expected"]["weights"]
        row = weights[head][query] if np.ndim(weights) == 3 else weights[query]
        keys = example.context_tokens or example.tokens
        share = max(row)
        assert f"“{example.tokens[query]}”" in screen.fact()
        assert re.search(rf"\b{100 * share:.0f} ?%", screen.fact())
        if share > min(row):
            assert all(f"“{keys[at]}”" in screen.fact() for at, other in enumerate(row) if share - other < 1e-9)
        else:
            assert "evenly" in screen.fact() or "平均分配" in screen.fact()
        shown = [screen.weight(query, at, head) for at in range(len(row))]
        np.testing.assert_allclose(shown, row, rtol=0, atol=1e-10)


ENGLISH = "Head 1: “it” gives 93 % of its attention to “dog”, 6.5 times an even share."
CHINESE = "头 1：“它”把 93% 的注意力给了“狗”，是均匀分配时的 6.5 倍。"
MIXED = "头 1：“it”把 93% 的注意力给了“dog”，是均匀分配时的 6.5 倍。"


def test_the_first_sentence_in_two_languages():
    assert Screen().fact() == ENGLISH
    screen = Screen(lang="zh")
    assert screen.fact() == CHINESE
    assert screen.link() == {"ex": "zh_ta", "lang": "zh"}  # what it opens must not depend on who opens it
    assert Screen(**screen.link()).fact() == Screen(ex="zh_ta", lang="zh", utm_source="mail").fact() == CHINESE
    assert Screen(lang="zh", utm_source="mail").fact() == CHINESE
    assert not can(screen, "undo") and not can(screen, "redo")


def can(screen, move):
    """Whether undo or redo can be pressed."""
    return not next(button for button in screen.at.button if button.key == move).disabled


def test_a_screen_that_nobody_touched_follows_the_language():
    screen = Screen(lang="zh").press("other_language")
    assert (screen.fact(), screen.link()) == (ENGLISH, {"lang": "en"})
    assert screen.press("other_language").fact() == CHINESE
    assert not can(screen, "undo")
    assert "改动任意一处" in " ".join(screen.captions())


@pytest.mark.parametrize("language, fact", [("en", MIXED), ("zh", "Head 1: “它” gives")])
def test_what_somebody_changed_stays_in_another_language(language, fact):
    for control, value in (("scale", "off"), ("text", None), ("examples", "en_colour"), ("masks", ["causal"])):
        screen = Screen(lang=language)
        if control == "text":
            screen.set("text", "")  # refused: what was typed waits in its box
        elif control == "examples":
            screen.choose_example(value)
        else:
            screen.set(control, value)
        changed = screen.setup()
        assert screen.press("other_language").setup() == changed, control
        assert Screen(**screen.link()).setup() == changed, control
    screen = Screen(lang=language).set("scale", "off").press("undo")  # back at the start, and redo leads on
    assert screen.press("other_language").fact().startswith(fact) and can(screen, "redo")
    looked = Screen(lang=language).look_at(query=1)
    assert looked.press("other_language").setup().view.token == 1


@pytest.mark.parametrize("link", [{"mask": "causal"}, {"t": "5"}, {"seed": "3"}, {"ex": "en_it"}, {"haeds": "3"}])
def test_a_link_without_an_example_means_the_english_one_to_everybody(link):
    screen = Screen(lang="zh", **link)
    assert screen.words() == ["Anna", "fed", "the", "dog", "and", "it", "barked"]
    assert Screen(**screen.link()).setup() == screen.setup()


def test_what_a_link_said_stays_in_another_language():
    assert Screen(ex="en_it", lang="zh").fact() == MIXED
    screen = Screen(ex="en_it", lang="en").press("other_language")
    assert (screen.fact(), screen.link()) == (MIXED, {"ex": "en_it", "lang": "zh"})


def test_the_english_example_chosen_in_chinese_is_in_the_link():
    screen = Screen(lang="zh").choose_example("en_it")
    assert (screen.fact(), screen.link()) == (MIXED, {"ex": "en_it", "lang": "zh"})
    assert Screen(**screen.link()).fact() == MIXED


def test_an_unknown_language_is_no_trouble():
    screen = Screen(lang="xx")
    assert screen.errors() == [] and screen.fact().startswith("Head 1")


def test_the_browsers_language_is_the_first_choice():
    at = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=60)
    at.context["locale"] = "zh-CN"
    at.run()
    (look,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-look")]
    assert json.loads(look.proto.json)["fact"]["text"] == CHINESE
    assert dict(at.query_params) == {"ex": "zh_ta"}


def test_a_lesson_leads_back_to_the_start_of_its_language():
    lesson = Lesson("qkv", lang="zh").press("door_workbench")
    assert lesson.at.session_state["past"] == [make_setup(example="zh_ta")]


# ---- few and many tokens ---------------------------------------------------------------------------------------------
def test_one_token_attends_to_itself():
    screen = Screen().set("text", "it")
    assert screen.weight(0, 0) == 1
    assert screen.fact() == "Head 1: “it” may attend to “it” alone, which gets 100 %."


def test_sixty_four_tokens():
    words = ["it", *["the"] * 62, "dog"]
    screen = Screen().set("text", " ".join(words))
    assert screen.weight(0, 63) == pytest.approx(softmax([6 * 2**-0.5] + [0] * 63, 0), abs=1e-12)
    assert screen.numbers("weights").shape == (1, 2, 64, 64)
    assert screen.flow()["cut"] is None


def test_the_same_word_twice_is_two_rows():
    screen = Screen().set("text", "the the dog")
    assert screen.words() == ["the", "the", "dog"]
