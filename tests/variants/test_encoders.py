"""Encoders beside attention: each against torch's own module with the same weights, and how far a word's influence
reaches against finite differences, torch's Jacobian and the figures of stories.json."""

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.variants.encoder_cost import encoding_time, forward_pass
from attention_core.variants.encoders import ENCODER_KINDS, Encoder, draw_layers, encode, position_width, random_words
from attention_core.variants.influence import encoder_jacobian, influence
from tests.golden import loader

FIGURES = loader.read(loader.STORIES)["measured"][
    "tanh RNN influence relative to distance 0, at 1, 5, 10, 19 (H=32, seed 0)"
]
MODULES = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
TOLERANCE = 1e-10


def module_of(encoder, inputs, layers):
    """torch's own module, filled with our weights."""
    module = MODULES[encoder.kind](
        inputs,
        encoder.width,
        num_layers=encoder.layers,
        bidirectional=encoder.both,
        batch_first=True,
        dtype=torch.float64,
    )
    with torch.no_grad():
        for number, layer in enumerate(layers):
            for weights, suffix in zip(layer, ("", "_reverse"), strict=False):
                getattr(module, f"weight_ih_l{number}{suffix}").copy_(weights.w_x.T)
                getattr(module, f"weight_hh_l{number}{suffix}").copy_(weights.w_h.T)
                getattr(module, f"bias_ih_l{number}{suffix}").copy_(weights.b)
                getattr(module, f"bias_hh_l{number}{suffix}").zero_()
    return module


# ---- each kind against torch -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("gain", [None, 1.3])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", MODULES)
def test_recurrences_are_torchs(kind, both, layers, gain, generator):
    encoder = Encoder(kind, width=7, both=both, layers=layers, gain=gain, keep=0.7, seed=3)
    x = torch.randn(2, 11, 5, generator=generator, dtype=torch.float64)
    drawn = draw_layers(encoder, inputs=5)
    for layer in drawn:
        for weights in layer:  # a bias in every gate, so that none can stand in a wrong place
            weights.b.add_(torch.randn(weights.b.shape, generator=generator, dtype=torch.float64))
    hidden = encode(encoder, x, drawn)
    with torch.no_grad():
        expected, _ = module_of(encoder, 5, drawn)(x)
        timed_pass = forward_pass(encoder, x, drawn)()
    assert hidden.shape == (2, 11, position_width(encoder)) == expected.shape
    assert torch.allclose(hidden, expected, atol=TOLERANCE, rtol=0)
    assert torch.allclose(timed_pass, expected, atol=TOLERANCE, rtol=0)


def test_a_tanh_recurrence_by_hand():
    """One number a position: h_1 = tanh(.5 w), h_2 = tanh(-.25 w + u h_1)."""
    encoder = Encoder("rnn", width=1, seed=5)
    (((weights,),)) = draw_layers(encoder, inputs=1)
    u, w = weights.w_h.item(), weights.w_x.item()
    first = np.tanh(0.5 * w)
    hidden = encode(encoder, torch.tensor([[0.5], [-0.25]]).double(), ((weights,),)).flatten().tolist()
    assert hidden == pytest.approx([first, np.tanh(-0.25 * w + u * first)], abs=TOLERANCE)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_convolutions_are_torchs(both, layers, generator):
    encoder = Encoder("cnn", width=7, both=both, layers=layers, window=5)
    x = torch.randn(2, 11, 3, generator=generator, dtype=torch.float64)
    expected = x.transpose(1, 2)
    drawn = draw_layers(encoder, inputs=3)
    for taps in drawn:
        module = torch.nn.Conv1d(*taps.shape[1:], 5, padding=2 if both else 4, bias=False, dtype=torch.float64)
        with torch.no_grad():
            module.weight.copy_(taps.permute(2, 1, 0))
            expected = module(expected)[..., :11].tanh()  # padded on both sides: what lies ahead is cut off
    assert torch.allclose(encode(encoder, x, drawn), expected.transpose(1, 2), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("both", [False, True])
def test_attention_is_torchs(both, generator):
    encoder = Encoder("attention", width=7, both=both)
    x = torch.randn(2, 11, 5, generator=generator, dtype=torch.float64)
    (weights,) = layers = draw_layers(encoder, inputs=5)
    q, k, v = (x @ w for w in (weights.w_q, weights.w_k, weights.w_v))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=not both)
    assert torch.allclose(encode(encoder, x, layers), expected, atol=TOLERANCE, rtol=0)


# ---- the weights -----------------------------------------------------------------------------------------------------
def test_a_gain_makes_every_gates_recurrent_matrix_orthogonal_times_it():
    encoder = Encoder("lstm", width=5, gain=1.5, keep=2.0)
    (((weights,),)) = draw_layers(encoder, inputs=3)
    for block in weights.w_h.split(5, dim=1):
        assert torch.allclose(block @ block.T, 1.5**2 * torch.eye(5).double(), atol=TOLERANCE, rtol=0)
    assert weights.b.view(4, 5).tolist() == [[0.0] * 5, [2.0] * 5, [0.0] * 5, [0.0] * 5]


@pytest.mark.parametrize("kind, summed", [("rnn", 7), ("gru", 7), ("lstm", 7), ("cnn", 5 * 11), ("attention", 11)])
def test_weights_are_as_wide_as_torchs_default(kind, summed):
    (layer,) = draw_layers(Encoder(kind, width=7, window=5), inputs=11)
    drawn = {"cnn": lambda: [layer], "attention": lambda: [*layer.given().values()]}.get(
        kind, lambda: [layer[0].w_h, layer[0].w_x]
    )()
    bound = summed**-0.5
    for tensor in drawn:
        assert 0.9 * bound < tensor.abs().max() <= bound


def test_a_seed_says_all():
    one, same, other = (draw_layers(Encoder("attention", seed=seed), 3)[0].w_q for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_words_come_behind_the_weights_of_one_stream():
    """Drawn here once more: a normal matrix made orthogonal, w_x, then the words."""
    generator = np.random.default_rng(4)
    turn = np.linalg.qr(generator.standard_normal((7, 7)))[0]
    w_x = generator.uniform(-(7**-0.5), 7**-0.5, (7, 5))
    encoder = Encoder("rnn", width=7, gain=2.0, seed=4)
    (((weights,),)) = draw_layers(encoder, inputs=5)
    assert np.array_equal(weights.w_h.T.numpy(), 2.0 * turn)
    assert np.array_equal(weights.w_x.T.numpy(), w_x)
    assert np.array_equal(random_words(encoder, 11, 5).numpy(), generator.standard_normal((11, 5)))


# ---- influence -------------------------------------------------------------------------------------------------------
ALL = [
    Encoder(kind, width=5, both=both, layers=layers)
    for kind in ENCODER_KINDS
    for both in (False, True)
    for layers in (1, 2)
]


@pytest.mark.parametrize("encoder", ALL, ids=str)
def test_jacobian_is_torchs_and_that_of_finite_differences(encoder, generator):
    x = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    layers = draw_layers(encoder, inputs=3)
    found = encoder_jacobian(encoder, x, at=4)  # (T, width, D)
    expected = torch.autograd.functional.jacobian(lambda words: encode(encoder, words, layers)[0, 4], x)
    assert torch.allclose(found, expected.transpose(0, 1), atol=TOLERANCE, rtol=0)
    step = 1e-6
    for s, d in ((4, 0), (1, 2), (6, 1)):
        ahead, back = x.clone(), x.clone()
        ahead[s, d] += step
        back[s, d] -= step
        slope = (encode(encoder, ahead, layers)[0, 4] - encode(encoder, back, layers)[0, 4]) / (2 * step)
        assert torch.allclose(found[s, :, d], slope, atol=1e-8, rtol=0)


def test_influence_is_a_norm_of_it(generator):
    encoder, x = Encoder("gru", width=5), torch.randn(7, 3, generator=generator, dtype=torch.float64)
    matrices = encoder_jacobian(encoder, x, at=6).numpy()
    for norm, order in (("spectral", 2), ("frobenius", "fro")):
        expected = [np.linalg.norm(matrix, order) for matrix in matrices]
        assert influence(encoder, x, norm=norm).tolist() == pytest.approx(expected, abs=TOLERANCE)
    relative = influence(encoder, x, at=5, relative=True)
    whole = influence(encoder, x, at=5)
    assert relative.tolist() == pytest.approx((whole / whole[5]).tolist(), abs=TOLERANCE)
    assert not torch.equal(influence(encoder, x), influence(encoder, x, at=5))


def test_the_last_position_is_meant_where_none_is_said(generator):
    encoder, x = Encoder("lstm", width=5), torch.randn(7, 3, generator=generator, dtype=torch.float64)
    assert torch.equal(influence(encoder, x), influence(encoder, x, at=6))


GAINS = {"orthogonal x0.9": 0.9, "x1.0": 1.0, "x1.2": 1.2, "x1.5": 1.5, "torch default init": None}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_a_tanh_recurrence(name):
    """To the three decimals that are stated, at distance 1, 5, 10 and 19 of twenty words."""
    encoder = Encoder("rnn", width=32, gain=GAINS[name], seed=0)
    found = influence(encoder, random_words(encoder, 20, 32), relative=True)
    assert [round(found[19 - distance].item(), 3) for distance in (1, 5, 10, 19)] == FIGURES[name]


@pytest.mark.parametrize("seed", range(5))
def test_a_small_gain_fades_and_a_large_one_grows(seed):
    for gain, low, high in ((0.9, 0.0, 0.1), (1.5, 1.0, 10.0)):
        encoder = Encoder("rnn", gain=gain, seed=seed)
        far = influence(encoder, random_words(encoder, 20, 32), relative=True)[19 - 10]
        assert low < far < high, (gain, far)


def test_a_gate_that_keeps_lets_influence_last():
    """The forget gate's bias, Jozefowicz et al. 2015: at distance 10, with words that are the same."""
    for kind in ("gru", "lstm"):
        x = random_words(Encoder(kind), 20, 32)
        far = [influence(Encoder(kind, keep=keep), x, relative=True)[9].item() for keep in (0.0, 2.0, 4.0)]
        assert far[0] < 0.01 < 0.2 < far[1] < 0.4 < far[2]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("layers, window", [(1, 3), (3, 3), (2, 5)])
def test_convolutions_see_nothing_beyond_their_receptive_field(layers, window, both):
    encoder = Encoder("cnn", width=5, both=both, layers=layers, window=window)
    x = random_words(encoder, 31, 3)
    seen = influence(encoder, x, at=15) > 0
    assert seen.sum() == 1 + layers * (window - 1)
    reach = layers * (window - 1) // 2 if both else layers * (window - 1)
    first, last = 15 - reach, 15 + (reach if both else 0)
    assert seen.nonzero().flatten().tolist() == [*range(first, last + 1)]


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm", "attention"])
def test_one_direction_hears_nothing_of_what_comes_later(kind):
    x = random_words(Encoder(kind, width=5), 11, 3)
    behind = influence(Encoder(kind, width=5), x, at=6)
    around = influence(Encoder(kind, width=5, both=True), x, at=6)
    assert (behind[7:] == 0).all() and (behind[:7] > 0).all()
    assert (around > 0).all()


def test_attention_falls_with_the_length_and_not_with_the_distance():
    """Over ten seeds: the near and the far words alike within a fifth; times S always the same within a fifth."""
    near, far = {}, {}
    for S in (16, 32, 64, 128):
        runs = []
        for seed in range(10):
            encoder = Encoder("attention", both=True, seed=seed)
            runs.append(S * influence(encoder, random_words(encoder, S, 32))[:-1])
        mean = torch.stack(runs).mean(0)
        near[S], far[S] = mean[S // 2 :].mean().item(), mean[: S // 2].mean().item()
    for S in near:
        assert near[S] == pytest.approx(far[S], rel=0.2)
        assert near[S] == pytest.approx(near[16], rel=0.2)


@pytest.mark.parametrize("kind", ENCODER_KINDS)
def test_the_longest_sequence_and_words_of_any_width(kind):
    words = torch.linspace(-1, 1, 128 * 3).view(128, 3)  # float32, as somebody may bring it
    found = influence(Encoder(kind, both=True), words)
    assert found.shape == (128,) and found.isfinite().all()
    assert influence(Encoder(kind), words[:1]).shape == (1,)


def test_the_seed_of_everybody_stays_as_it_was():
    before = torch.get_rng_state()
    encoder = Encoder("lstm", both=True)
    influence(encoder, random_words(encoder, 5, 3))
    encoding_time(encoder, 5)
    assert torch.equal(torch.get_rng_state(), before)


# ---- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "choices, code",
    [
        ({"kind": "transformer"}, "unknown_choice"),
        ({"kind": "rnn", "width": 0}, "positive_integer"),
        ({"kind": "rnn", "width": 65}, "at_most"),
        ({"kind": "cnn", "layers": 33}, "at_most"),
        ({"kind": "cnn", "window": 129}, "at_most"),
        ({"kind": "cnn", "window": 4, "both": True}, "odd_window"),
        ({"kind": "rnn", "gain": float("nan")}, "finite_number"),
        ({"kind": "lstm", "keep": float("inf")}, "finite_number"),
        ({"kind": "rnn", "seed": -1}, "not_negative"),
    ],
)
def test_refused_choices(choices, code):
    with pytest.raises(AttentionError) as refused:
        Encoder(**choices)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "x, more, code",
    [
        (torch.zeros(129, 3), {}, "at_most"),
        (torch.zeros(2, 5, 3), {}, "rank"),
        (torch.zeros(5, 3), {"at": 5}, "at_most"),
        (torch.zeros(5, 3), {"at": -1}, "not_negative"),
        (torch.zeros(5, 3), {"norm": "largest"}, "unknown_choice"),
        (torch.full((5, 3), torch.inf), {}, "not_finite"),
        (torch.zeros(5, 3, dtype=torch.long), {}, "not_floating"),
        (torch.zeros(0, 3), {}, "empty"),
    ],
)
def test_refused_words(x, more, code):
    with pytest.raises(AttentionError) as refused:
        influence(Encoder("rnn"), x, **more)
    assert refused.value.code == code


@pytest.mark.parametrize("length, code", [(1025, "at_most"), (0, "positive_integer")])
def test_refused_lengths(length, code):
    with pytest.raises(AttentionError) as refused:
        encoding_time(Encoder("rnn"), length)
    assert refused.value.code == code
