"""Attention maps of words and of blocks of two sentences, against loops over every cell."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.word_maps import BLOCKS, cut_block, find_second_sentence, group_pieces, join_words

PIECES = ("[CLS]", "un", "##happ", "##y", "dogs", "[SEP]", "bark", "##ing", "[SEP]")


def given(words=PIECES):
    numbers = torch.randn(2, 3, len(words), len(words), generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    return AttentionMaps(numbers.softmax(-1), words, words)


def test_a_word_has_the_sum_of_its_pieces_as_a_key_and_their_mean_as_a_query():
    maps, words = given(), join_words(given())
    groups = [[0], [1, 2, 3], [4], [5], [6, 7], [8]]
    assert words.queries == words.keys == ("[CLS]", "unhappy", "dogs", "[SEP]", "barking", "[SEP]")
    for layer, head in ((0, 0), (1, 2)):
        numbers = maps.maps[layer, head].tolist()
        for t, rows in enumerate(groups):
            for s, columns in enumerate(groups):
                mean = sum(numbers[i][j] for i in rows for j in columns) / len(rows)
                assert float(words.maps[layer, head, t, s]) == pytest.approx(mean)
    assert torch.allclose(words.maps.sum(-1), torch.ones(2, 3, 6, dtype=torch.float64))


@pytest.mark.parametrize(
    ("tokens", "groups"),
    [
        (["The", "Ġun", "happ", "y", "Ġcat"], [[0], [1, 2, 3], [4]]),
        (["▁New", "▁York", "ers"], [[0], [1, 2]]),
        (["walk", "ing"], [[0], [1]]),  # no marks: nothing says which pieces are one word
        (["the", "low@@", "er", "end"], [[0], [1, 2], [3]]),
    ],
)
def test_the_pieces_of_a_word_are_found_by_the_marks_of_its_tokenizer(tokens, groups):
    assert group_pieces(tokens) == groups


def test_the_second_sentence_begins_after_the_first_separator():
    assert find_second_sentence(PIECES) == 6
    assert find_second_sentence(("a", "b")) is None


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_the_rows_of_one_sentence_and_the_columns_of_another(block):
    maps = given()
    cut = cut_block(maps, 6, block)
    places = {"A": range(6), "B": range(6, 9)}
    rows, columns = places[block[0]], places[block[1]]
    assert cut.queries == tuple(PIECES[i] for i in rows) and cut.keys == tuple(PIECES[j] for j in columns)
    expected = [[float(maps.maps[1, 2, i, j]) for j in columns] for i in rows]
    assert cut.maps[1, 2].tolist() == expected


@pytest.mark.parametrize(("second", "block"), [(0, "AB"), (9, "AB"), (-1, "AA"), (6, "AC"), (6, "")])
def test_a_block_that_is_not_there_is_refused(second, block):
    with pytest.raises(AttentionError):
        cut_block(given(), second, block)
