"""The softmax with a running maximum and sum as steps of a Trace: every number, and that the last is attention."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, attend_qkv, explain
from attention_core.analysis.online_softmax import count_blocks, refs_by_key, with_online_softmax
from attention_core.record.expressions import Ref
from attention_core.variants.blockwise_softmax import attend_blockwise
from tests.faces import assert_five_faces

B, H, H_KV, T, S, D_K, D_V = 2, 6, 3, 13, 11, 5, 7


def numbers(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def qkv() -> tuple[torch.Tensor, ...]:
    return numbers(B, H, T, D_K, seed=1), numbers(B, H_KV, S, D_K, seed=2), numbers(B, H_KV, S, D_V, seed=3)


CONFIGS = {
    "plain": AttentionConfig(),
    "causal": AttentionConfig(masks=["causal"]),
    "nothing for the first": AttentionConfig(masks=[("causal", {"offset": -3})]),
    "a window": AttentionConfig(masks=[("local", {"window": 1})]),
}


def steps_of_block(n: int) -> list[str]:
    return [f"{name}_{n}" for name in ("maximum", "powers", "total", "mixed", "seen_outputs")]


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("block", [1, 4, 11, 20])
def test_every_block_is_what_blockwise_keeps(name, block):
    run = attend_qkv(*qkv(), config=CONFIGS[name])
    trace = with_online_softmax(run, block)
    seen = [*attend_blockwise(*qkv(), block=block, config=CONFIGS[name])]
    for n, each in enumerate(seen, 1):
        torch.testing.assert_close(trace[f"maximum_{n}"], each.maximum, rtol=1e-14, atol=1e-15)
        torch.testing.assert_close(trace[f"total_{n}"], each.total, rtol=1e-14, atol=0)
        torch.testing.assert_close(trace[f"seen_outputs_{n}"], each.output, rtol=0, atol=1e-13)
        assert trace[f"powers_{n}"].shape == (B, H, T, each.stop - each.start)
        assert trace[f"powers_{n}"].max() <= 1
    assert f"maximum_{len(seen) + 1}" not in trace
    torch.testing.assert_close(trace[f"seen_outputs_{len(seen)}"], run["head_outputs"], rtol=0, atol=1e-14)
    assert [*trace.steps][: len(run.steps)] == [*run.steps]


@pytest.mark.parametrize("name", CONFIGS)
def test_the_five_faces(name):
    trace = with_online_softmax(attend_qkv(*qkv(), config=CONFIGS[name]), 4)
    assert_five_faces(trace, *steps_of_block(1), "faded_2", *steps_of_block(2), "faded_3", *steps_of_block(3))


def by_hand() -> Trace:
    """Scores ln 1, ln 3, ln 2 and the values 1, 3, 2, two keys a block."""
    v = torch.tensor([[1.0], [3.0], [2.0]], dtype=torch.float64)
    run = attend_qkv(torch.ones(1, 1, dtype=torch.float64), v.log(), v)
    return with_online_softmax(run.labelled(T=("it",), S=("a", "b", "c")), 2)


def test_numbers_by_hand():
    trace = by_hand()
    assert [trace[f"maximum_{n}"].item() for n in (1, 2)] == [math.log(3)] * 2
    assert trace["powers_1"].flatten().tolist() == pytest.approx([1 / 3, 1])
    assert trace["faded_2"].item() == 1  # the second block brings no larger score
    assert [trace[f"total_{n}"].item() for n in (1, 2)] == pytest.approx([4 / 3, 2])
    assert [trace[f"seen_outputs_{n}"].item() for n in (1, 2)] == pytest.approx([10 / 4, 14 / 6])


def test_a_larger_score_makes_what_was_summed_fade():
    v = torch.tensor([[2.0], [8.0]], dtype=torch.float64)
    trace = with_online_softmax(attend_qkv(torch.ones(1, 1, dtype=torch.float64), v.log(), v), 1)
    assert trace["faded_2"].item() == pytest.approx(1 / 4)
    assert trace["total_2"].item() == pytest.approx(1 / 4 + 1)
    assert trace["seen_outputs_2"].item() == pytest.approx((4 + 64) / 10)


def test_the_arithmetic_of_each_step():
    trace, at = by_hand(), (0, 0, 0)
    assert explain(trace, "maximum_2", at).text == "max(1.10, 0.69) = 1.10"
    assert explain(trace, "powers_1", (*at, 0)).text == "exp(0.00 − 1.10) = 0.33"
    assert explain(trace, "faded_2", at).text == "exp(1.10 − 1.10) = 1.00"
    assert explain(trace, "total_2", at).text == "1.00 × 1.33 + 0.67 = 2.00"
    assert explain(trace, "mixed_2", (*at, 0)).text == "1.00 × 3.33 + 0.67 × 2.00 = 4.67"
    assert explain(trace, "seen_outputs_2", (*at, 0)).text == "4.67 / (2.00) = 2.33"
    assert [piece.ref.step for piece in explain(trace, "maximum_2", at).pieces if piece.ref] == [
        "maximum_1",
        "masked_scores",
    ]


def test_a_maximum_of_many_names_the_largest():
    k = torch.arange(40.0, dtype=torch.float64)[:, None]
    text = explain(with_online_softmax(attend_qkv(torch.ones(1, 1).double(), k, k), 40), "maximum_1", (0, 0, 0)).text
    assert text.startswith("max(28.00, 29.00") and text.endswith("39.00, ...) = 39.00")


def test_the_keys_of_a_block_have_their_words():
    trace = by_hand()
    assert trace.labels["S_1"] == ("a", "b")
    assert trace.labels["S_2"] == ("c",)
    assert trace.step("powers_2").dims == ("B", "H", "T", "S_2")


@pytest.mark.parametrize("block", [1, 2, 3, 5, 9])
def test_what_a_block_leaves_stands_at_each_of_its_keys(block):
    trace = with_online_softmax(attend_qkv(numbers(1, 3, seed=1), numbers(5, 3, seed=2), numbers(5, 3, seed=3)), block)
    count = count_blocks(5, block)
    assert f"total_{count}" in trace and f"total_{count + 1}" not in trace
    for seen in range(1, count + 1):
        refs = refs_by_key("total", (0, 0, 0), 5, block, seen)
        assert refs == [Ref(f"total_{s // block + 1}", (0, 0, 0)) for s in range(min(seen * block, 5))]
        assert all(trace.holds(ref.step, ref.index) for ref in refs)


@pytest.mark.parametrize("block", [0, -1, 1.5, True])
def test_a_block_has_one_key_or_more(block):
    with pytest.raises(AttentionError) as caught:
        with_online_softmax(attend_qkv(*qkv()), block)
    assert caught.value.code == "positive_integer"
