"""After a new sentence its pronoun asks, else the row farthest from even; the headline says which and why."""

import pytest

from pages.panels.flow_words import tell_why
from pages.runs.cache import trace_for
from pages.session.labels import selection_of, why_it_asks
from pages.session.view import make_screen_state
from pages.setup.setup import make_setup
from pages.site.words import use_language
from tests.screen.driver import Screen

LATE = "Emma told Sophie that she was late"
SOFT = "My cat sat on the sofa because it is soft"


def asker(example, text, **chosen):
    """The word of a linked sentence that asks, and why."""
    setup = make_setup(example=example, text=text).with_fields(**chosen)
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    return trace.labels["T"][selection.query], why_it_asks(trace, setup, selection)


@pytest.mark.parametrize(
    ("example", "text", "word"),
    [
        ("en_it", SOFT, "it"),
        ("model_en", LATE, "she"),
        ("model_en_decoder", LATE, "she"),
        ("model_layer", "Tom hurt himself at home", "himself"),
        ("built_heads", "Tom lost his keys", "his"),
        ("zh_ta", "小红喂了那只狗，但它不吃", "它"),
        ("model_zh", "他把苹果放在桌子上，然后吃了它", "它"),
    ],
)
def test_the_pronoun_of_a_linked_sentence_asks(example, text, word):
    assert asker(example, text) == (word, "last_pronoun" if "他" in text else "pronoun")


def test_a_word_that_the_link_chooses_asks():
    assert asker("model_en", LATE, token=2) == ("told", None)
    assert asker("en_it", SOFT, token=1, head=0) == ("cat", None)
    assert asker("en_it", None) == ("it", None)  # the example's own sentence needs no reason


def test_without_a_pronoun_the_row_farthest_from_even_asks():
    assert asker("en_it", "Anna fed the dog")[1] == "uneven"
    assert asker("model_en", "The dog barked.")[1] == "beyond"
    assert asker("en_it", "Attention is all you need") == ("need", "even")


def test_the_page_says_which_word_of_a_typed_sentence_asks_and_why():
    screen = Screen(t="1", head="1")
    screen.set("text", SOFT)
    look = screen.look()
    assert screen.words()[look["query"]] == "it" and "t" not in screen.link()
    assert look["fact"]["why"] == "Query: “it”, the pronoun of this sentence"
    assert not any("surest" in habit for habit in screen.heads())
    screen.look_at(query=1)
    screen.set("scale", "off")
    assert screen.words()[screen.look()["query"]] == "cat" and screen.look()["fact"]["why"] == ""
    screen.set("text", "Hello")
    assert all("there is only one word" in habit for habit in screen.heads())


@pytest.mark.parametrize(
    ("link", "text", "why"),
    [
        ({}, "She told her that he is late", "Query: “he”, the last pronoun of this sentence"),
        ({}, "He lost his dog", "Query: “He”, the last pronoun of its kind in this sentence"),
        ({}, "it and it", "Query: “it #3”, the last pronoun of this sentence"),
        (
            {},
            "Anna fed the dog and Anna fed the dog",
            "Query: “fed #7”, the last of the words whose rows tie as farthest from even in this head",
        ),
        ({}, "Hello", "Query: “Hello”, the only word"),
        ({"ex": "model_en"}, "Hello", "Query: “hello”, the only word"),
        ({"ex": "zh_ta"}, "你好", "由“你好”提问：只有这一个词"),
        ({"ex": "zh_ta"}, "它和它", "由“它 #3”提问，因为它是这句话里的最后一个代词"),
        ({"ex": "zh_ta"}, "他自己照顾自己", "由“他”提问，因为它是这句话里同类代词中的最后一个"),
        (
            {"ex": "zh_ta"},
            "小红喂了那只狗，小红喂了那只狗",
            "由“喂了 #7”提问：在这个头里，有几个词的权重并列最不均匀，它是其中最后一个",
        ),
    ],
)
def test_the_reason_is_that_of_this_sentence_and_counts_its_words_as_sentences_do(link, text, why):
    setup = make_setup(example=link.get("ex", "en_it"), text=text)
    with use_language("zh" if link.get("ex") == "zh_ta" else "en"):
        assert tell_why(make_screen_state(setup, None)) == why


def test_the_page_says_so_in_chinese_and_an_exchanged_word_leaves_the_one_that_was_chosen():
    screen = Screen(ex="zh_ta", lang="zh", t="4")
    screen.press("swap_word")
    assert screen.link()["t"] == "4"
    screen.set("text", "小红喂了那只狗，但它不吃")
    assert screen.look()["fact"]["why"] == "由“它”提问，因为“它”是这句话里的代词"
