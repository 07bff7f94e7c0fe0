"""Texts of which it is known what decides: each class by reading the text symbol by symbol."""

from collections import Counter

import pytest
import torch

from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import evidence

COUNT = 3000


def read(texts, task):
    """Each text as its symbols, without padding."""
    symbols = evidence.TASKS[task].symbols
    return ["".join(symbols.symbols([number for number in row if number != PAD])) for row in texts.tolist()]


def named(classes, task):
    return [evidence.TASKS[task].classes[number] for number in classes.tolist()]


def drawn(task):
    """What is trained and what is measured, with their classes: pairs of a text and the name of its class."""
    parts = [evidence.batch(task, COUNT, torch.Generator().manual_seed(5)), evidence.held_out(task)]
    return [pair for texts, classes in parts for pair in zip(read(texts, task), named(classes, task), strict=True)]


@pytest.mark.parametrize("task", evidence.TASKS)
def test_texts_are_between_8_and_16_long_and_padding_stands_behind(task):
    texts, classes = evidence.batch(task, COUNT, torch.Generator().manual_seed(5))
    assert texts.shape == (COUNT, 16) and classes.shape == (COUNT,)
    for row in texts.tolist():
        length = sum(number != PAD for number in row)
        assert all(number == PAD for number in row[length:])
    assert {len(text) for text in read(texts, task)} == {*range(8, 17)}


@pytest.mark.parametrize("task", evidence.TASKS)
def test_as_many_are_measured_as_is_said_and_of_every_length(task):
    texts, classes = evidence.held_out(task)
    assert len(texts) == len(classes) == evidence.MEASURED_TEXT_COUNT
    assert {len(text) for text in read(texts, task)} == {*range(8, 17)}


@pytest.mark.parametrize("task", evidence.TASKS)
def test_classes_are_about_as_frequent_as_each_other(task):
    counted = Counter(name for _, name in drawn(task))
    assert {*counted} == {*evidence.TASKS[task].classes}
    for number in counted.values():
        assert number * len(counted) / counted.total() == pytest.approx(1, abs=0.25)


# ---- lookup ----------------------------------------------------------------------------------------------------------
def test_the_value_behind_the_marker_is_the_class():
    for text, name in drawn("lookup"):
        before, marker, behind = text.partition(">")
        assert marker and ">" not in before + behind
        assert behind[0] == name


def test_three_values_that_differ_each_behind_a_letter_or_the_marker():
    for text, _ in drawn("lookup"):
        values = [symbol for symbol in text if symbol in "01234567"]
        assert len(values) == len({*values}) == 3
        assert {*text} <= {*">01234567abcdefgh"}
        for place, symbol in enumerate(text):
            assert symbol not in values or (place > 0 and text[place - 1] in ">abcdefgh")


def test_the_place_of_a_value_does_not_tell_which_is_meant():
    for order in range(3):
        meant = [[symbol for symbol in text if symbol.isdigit()][order] == name for text, name in drawn("lookup")]
        assert sum(meant) / len(meant) == pytest.approx(1 / 3, abs=0.04)


# ---- vote ------------------------------------------------------------------------------------------------------------
def test_the_majority_is_the_class_and_votes_are_never_even():
    for text, name in drawn("vote"):
        pro, contra = text.count("+"), text.count("-")
        assert (pro + contra) % 2 == 1
        assert name == ("+" if pro > contra else "-")
        assert pro + contra + text.count(".") == len(text)


def test_no_single_vote_decides_most_texts():
    first = [text.lstrip(".")[0] == name for text, name in drawn("vote")]
    assert sum(first) / len(first) < 0.75


def test_where_all_others_are_silent_the_first_place_votes():
    texts, classes = evidence.draw_votes(200_000, torch.Generator().manual_seed(7))
    silent = (texts[:, 1:] != 0).logical_and(texts[:, 1:] != 1).all(-1)
    assert silent.any()
    assert texts[silent, 0].tolist() == classes[silent].tolist()
