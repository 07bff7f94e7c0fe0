"""Beside the sentence: what is pasted there, Chinese words, learned weights; and the name of what is on the screen."""

import json
from urllib.parse import urlencode

import pytest

from attention_core.inputs.matrix_text import parse_matrix
from attention_core.learned.grammar.vocabulary import MEASURE_WORD, gloss_words, load_glosses
from attention_core.learned.translation.translating import held_out_pairs
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup
from pages.site.controls import FILE
from pages.site.controls import MATRICES as MATRICES_PANEL
from pages.workbench.pasted_text import recognise
from tests.screen.driver import WORDS, Screen, plain
from tests.screen.kept_parts import KeptPartsScreen
from tests.screen.lesson import Lesson

HELLO_LINK = {"text": "hello big world", "heads": "4"}
MATRICES = {
    "[[1,0,0],[0,1,0],[0,0,1],[1,1,0]]": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],
    "array([[1., 2.], [3., 4.5]])": [[1, 2], [3, 4.5]],
    "1 2; 3 4": [[1, 2], [3, 4]],
    "[1 −2; 0 1/2]": [[1, -2], [0, 0.5]],
    "1 2\n3 4\n5 6": [[1, 2], [3, 4], [5, 6]],
    "a,b\n1,2\n3,4": [[1, 2], [3, 4]],
    "a\tb\n1.5\t2\n3\t4": [[1.5, 2], [3, 4]],
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |": [[1, 2], [3, 4]],
    "\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}": [[1, 2], [3, 4]],
    "tensor([[1., 2.],\n        [3., 4.]], device='cuda:0')": [[1, 2], [3, 4]],
    "<table><tr><td>1</td><td>2</td></tr></table>": [[1, 2]],
}


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", MATRICES)
def test_a_matrix_that_was_pasted_into_the_sentence_becomes_x_at_a_click(text, language):
    screen = Screen(lang=language)
    before = screen.setup()
    paste(screen, text)
    assert screen.errors() == [] and screen.setup() == before  # nothing changes before somebody chooses
    screen.press("use_as_x")
    assert screen.errors() == [] and screen.setup().run.text is None
    assert parse_matrix(text).tolist() == MATRICES[text]
    assert trace_for(screen.setup())["x"][0].tolist() == MATRICES[text]
    assert not [button for button in screen.at.button if button.key == "use_as_x"]
    assert screen.press("undo").setup().run == before.run


@pytest.mark.parametrize(("text", "columns"), [("1 0 0\n0 1 0\n0 0 1\n1 1 0", 3), ("1 0 0 1\n0 1 0 2", 4)])
def test_where_the_weights_of_the_example_do_not_fit_the_panel_says_that_others_are_drawn_and_why(text, columns):
    screen = paste(Screen(lang="en"), text).press("use_as_x")
    assert screen.at.session_state["side_panel"] == MATRICES_PANEL
    told = [each.value for each in screen.at.info]
    if columns == 4:  # the example's own words have four numbers
        assert told == [] and trace_for(screen.setup())["w_q"].shape[-2] == 4
        return
    (sentence,) = told
    assert plain(sentence) == (
        "w_q, w_k, w_v, w_o are now random (seed 0): in the example w_q has 4 rows, and X has 3 columns."
    )


def paste(screen, text):
    """Pastes a text into the sentence box; the browser sends a text of several lines by itself."""
    return screen.click_part("pasted_lines", "pasted", text) if "\n" in text else screen.set("text", text)


SENTENCES = [
    *("Anna fed the dog", "7", "It is 3 o'clock", "1 2 three", "[sic]", "why?", "What is 2+2=4?", "[CLS] a cat [SEP]"),
    *(
        "In 1990, 2001 and 2003",
        "3, 2, 1, go",
        "The file is weights.npz",
        "New York|is|big",
        "U.S.A.",
        "3.14",
        "(x, y)",
        "('abc')",
    ),
    *("他 1990 年 2000 年", "He said: [laughs]", "a?b=c"),
]


@pytest.mark.parametrize("text", SENTENCES)
def test_what_is_a_sentence_is_taken_at_once(text):
    assert recognise(text) is None
    assert Screen().set("text", text).setup().run.text == text


def test_a_matrix_can_be_kept_as_words():
    screen = Screen().set("text", "1 2; 3 4").press("keep_words")
    assert screen.words() == ["1", "2", ";", "3", "4"] and screen.widget("text").value == "1 2; 3 4"
    assert not [button for button in screen.at.button if button.key in ("use_as_x", "keep_words")]


def test_an_offer_goes_with_the_next_change_and_with_the_next_text():
    screen = Screen().set("text", "1 2; 3 4")
    assert screen.widget("text").value == "Anna fed the dog and it barked"  # the box says what is on the screen
    assert "keep_words" in [button.key for button in screen.at.button]
    assert "keep_words" not in [button.key for button in screen.set("causal", True).at.button]
    screen.set("text", "5 6; 7 8").set("text", "the dog")
    assert "keep_words" not in [button.key for button in screen.at.button] and screen.words() == ["the", "dog"]


@pytest.mark.parametrize(
    "text",
    [
        "?" + urlencode(HELLO_LINK),
        "http://localhost:8501/?" + urlencode(HELLO_LINK | {"lang": "zh"}),
        json.dumps({"format": "attention-explorer", "version": 1, **HELLO_LINK}, indent=2),
    ],
)
def test_a_link_and_a_saved_file_of_the_app_are_opened(text):
    screen = paste(Screen(mask="causal"), text)
    assert screen.link() == {"mask": "causal"}
    screen.press("open_pasted")
    assert screen.link() == HELLO_LINK and screen.words() == ["hello", "big", "world"]
    assert screen.press("undo").link() == {"mask": "causal"}


def test_the_link_of_a_lesson_leads_there():
    assert recognise("https://x.org/app/masks?lang=en").page == ("masks", {"lang": "en"})
    assert recognise("https://en.wikipedia.org/masks").page is None


def test_several_lines_are_offered_as_a_batch_or_as_one_sentence():
    screen = paste(Screen(), "Anna fed the dog\n\nthe dog barked\n")
    assert screen.words() == list(WORDS)
    screen.press("use_as_batch")
    assert (screen.setup().run.text, screen.setup().run.more) == ("Anna fed the dog", "the dog barked")
    screen = paste(Screen(), "Anna fed\nthe dog").press("keep_words")
    assert screen.setup().run.text == "Anna fed the dog" and screen.setup().run.more is None


@pytest.mark.parametrize("text", ["['the', 'cat', 'sat']", '["the", "cat", "sat"]'])
def test_a_list_of_texts_is_offered_as_tokens(text):
    assert Screen().set("text", text).press("use_as_tokens").words() == ["the", "cat", "sat"]


@pytest.mark.parametrize(
    ("text", "panel"),
    [
        ("weights.npz", FILE),
        ("C:\\my data\\q k v.safetensors", FILE),
        ("~/x.CSV", MATRICES_PANEL),
        ('{"q": [[1, 2]], "k": [[3, 4]], "v": [[5, 6]]}', FILE),
    ],
)
def test_the_name_of_a_file_and_arrays_lead_to_where_files_are_brought(text, panel):
    screen = Screen().set("text", text).press("open_panel")
    assert screen.at.session_state["side_panel"] == panel and screen.words() == list(WORDS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[1,0,0],[0,1],[2,3,4]]", "all rows of x must be equally long"),
        ("tensor([[0.1, ..., 0.3]])", "leaves numbers out"),
        ("model.pt", "does not read"),
        ("https://en.wikipedia.org/wiki/Attention", "opens no web pages"),
        ('{"format": "attention-explorer", "version": 99}', "version"),
        ('{"tokens": ["a"], "attentions": [[[1.0]]]}', "attention maps"),
    ],
)
def test_what_cannot_be_used_is_named_and_can_be_kept_as_words(text, told):
    screen = Screen().set("text", text)
    shown = " ".join([*screen.captions(), *(plain(each.value) for each in screen.at.markdown)])
    assert told in shown and screen.words() == list(WORDS)
    assert screen.press("keep_words").setup().run.text == text


def test_two_readings_of_a_matrix_are_both_offered():
    text = "1,234\t5"
    screen = paste(Screen(), text)
    labels = [plain(button.label) for button in screen.at.button if (button.key or "").startswith("use_as_x")]
    assert len(labels) == 2, labels
    screen.press("use_as_x1")
    assert trace_for(screen.setup())["x"][0].tolist() == [[1234, 5]]


def test_a_network_reads_digits_as_its_symbols():
    assert Screen(ex="learned_reversal").set("text", "b c; d e").widget("text").value == "b c; d e"


LONG_TEXTS = ["[" * 19_999, "(" * 19_999, "['" * 9_000, "{" * 5_000, "?" + "=" * 200_000 + " x"]


@pytest.mark.parametrize("text", [*LONG_TEXTS, "<script>alert(1)</script>"])
def test_hostile_texts_are_no_list_and_no_file(text):
    assert recognise(text) is None or recognise(text).error is not None


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
