"""Costs: every closed form against what is counted, and the counts against torch's own counter, cells and loops."""

import math
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.analysis.across_layers import path_lengths
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.scores import SCORES, Score
from attention_core.variants.cost import Cost, ProductCounter, attention_cost, count_cost, score_cost, split_by_growth
from attention_core.variants.encoder_cost import (
    EncoderCost,
    compare_costs,
    count_encoder_cost,
    encoder_cost,
    one_step_reach,
    path_length,
    receptive_field,
    search_path_length,
)
from attention_core.variants.encoders import ENCODER_KINDS, RECURRENT_CELLS, Encoder, draw_layers, encode, random_words
from attention_core.variants.influence import influence
from tests.entries import OWN_SIZE, PLACES, key_rows, learned_shapes, score_shapes
from tests.golden import loader

SIZES = {"B": 2, "T": 5, "S": 7, "D": 11, "H": 6, "H_kv": 3, "d_k": 13, "d_v": 17, "D_out": 19, "A": 23}


def zeros(*shape):
    return torch.zeros(*shape, dtype=torch.float64)


def run_of(sizes, score="scaled_dot", bias=False, masks=()):
    """A layer of these sizes: what it multiplies with does not matter."""
    B, T, S, D, H, H_kv, d_k, d_v, D_out, A = (sizes[name] for name in SIZES)
    shapes = {"w_q": (D, H * d_k), "w_k": (D, H_kv * d_k), "w_v": (D, H_kv * d_v), "w_o": (H * d_v, D_out)}
    shapes |= {"b_q": (H * d_k,), "b_k": (H_kv * d_k,), "b_v": (H_kv * d_v,), "b_o": (D_out,)} if bias else {}
    shapes |= score_shapes(score, d_k, d_k, own=A)
    weights = Weights(**{name: zeros(*shape) for name, shape in shapes.items()})
    config = AttentionConfig(score=score, heads=H, kv_heads=H_kv, masks=masks)
    return attend(zeros(B, T, D), zeros(B, S, D), weights=weights, config=config)


# ---- multiply-adds ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_the_closed_form_of_a_layer_is_what_is_counted(score, bias):
    trace = run_of(SIZES, score, bias, masks=["causal"])
    assert attention_cost(**SIZES, score=score, bias=bias) == count_cost(trace)


def small_run(**choices):
    """Two heads, 3 wide in each map, on 5 tokens of width 7."""
    config = AttentionConfig(heads=2, **choices)
    d_k = 3 * config.maps  # of all maps of a head
    shapes = learned_shapes(config, d_k, d_k, wide=(7, 3), D_out=7)
    rows = key_rows(config, shapes, 7)
    shapes |= {"w_q": (7, 2 * d_k), "w_k": (rows, 2 * d_k), "w_v": (rows, 2 * 3), "w_o": (6, 7)}
    return attend(
        zeros(5, 7), weights=Weights(**{name: zeros(*shape) for name, shape in shapes.items()}), config=config
    )


MAP = 2 * 5 * 5
KEPT = {"k": 2 * 5 * 3, "v": 2 * 5 * 3}
COUNTED = {  # what it multiplies besides, learns besides, and all that is stored, by hand
    "softcap": ({}, {}, {"weights": MAP} | KEPT),
    "gate": ({"gate": 5 * 7 * 6}, {"w_gate": 7 * 6}, {"weights": MAP} | KEPT),
    "layer_norm_before": ({}, {"g_layer_before": 7, "b_layer_before": 7}, {"weights": MAP} | KEPT),
    "rms_norm_before": ({}, {"g_rms_before": 7}, {"weights": MAP} | KEPT),
    "layer_norm_after": ({}, {"g_layer_after": 7, "b_layer_after": 7}, {"weights": MAP} | KEPT),
    "rms_norm_output": ({}, {"g_rms_output": 7}, {"weights": MAP} | KEPT),
    "rms_norm_after": ({}, {"g_rms_after": 7}, {"weights": MAP} | KEPT),
    "qk_norm": ({}, {"g_q": 3, "g_k": 3}, {"weights": MAP} | KEPT),
    "qk_norm_all": ({}, {"g_q_all": 6, "g_k_all": 6}, {"weights": MAP} | KEPT),
    "qk_layer_norm": ({}, {"g_q_layer": 3, "b_q_layer": 3, "g_k_layer": 3, "b_k_layer": 3}, {"weights": MAP} | KEPT),
    "relative_keys": ({"relative_keys_scores": 2 * 5 * 3 * 5}, {"w_rk": 5 * 3}, {"weights": MAP} | KEPT),
    "learned": ({}, {"w_places": PLACES * 7}, {"weights": MAP} | KEPT),
    "differential": (
        {"scores_2": 2 * 5 * 5 * 3},
        dict.fromkeys(("lam_q1", "lam_k1", "lam_q2", "lam_k2"), OWN_SIZE) | {"g_heads": 3},
        {"weights_1": MAP, "weights_2": MAP, "weights": MAP, "k_2": 30} | KEPT,
    ),
    "latent": (
        {"compressed_x": 5 * 7 * 3},
        {"w_dkv": 7 * 3, "g_latent": 3},
        {"weights": MAP, "latent_x": 5 * 3},
    ),
    "decoupled_rope": (
        {"q_r_projected": 5 * 7 * 4, "k_r_projected": 5 * 7 * 2, "decoupled_rope_scores": 2 * 5 * 5 * 2},
        {"w_qr": 7 * 4, "w_kr": 7 * 2},
        {"weights": MAP, "k_r": 5 * 2} | KEPT,
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_a_mechanism_costs_besides(name):
    table = "modifiers" if name in MODIFIERS else "positions"
    cost, plain = count_cost(small_run(**{table: [name]})), count_cost(small_run())
    multiplied, learned, stored = COUNTED[name]
    own = {step: count for step, count in cost.multiply_adds.items() if step not in plain.multiply_adds}
    assert own == multiplied
    assert {each: count for each, count in cost.parameters.items() if each not in plain.parameters} == learned
    assert cost.stored == stored


@pytest.mark.parametrize("score", SCORES)
def test_torchs_own_counter_counts_the_same(score):
    """Two floating-point operations a multiply-add."""
    with FlopCounterMode(display=False) as counter:
        trace = run_of(SIZES, score)
    assert counter.get_total_flops() == 2 * count_cost(trace).totals()["multiply_adds"]


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_the_terms_of_the_cells_are_as_many(score):
    """Each cell of a product is a sum of as many terms as there are multiply-adds in it."""
    trace = run_of(SIZES, score)
    for name, counted in count_cost(trace).multiply_adds.items():
        operation = trace.step(name).operation
        terms = operation.cell((0,) * trace[name].dim(), trace.shapes()).terms
        assert counted == len(terms) * trace[name].numel(), name


def test_a_layer_by_hand():
    """Two words of width 3, one head: projections 3 x 2 x 3 x 3, scores and mix 2 x 2 x 3 each, output 2 x 3 x 3."""
    cost = attention_cost(T=2, D=3)
    assert cost == Cost(
        {"q_projected": 18, "k_projected": 18, "v_projected": 18, "scores": 12, "head_outputs": 12, "output": 18},
        {"w_q": 9, "w_k": 9, "w_v": 9, "w_o": 9},
        {"weights": 4, "k": 6, "v": 6},
    )
    assert cost.totals() == {"multiply_adds": 96, "parameters": 36, "stored": 16}


def test_heads_cost_nothing_but_the_weights_that_are_kept():
    totals = [attention_cost(T=13, D=24, H=H, bias=True) for H in (1, 2, 3, 8)]
    assert len({cost.totals()["multiply_adds"] for cost in totals}) == 1
    assert len({cost.totals()["parameters"] for cost in totals}) == 1
    assert [cost.stored["weights"] for cost in totals] == [169, 338, 507, 1352]


def test_shared_keys_shrink_their_projections_and_the_cache():
    """Eight heads over eight, four, two and one key/value heads: each half of the one before, scores as ever."""
    costs = [attention_cost(T=13, D=24, H=8, H_kv=H_kv) for H_kv in (8, 4, 2, 1)]
    for name in ("k", "v"):
        assert [cost.stored[name] for cost in costs] == [312, 156, 78, 39]
        assert [cost.parameters[f"w_{name}"] for cost in costs] == [576, 288, 144, 72]
        assert [cost.multiply_adds[f"{name}_projected"] for cost in costs] == [7488, 3744, 1872, 936]
    assert len({cost.multiply_adds["scores"] for cost in costs}) == 1


@pytest.mark.parametrize(
    "score, pair, query, key, learned",
    [
        ("dot", 5, 0, 0, 0),
        ("scaled_dot", 5, 0, 0, 0),
        ("cosine", 5, 0, 0, 0),
        ("general", 5, 15, 0, 15),
        ("additive", 7, 21, 35, 63),
    ],
)
def test_a_score_by_hand(score, pair, query, key, learned):
    """A query of width 3 (or 5), a key of width 5, a layer of 7: 7 x 3, 7 x 5, and 7 for v."""
    cost = score_cost(score, 3 if score in ("general", "additive") else 5, 5, A=7)
    products = cost.products.values()
    assert sum(product.per_pair for product in products) == pair
    assert sum(product.per_query for product in products) == query
    assert sum(product.per_key for product in products) == key
    assert sum(product.total(11, 13) for product in products) == 143 * pair + 11 * query + 13 * key
    assert sum(cost.parameters.values()) == learned


def test_no_score_is_without_its_cost():
    """Who registers a score writes down its cost as well: nobody is told that of another one."""
    with pytest.raises(TypeError, match="products"):
        Score(SCORES["dot"].operations)
    for cost in (lambda: score_cost("own", 3, 5), lambda: attention_cost(T=5, D=8, score="own")):
        with pytest.raises(AttentionError) as refused:
            cost()
        assert refused.value.code == "unknown_choice" and "'own'" in str(refused.value)


@pytest.mark.parametrize("score", SCORES)
def test_every_score_has_a_cost(score):
    learned = names_of(SCORES[score].weights)
    assert {*score_cost(score, 3, 5).parameters} == {*learned}


def test_products_are_counted_only_while_it_is_on():
    left, right = zeros(2, 3, 5), zeros(5, 7)
    with ProductCounter() as products:
        _ = left @ right
        _ = torch.matmul(right.T, left.transpose(1, 2))
        _ = torch.conv1d(zeros(2, 3, 11), zeros(5, 3, 4))
    _ = left @ right
    assert products.count == 2 * 3 * 5 * 7 + 2 * 7 * 5 * 3 + (2 * 5 * 8) * (3 * 4)


# ---- encoders --------------------------------------------------------------------------------------------------------
ALL = [Encoder(kind, 7, both, layers, 5) for kind in ENCODER_KINDS for both in (False, True) for layers in (1, 3)]


@pytest.mark.parametrize("encoder", ALL, ids=str)
def test_the_closed_form_of_an_encoder_is_what_is_counted(encoder):
    assert encoder_cost(encoder, 11, 3) == count_encoder_cost(encoder, 11, 3)


@pytest.mark.parametrize("encoder", ALL, ids=str)
def test_torchs_own_counter_counts_the_encoders_products(encoder):
    layers = draw_layers(encoder, 3)
    with FlopCounterMode(display=False) as counter:
        encode(encoder, zeros(11, 3), layers)
    assert counter.get_total_flops() == 2 * encoder_cost(encoder, 11, 3).multiply_adds


def test_encoders_by_hand():
    """Five words of width 2 into width 3. rnn: 5 x 3 x (2 + 3); gru and lstm 3 and 4 of it; cnn 5 x 3 x 2 x 3;
    attention 3 x 5 x 2 x 3 + 2 x 25 x 3."""
    assert encoder_cost(Encoder("rnn", 3), 5, 2) == EncoderCost(75, 18, 5, 4)
    assert encoder_cost(Encoder("gru", 3), 5, 2) == EncoderCost(225, 54, 5, 4)
    assert encoder_cost(Encoder("lstm", 3, both=True), 5, 2) == EncoderCost(600, 144, 5, 4)
    assert encoder_cost(Encoder("cnn", 3, both=True), 5, 2) == EncoderCost(90, 18, 1, 4)
    assert encoder_cost(Encoder("attention", 3), 5, 2) == EncoderCost(240, 18, 1, 1)


def test_a_recurrences_numbers_are_as_many_as_torchs():
    """torch has a second bias in every gate."""
    for kind, module in (("rnn", torch.nn.RNN), ("gru", torch.nn.GRU), ("lstm", torch.nn.LSTM)):
        theirs = sum(each.numel() for each in module(5, 7, num_layers=2, bidirectional=True).parameters())
        encoder = Encoder(kind, 7, both=True, layers=2)
        assert encoder_cost(encoder, 3, 5).parameters == theirs - 4 * RECURRENT_CELLS[kind].gates * 7


def test_length_doubled():
    """Recurrences and convolutions twice as much, attention's part in pairs four times."""
    for kind in ENCODER_KINDS:
        one, two = (encoder_cost(Encoder(kind, 7), T, 7).multiply_adds for T in (11, 22))
        pairs = 2 * 11 * 11 * 7 if kind == "attention" else 0
        assert two == 2 * one + 2 * pairs


# ---- paths -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("window", [1, 3, 7])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ENCODER_KINDS)
def test_paths_in_closed_form_are_what_a_search_finds(kind, both, window):
    encoder = Encoder(kind, both=both, window=window)
    found = path_lengths(one_step_reach(encoder, 13))
    for i in range(13):
        for j in range(13):
            closed = path_length(encoder, i - j)
            assert found[i, j].item() == (math.inf if closed is None else closed), (i, j)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["cnn", "attention"])
def test_paths_are_the_layers_after_which_influence_is_there(kind, both):
    """What a position hears from after L layers, measured: exactly what L steps reach."""
    for layers in (1, 2, 3):
        encoder = Encoder(kind, 5, both, layers)
        x = random_words(encoder, 11, 3)
        reached = path_lengths(one_step_reach(encoder, 11)) <= layers
        for at in (0, 4, 10):
            assert torch.equal(influence(encoder, x, at) > 0, reached[at]), (layers, at)


def test_news_through_a_mask_of_a_run():
    """A sliding window of 3 keys: two positions back a layer; what is after a word is never heard."""
    trace = attend(zeros(11, 1), config=AttentionConfig(masks=[("sliding", {"window": 3})]))
    found = path_lengths(trace["allowed"][0, 0])
    assert found[10].tolist() == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0]
    assert found[0].tolist() == [0, *[math.inf] * 10]


def test_a_search_takes_the_way_round():
    """0 hears from 1 only through 2 and 3; 4 is heard by nobody and hears nobody."""
    hears = torch.zeros(5, 5, dtype=torch.bool)
    hears[0, 2] = hears[2, 3] = hears[3, 1] = hears[1, 0] = True
    inf = math.inf
    assert path_lengths(hears).tolist() == [
        [0, 3, 1, 2, inf],
        [1, 0, 2, 3, inf],
        [3, 2, 0, 1, inf],
        [2, 1, 3, 0, inf],
        [inf, inf, inf, inf, 0],
    ]


@pytest.mark.parametrize("both, window, layers, field", [(True, 3, 0, 1), (True, 5, 3, 13), (False, 4, 2, 7)])
def test_receptive_field(both, window, layers, field):
    encoder = Encoder("cnn", both=both, window=window)
    seen = path_lengths(one_step_reach(encoder, 41))[20] <= layers
    assert receptive_field(encoder, layers) == seen.sum() == field


# ---- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call, code",
    [
        (lambda: attention_cost(T=5, D=7, H=2), "heads_split"),
        (lambda: attention_cost(T=5, D=8, H=4, H_kv=3), "heads_groups"),
        (lambda: attention_cost(T=5, D=8, S=0), "positive_integer"),
        (lambda: attention_cost(T=5, D=8, score="best"), "unknown_choice"),
        (lambda: score_cost("additive", 5, 7, A=0), "positive_integer"),
        (lambda: score_cost("general", 0, 7), "positive_integer"),
        (lambda: path_length(Encoder("rnn"), 1.5), "whole_number"),
        (lambda: receptive_field(Encoder("rnn"), 1), "unknown_choice"),
        (lambda: encoder_cost(Encoder("rnn"), 0, 1), "positive_integer"),
        (lambda: one_step_reach(Encoder("rnn"), -1), "positive_integer"),
        (lambda: count_encoder_cost(Encoder("rnn"), 257, 1), "at_most"),
    ],
)
def test_refused(call, code):
    with pytest.raises(AttentionError) as refused:
        call()
    assert refused.value.code == code


# ---- both, side by side ----------------------------------------------------------------------------------------------
SEARCHED = [
    Encoder(kind, width=5, both=both, window=window) for kind in ENCODER_KINDS for both in (0, 1) for window in (3, 7)
]


@pytest.mark.parametrize("encoder", SEARCHED, ids=str)
def test_a_search_finds_the_path_lengths_of_the_formula(encoder):
    for distance in (*range(-23, 24), 101):
        assert search_path_length(encoder, distance) == path_length(encoder, distance), distance


def test_searched_figures_of_the_golden_file():
    file = loader.read(loader.FOLDER / "s50_path_length.json")
    far, expected = file["inputs"]["distances"], file["expected"]
    for kind, name in (("rnn", "rnn_steps"), ("cnn", "cnn_layers"), ("attention", "attention_layers")):
        assert [search_path_length(Encoder(kind, both=True, window=3), distance) for distance in far] == expected[name]


@pytest.mark.parametrize("encoder", SEARCHED, ids=str)
def test_costs_are_found_twice(encoder):
    found = compare_costs(encoder, 13, 11, distance=-7)
    assert found.agrees
    assert found.formula == encoder_cost(encoder, 13, 11) == count_encoder_cost(encoder, 13, 11) == found.counted
    assert found.path == path_length(encoder, -7) == search_path_length(encoder, -7) == found.searched_path
    assert (found.path is None) == (not encoder.both)


def test_a_difference_is_told():
    found = compare_costs(Encoder("rnn"), 5, 3, 4)
    assert not replace(found, counted=replace(found.counted, parameters=1)).agrees
    assert not replace(found, searched_path=3).agrees


def test_a_search_ends_at_256_positions():
    assert search_path_length(Encoder("rnn"), 255) == 255
    with pytest.raises(AttentionError) as refused:
        search_path_length(Encoder("rnn"), 256)
    assert refused.value.code == "at_most"


def test_what_pairs_take_and_what_tokens_take():
    """8 tokens of width 6 in two heads: scores and mix 8 x 8 x 6 each, four projections 8 x 6 x 6."""
    assert split_by_growth(attention_cost(T=8, D=6, H=2)) == (2 * 8 * 8 * 6, 4 * 8 * 6 * 6)
    pairs, tokens = split_by_growth(attention_cost(T=16, D=6, H=2))
    assert (pairs, tokens) == (4 * 2 * 8 * 8 * 6, 2 * 4 * 8 * 6 * 6)  # twice the length: four times, and twice
