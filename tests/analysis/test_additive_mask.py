"""A mask that is added makes the numbers that filling makes; torch takes the same matrix."""

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, attend_qkv, explain, prove
from attention_core.analysis.blocked_scores import count_equal_scores, with_additive_mask


def run(**config):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 5, size, generator=generator, dtype=torch.float64) for size in (7, 7, 11))
    return q, k, v, attend_qkv(q, k, v, config=AttentionConfig(**config))


@pytest.mark.parametrize("masks", [["causal"], [("sliding", {"window": 2})], ["causal", ("local", {"window": 1})]])
def test_adding_is_filling_and_torch_takes_the_matrix(masks):
    q, k, v, trace = run(masks=masks)
    added = with_additive_mask(trace)
    above = torch.full((5, 5), float("-inf")).triu(1)
    if masks == ["causal"]:
        assert torch.equal(added["additive_mask"][0, 0], above.double())
    assert torch.equal(added["added_scores"], trace["masked_scores"])
    assert count_equal_scores(added) == (25, 25)
    by_torch = F.scaled_dot_product_attention(q, k, v, attn_mask=added["additive_mask"])
    torch.testing.assert_close(by_torch, trace["head_outputs"], rtol=0, atol=1e-12)
    assert prove(added).passed


def test_a_cell_of_each_kind():
    *_, trace = run(masks=["causal"])
    added = with_additive_mask(trace)
    assert explain(added, "additive_mask", (0, 0, 1, 0)).value == 0
    assert explain(added, "additive_mask", (0, 0, 0, 1)).value == float("-inf")
    assert explain(added, "added_scores", (1, 2, 0, 1)).value == float("-inf")


def test_a_run_without_a_mask_has_none():
    *_, trace = run()
    with pytest.raises(KeyError):
        with_additive_mask(trace)
