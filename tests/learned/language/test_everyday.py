"""The everyday words that the models did not learn, and what they read for them."""

from pathlib import Path

import pytest

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.reading import UNKNOWN, known_tokens, load_stand_ins, plural_of, stand_in


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_words_of_a_student_s_day_are_known(language):
    """Three hundred and some, written before anybody looked which of them the models know."""
    text = (Path(__file__).parent / f"day_words_{language}.txt").read_text(encoding="utf-8")
    words = [word.lower() for line in text.splitlines() if line[:1] != "#" for word in line.split()]
    unread = [word for word, token in zip(words, known_tokens(words, language, {}), strict=True) if token == UNKNOWN]
    assert len(set(words)) > 300 and unread == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_read_for_an_everyday_word_is_known_and_the_word_is_not(language):
    known, found = word_numbers(language), load_stand_ins(language)
    assert len(found) > 1500
    assert not [word for word in found if word in known] and set(found.values()) <= set(known)


@pytest.mark.parametrize(
    ("word", "token"),
    [
        ("mom", "mother"),
        ("mums", "mothers"),
        ("exams", "<texts>"),
        ("felt", "thought"),
        ("2017", "three"),
        ("zorb", None),
    ],
)
def test_an_everyday_word_is_read_in_its_form(word, token):
    assert stand_in("en", word) == token


def test_a_role_that_somebody_chose_goes_before_the_everyday_word():
    assert known_tokens(["homework"], "en", {"homework": "animal"}) == ("<animal>",)


def test_plurals():
    assert [plural_of(word) for word in ("box", "toy", "city", "man", "human")] == [
        "boxes",
        "toys",
        "cities",
        "men",
        "humans",
    ]
