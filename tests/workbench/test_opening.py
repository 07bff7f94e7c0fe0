"""What stands there before anybody does anything: every example, both languages, few tokens and many."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_core.examples.examples import EXAMPLES
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import ROOT, STORIES, Screen, softmax


# ---- cold, on every example, in both languages -----------------------------------------------------------------------
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_opens_cold(name, language):
    screen, example = Screen(ex=name, lang=language), EXAMPLES[name]
    assert screen.errors() == []
    assert screen.link() == ({"lang": language} if name == "en_it" else {"ex": name, "lang": language})
    assert [tile["text"] for tile in screen.tiles()["tokens"]] == list(example.tokens)
    assert screen.widget("example").label == load_app_texts(language)["control.example"]
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


def test_the_first_sentence_in_two_languages():
    english = "Head 1: “it” gives 93 % of its attention to “dog”, 6.5 times an even share."
    chinese = "头 1：“it”把 93% 的注意力给了“dog”，是均匀分配时的 6.5 倍。"
    assert Screen().fact() == english
    screen = Screen(lang="zh")
    assert screen.fact() == chinese
    assert screen.set("lang", "en").fact() == english
    assert screen.link() == {"lang": "en"}
    assert screen.set("lang", "zh").fact() == chinese


def test_an_unknown_language_is_no_trouble():
    screen = Screen(lang="xx")
    assert screen.errors() == [] and screen.fact().startswith("Head 1")


def test_the_browsers_language_is_the_first_choice():
    at = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=60)
    at.context["locale"] = "zh-CN"
    at.run()
    assert any("注意力" in text.value for text in at.markdown)


# ---- few and many tokens ---------------------------------------------------------------------------------------------
def test_one_token_attends_to_itself():
    screen = Screen().set("text", "it")
    assert screen.weight(0, 0) == 1
    assert screen.fact() == "Head 1: “it” may attend to “it” alone, so it gets all."


def test_sixty_four_tokens():
    words = ["it", *["the"] * 62, "dog"]
    screen = Screen().set("text", " ".join(words))
    assert screen.weight(0, 63) == pytest.approx(softmax([6 * 2**-0.5] + [0] * 63, 0), abs=1e-12)
    cells = screen.table("map0")
    assert len(cells[(cells["kind"] == "cell") & (cells["step"] == "weights")]) == 64 * 64
    assert len(screen.packed("heads")[0]["maps"]) == 2


def test_the_same_word_twice_is_two_rows():
    screen = Screen().set("text", "the the dog")
    cells = screen.table("map0")
    assert list(cells[cells["kind"] == "label"]["text"])[:3] == ["the", "the", "dog"]
