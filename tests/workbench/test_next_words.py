"""The next words of a causal model stand beside its sentence, and a press writes one."""

import pytest

from attention_core.learned.language.reading import cut_sentence, run_model
from pages.panels.model_next_words import MOST_WORDS
from pages.runs.model_runs import model_vocabulary
from tests.screen.driver import Screen, plain
from tests.screen.lesson import Lesson

TEXT = "the dog chased the cat and it"
NAME = "en_asked_decoder"


def offered(screen):
    """What stands on the buttons of the next words."""
    return [button.label for button in screen.at.button if (button.key or "").startswith("next_word_")]


def told(screen):
    return [plain(text.value) for text in screen.at.markdown]


def likeliest(text):
    """The likeliest words after a text, with their shares; without the tokens that stand for categories."""
    logits = run_model(NAME, cut_sentence(NAME, text))["unembedding"]["logits"][0, -1]
    shares, words = logits.softmax(-1), model_vocabulary(NAME)
    order = [number for number in shares.argsort(descending=True).tolist() if not words[number].startswith("<")]
    return [(words[number], float(shares[number])) for number in order]


def test_the_next_words_are_those_of_the_model_and_a_press_writes_one():
    screen = Screen(ex="model_en_decoder", text=TEXT, token="7", lang="en")
    assert "Next after “it”:" in told(screen)
    (word, share), *_ = likeliest(TEXT)
    labels = offered(screen)
    assert len(labels) == MOST_WORDS and labels[0] == f"{word} {100 * share:.0f} %"
    screen.press("next_word_0")
    assert screen.errors() == []
    assert screen.setup().run.text == f"{TEXT} {word}" and screen.words()[-1] == word
    assert f"Next after “{word}”:" in told(screen)
    (following, _), *_ = likeliest(f"{TEXT} {word}")
    assert offered(screen)[0].startswith(f"{following} ")
    assert screen.press("undo").setup().run.text == TEXT


def test_another_word_that_asks_is_followed_by_its_own_next_words():
    screen = Screen(ex="model_en_decoder", text=TEXT, token="7", lang="en")
    before = offered(screen)
    assert offered(screen.look_at(query=2)) != before and "Next after “dog”:" in told(screen)


@pytest.mark.parametrize("link", [{}, {"ex": "model_en"}, {"ex": "translator"}])
def test_what_writes_no_next_word_offers_none(link):
    assert offered(Screen(**link)) == []


@pytest.mark.parametrize(
    ("lang", "text", "example"),
    [("en", "the cat is tired because it", "model_en_decoder"), ("zh", "小红看见那只狗", "model_zh_decoder")],
)
def test_the_second_door_of_start_here_leads_to_a_model_with_ones_own_sentence(lang, text, example):
    start = Lesson("start", lang=lang).set("model_text", text)
    assert start.errors() == []
    start.press("door_model")
    run = start.at.session_state["setup"].run
    assert (run.example, run.text) == (example, text)
