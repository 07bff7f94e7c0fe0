"""What RoPE turns: by complex numbers, by the golden file's shifted scores; every position moved."""

import cmath

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend, attend_qkv, prove
from attention_core.analysis.position_effects import rope_rotation, with_shifted_positions
from attention_core.mechanism.positions import ROPE_STYLES, pair_columns
from tests.golden import loader

GOLDEN = {path.stem: loader.read(path) for path in loader.golden_files() if path.stem.startswith("s44")}


def numbers(generator, *shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def rotated(generator, style, **choices):
    q, k = numbers(generator, 2, 3, 5, 6), numbers(generator, 2, 3, 7, 6)
    config = AttentionConfig(positions=[("rope", {"style": style, "base": 100.0})], **choices)
    return attend_qkv(q, k, k, config=config)


@pytest.mark.parametrize("style", ROPE_STYLES)
@pytest.mark.parametrize("role, at", [("q", 2), ("k", 0)])  # causal: the last of 5 queries stands at the last of 7 keys
def test_a_turn_is_a_product_with_a_number_of_the_unit_circle(generator, style, role, at):
    trace = rotated(generator, style, masks=["causal"])
    for token in range(5):
        for pair in range(3):
            found = rope_rotation(trace, role, (1, 2, token), pair)
            one, other = pair_columns(pair, 6, style)
            row = trace[f"{role}_heads"][1, 2, token].tolist()
            assert found.before == (row[one], row[other])
            assert found.angle == pytest.approx((token + at) / 100 ** (2 * pair / 6), abs=1e-12)
            wanted = complex(*found.before) * cmath.exp(1j * found.angle)
            assert complex(*found.after) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("stem", GOLDEN)
def test_seven_places_further_on_the_golden_scores_stay(stem):
    case = loader.load(GOLDEN[stem])
    trace = case.run()
    further = with_shifted_positions(trace, 7)
    stated = loader.tensor(GOLDEN[stem]["shifted_by_7_scores"])
    torch.testing.assert_close(further["scores"].view_as(stated), stated, rtol=0, atol=1e-10)
    torch.testing.assert_close(further["scores"], trace["scores"], rtol=0, atol=1e-12)
    assert (further["q"] - trace["q"]).abs().max() > 0.1
    assert prove(further).passed


def test_what_sinusoids_add_is_another_number_further_on_and_alibi_the_same(generator):
    x = numbers(generator, 5, 8)
    trace = attend(x, config=AttentionConfig(positions=["sinusoidal", "alibi"]))
    further = with_shifted_positions(trace, 3)
    longer = attend(torch.cat([torch.zeros(3, 8).double(), x]), config=AttentionConfig(positions=["sinusoidal"]))
    torch.testing.assert_close(further["sinusoidal_x"], longer["sinusoidal_x"][3:], rtol=0, atol=1e-12)
    assert (further["scores"] - trace["scores"]).abs().max() > 0.1
    assert torch.equal(further["bias"], trace["bias"])


def test_no_shift_is_the_run_itself(generator):
    trace = rotated(generator, "half")
    same = with_shifted_positions(trace, 0)
    assert list(same.steps) == list(trace.steps)
    assert all(torch.equal(same[name], trace[name]) for name in trace.steps)
    with pytest.raises(AttentionError):
        with_shifted_positions(trace, 0.5)
