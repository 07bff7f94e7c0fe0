"""Beside the sentence: a matrix pasted there, Chinese words, learned weights; and the name of what is on the screen."""

import pytest

from attention_core.inputs.matrix_text import parse_matrix
from attention_core.learned.grammar.vocabulary import MEASURE_WORD, gloss_words, load_glosses
from attention_core.learned.translation.translating import held_out_pairs
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup
from tests.screen.driver import Screen
from tests.screen.kept_parts import KeptPartsScreen
from tests.screen.lesson import Lesson

MATRICES = {
    "[[1,0,0],[0,1,0],[0,0,1],[1,1,0]]": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],
    "array([[1., 2.], [3., 4.5]])": [[1, 2], [3, 4.5]],
    "1 2; 3 4": [[1, 2], [3, 4]],
    "[1 −2; 0 1/2]": [[1, -2], [0, 0.5]],
}


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", MATRICES)
def test_a_matrix_that_was_pasted_into_the_sentence_becomes_x_at_a_click(text, language):
    screen = Screen(lang=language).set("text", text)
    assert screen.errors() == []
    assert not [box for box in screen.at.selectbox if "role" in (box.key or "")]  # nobody asks what "[" is
    screen.press("use_as_x")
    assert screen.errors() == [] and screen.setup().run.text is None
    assert parse_matrix(text).tolist() == MATRICES[text]
    assert trace_for(screen.setup())["x"][0].tolist() == MATRICES[text]
    assert not [button for button in screen.at.button if button.key == "use_as_x"]
    assert screen.press("undo").setup().run.text == text


@pytest.mark.parametrize("text", ["Anna fed the dog", "7", "It is 3 o'clock", "1 2 three", "[sic]"])
def test_what_is_no_matrix_stays_a_sentence(text):
    screen = Screen().set("text", text)
    assert not [button for button in screen.at.button if button.key == "use_as_x"]


# ---- what Chinese words mean -----------------------------------------------------------------------------------------
def glosses_on(page):
    return [each.value for each in page.at.caption if each.value.startswith("The Chinese words: ")]


def test_an_english_page_says_what_its_chinese_words_mean_and_a_chinese_one_does_not():
    (told,) = glosses_on(Lesson("decoder", lang="en"))
    assert all(f"{word} = {meaning}" in told for word, meaning in gloss_words(["看见", "猫", "狗", "累"]).items())
    (told,) = glosses_on(Lesson("cross", lang="en"))
    assert all(pair in told for pair in ("昨天 = yesterday", "看见 = see", "一只 = one, a"))
    (told,) = glosses_on(Screen(ex="translator", lang="en"))
    assert "猫 = cat" in told
    assert not glosses_on(Screen(lang="en"))
    assert not any("猫 = cat" in each.value for each in Lesson("decoder", lang="zh").at.caption)


def test_nearly_every_word_that_the_translator_learned_to_write_has_a_meaning():
    words = [word for pair in held_out_pairs("held", "report", 60) for word in pair.target.words[1:] if word.isalpha()]
    glosses = load_glosses()
    without = {word for word in words if word not in glosses}
    known = sum(word in glosses for word in words)
    assert known >= 0.99 * len(words), sorted(without)
    meanings = {"狗": "dog", "追": "chase", "累": "tired", "小红": "Hong", "只": MEASURE_WORD, "的": "’s, of"}
    assert gloss_words([*meanings, "dog"]) == meanings


# ---- learned weights -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("language", "text", "example"),
    [("en", "the dog is tired", "model_en"), ("en", "那只狗很累。", "model_zh"), ("zh", "那只狗很累。", "model_zh")],
)
def test_learned_weights_are_asked_for_and_the_language_model_reads_the_sentence(language, text, example):
    screen = Screen(lang=language).set("text", text)
    before = screen.setup()
    screen.set("way", "model")
    assert screen.errors() == [] and screen.setup() == make_setup(example=example, text=screen.setup().run.text)
    assert screen.setup().run.text.replace(" ", "") == text.replace(" ", "")
    assert screen.press("undo").setup() == before


# ---- the name of the screen ------------------------------------------------------------------------------------------
def test_the_name_of_the_screen_follows_every_change_and_what_takes_it_back():
    screen = KeptPartsScreen()  # with no drawer open: with one, the line is drawn anew at every change
    screen.set("temperature", 1.5)
    screen.set("temperature", 1.0)
    plain = screen.name()
    for value, is_changed in ((2.0, True), (1.0, False), (3.0, True)):
        screen.set("temperature", value)
        assert (screen.name() != plain) == is_changed
