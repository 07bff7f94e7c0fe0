"""Weights in the place of the learned ones: distances by hand, predictions by plain loops, a text at a time."""

import math
import statistics
from functools import cache

import pytest
import torch

from attention_core.comparison.distances import total_variation
from attention_core.learned.insight.attention_swaps import (
    ADVERSARIAL_DISTANCE_SHARE,
    DISTANCE_TOLERANCE_NATS,
    SWAP_KINDS,
    PredictionShift,
    farthest_possible_distance,
    jensen_shannon_divergence,
    measure_shift,
)
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import evidence
from attention_core.learned.tasks.texts import pad_rows
from attention_core.learned.training import shipped_networks
from tests.learned.test_classifier import plain_logits

SYMBOLS, CLASSES = 11, 5
TEXTS = [[3, 7, 10, 1, 0, 3, 7], [2], [9, 9, 4], [0, 1, 2, 3, 4]]
TOLERANCE = 1e-10
LN2 = math.log(2)

every_number_of_heads = pytest.mark.parametrize("heads", [1, 2, 4])
every_kind = pytest.mark.parametrize("kind", SWAP_KINDS)


def network(heads=1, seed=0):
    """Sharper than it is drawn, so that weights differ and predictions move."""
    model = Classifier(SYMBOLS, CLASSES, heads, torch.Generator().manual_seed(seed)).double().requires_grad_(False)
    model.w_q.mul_(5)
    model.w_o.mul_(5)
    return model


@cache
def measure_texts(kind, heads):
    """What a kind of weights does to the texts, for all tests that only read it."""
    return measure_shift(network(heads), pad_rows(TEXTS), kind)


@cache
def load_held_out(course):
    """A shipped network and 97 texts that it was never trained on."""
    texts, _ = evidence.held_out(course.partition("_")[0])
    return shipped_networks.load_network(course, 400).exact_model, texts[:97]


@cache
def measure_held_out(kind, course="lookup"):
    """What a kind of weights does to held-out texts of a shipped network, for all tests that only read it."""
    return measure_shift(*load_held_out(course), kind)


def exactly(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def learned_weights(model, texts=None):
    return model.trace(pad_rows(TEXTS) if texts is None else texts)["weights"]


def plain_softmax(logits):
    powers = [math.exp(number) for number in logits.tolist()]
    return [power / sum(powers) for power in powers]


def plain_shift(model, text, weights):
    """How much probability moves where one text has these weights, a list for each head."""
    before, after = plain_softmax(plain_logits(model, text)), plain_softmax(plain_logits(model, text, weights=weights))
    return sum(abs(p - q) for p, q in zip(before, after, strict=True)) / 2


def plain_divergence(p, q):
    """In the mean of heads: lists of lists."""
    total = 0.0
    for own, others in zip(p, q, strict=True):
        for a, b in zip(own, others, strict=True):
            total += sum(part * math.log(part / ((a + b) / 2)) / 2 for part in (a, b) if part)
    return total / len(p)


def own_weights(weights, b):
    """The weights of a text, a list for each head, without padding."""
    return weights[b, :, 0, : len(TEXTS[b])].tolist()


# ---- distances -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "p, q, moved",
    [
        ([1, 0], [0, 1], 1),
        ([0.5, 0.5], [0.5, 0.5], 0),
        ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2], 0.3),
        ([1, 0], [0.75, 0.25], 0.25),
    ],
)
def test_total_variation_by_hand(p, q, moved):
    p, q = (exactly(numbers) for numbers in (p, q))
    assert total_variation(p, q).item() == total_variation(q, p).item() == pytest.approx(moved, abs=1e-12)


@pytest.mark.parametrize(
    "p, q, nats",
    [
        ([1, 0], [0, 1], LN2),
        ([0.3, 0.7], [0.3, 0.7], 0),
        # m = (3/4, 1/4): half of ln 4/3, and half of (1/2) ln 2/3 + (1/2) ln 2
        ([1, 0], [0.5, 0.5], math.log(4 / 3) / 2 + (math.log(2 / 3) + math.log(2)) / 4),
        ([0.5, 0.5, 0], [0, 0.5, 0.5], LN2 / 2),  # half of each stands where the other one has nothing
    ],
)
def test_divergence_by_hand(p, q, nats):
    p, q = (exactly(numbers) for numbers in (p, q))
    assert jensen_shannon_divergence(p, q).item() == pytest.approx(nats, abs=1e-12)
    assert jensen_shannon_divergence(q, p).item() == pytest.approx(nats, abs=1e-12)


def test_divergence_of_batches_is_that_of_each(generator):
    p, q = (torch.rand(3, 5, 7, generator=generator, dtype=torch.float64).softmax(-1) for _ in range(2))
    for index in ((0, 0), (2, 4), (1, 3)):
        expected = plain_divergence([p[index].tolist()], [q[index].tolist()])
        assert jensen_shannon_divergence(p, q)[index].item() == pytest.approx(expected, abs=1e-12)


# ---- even weights, other orders --------------------------------------------------------------------------------------
@every_number_of_heads
def test_uniform_is_what_plain_loops_say(heads):
    model = network(heads)
    found, learned = measure_shift(model, pad_rows(TEXTS), "uniform"), learned_weights(model)
    for b, text in enumerate(TEXTS):
        even = [[1 / len(text)] * len(text)] * heads
        assert torch.allclose(found.weights[b, :, 0, : len(text)], exactly(even))
        assert found.shift[b].item() == pytest.approx(plain_shift(model, text, even), abs=TOLERANCE)
        assert found.distance[b].item() == pytest.approx(plain_divergence(own_weights(learned, b), even), abs=TOLERANCE)
    assert found.shift.max() > 0.1


def orders(seed=0):
    """The orders that a seed gives: where the weight of each place comes from, for every draw and text."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(25):
        drawn = torch.rand(len(TEXTS), 7, generator=generator).tolist()
        yield [sorted(range(len(text)), key=row.__getitem__) for text, row in zip(TEXTS, drawn, strict=True)]


@every_number_of_heads
def test_permuted_is_the_median_of_25_orders_by_plain_loops(heads):
    model = network(heads)
    found, learned = measure_shift(model, pad_rows(TEXTS), "permuted", seed=3), learned_weights(model)
    drawn = [*orders(seed=3)]
    for b, text in enumerate(TEXTS):
        own = own_weights(learned, b)
        shuffled = [[[head[at] for at in order[b]] for head in own] for order in drawn]
        moved = [plain_shift(model, text, weights) for weights in shuffled]
        assert found.shift[b].item() == pytest.approx(statistics.median(moved), abs=TOLERANCE)
        shown = own_weights(found.weights, b)  # those of an order that has it
        assert plain_shift(model, text, shown) == pytest.approx(found.shift[b].item(), abs=TOLERANCE)
        assert found.distance[b].item() == pytest.approx(plain_divergence(own, shown), abs=TOLERANCE)


@every_number_of_heads
def test_permuted_keeps_each_heads_weights(heads):
    model = network(heads)
    found, learned = measure_shift(model, pad_rows(TEXTS), "permuted").weights, learned_weights(model)
    assert torch.equal(found.sort(-1).values, learned.sort(-1).values)
    assert not torch.equal(found, learned)


# ---- far weights that move little ------------------------------------------------------------------------------------
@every_number_of_heads
def test_no_weights_are_farther_than_the_farthest(heads, generator):
    model = network(heads)
    learned, most = learned_weights(model), farthest_possible_distance(learned_weights(model), pad_rows(TEXTS))
    for b, text in enumerate(TEXTS):
        own, found = own_weights(learned, b), []
        for sharpness in (0.5, 2, 8, 30):
            for _ in range(50):
                scores = sharpness * torch.randn(heads, len(text), generator=generator, dtype=torch.float64)
                found.append(plain_divergence(own, scores.softmax(-1).tolist()))
        assert max(found) <= most[b].item() + TOLERANCE
        singles = [
            max(plain_divergence([head], [[float(s == at) for s in range(len(text))]]) for at in range(len(text)))
            for head in own
        ]  # each head by itself
        assert most[b].item() == pytest.approx(sum(singles) / heads, abs=TOLERANCE)


@every_number_of_heads
def test_adversarial_weights_are_far(heads):
    model, texts = network(heads), pad_rows(TEXTS)
    found, learned = measure_texts("adversarial", heads), learned_weights(network(heads))
    most = farthest_possible_distance(learned, texts)
    assert (found.distance >= ADVERSARIAL_DISTANCE_SHARE * most - DISTANCE_TOLERANCE_NATS).all()
    for b, text in enumerate(TEXTS):
        shown = own_weights(found.weights, b)
        assert found.distance[b].item() == pytest.approx(
            plain_divergence(own_weights(learned, b), shown), abs=TOLERANCE
        )
        assert found.shift[b].item() == pytest.approx(plain_shift(model, text, shown), abs=TOLERANCE)


@pytest.mark.parametrize("course", ["lookup", "vote", "lookup_heads"])
def test_adversarial_weights_are_far_for_every_text_that_is_measured(course):
    model, texts = load_held_out(course)
    found, learned = measure_held_out("adversarial", course), learned_weights(model, texts)
    assert (found.distance >= 0.9 * farthest_possible_distance(learned, texts) - 1e-3).all()


@pytest.mark.parametrize("course", ["lookup", "vote"])
def test_adversarial_weights_move_no_more_than_all_weight_on_any_place_that_is_far(course):
    model, texts = load_held_out(course)
    learned, tried = learned_weights(model, texts), 0
    far = 0.9 * farthest_possible_distance(learned, texts) - 1e-3
    found = measure_held_out("adversarial", course).shift.tolist()
    for b, row in enumerate(texts[:29].tolist()):
        text = [number for number in row if number != PAD]
        for at in range(len(text)):
            single = [[float(s == at) for s in range(len(text))]]
            if plain_divergence(learned[b, :, 0, : len(text)].tolist(), single) >= far[b]:
                tried += 1
                assert found[b] <= plain_shift(model, text, single) + TOLERANCE
    assert tried > 29


def test_for_most_texts_a_search_finds_weights_that_move_less():
    """Where no single place leaves the prediction as it is, a mixture of some does."""
    mixed = measure_held_out("adversarial").weights.amax((1, 2, 3)) < 0.99
    assert mixed.double().mean() > 0.5


def test_weights_that_are_searched_for_mostly_keep_the_answer_and_the_other_kinds_mostly_change_it():
    changed = {}
    for kind in SWAP_KINDS:
        shift = measure_held_out(kind).shift  # of the probability of all answers, 99 % of which is on one
        changed[kind] = (shift > 0.5).double().mean().item()
    searched = changed.pop("adversarial")
    assert searched < 0.3 and min(changed.values()) > 0.7


# ---- all kinds -------------------------------------------------------------------------------------------------------
@every_kind
@every_number_of_heads
def test_weights_are_shares_and_padding_gets_none(kind, heads):
    weights = measure_texts(kind, heads).weights
    assert weights.shape == (len(TEXTS), heads, 1, 7)
    assert torch.allclose(weights.sum(-1), torch.ones(len(TEXTS), heads, 1).double())
    assert (weights >= 0).all()
    for b, text in enumerate(TEXTS):
        assert (weights[b, ..., len(text) :] == 0).all()


@every_kind
def test_a_text_of_one_symbol_has_no_other_weights(kind):
    found = measure_texts(kind, 2)
    assert found.weights[1, :, 0].tolist() == [[1.0] + [0.0] * 6] * 2
    assert (found.shift[1].item(), found.distance[1].item()) == (0, 0)


@every_kind
def test_a_seed_says_all_and_the_seed_of_everybody_stays_as_it_was(kind):
    before = torch.get_rng_state()
    one, same, other = (measure_shift(network(), pad_rows(TEXTS), kind, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one.shift, same.shift) and torch.equal(one.weights, same.weights)
    assert torch.equal(one.weights, other.weights) == (kind == "uniform")


@every_kind
def test_the_network_stays_as_it_was(kind):
    model = network(2)
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    measure_shift(model, pad_rows(TEXTS), kind)
    for name, tensor in model.named_parameters():
        assert torch.equal(tensor, before[name]) and tensor.grad is None


# ---- the mean and where it lies --------------------------------------------------------------------------------------
def test_the_interval_is_that_of_statistics():
    numbers = [0.41, 0.12, 0.93, 0.38, 0.55, 0.7, 0.29]
    found = PredictionShift(exactly(numbers), torch.zeros(7), torch.zeros(7, 1, 1, 3))
    half = 1.96 * statistics.stdev(numbers) / math.sqrt(7)
    assert found.mean == pytest.approx(statistics.mean(numbers), abs=1e-12)
    assert found.interval == pytest.approx((found.mean - half, found.mean + half), abs=1e-12)


@pytest.mark.parametrize("numbers, interval", [([0.0, 0.0, 0.1], (0.0, 0.0986)), ([1.0, 0.8, 1.0], (0.8027, 1.0))])
def test_the_interval_ends_at_0_and_1(numbers, interval):
    """Standard deviation 0.05774 or 0.1155, over the root of 3, times 1.96: 0.0653 or 0.1307."""
    found = PredictionShift(exactly(numbers), torch.zeros(3), torch.zeros(3, 1, 1, 3))
    assert found.interval == pytest.approx(interval, abs=5e-4)


def test_of_one_text_no_interval_is_known():
    found = measure_shift(network(), pad_rows(TEXTS[:1]), "uniform")
    assert found.interval == (0.0, 1.0)
