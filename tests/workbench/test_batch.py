"""A batch of sentences of different lengths: each has the numbers that it has alone, and one is on the screen."""

import re

import pytest
import torch

from pages.runs import cache
from pages.runs.run_inputs import PAD_WORD
from pages.site.words import load_app_texts
from tests.screen.driver import STORIES, Screen

MORE = "she smiled\nAnna fed it"
ALONE = ["Anna fed the dog and it barked", "she smiled", "Anna fed it"]


def trace(screen):
    return cache.trace_for(screen.setup())


def batched(**link):
    return Screen(**link).set("batch", True).set("more", MORE)


@pytest.mark.parametrize("link", [{}, {"mask": "causal", "pos": "sinusoidal"}, {"score": "additive"}], ids=str)
def test_every_sentence_has_the_numbers_that_it_has_alone(link):
    together = trace(batched(**link))
    assert together["weights"].shape == (3, 2, 7, 7)
    for sentence, text in enumerate(ALONE):
        alone = trace(Screen(**link, text=text))
        n = alone["weights"].shape[-1]
        assert torch.allclose(together["weights"][sentence, :, :n, :n], alone["weights"][0], rtol=0, atol=1e-15)
        assert (together["weights"][sentence, :, :, n:] == 0).all()
        assert torch.allclose(together["output"][sentence, :n], alone["output"][0], rtol=0, atol=1e-15)


def test_the_chosen_sentence_is_on_the_screen():
    screen = batched()
    assert screen.fact().startswith("Head 1: “it” gives 93 % of its attention to “dog”")
    screen.set("sentence", 2)
    assert screen.words() == ["Anna", "fed", "it", *[PAD_WORD] * 4]
    assert set(screen.origins()[3:]) == {"padding"}
    it_to_fed = trace(Screen(text="Anna fed it"))["weights"][0, 0, 2, 1].item()
    assert screen.weight(2, 1) == pytest.approx(it_to_fed, abs=1e-15)
    assert screen.blocked() == 4 * 7  # nobody may attend to what fills up
    assert screen.link()["sentence"] == "2"
    assert Screen(**screen.link()).fact() == screen.fact()


def test_a_cell_goes_along_to_the_other_sentence():
    screen = batched().click_cell("flow", "weights", "0,0,1,0").set("sentence", 2)
    assert screen.link()["cell"] == "2,0,1,0"
    assert screen.pieces()[0]["text"] == "exp("


def test_it_says_that_the_sentences_alone_give_the_same():
    said = [text for text in batched().captions() if text.startswith(("Each sentence", "Computed on its own"))]
    assert len(said) == 1
    assert "e-1" in said[0] or "exactly the same numbers" in said[0]


def test_a_move_in_another_sentence_is_told_in_that_sentences_words():
    screen = batched().set("more", "she smiled\nTom read and then he laughed")
    screen.set("more", "she smiled\nTom read and then it laughed")
    (moved,) = [text.value for text in screen.at.markdown if text.value.startswith("Biggest change")]
    named = re.search(r"sentence 3, head \d, (\w+), (\w+)", moved)
    assert {*named.groups()} <= {"Tom", "read", "and", "then", "it", "laughed"}


def test_a_global_token_that_only_the_longest_sentence_has():
    screen = batched(mask="local_global:1:5")
    assert screen.errors() == []
    assert "Each sentence gets exactly the same numbers as on its own." in screen.captions()


def test_a_sentence_alone_again():
    screen = batched().set("sentence", 1).set("batch", False)
    assert trace(screen)["weights"].shape == (1, 2, 7, 7)
    assert "sentence" not in screen.link()
    assert screen.errors() == []


def test_too_many_and_bad_sentences_are_refused_at_the_box():
    screen = batched().set("more", "a\n" * 8)
    assert screen.error_at("c_more") == "a batch may have at most 8 sentences: it has 9"
    screen.set("more", "word " * 513)
    assert "at most 512 tokens" in screen.error_at("c_more")
    assert trace(screen)["weights"].shape[0] == 3


def test_a_batch_has_random_words_and_a_second_sequence_takes_it_away():
    screen = Screen(more="Tom snored")
    assert trace(screen)["weights"].shape[0] == 2
    screen.set("cross", True)
    assert trace(screen)["weights"].shape[0] == 1
    assert load_app_texts("en")["control.batch"] not in [toggle.label for toggle in screen.at.toggle]


def test_built_heads_in_a_batch_know_all_words():
    screen = Screen(built="same_word", score="dot", text="the dog", more="the cat the")
    weights = trace(screen)["weights"]
    assert weights[1, 0, 0, 0] == weights[1, 0, 0, 2] > 0.49


def test_the_story_stands_in_the_first_sentence():
    expected = torch.tensor(STORIES["en_it"]["expected"]["weights"], dtype=torch.float64)
    assert torch.allclose(trace(batched())["weights"][0], expected, rtol=0, atol=1e-10)
