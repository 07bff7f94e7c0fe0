"""The softmax block by block: the same numbers as all at once, and never more than a block of scores."""

import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from attention_core import AttentionConfig, AttentionError, Weights, attend_qkv
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.variants.blockwise_softmax import BlockwiseState, attend_blockwise
from tests.entries import every_mask, learned_shapes, mask_choice

B, H, H_KV, T, S, D_K, D_V, A = 2, 6, 3, 7, 11, 4, 5, 13
BLOCKS = [1, 3, 5, S, 17]  # 3 and 5 do not divide 11

MASK_PARAMS = {
    "local": {"window": 2},
    "sliding": {"window": 3},
    "padding": {"lengths": (9, 4)},
    "local_global": {"window": 1, "global_tokens": (0, 3, 8)},
}
CONFIGS = {
    **{f"score {name}": {"score": name} for name in SCORES},
    **{f"mask {name}": {"masks": [mask_choice(name, **MASK_PARAMS)]} for name in MASKS},
    **{f"position {name}": {"positions": [name]} for name in POSITIONS if not POSITIONS[name].reads_input},
    **{f"normaliser {name}": {"normaliser": name, "masks": ["causal"]} for name in ("softmax", "sinks")},
    "sinks, nothing for the first": {"normaliser": "sinks", "masks": [("causal", {"offset": -3})]},
    "causal, nothing for the first": {"masks": [("causal", {"offset": -3})]},
    "causal, alibi, rope": {"masks": ["causal"], "positions": ["alibi", "rope"]},
    "all masks": {"masks": every_mask(**MASK_PARAMS)},
    "causal and global": {"masks": ["causal", ("local_global", {"window": 0, "global_tokens": (1, 9)})]},
    "scale, temperature": {"scale": -3.0, "temperature": 0.25},
    "large scores": {"scale": 1e4},
}


def numbers(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def qkv() -> tuple[Tensor, Tensor, Tensor]:
    return numbers(B, H, T, D_K, seed=1), numbers(B, H_KV, S, D_K, seed=2), numbers(B, H_KV, S, D_V, seed=3)


def weights_for(config: AttentionConfig) -> Weights:
    shapes = learned_shapes(config, D_K, D_K, H, A, apart=True)
    return Weights(**{name: numbers(*shape, seed=4) for name, shape in shapes.items()})


def run(name: str, block: int) -> list[BlockwiseState]:
    config = AttentionConfig(**CONFIGS[name])
    return list(attend_blockwise(*qkv(), block=block, config=config, weights=weights_for(config)))


# ---- the same numbers ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("block", BLOCKS)
def test_the_last_block_gives_the_heads_outputs(name, block):
    config = AttentionConfig(**CONFIGS[name])
    full = attend_qkv(*qkv(), config=config, weights=weights_for(config))
    seen = run(name, block)
    assert [(each.start, each.stop) for each in seen] == [(s, min(s + block, S)) for s in range(0, S, block)]
    torch.testing.assert_close(seen[-1].output, full["head_outputs"], rtol=0, atol=1e-12)
    scores = full["masked_scores"]
    if "sinks" in full:  # one more score a head
        scores = torch.cat([scores, full["sinks"][:, None, None].expand(*scores.shape[:-1], 1)], dim=-1)
    torch.testing.assert_close(seen[-1].maximum, scores.amax(-1), rtol=1e-14, atol=1e-14)
    largest = scores.amax(-1, keepdim=True)
    sums = torch.where(largest.isneginf(), 0.0, torch.exp(scores - largest)).sum(-1)
    torch.testing.assert_close(seen[-1].total, sums, rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 3])
def test_after_every_block_the_output_is_attention_over_the_keys_so_far(block):
    q, k, v = qkv()
    for seen in attend_blockwise(q, k, v, block=block):
        so_far = attend_qkv(q, k[:, :, : seen.stop], v[:, :, : seen.stop])
        torch.testing.assert_close(seen.output, so_far["head_outputs"], rtol=0, atol=1e-12)
        torch.testing.assert_close(seen.maximum, so_far["scaled_scores"].amax(-1), rtol=1e-14, atol=1e-14)


def test_three_keys_by_hand():
    """Scores 0, ln 3 and ln 2 of values 1, 3 and 2: what was summed is measured anew when ln 3 comes."""
    v = torch.tensor([[1.0], [3.0], [2.0]], dtype=torch.float64)
    one, two, three = attend_blockwise(torch.ones(1, 1, dtype=torch.float64), v.log(), v, block=1)
    found = [(each.maximum.item(), each.total.item(), each.output.item()) for each in (one, two, three)]
    assert found[0] == pytest.approx((0.0, 1.0, 1.0))
    assert found[1] == pytest.approx((math.log(3), 1 + 1 / 3, (1 * 1 + 3 * 3) / 4))
    assert found[2] == pytest.approx((math.log(3), 2.0, (1 * 1 + 3 * 3 + 2 * 2) / 6))


def test_a_query_without_a_key_stays_empty_until_it_has_one():
    """Queries at 3 and 4 that look one key back, two keys at a time: 0 and 1 are for neither, 2 only for the first."""
    q, k, v = (numbers(2, 4, seed=5), numbers(6, 4, seed=6), numbers(6, 5, seed=7))
    config = AttentionConfig(masks=[("causal", {"offset": 3}), ("local", {"window": 1})])
    first, second, third = attend_blockwise(q, k, v, block=2, config=config)
    assert (first.maximum == -math.inf).all()
    assert (first.total == 0).all()
    assert (first.output == 0).all()
    assert second.total[0, 0, 0] > 1  # keys 2 and 3
    assert (second.total[0, 0, 1], third.total[0, 0, 1] > 1) == (1, True)  # key 3, then 4 as well
    torch.testing.assert_close(second.output[0, 0, 1], v[3], rtol=0, atol=1e-15)
    torch.testing.assert_close(third.output, attend_qkv(q, k, v, config=config)["head_outputs"], rtol=0, atol=1e-12)


def test_scores_too_large_for_exp_do_no_harm():
    q = torch.full((1, 1), 1e4, dtype=torch.float64)
    k = torch.tensor([[1.0], [2.0], [-3.0]], dtype=torch.float64)
    *_, last = attend_blockwise(q, k, k, block=1)
    assert (last.maximum.item(), last.total.item(), last.output.item()) == (2e4, 1.0, 2.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_precision_is_that_of_the_inputs(dtype):
    q, k, v = (tensor.to(dtype) for tensor in qkv())
    *_, last = attend_blockwise(q, k, v, block=3)
    assert {each.dtype for each in (last.maximum, last.total, last.output)} == {dtype}
    exact = attend_qkv(*(tensor.double() for tensor in (q, k, v)))["head_outputs"]
    off = (last.output.double() - exact).abs().max()
    assert 0 < off < 16 * torch.finfo(dtype).eps


def test_gradients_are_those_of_the_whole():
    def gradients(output_of) -> list[Tensor]:
        tensors = [tensor.requires_grad_() for tensor in qkv()]
        output_of(*tensors).square().sum().backward()
        return [tensor.grad for tensor in tensors]

    config = AttentionConfig(masks=[("causal", {"offset": -1})])
    found = gradients(lambda *tensors: list(attend_blockwise(*tensors, block=3, config=config))[-1].output)
    for one, other in zip(
        found, gradients(lambda *tensors: attend_qkv(*tensors, config=config)["head_outputs"]), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


# ---- and never all scores --------------------------------------------------------------------------------------------
class Largest(TorchDispatchMode):
    """The numbers of the largest tensor that any operation of torch makes."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else (made,):
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return made


@pytest.mark.parametrize("block", [2, 5, 16])
@pytest.mark.parametrize("mask", [[], ["causal"], [("local_global", {"window": 3, "global_tokens": (1, 99)})]], ids=str)
def test_the_largest_tensor_is_one_block_of_scores(block, mask):
    tokens, heads = 101, 3
    q, k = (numbers(1, heads, tokens, 1, seed=seed) for seed in (1, 2))
    config = AttentionConfig(masks=mask)
    with Largest() as largest:
        *_, last = attend_blockwise(q, k, k, block=block, config=config)
    assert largest.numbers == heads * tokens * block
    with Largest() as largest:
        full = attend_qkv(q, k, k, config=config)["head_outputs"]
    assert largest.numbers == heads * tokens * tokens
    torch.testing.assert_close(last.output, full, rtol=0, atol=1e-12)


# ---- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("error", "choices"),
    [
        ("positive_integer", {"block": 0}),
        ("positive_integer", {"block": 2.0}),
        ("blockwise_weights", {"config": AttentionConfig(dropout=0.5)}),
        ("blockwise_weights", {"config": AttentionConfig(replace="uniform")}),
        ("lengths_count", {"config": AttentionConfig(masks=[("padding", {"lengths": (1,)})])}),
        ("missing_weight", {"config": AttentionConfig(score="general")}),
        ("no_input", {"config": AttentionConfig(positions=["sinusoidal"])}),
        ("heads_given", {"config": AttentionConfig(heads=5)}),
    ],
)
def test_what_is_refused_is_refused_at_once(error, choices):
    with pytest.raises(AttentionError) as caught:
        attend_blockwise(*qkv(), **{"block": 3, **choices})
    assert caught.value.code == error
