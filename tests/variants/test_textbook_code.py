"""A layer in one function beside the run and torch's own; the head count that changes unseen."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.explanation.traced_source import function_listing
from attention_core.mechanism.operations import merge_heads
from attention_core.variants.textbook_code import (
    heads_by_eighth,
    merge_by_copy,
    merge_by_reshape,
    merge_by_view,
    merge_untransposed,
    multi_head,
    numbered_heads,
    split_by_eighth,
)


@pytest.mark.parametrize("B, T, D, H, d_k, d_v, D_out", [(2, 5, 12, 3, 4, 4, 12), (1, 7, 11, 2, 3, 5, 13)])
def test_the_function_is_the_run(generator, B, T, D, H, d_k, d_v, D_out):
    shapes = {"w_q": (D, H * d_k), "w_k": (D, H * d_k), "w_v": (D, H * d_v), "w_o": (H * d_v, D_out)}
    given = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    x = torch.randn(B, T, D, generator=generator, dtype=torch.float64)
    trace = attend(x, weights=Weights(**given), config=AttentionConfig(heads=H))
    torch.testing.assert_close(multi_head(x, **given, heads=H), trace["output"], rtol=0, atol=1e-10)


def test_every_step_of_the_way_says_its_shape_and_strides():
    """(2, 10, 512) in 8 heads of 64, as the sources have it; strides counted by hand."""
    given = {name: torch.zeros(512, 512) for name in ("w_q", "w_k", "w_v", "w_o")}
    text = function_listing(multi_head, {"x": torch.zeros(2, 10, 512), **given}, {"heads": 8})
    for line in (
        "q.view(B, T, heads, -1): (2, 10, 8, 64), strides (5120, 512, 64, 1)",
        "q.transpose(1, 2): (2, 8, 10, 64), strides (5120, 64, 512, 1), not contiguous",
        "torch.softmax(scores, dim=-1): (2, 8, 10, 10), strides (800, 100, 10, 1)",
        "z.transpose(1, 2): (2, 10, 8, 64), strides (5120, 64, 640, 1), not contiguous",
        "z.contiguous(): (2, 10, 8, 64), strides (5120, 512, 64, 1)",
        "z.view(B, T, -1): (2, 10, 512), strides (5120, 512, 1)",
        "z @ w_o: (2, 10, 512), strides (5120, 512, 1)",
    ):
        assert f"#   {line}\n" in text + "\n", line


@pytest.mark.parametrize("width, heads, d_k", [(12, 12, 1), (18, 9, 2), (20, 10, 2), (16, 8, 2), (512, 8, 64)])
def test_an_eighth_is_a_width_and_no_number_of_heads(width, heads, d_k):
    assert heads_by_eighth(width) == (heads, d_k)
    x = torch.arange(3.0 * width).view(1, 3, width)
    split = split_by_eighth(x)
    assert torch.equal(split[0, heads - 1, 2], x[0, 2, -d_k:])


@pytest.mark.parametrize("width", [25, 7, 4])
def test_a_width_that_an_eighth_does_not_divide_is_refused(width):
    assert heads_by_eighth(width) is None
    assert "RuntimeError" in function_listing(split_by_eighth, {"x": torch.zeros(1, 3, width)})


def test_heads_are_merged_by_a_copy_and_a_view_alone_is_refused(generator):
    z = torch.randn(2, 3, 5, 7, generator=generator)
    meant = torch.cat([z[:, h] for h in range(3)], dim=-1)
    for merge in (merge_by_copy, merge_by_reshape, merge_heads):
        assert torch.equal(merge(z), meant)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        merge_by_view(z)
    assert "RuntimeError" in function_listing(merge_by_view, {"x": z})
    silent = merge_untransposed(z)
    assert silent.shape == meant.shape
    assert not torch.equal(silent, meant)


def test_without_the_transpose_a_row_holds_different_tokens():
    """By hand: head 1 has 11, 12, 21, 22, 31, 32 behind its hundred."""
    z = numbered_heads(2)
    assert merge_untransposed(z)[0, 0].tolist() == [111, 112, 121, 122]
    assert merge_by_copy(z)[0, 0].tolist() == [111, 112, 211, 212]
