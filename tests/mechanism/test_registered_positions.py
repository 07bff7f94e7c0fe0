"""Positions of somebody's own, put into the table by a test: what a run tells them, and what entrances take them."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.mechanism import config as config_module
from attention_core.mechanism.learned_tensors import LearnedTensor
from attention_core.mechanism.operations import PROJECT
from attention_core.mechanism.plan_steps import KEY_INPUT, PlanStep
from attention_core.mechanism.positions import POSITIONS, Position, fit_places
from attention_core.record.trace import Faces
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.variants.kv_cache import decode, gap_to_full

B, H, T, S, D = 2, 3, 5, 7, 4
TABLE = LearnedTensor("w_places", ("N", "d_k"), "P")


def numpy_of(function):
    return lambda *arrays, **params: function(*map(torch.as_tensor, arrays), **params).numpy()


def faces_of(function) -> Faces:
    return Faces(function, numpy_of(function), lambda *symbols, **params: "p", lambda *given, **params: None)


def on_keys(scores, q, w_places, *, query_offset):
    """Each query meets the vector of each key's place."""
    return scores + q @ w_places[: scores.shape[-1]].T


def bias_of_key(scores, w_places, *, query_offset):
    return w_places[: scores.shape[-1], 0].expand(scores.shape[1:])


def place_keys(k, w_places, *, first_position):
    return k + w_places[first_position : first_position + k.shape[-2]]


def meet_placed(scores, q, k_placed):
    return scores + q @ k_placed.mT


def meet_made(scores, k_made):
    return scores + k_made.sum(-1)[:, None, None, :]


OWN = {
    "on_keys": Position(faces_of(on_keys), "scores", (), fit_places, (TABLE,), reads=("q",)),
    "bias_of_key": Position(faces_of(bias_of_key), "bias", (), fit_places, (TABLE,)),
    "placed": Position(
        faces_of(meet_placed), "scores", (), fit_places, (TABLE,), reads=("q", "k_placed"),
        steps=(PlanStep("k_placed", faces_of(place_keys), ("k", "w_places"), ("B", "H_kv", "S", "d_k")),),
    ),
    "in_heads": Position(faces_of(place_keys), "heads", (), fit_places, (TABLE,)),
    "made": Position(
        faces_of(meet_made), "scores", weights=(LearnedTensor("w_kr", ("D_kv", "d_r"), "W"),), reads=("k_made",),
        steps=(PlanStep("k_made", PROJECT, (KEY_INPUT, "w_kr"), ("B", "S", "d_r")),),
    ),
}  # fmt: skip
TABLES = [name for name in OWN if name != "made"]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for name, position in OWN.items():
        monkeypatch.setitem(POSITIONS, name, position)


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def qkv(keys: int = S) -> list[torch.Tensor]:
    return [numbers(B, H, T, D), numbers(B, H, keys, D, seed=1), numbers(B, H, keys, D, seed=2)]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_too_short_is_refused_everywhere(name):
    config, short = AttentionConfig(masks=["causal"], positions=[name]), Weights(w_places=numbers(S - 1, D))
    x = numbers(B, S, D)
    runs = [
        lambda: attend_qkv(*qkv(), weights=short, config=config),
        lambda: attend(x, weights=short, config=config),
        lambda: attend_blockwise(*qkv(), block=2, weights=short, config=config),
        lambda: decode(x, weights=short, config=config),
    ]
    for run in runs:
        with pytest.raises(AttentionError) as refused:
            run()
        assert (refused.value.code, refused.value.values["last"]) == ("few_places", S - 1)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_long_enough_runs_from_q_k_and_v(name):
    """No step of them reads the input; and block by block, or token by token, it is the same."""
    config, table = AttentionConfig(masks=["causal"], positions=[name]), Weights(w_places=numbers(S, D))
    trace = attend_qkv(*qkv(), weights=table, config=config)
    if name in ("placed", "in_heads"):  # which knows where a block begins
        *_, last = attend_blockwise(*qkv(), block=3, weights=table, config=config)
        torch.testing.assert_close(last.output, trace["head_outputs"], atol=1e-12, rtol=0)
    x = numbers(B, S, D)
    full = attend(x, weights=table, config=config)
    steps = [*decode(x, weights=table, config=config)]
    assert gap_to_full(steps, full, "output") < 1e-12


def test_what_is_made_of_the_input_needs_it_and_is_kept_by_decoding():
    config, learned = AttentionConfig(masks=["causal"], positions=["made"]), Weights(w_kr=numbers(D, 2))
    with pytest.raises(AttentionError) as refused:
        attend_qkv(*qkv(), weights=learned, config=config)
    assert refused.value.code == "no_input"
    x = numbers(B, S, D)
    steps = [*decode(x, weights=learned, config=config)]
    assert gap_to_full(steps, attend(x, weights=learned, config=config), "output") < 1e-12
    assert steps[-1]["k_made_cache"].shape == (B, S - 1, 2)


def test_positions_that_come_along_read_the_input_only_where_they_say_so():
    assert [name for name, position in POSITIONS.items() if position.reads_input and name not in OWN] == [
        "sinusoidal", "learned", "decoupled_rope"
    ]  # fmt: skip
    assert config_module.POSITIONS is POSITIONS
