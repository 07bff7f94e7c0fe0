"""RoPE on the first columns of each head, by factors for its pairs: by hand, complex numbers, GPT-J and GPT-NeoX."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv, code, explain, prove
from attention_core.analysis.position_effects import rope_rotation
from attention_core.explanation.formula import latex
from attention_core.mechanism.positions import POSITIONS
from tests.faces import assert_five_faces

D = 11  # odd: only the number of rotated columns must be even


def config(columns: int | None, style: str = "half", base: float = 100.0, **choices) -> AttentionConfig:
    return AttentionConfig(positions=[("rope", {"style": style, "base": base, "columns": columns})], **choices)


def numbers(generator, *shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def test_two_of_three_columns_by_hand():
    """(3, 4, 5) one place further: 3 cos 1 - 4 sin 1, 3 sin 1 + 4 cos 1, and 5 as it was."""
    q = torch.tensor([[3.0, 4.0, 5.0]] * 2, dtype=torch.float64)
    trace = attend_qkv(q, q, q, config=config(2))
    assert trace["q"][0, 0, 0].tolist() == [3, 4, 5]
    assert trace["q"][0, 0, 1].tolist() == pytest.approx([-1.744976985, 4.685622178, 5.0])
    assert trace["scores"][0, 0, 1, 0].item() == pytest.approx(25 * math.cos(1) + 25)


@pytest.mark.parametrize("columns", [2, 6, 10])
@pytest.mark.parametrize("style", ["half", "interleaved"])
def test_pairs_of_the_first_columns_are_complex_numbers(style, columns, generator):
    q, k = numbers(generator, 2, 3, 5, D), numbers(generator, 2, 3, 7, D)
    trace = attend_qkv(q, k, k, config=config(columns, style, masks=["causal"]))
    for role, given, first in (("q", q, 2), ("k", k, 0)):
        found = trace[role]
        assert torch.equal(found[..., columns:], given[..., columns:])
        for pair in range(columns // 2):
            left, right = (pair, pair + columns // 2) if style == "half" else (2 * pair, 2 * pair + 1)
            angle = (torch.arange(given.shape[2]) + first).double() * 100.0 ** (-2 * pair / columns)
            turned = torch.complex(given[..., left], given[..., right]) * torch.polar(torch.ones_like(angle), angle)
            torch.testing.assert_close(found[..., left], turned.real, rtol=0, atol=1e-12)
            torch.testing.assert_close(found[..., right], turned.imag, rtol=0, atol=1e-12)
    assert prove(trace).passed
    rotation = rope_rotation(trace, "q", (1, 2, 3), 0)
    assert rotation.before == (q[1, 2, 3, 0].item(), q[1, 2, 3, columns // 2 if style == "half" else 1].item())


def test_all_columns_are_the_same_as_none_named(generator):
    q = numbers(generator, 2, 1, 5, 6)
    one, other = (attend_qkv(q, q, q, config=config(columns)) for columns in (6, None))
    assert torch.equal(one["weights"], other["weights"])


def test_what_is_said_of_a_column_that_stays(generator):
    q = numbers(generator, 1, 1, 3, 7)
    trace = attend_qkv(q, q, q, config=config(4))
    assert_five_faces(trace, "q", "k")
    assert explain(trace, "q", (0, 0, 2, 4)).value == q[0, 0, 2, 4].item()
    assert "cos" in explain(trace, "q", (0, 0, 2, 3)).text and "cos" not in explain(trace, "q", (0, 0, 2, 4)).text
    heads = r"\mathrm{q\_heads}"
    formula = rf"[\,R_p\,{heads}_{{:\,4}},\ {heads}_{{4\,:}}\,], \quad \theta_i = p\,/\,100^{{2i/4}}"
    assert formula in latex(trace, colours={})
    assert "columns=4" in code(trace, "torch") and "columns=4" in code(trace, "numpy")


@pytest.mark.parametrize("given", [3, 12])
def test_columns_that_are_odd_or_too_many_are_refused(given, generator):
    q = numbers(generator, 1, 1, 3, D)
    with pytest.raises(AttentionError) as raised:
        attend_qkv(q, q, q, config=config(given))
    assert raised.value.code == "rope_columns"
    assert str(raised.value) == f"RoPE rotates columns in pairs: their number must be even and at most 11: got {given}"


@pytest.mark.slow
def test_transformers_rotates_the_same_columns(generator):
    from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as apply_interleaved
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    x, columns = torch.randn(1, 2, 5, 11, generator=generator), 6
    usual = {parameter.name: parameter.usual for parameter in POSITIONS["rope"].parameters} | {"columns": columns}
    rope = POSITIONS["rope"].faces.torch
    angles = torch.arange(5)[:, None] * 10000.0 ** (-torch.arange(0, columns, 2) / columns)
    double = torch.cat([angles, angles], -1)[None]
    expected, _ = apply_rotary_pos_emb(x, x, double.cos(), double.sin())
    torch.testing.assert_close(rope(x, **{**usual, "style": "half"}, first_position=0), expected, rtol=0, atol=1e-6)
    sin, cos = create_sinusoidal_positions(5, columns)[None].chunk(2, dim=-1)
    by_place = x.transpose(1, 2)  # (B, T, H, d), as GPT-J has them
    turned = torch.cat([apply_interleaved(by_place[..., :columns], sin, cos), by_place[..., columns:]], -1)
    ours = rope(x, **{**usual, "style": "interleaved"}, first_position=0)
    torch.testing.assert_close(ours, turned.transpose(1, 2), rtol=0, atol=1e-6)


# ---- a factor for each pair ------------------------------------------------------------------------------------------
FACTORS = (-1.0, 0.25, 0.0)  # the other direction, more slowly, not at all


@pytest.mark.parametrize("style", ["half", "interleaved"])
def test_each_pair_is_rotated_by_its_angle_times_its_factor(style, generator):
    q = numbers(generator, 2, 3, 5, D)
    chosen = {"style": style, "base": 100.0, "scaling": "linear", "factor": 2.0, "columns": 6, "pair_factors": FACTORS}
    trace = attend_qkv(q, q, q, config=AttentionConfig(positions=[("rope", chosen)]))
    for pair, factor in enumerate(FACTORS):
        left, right = (pair, pair + 3) if style == "half" else (2 * pair, 2 * pair + 1)
        angle = torch.arange(5).double() * factor * 100.0 ** (-2 * pair / 6) / 2
        turned = torch.complex(q[..., left], q[..., right]) * torch.polar(torch.ones_like(angle), angle)
        torch.testing.assert_close(trace["q"][..., left], turned.real, rtol=0, atol=1e-12)
        torch.testing.assert_close(trace["q"][..., right], turned.imag, rtol=0, atol=1e-12)
        rotation = rope_rotation(trace, "q", (1, 2, 3), pair)
        assert rotation.angle == pytest.approx(3 * factor * 100.0 ** (-2 * pair / 6) / 2, abs=0)
    assert prove(trace).passed
    assert_five_faces(trace, "q", "k")
    assert r"\theta_i = f_i\,p\,/\,(2 \cdot 100^{2i/6})" in latex(trace, colours={})
    assert f"pair_factors={FACTORS}" in code(trace, "torch") and f"pair_factors={FACTORS}" in code(trace, "numpy")
