"""How far a position hears: against influences draw by draw, and figures from outside."""

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.variants.encoders import ENCODER_KINDS, Encoder, draw_layers, encode, random_words
from attention_core.variants.influence import (
    InfluenceByDistance,
    default_position,
    distances_heard,
    first_overtaking_distance,
    influence_by_distance,
)
from tests.golden import loader

FIGURES = loader.read(loader.STORIES)["measured"][
    "tanh RNN influence relative to distance 0, at 1, 5, 10, 19 (H=32, seed 0)"
]
GAINS = {"orthogonal x0.9": 0.9, "x1.0": 1.0, "x1.2": 1.2, "x1.5": 1.5, "torch default init": None}


def norms(encoder, x, at):
    """Spectral norms of torch's own Jacobian, one word after the other."""
    layers = draw_layers(encoder, x.shape[1])
    slopes = torch.autograd.functional.jacobian(lambda words: encode(encoder, words, layers)[0, at], x)
    return [np.linalg.norm(slopes[:, s].numpy(), 2) for s in range(len(x))]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_a_tanh_recurrence(name):
    encoder = Encoder("rnn", gain=GAINS[name])
    found = influence_by_distance(encoder, random_words(encoder, 20, 32), at=19, measure="relative")
    assert [round(found.at(distance), 3) for distance in (1, 5, 10, 19)] == FIGURES[name]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ENCODER_KINDS)
def test_shares_and_ratios_are_taken_draw_by_draw(kind, both):
    x, at = random_words(Encoder("rnn", width=5), 7, 3), 4
    shares, ratios = [], []
    for seed in (2, 3, 4):
        found = norms(Encoder(kind, width=5, both=both, seed=seed), x, at)
        shares.append([number / sum(found) for number in found])
        ratios.append([number / found[at] for number in found])
    last = 7 if both else 5
    for measure, each in (("share", np.array(shares)), ("relative", np.array(ratios))):
        got = influence_by_distance(Encoder(kind, width=5, both=both, seed=2), x, at, measure, draws=3)
        assert got.distances == tuple(at - s for s in range(last))[::-1]
        for distance, mean, (least, most) in zip(got.distances, got.mean, got.band, strict=True):
            column = each[:, at - distance]
            assert mean == got.at(distance) == pytest.approx(column.mean(), abs=1e-10)
            assert (least, most) == pytest.approx((column.min(), column.max()), abs=1e-10)
    total = sum(influence_by_distance(Encoder(kind, width=5, both=both), x, at).mean)
    assert total == pytest.approx(1, abs=1e-12)


def test_random_attention_hears_everybody_evenly_and_a_recurrence_does_not():
    """Over twenty draws and 64 words: attention's far and near words within a fifth of 1/S, whatever the distance."""
    x = random_words(Encoder("rnn", gain=1.0), 64, 32)
    attention = influence_by_distance(Encoder("attention"), x, 63, draws=20)
    for far in (range(1, 22), range(22, 43), range(43, 64)):
        assert np.mean([attention.at(distance) for distance in far]) == pytest.approx(1 / 64, rel=0.2)
    for encoder in (Encoder("rnn", gain=0.9), Encoder("gru"), Encoder("lstm")):
        assert influence_by_distance(encoder, x, 63).at(63) < 1e-4


def test_both_sides_are_heard_in_both_directions():
    x = random_words(Encoder("rnn", gain=1.0), 21, 32)
    found = influence_by_distance(Encoder("lstm", both=True), x, 10, draws=4)
    assert found.distances == tuple(range(-10, 11))
    assert all(mean > 0 for mean in found.mean)
    assert found.at(-10) < found.at(-3) < found.at(0) > found.at(3) > found.at(10)


def test_exactly_nothing_beyond_the_receptive_field():
    x = random_words(Encoder("rnn", gain=1.0), 32, 32)
    one = influence_by_distance(Encoder("cnn", layers=4, window=3), x, 31, draws=2)
    assert [distance for distance, mean in zip(one.distances, one.mean, strict=True) if mean > 0] == [*range(9)]
    two = influence_by_distance(Encoder("cnn", layers=4, window=3, both=True), x, 16, draws=2)
    assert [distance for distance, mean in zip(two.distances, two.mean, strict=True) if mean > 0] == [*range(-4, 5)]


def of(*mean):
    return InfluenceByDistance(tuple(range(2 - len(mean), 2)), mean, mean, mean)


def test_an_overtaking_is_told_once_it_has_happened():
    def at(one, other):
        return first_overtaking_distance(
            InfluenceByDistance(tuple(range(len(one))), one, one, one),
            InfluenceByDistance((0, 1, 2, 3), other, other, other),
        )

    assert at((0.6, 0.3, 0.1, 0.0), (0.25, 0.25, 0.25, 0.25)) == 2
    assert at((0.25, 0.25, 0.25, 0.25), (0.6, 0.3, 0.1, 0.0)) == 2  # whoever is named first
    assert at((1.0, 0.5, 0.5, 0.6), (1.0, 0.4, 0.5, 0.5)) is None  # level at first, level once, never behind
    assert at((0.5, 0.5, 0.5, 0.1), (0.5, 0.5, 0.5, 0.1)) is None
    assert at((0.3, 0.1, 0.3, 0.3), (0.2, 0.2, 0.1, 0.1)) == 1
    assert (
        first_overtaking_distance(of(0.9, 0.5, 0.5), of(0.1, 0.5, 0.6)) is None
    )  # words after the position do not count


def test_places():
    assert [*distances_heard(False, 6, 2)] == [0, 1, 2]
    assert [*distances_heard(True, 6, 2)] == [-3, -2, -1, 0, 1, 2]
    assert (
        default_position(False, 1),
        default_position(True, 1),
        default_position(False, 6),
        default_position(True, 6),
    ) == (0, 0, 5, 3)


@pytest.mark.parametrize(
    "more, code",
    [({"measure": "loudness"}, "unknown_choice"), ({"draws": 0}, "positive_integer"), ({"at": 5}, "at_most")],
)
def test_refused(more, code):
    with pytest.raises(AttentionError) as refused:
        influence_by_distance(Encoder("rnn"), torch.zeros(5, 3).double(), **({"at": 4} | more))
    assert refused.value.code == code
