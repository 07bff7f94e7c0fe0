"""Attention maps that are read in other ways, against loops over every cell."""

import itertools
import math

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.map_reading import MapReading, read_maps

READINGS = [
    MapReading(without_first=first, times=times, mean=mean, **limit)
    for first, times, mean, limit in itertools.product(
        (False, True), (False, True), ((), (0, 2)), ({}, {"least": 0.2}, {"largest": 2})
    )
]


def draw_maps() -> tuple[torch.Tensor, torch.Tensor]:
    """Three causal maps of five queries and keys, one of which has two equal weights."""
    scores = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    scores[1, 4, 1:3] = 2.0
    allowed = torch.ones(3, 5, 5).tril() > 0
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1), allowed


def read_by_loops(weights, allowed, reading):
    """The numbers, the hidden cells, and the shares left out and hidden, one cell after the other."""
    maps = [(weights[n].tolist(), allowed[n].tolist()) for n in range(len(weights))]
    if reading.mean:
        rows = range(len(maps[0][0]))
        mean = [[sum(maps[n][0][t][s] for n in reading.mean) / len(reading.mean) for s in rows] for t in rows]
        maps.append((mean, maps[reading.mean[0]][1]))
    read = []
    for numbers, free in maps:
        left_out = sum(row[0] for row in numbers) / sum(map(sum, numbers))
        if reading.without_first:
            numbers = [[w / sum(row[1:]) if sum(row[1:]) else 0 for w in row[1:]] for row in numbers]
            free = [row[1:] for row in free]
        hidden = [[False] * len(row) for row in numbers]
        for t, row in enumerate(numbers):
            for s, weight in enumerate(row):
                larger = sum(other > weight + 1e-9 for other in row)
                is_small = bool(reading.least and weight < reading.least - 1e-9)
                is_small = is_small or bool(reading.largest and larger >= reading.largest)
                hidden[t][s] = free[t][s] and is_small
        share = sum(
            w
            for row, gone in zip(numbers, hidden, strict=True)
            for w, is_gone in zip(row, gone, strict=True)
            if is_gone
        )
        share /= sum(map(sum, numbers))
        if reading.times:
            numbers = [[w * sum(seen) for w in row] for row, seen in zip(numbers, free, strict=True)]
        read.append((numbers, hidden, left_out, share))
    return read


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_each_cell_is_what_a_loop_makes_of_it(reading):
    weights, allowed = draw_maps()
    before = weights.clone()
    read = read_maps(weights, allowed, reading)
    expected = read_by_loops(weights, allowed, reading)
    assert len(read.numbers) == len(expected) == 3 + bool(reading.mean)
    for n, (numbers, hidden, left_out, share) in enumerate(expected):
        torch.testing.assert_close(read.numbers[n], torch.tensor(numbers, dtype=torch.float64))
        assert read.hidden[n].tolist() == hidden
        assert math.isclose(read.left_out[n], left_out) and math.isclose(read.hidden_share[n], share, abs_tol=1e-12)
    assert torch.equal(weights, before)


def test_equal_weights_are_kept_or_hidden_together():
    weights, allowed = draw_maps()
    hidden = read_maps(weights, allowed, MapReading(largest=1)).hidden[1, 4]
    assert not hidden[1] and not hidden[2] and hidden[[0, 3, 4]].all()


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"least": 0.0}, "share_range"),
        ({"least": 1.5}, "share_range"),
        ({"least": math.nan}, "share_range"),
        ({"largest": 0}, "positive_integer"),
        ({"largest": 2.5}, "positive_integer"),
        ({"least": 0.1, "largest": 1}, "chosen_twice"),
        ({"mean": (-1,)}, "not_negative"),
    ],
)
def test_a_reading_that_means_nothing_is_refused(values, code):
    with pytest.raises(AttentionError) as refused:
        MapReading(**values)
    assert refused.value.code == code


def test_maps_that_cannot_be_read_so_are_refused():
    weights, allowed = draw_maps()
    with pytest.raises(AttentionError, match="weights must be"):
        read_maps(weights, allowed, MapReading(mean=(0, 3)))
    with pytest.raises(AttentionError, match="weights must be"):
        read_maps(weights[..., :1], allowed[..., :1], MapReading(without_first=True))
    with pytest.raises(AttentionError, match="0 or more"):
        read_maps(weights - 1, allowed, MapReading())
