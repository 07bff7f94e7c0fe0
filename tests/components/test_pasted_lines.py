"""Which texts of one line are sent as soon as they are pasted: those that can be no sentence."""

import pytest

from tests.components.in_node import call_in_node

NUMBERS = ["[[1,0,0],[0,1,0]]", "1, 2; 3, 4", "[1 −2; 0 1/2]", "array([[1., 2.], [3e-4, 4.5]])", "1 0 0", "| 1 | 2 |"]
NUMBERS += ["tensor([[1., 2.]], device='cuda:0')", "https://example.org/?text=a"]
SENTENCES = [
    "Anna fed the dog",
    "7",
    "It is 3 o'clock",
    "1 2 three",
    "why?",
    "他 1990 年 2000 年",
    "3.14",
    "",
    "2+2=4 is x",
]


def is_no_sentence(text):
    return call_in_node("pasted_lines", "(text) => isNoSentence(text)", text)


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_alone_and_addresses_are_sent_at_once(text):
    assert is_no_sentence(text)


@pytest.mark.parametrize("text", SENTENCES)
def test_words_and_single_numbers_wait_for_enter(text):
    assert not is_no_sentence(text)
