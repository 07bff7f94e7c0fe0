"""The weight from a pronoun to its noun in any sentence, by numbers that were made by hand."""

import pytest
import torch

from attention_core.learned.language.simple_rule import find_antecedents, measure_antecedents

WORDS = ("<start>", "the", "dog", "bit", "the", "cat", "because", "it", "hated", "it", ".")


def by_hand():
    """Two heads of one layer: (1, 2, 11, 11). The first gives .7 and .3 from both it to cat, the second all to dog."""
    weights = torch.zeros(1, 2, len(WORDS), len(WORDS), dtype=torch.float64)
    weights[0, 0, 7, 5], weights[0, 0, 7, 2] = 0.7, 0.3
    weights[0, 0, 9, 5], weights[0, 0, 9, 0] = 0.3, 0.7
    weights[0, 1, 7, 2] = weights[0, 1, 9, 2] = 1.0
    return weights


def test_both_pronouns_take_the_nearest_noun_that_fits():
    assert find_antecedents("en", WORDS) == ((7, 5), (9, 5))
    assert measure_antecedents(by_hand(), "en", WORDS).tolist() == [[pytest.approx(0.5), 0.0]]


def test_another_mention_of_the_noun_counts_and_another_noun_does_not():
    again = tuple("cat" if word == "dog" else word for word in WORDS)
    assert measure_antecedents(by_hand(), "en", again).tolist() == [[pytest.approx(0.65), 1.0]]


def test_where_no_noun_fits_there_is_no_number():
    assert measure_antecedents(torch.eye(4)[None, None], "en", ("<start>", "she", "saw", "tables")) is None
    assert measure_antecedents(torch.eye(3)[None, None], "en", ("<start>", "dogs", "bark")) is None


def test_chinese():
    words = ("<start>", "狗", "咬", "了", "猫", "，", "因为", "它", "很", "饿", "。")
    weights = torch.full((1, 1, 11, 11), 1 / 11)
    assert find_antecedents("zh", words) == ((7, 4),)
    assert measure_antecedents(weights, "zh", words).tolist() == [[pytest.approx(1 / 11)]]
