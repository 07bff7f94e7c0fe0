"""Letters in reverse and symbols that are repeated: each text by Python's own lists; no distance gives the answer."""

import pytest
import torch

from attention_core.learned.tasks import repeats, reversal

BATCHES = 400


# ---- reversal --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("measured", [False, True])
def test_the_target_is_the_source_from_behind(measured, generator):
    source, target = reversal.draw_letters(13, 7, generator, measured)
    assert source.shape == (13, 7)
    assert target.tolist() == [[*reversed(row)] for row in source.tolist()]


def test_every_length_is_measured_with_as_many_texts():
    assert tuple(reversal.held_out()) == reversal.MEASURED_LENGTHS
    for length, (source, target) in reversal.held_out().items():
        assert source.shape == target.shape == (reversal.TEXTS_PER_LENGTH, length)
        assert target.tolist() == [[*reversed(row)] for row in source.tolist()]
        assert {number for row in source.tolist() for number in row} == {*range(26)}


def test_texts_of_every_length_are_trained_and_some_that_are_longer_are_measured(generator):
    lengths = {reversal.batch(3, generator)[0].shape[1] for _ in range(BATCHES)}
    assert lengths == {*range(3, 41)}
    assert max(reversal.MEASURED_LENGTHS) > max(lengths)


# ---- repeats ---------------------------------------------------------------------------------------------------------
def halves(rows):
    """Each row's first and second half, as lists."""
    half = rows.shape[1] // 2
    return [(row[:half], row[half:]) for row in rows.tolist()]


def test_symbols_that_all_differ_come_twice(generator):
    sequences = [repeats.batch(5, generator)[0] for _ in range(BATCHES)] + [repeats.held_out()]
    for first, second in (pair for rows in sequences for pair in halves(rows)):
        assert first == second
        assert len({*first}) == len(first)
        assert {*first} <= {*range(62)}


def test_lengths_vary_and_that_which_is_measured_is_one_of_them(generator):
    lengths = {repeats.batch(1, generator)[0].shape[1] // 2 for _ in range(BATCHES)}
    assert lengths == {*range(6, 25)}
    assert repeats.held_out().shape == (256, 2 * 16)


def test_no_fixed_distance_solves_repeats(generator):
    """Whoever always copies the symbol so many places back is right in the second half as often as its length is the
    one: of the 266 symbols that can be known in sequences of 6, 7 up to 24, 23 stand 24 back, and so on."""
    right, known = dict.fromkeys(range(1, 48), 0), 0
    for _ in range(BATCHES):
        (row,) = repeats.batch(1, generator)[0].tolist()
        half = len(row) // 2
        for place in range(half + 1, len(row)):
            known += 1
            for distance in right:
                right[distance] += place >= distance and row[place - distance] == row[place]
    assert max(right.values()) / known < 0.15
    assert sum(right.values()) == known  # each symbol stands there once before


class Guesses:
    """In the place of a network: it means most whatever `guess` says of the symbols so far."""

    def __init__(self, guess):
        self.guess = guess

    def logits(self, symbols, switches=None):
        chosen = [[self.guess(row[: place + 1]) for place in range(len(row))] for row in symbols.tolist()]
        return torch.nn.functional.one_hot(torch.tensor(chosen), 62).double()


def after_the_same(so_far):
    """What came after this symbol last time; where there was none, the symbol itself, which never follows."""
    return so_far[so_far.index(so_far[-1]) + 1] if so_far[-1] in so_far[:-1] else so_far[-1]


def test_whoever_copies_is_right_from_the_second_repeated_symbol_on():
    assert repeats.accuracy(Guesses(after_the_same)).tolist() == [0.0] * 16 + [1.0] * 15


def test_accuracy_is_the_share_at_each_place():
    found = repeats.accuracy(Guesses(lambda so_far: (so_far[0] + 1) % 62))
    for place in range(31):
        right = [row[place + 1] == (row[0] + 1) % 62 for row in repeats.held_out().tolist()]
        assert found[place].item() == pytest.approx(sum(right) / len(right), abs=1e-12)
    assert 0 < found.max() < 0.1
