"""What a language model is shown: rows of texts, hidden words, and answers that are asked."""

from itertools import repeat
from random import Random

import pytest
import torch
from torch import Generator

from attention_core.learned.grammar import Link, Text, categories, draw_scene
from attention_core.learned.language.batches import (
    MASK,
    ROW_LENGTH,
    ROWS,
    START,
    begin_text,
    draw_batch,
    draw_texts,
    word_numbers,
)
from attention_core.learned.language.packing import disguise_words, pack_texts
from attention_core.learned.language.questions import NOT_ASKED, QUESTIONS

TEXT = Text(
    words=("<start>", "anna", "fed", "it"),
    links=(Link("pronoun", 3, 1), Link("subject", 2, 1), Link("again", 3, 1)),
    kinds=("", "<name-f>", "<verb>", ""),
    sort="plain",
    frame="",
)
NUMBERS = {"<start>": 1, "anna": 2, "fed": 3, "it": 4}


# ---- packing ---------------------------------------------------------------------------------------------------------
def test_texts_lie_side_by_side_and_answers_point_within_their_row():
    packed = pack_texts(repeat(TEXT), NUMBERS, rows=2, length=11)
    assert packed.words.tolist() == [[1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0]] * 2
    assert packed.texts.tolist() == [[0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1]] * 2
    pronoun, subject, about, object_ = packed.answers
    assert pronoun[0].tolist() == [0, 1, 2, 1, 4, 5, 6, 5, -1, -1, -1]  # "it" is Anna; each other word is itself
    assert subject[1].tolist() == [0, 1, 1, 3, 4, 5, 5, 7, -1, -1, -1]
    assert about[0].tolist() == object_[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1]


def test_no_text_sees_another():
    packed = pack_texts(repeat(TEXT), NUMBERS, rows=1, length=9)
    allowed = packed.allowed[0, 0]
    for t in range(9):
        for s in range(9):
            assert bool(allowed[t, s]) == (packed.texts[0, t] == packed.texts[0, s])


def test_a_text_that_is_too_long_is_left_out():
    long = TEXT._replace(words=("<start>",) * 12, links=(), kinds=("",) * 12)
    packed = pack_texts([long, TEXT, long], NUMBERS, rows=2, length=7)
    assert packed.words.tolist() == [[1, 2, 3, 4, 0, 0, 0], [0] * 7]


def test_a_word_is_disguised_everywhere_or_nowhere():
    twice = TEXT._replace(words=("anna", "saw", "anna"), kinds=("<name-f>", "<verb>", "<name-f>"))
    seen = {tuple(disguise_words(twice, Random(seed), lambda _: 0.5)) for seed in range(60)}
    assert seen == {
        (name, verb, name) for name in ("anna", "<name-f>") for verb in ("saw", "<verb>")
    }  # never one Anna and one name


# ---- what is drawn ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["en", "zh"])
def test_links_move_with_the_sign_before_the_text(language):
    for seed in range(50):
        text = draw_scene(Random(seed)).say(language)
        moved = begin_text(text)
        assert moved.words[0] == START and moved.words[1:] == text.words
        for before, after in zip(text.links, moved.links, strict=True):
            assert moved.words[after.at] == text.words[before.at]
            assert moved.words[after.to] == text.words[before.to]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_categories_stand_in_the_place_of_some_words(language):
    texts = draw_texts(language, Random(7))
    words = [word for _ in range(3000) for word in next(texts).words]
    share = sum(word in categories(language) for word in words) / len(words)
    assert 0.01 < share < 0.06  # of all words; a tenth of the nouns and names


@pytest.mark.parametrize("language, causal", [("en", False), ("zh", False), ("en", True)])
def test_a_batch_hides_words_and_asks_only_of_whole_texts(language, causal):
    batch = draw_batch(language, causal, Generator().manual_seed(3))
    packed, numbers = batch.packed, word_numbers(language)
    assert packed.words.shape == (ROWS, ROW_LENGTH)
    if causal:
        assert batch.foretold is None and torch.equal(batch.seen, packed.words)
        places = torch.arange(ROW_LENGTH).expand_as(packed.answers)
        assert bool((packed.answers <= places).all())  # no word is asked about what comes later
        return
    is_hidden = batch.seen != packed.words
    assert bool((batch.seen[is_hidden] == numbers[MASK]).all())
    assert not bool((packed.words[batch.foretold] == numbers[START]).any())
    assert bool((is_hidden <= batch.foretold).all()) and 0.8 < is_hidden.sum() / batch.foretold.sum() < 1
    for row in range(ROWS):
        for text in packed.texts[row].unique():
            here = packed.texts[row] == text
            is_asked = (packed.answers[:, row, here] != NOT_ASKED).any()
            assert not (is_asked and batch.foretold[row, here].any()), "a text is asked about and has hidden words"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_hardly_a_place_of_a_row_is_empty(language):
    generator = Generator().manual_seed(3)
    filled = [draw_batch(language, False, generator).packed.filled.double().mean() for _ in range(8)]
    assert sum(filled) / len(filled) > 0.8 and min(filled) > 0.7


def test_the_same_seed_draws_the_same_batch():
    one, same, other = (draw_batch("en", False, Generator().manual_seed(seed)) for seed in (5, 5, 6))
    assert torch.equal(one.seen, same.seen) and torch.equal(one.packed.answers, same.packed.answers)
    assert not torch.equal(one.packed.words, other.packed.words)


def test_every_other_word_is_asked_and_some_words_answer_with_themselves():
    batch = draw_batch("en", True, Generator().manual_seed(4))
    answers = batch.packed.answers
    places = torch.arange(ROW_LENGTH).expand_as(answers)
    for question in range(len(QUESTIONS)):
        is_asked = answers[question] != NOT_ASKED
        is_itself = answers[question] == places[question]
        assert is_asked.any() and 0.05 < is_itself.sum() / batch.packed.filled.sum() < 0.3
