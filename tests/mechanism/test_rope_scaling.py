"""RoPE for longer texts than it was trained on: linear, NTK, YaRN and Llama 3.1's, against loops and their papers."""

import cmath
import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.mechanism.positions import ROPE_SCALINGS, rope_frequency
from attention_core.verification.proof import prove

T, D = 7, 10
FACTOR, TRAINED, BASE = 4.0, 50, 100.0
SCALINGS = ROPE_SCALINGS[1:]


def angle_by_hand(scaling: str, pair: int, position: int) -> tuple[float, float]:
    """The angle, and by what the vector is made longer."""
    plain = BASE ** (-2 * pair / D)
    if scaling == "linear":
        return position / FACTOR * plain, 1.0
    if scaling == "ntk":
        return position * (BASE * FACTOR ** (D / (D - 2))) ** (-2 * pair / D), 1.0
    turns = TRAINED / (2 * math.pi / plain)  # the trained length over the wavelength
    if scaling == "llama3":
        smooth = min(max((turns - 1) / (4 - 1), 0.0), 1.0)
        return position * ((1 - smooth) * plain / FACTOR + smooth * plain), 1.0
    longer = 0.1 * math.log(FACTOR) + 1
    if scaling == "yarn_turns":
        ramp = 0.0 if turns < 1 else 1.0 if turns > 32 else (turns - 1) / (32 - 1)
    else:  # 50 places are 7.96 radians: pair 2.25 turns once, and a pair below 0 32 times
        first, last = (0, 3) if scaling == "yarn" else (0, 5 * math.log(50 / (2 * math.pi)) / math.log(100))
        ramp = 1 - min(max((pair - first) / (last - first), 0.0), 1.0)
    return position * ((1 - ramp) * plain / FACTOR + ramp * plain), longer


def config(scaling: str, style: str = "interleaved", **changes) -> AttentionConfig:
    params = {"style": style, "base": BASE, "scaling": scaling, "factor": FACTOR, "trained": TRAINED, **changes}
    return AttentionConfig(positions=[("rope", params)])


@pytest.fixture
def qkv(generator):
    return [torch.randn(2, 3, T, D, generator=generator, dtype=torch.float64) for _ in "qkv"]


@pytest.mark.parametrize("style", ["interleaved", "half"])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_by_loops(scaling, style, qkv):
    trace = attend_qkv(*qkv, config=config(scaling, style))
    for role, tensor in zip("qk", qkv, strict=False):
        for t in range(T):
            for pair in range(D // 2):
                left, right = (2 * pair, 2 * pair + 1) if style == "interleaved" else (pair, pair + D // 2)
                angle, length = angle_by_hand(scaling, pair, t)
                number = complex(tensor[1, 2, t, left], tensor[1, 2, t, right]) * cmath.rect(length, angle)
                found = trace[role][1, 2, t, [left, right]].tolist()
                assert found == pytest.approx([number.real, number.imag], abs=1e-12)


def test_stretched_linearly_every_fourth_place_is_a_place_of_before(qkv):
    q, _, _ = (tensor[:, :, :1].expand(2, 3, 9, D) for tensor in qkv)  # the same vector everywhere
    before = attend_qkv(q, q, q, config=config("none"))["q"]
    after = attend_qkv(q, q, q, config=config("linear"))["q"]
    torch.testing.assert_close(after[:, :, ::4], before[:, :, :3], atol=1e-12, rtol=0)


def test_ntk_leaves_the_fastest_pair_and_divides_the_slowest_by_the_factor():
    plain, ntk = (
        [rope_frequency(pair, D, BASE, scaling, FACTOR, 1) for pair in range(D // 2)] for scaling in ("none", "ntk")
    )
    ratios = [before / after for before, after in zip(plain, ntk, strict=True)]
    assert ratios[0] == 1 and ratios[-1] == pytest.approx(FACTOR) and ratios == sorted(ratios)


@pytest.mark.parametrize("scaling", [name for name in SCALINGS if name.startswith("yarn")])
def test_yarn_leaves_fast_pairs_and_divides_slow_ones(scaling):
    frequencies = [rope_frequency(pair, 64, 10000.0, scaling, 8.0, 2048) for pair in range(32)]
    ratios = [10000.0 ** (-2 * pair / 64) / each for pair, each in enumerate(frequencies)]
    assert ratios[0] == 1 and ratios[-1] == pytest.approx(8) and ratios == sorted(ratios)


def kept_shares(scaling: str) -> list[float]:
    """Of each pair: 1 where it turns as before, 0 where it is divided by 4."""
    plain = [10000.0 ** (-2 * pair / 64) for pair in range(32)]
    found = [rope_frequency(pair, 64, 10000.0, scaling, 4.0, 2048) for pair in range(32)]
    return [(each / before - 1 / 4) / (3 / 4) for each, before in zip(found, plain, strict=True)]


def test_yarn_ramps_by_the_pair_and_by_turns_only_where_it_is_said():
    """Of 2,048 places pair 8.08 turns 32 times and pair 20.11 once: rounded outwards 8 and 21."""
    by_pair, unrounded, by_turns = map(kept_shares, ("yarn", "yarn_unrounded", "yarn_turns"))
    assert [by_pair[pair] for pair in (8, 12, 16, 21)] == pytest.approx([1, 9 / 13, 5 / 13, 0], abs=1e-12)
    assert [unrounded[pair] for pair in (8, 12, 21)] == pytest.approx([1, 0.673, 0], abs=5e-4)
    assert [by_turns[pair] for pair in (12, 16)] == pytest.approx([0.300, 0.073], abs=5e-4)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(("base", "trained", "factor"), [(1.0, 3, 4.0), (1.0, 99, 4.0), (0.5, 99, 4.0), (1e4, 1, 0.5)])
def test_settings_of_no_use_still_have_numbers(scaling, base, trained, factor, qkv):
    trace = attend_qkv(*qkv, config=config(scaling, base=base, trained=trained, factor=factor))
    assert trace["output"].isfinite().all() and prove(trace).passed


def llama_frequency(plain: float) -> float:
    """As Llama 3.1's published code says it, in wavelengths: factor 8, low 1, high 4, trained on 8,192 tokens."""
    wavelength = 2 * math.pi / plain
    if wavelength > 8192 / 1:
        return plain / 8
    if wavelength < 8192 / 4:
        return plain
    smooth = (8192 / wavelength - 1) / (4 - 1)
    return (1 - smooth) * plain / 8 + smooth * plain


def test_llama_3_1_has_the_frequencies_of_its_published_code():
    plain = [500000.0 ** (-2 * pair / 128) for pair in range(64)]
    found = [rope_frequency(pair, 128, 500000.0, "llama3", 8.0, 8192) for pair in range(64)]
    assert found == pytest.approx([llama_frequency(each) for each in plain], rel=1e-14)
    between = [each for each, before in zip(found, plain, strict=True) if before / 8 * 1.001 < each < before * 0.999]
    assert found[0] == 1 and found[-1] == pytest.approx(plain[-1] / 8) and 0 < len(between) < 10


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_factor_of_one_changes_nothing(scaling, qkv):
    trace = attend_qkv(*qkv, config=config(scaling, factor=1.0))
    torch.testing.assert_close(trace["q"], attend_qkv(*qkv, config=config("none"))["q"], atol=1e-12, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_each_is_proven_in_every_precision(scaling, dtype, qkv):
    assert prove(attend_qkv(*(tensor.to(dtype) for tensor in qkv), config=config(scaling))).passed


def test_a_single_pair_has_no_slowest():
    q = torch.ones(3, 2, dtype=torch.float64)
    assert prove(attend_qkv(q, q, q, config=config("ntk"))).passed


@pytest.mark.parametrize(
    "changes",
    [
        {"factor": 0.0},
        {"factor": -2.0},
        {"scaling": "dynamic"},
        {"trained": 0},
        {"mscale": -1.0},
        {"mscale_all_dim": -1},
    ],
    ids=str,
)
def test_what_stretches_nothing_is_refused(changes):
    with pytest.raises(AttentionError):
        config(**{"scaling": "yarn"} | changes)
