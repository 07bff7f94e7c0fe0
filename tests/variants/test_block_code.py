"""The blocks as somebody writes them, beside torch's own layers with the same numbers."""

import pytest
import torch
from torch import nn

from attention_core.variants.textbook_code import DecoderBlock, EncoderBlock, block_source

NAMES = {
    "attention": "self_attn",
    "cross": "multihead_attn",
    "feed_forward.0": "linear1",
    "feed_forward.2": "linear2",
    "norm_1": "norm1",
    "norm_2": "norm2",
    "norm_3": "norm3",
}  # ours: torch's


def torch_numbers(block: nn.Module) -> dict[str, torch.Tensor]:
    """A block's numbers under torch's names."""
    renamed = {}
    for name, value in block.state_dict().items():
        own = next(own for own in NAMES if name.startswith(f"{own}."))
        renamed[NAMES[own] + name.removeprefix(own)] = value
    return renamed


def draw_numbers(block: nn.Module, generator) -> nn.Module:
    block.double()
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return block


@pytest.fixture
def x(generator):
    return torch.randn(2, 5, 12, generator=generator, dtype=torch.float64)


def test_the_encoder_block_is_torchs_layer_with_norms_before(generator, x):
    block = draw_numbers(EncoderBlock(12, 3, 7), generator)
    own = nn.TransformerEncoderLayer(12, 3, 7, dropout=0.0, batch_first=True, norm_first=True).double()
    own.load_state_dict(torch_numbers(block))
    torch.testing.assert_close(block(x), own(x), rtol=0, atol=1e-10)


def test_the_decoder_block_is_torchs_layer(generator, x):
    memory = torch.randn(2, 7, 12, generator=generator, dtype=torch.float64)
    block = draw_numbers(DecoderBlock(12, 3, 7), generator)
    own = nn.TransformerDecoderLayer(12, 3, 7, dropout=0.0, batch_first=True).double()
    own.load_state_dict(torch_numbers(block))
    mask = torch.full((5, 5), float("-inf"), dtype=torch.float64).triu(1)
    torch.testing.assert_close(block(x, memory), own(x, memory, tgt_mask=mask), rtol=0, atol=1e-10)


def test_the_source_runs_as_it_stands(generator, x):
    named = {}
    exec(block_source(EncoderBlock), named)
    block = draw_numbers(EncoderBlock(12, 3, 7), generator)
    shown = named["EncoderBlock"](12, 3, 7).double()
    shown.load_state_dict(block.state_dict())
    assert torch.equal(shown(x), block(x))
