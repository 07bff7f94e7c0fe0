"""Positions act by their entry in POSITIONS alone: where it says, and whatever it is called."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv, prove
from attention_core.analysis.position_effects import SCORE_PARTS, with_score_parts
from attention_core.mechanism.positions import POSITIONS, Position, wavelengths
from attention_core.record.trace import Trace
from tests.entries import learned_shapes

B, T, S, D, H, D_K = 2, 5, 7, 39, 3, 2  # d_k is even: RoPE turns pairs; D is a multiple of H: v is x


def numbers(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def run(*positions: str) -> Trace:
    """Cross-attention under a causal mask, so that its queries do not stand at their own numbers."""
    config = AttentionConfig(heads=H, masks=["causal"], positions=positions)
    learned = {name: numbers(*shape, seed=6) for name, shape in learned_shapes(config, D_K, D_K, wide=(D, 13)).items()}
    weights = Weights(w_q=numbers(D, H * D_K, seed=1), w_k=numbers(D, H * D_K, seed=2), **learned)
    query, key, value = numbers(B, T, D, seed=3), numbers(B, S, D, seed=4), numbers(B, S, D, seed=5)
    return attend(query, key, value, weights=weights, config=config)


def near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=0, atol=1e-12)


@pytest.fixture(params=POSITIONS)
def name(request, monkeypatch) -> str:
    """A position that is there, beside one of another name that nothing but its entry says how to place."""
    monkeypatch.setitem(POSITIONS, "own", POSITIONS[request.param])
    return request.param


def test_a_registered_position_does_what_its_entry_says(name):
    own, known = run("own"), run(name)
    assert near(own["output"], known["output"]) and not near(own["output"], run()["output"])
    assert prove(own).passed
    assert len(own.computed()) == len(known.computed()) > len(run().computed())


def test_two_at_one_place_both_act(name):
    """Each is there twice: what is added is doubled, what turns turns twice as far."""
    both, once = run(name, "own"), run(name)
    assert prove(both).passed
    if POSITIONS[name].place == "input":
        for source in ("query", "key"):
            table = once[f"positioned_{source}"] - once[source]
            assert near(both[f"positioned_{source}"], both[source] + 2 * table)
    elif POSITIONS[name].place == "heads":
        for role in ("q", "k"):
            operation = once.step(role).operation
            assert near(both[role], operation.apply({f"{role}_heads": once[role]}))
    elif POSITIONS[name].place == "scores":
        added = once[f"{name}_scores"] - once["scores"]
        assert near(both["own_scores"], both["scores"] + 2 * added)
    else:
        assert near(both["bias"], 2 * once["bias"])
        assert near(both["biased_scores"], both["scaled_scores"] + 2 * once["bias"])


def test_three_biases_are_one_sum(monkeypatch):
    for other in ("second", "third"):
        monkeypatch.setitem(POSITIONS, other, POSITIONS["alibi"])
    three, once = run("alibi", "second", "third"), run("alibi")
    assert near(three["bias"], 3 * once["bias"]) and prove(three).passed


def test_the_parts_of_a_score_take_all_that_was_added_to_the_input(monkeypatch):
    monkeypatch.setitem(POSITIONS, "own", POSITIONS["sinusoidal"])
    for positions in (("own",), ("sinusoidal", "own")):
        trace = with_score_parts(run(*positions))
        assert near(sum(trace[f"{one}_{other}"] for one in SCORE_PARTS for other in SCORE_PARTS), trace["scores"])


def test_what_is_added_to_an_input_needs_one(monkeypatch):
    monkeypatch.setitem(POSITIONS, "own", POSITIONS["sinusoidal"])
    q = numbers(T, D_K, seed=6)
    with pytest.raises(AttentionError) as refused:
        attend_qkv(q, q, q, config=AttentionConfig(positions=["own"]))
    assert refused.value.code == "no_input"


def test_a_position_without_a_place_is_no_position():
    with pytest.raises(TypeError, match="place"):
        Position(POSITIONS["alibi"].faces, parameters=())
    with pytest.raises(AttentionError, match="place must be one of input, heads, scores, bias: got 'output'"):
        replace(POSITIONS["alibi"], place="output")


def test_a_last_column_without_a_partner_has_a_wavelength_too():
    """2 pi times 10000 to 0, 2/5 and 4/5."""
    assert wavelengths(5) == pytest.approx((6.28, 250.14, 9958.18), abs=0.005)
