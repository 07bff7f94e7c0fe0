"""Symbols by their numbers and texts as tensors, and when a text counts as written exactly: by hand, and by lists."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.learned.symbols import PAD, Alphabet
from attention_core.learned.tasks.texts import encode_pairs, is_written_exactly, pad_columns, pad_rows, trim_padding

LETTERS = Alphabet(tuple("dbca"))
DIGITS = Alphabet(tuple("201"))


# ---- symbols ---------------------------------------------------------------------------------------------------------
def test_a_symbols_number_is_its_place():
    assert LETTERS.numbers("abcd") == [3, 1, 2, 0]
    assert LETTERS.symbols([3, 1, 2, 0]) == ("a", "b", "c", "d")
    assert LETTERS.numbers("") == []
    assert len(LETTERS) == 4


def test_no_symbol_has_the_number_of_padding():
    assert PAD not in LETTERS.places.values()


def test_the_first_symbol_that_was_never_seen_is_named():
    with pytest.raises(AttentionError) as refused:
        LETTERS.numbers("abxy")
    assert refused.value.code == "never_seen"
    assert refused.value.values == {"given": "x", "known": "d b c a"}


# ---- texts as tensors ------------------------------------------------------------------------------------------------
def test_texts_are_filled_up_to_the_longest():
    source, target = encode_pairs([("ab", "012"), ("cabd", "1")], LETTERS, DIGITS)
    assert source.tolist() == [[3, 1, PAD, PAD], [2, 3, 1, 0]]
    assert target.tolist() == [[1, 2, 0], [2, PAD, PAD]]


def test_what_is_padding_in_all_rows_is_cut_off():
    rows = [[3, 1], [2, 3, 1], [0]]
    assert trim_padding(pad_columns(pad_rows(rows), 5)).tolist() == pad_rows(rows).tolist()
    assert pad_columns(pad_rows(rows), 2)[2].tolist() == [0, PAD, PAD, PAD, PAD]


# ---- written exactly -------------------------------------------------------------------------------------------------
class Copyist:
    """In the place of a network: it writes what it was told, each row up to its end."""

    def __init__(self, rows):
        self.rows = rows

    def write(self, source, most):
        assert len(source) == len(self.rows)
        return pad_rows([row[:most] for row in self.rows]).long()


@pytest.mark.parametrize(
    "written, wanted, right",
    [
        ([[1, 2, 3], [2]], [[1, 2, 3], [2]], [True, True]),
        ([[1, 2], [2]], [[1, 2, 3], [2]], [False, True]),  # too short
        ([[1, 2, 3], [2, 2]], [[1, 2, 3], [2]], [True, False]),  # goes on where it should end
        ([[1, 2, 3, 3], [2]], [[1, 2, 3], [2]], [False, True]),  # the longest goes on
        ([[1, 2, 3], [2] * 7], [[1, 2, 3], [2]], [True, False]),  # far too long
        ([[1, 3, 3], [1]], [[1, 2, 3], [2]], [False, False]),
        ([[], []], [[1, 2], [1]], [False, False]),
    ],
)
def test_exact_is_symbol_by_symbol_and_no_longer(written, wanted, right):
    assert is_written_exactly(Copyist(written), (torch.zeros(2, 5), pad_rows(wanted))).tolist() == right


def test_exact_is_what_lists_say(generator):
    for _ in range(30):
        lengths = torch.randint(1, 4, (2, 11), generator=generator).tolist()
        written, wanted = (
            [torch.randint(2, (n,), generator=generator).tolist() for n in side] for side in lengths
        )  # two symbols, up to three of them: many agree
        found = is_written_exactly(Copyist(written), (torch.zeros(11, 5), pad_rows(wanted))).tolist()
        assert found == [one == other for one, other in zip(written, wanted, strict=True)]
