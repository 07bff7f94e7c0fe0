"""Watches attention that is written in many ways in plain torch, and reads back how its scores were made."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attention_core.checkpoints import Recording, record
from attention_core.record.errors import AttentionError

B, T, H, D = 2, 5, 3, 7  # D: of a head
FUTURE = torch.ones(T, T).triu(1).bool()


class Written(nn.Module):
    """An attention layer whose arithmetic from q, k and v on is given."""

    def __init__(self, mix: Callable[[Tensor, Tensor, Tensor], Tensor]):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.qkv = nn.Parameter(torch.randn(H * D, 3 * H * D, generator=generator))
        self.mix = mix

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part.unflatten(-1, (H, D)).transpose(1, 2) for part in (x @ self.qkv).chunk(3, dim=-1))
        return self.mix(q, k, v)


def run(mix: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Recording:
    """The recording of a layer; B texts of T words."""
    x = 0.2 * torch.randn(B, T, H * D, generator=torch.Generator().manual_seed(4))
    return record(Written(mix).eval(), x)


# ---- the ways --------------------------------------------------------------------------------------------------------
def by_root(q, k, v):
    return (q @ k.mT / math.sqrt(D)).softmax(-1) @ v


def filled(q, k, v):
    return (q @ k.mT * D**-0.5).masked_fill(FUTURE, -torch.inf).softmax(-1) @ v


def filled_in_place(q, k, v):
    scores = q @ k.mT
    scores /= D**0.5
    scores.masked_fill_(FUTURE, float("-inf"))
    return scores.softmax(-1) @ v


def added_mask(q, k, v):
    return (q @ k.mT / D**0.5 + torch.zeros(T, T).masked_fill(FUTURE, -1e9)).softmax(-1) @ v


def chosen(q, k, v):
    return torch.where(FUTURE, torch.tensor(-1e30), q @ k.mT / D**0.5).softmax(-1) @ v


def kept(q, k, v):
    return torch.where(~FUTURE, q @ k.mT / D**0.5, torch.tensor(-1e30)).softmax(-1) @ v


def by_einsum(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * D**-0.5
    return torch.einsum("bhqk,bhkd->bqhd", scores.masked_fill(FUTURE, -1e5).softmax(-1), v)


def by_baddbmm(q, k, v):
    flat_q, flat_k, flat_v = (part.flatten(0, 1) for part in (q, k, v))
    bias = torch.zeros(B * H, T, T).masked_fill(FUTURE, -1e9)
    return torch.baddbmm(bias, flat_q, flat_k.mT, alpha=D**-0.5).softmax(-1) @ flat_v


def by_sdpa(q, k, v):
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def by_index(q, k, v):
    scores = q @ k.mT / D**0.5
    scores[..., FUTURE] = -torch.inf
    return scores.softmax(-1) @ v


def values_first(q, k, v):
    return (v.mT @ by_weights(q, k).mT).mT


def by_weights(q, k):
    return (q @ k.mT * D**-0.5).masked_fill(FUTURE, -1e9).softmax(-1)


CAUSAL_WAYS = [filled, filled_in_place, added_mask, chosen, kept, by_einsum, by_baddbmm, by_sdpa, by_index]
CAUSAL_WAYS += [values_first]


@pytest.mark.parametrize("mix", CAUSAL_WAYS, ids=lambda mix: mix.__name__)
def test_each_way_of_writing_causal_attention_is_read(mix):
    recording = run(mix)
    [call], [row] = recording.calls, recording.proof()
    config = recording.run(0).config
    assert row.passed, row.reason
    assert (config.masks, config.scale, call.way) == ((("causal", {}),), None, "watched")
    assert (call.sizes, call.name) == ((B, H, T, T), "Written")
    qkv = (part.double() for part in (call.q, call.k, call.v))
    expected = nn.functional.scaled_dot_product_attention(*qkv, is_causal=True)
    assert torch.allclose(recording.traces[0]["head_outputs"], expected, atol=1e-12)


def test_fused_attention_runs_as_it_would_without_a_recording():
    padded = torch.ones(B, 1, 1, T).bool()
    padded[1, ..., 3:] = False
    x = 0.2 * torch.randn(B, T, H * D, generator=torch.Generator().manual_seed(4))
    layer = Written(lambda q, k, v: nn.functional.scaled_dot_product_attention(q, k, v, padded, scale=0.5)).eval()
    with torch.no_grad():
        plain = layer(x)
    recording = record(layer, x)
    [call], [row] = recording.calls, recording.proof()
    assert torch.equal(recording.outputs, plain) and torch.equal(call.output, plain.transpose(1, 2))
    assert row.passed and row.apart is None and row.output_apart > 0
    assert recording.run(0).config.masks == (("padding", {"lengths": (5, 3)}),) and call.scale == 0.5
    assert not Recording((replace(call, scale=0.501),), None).passed


def test_no_mask_and_no_scale_are_read_as_such():
    assert run(by_root).run(0).config.masks == ()
    plain = run(lambda q, k, v: (q @ k.mT).softmax(-1) @ v)
    assert plain.run(0).config.scale == 1.0 and plain.passed


def test_a_bias_of_any_kind_is_read_and_one_of_alibi_is_named():
    generator = torch.Generator().manual_seed(5)
    drawn = torch.randn(H, T, T, generator=generator)
    away = (torch.arange(T) - torch.arange(T)[:, None]).abs()
    slopes = torch.tensor([0.5, 0.25, 0.125])
    any_bias = run(lambda q, k, v: (q @ k.mT + drawn).softmax(-1) @ v)
    alibi = run(lambda q, k, v: (q @ k.mT - slopes[:, None, None] * away).softmax(-1) @ v)
    assert any_bias.passed and any_bias.run(0).given == ("bias",)
    assert torch.allclose(any_bias.traces[0]["bias"].float().expand(B, H, T, T), drawn.expand(B, H, T, T))
    assert alibi.passed and alibi.run(0).config.positions == (("alibi", {"slopes": (0.5, 0.25, 0.125)}),)


def test_a_soft_cap_is_read_and_what_is_changed_inside_of_it_is_refused():
    recording = run(lambda q, k, v: (3 * torch.tanh(q @ k.mT / (3 * D**0.5))).masked_fill(FUTURE, -1e9).softmax(-1) @ v)
    config = recording.run(0).config
    assert recording.passed and config.scale is None
    assert (config.masks, config.modifiers) == ((("causal", {}),), (("softcap", {"cap": 3.0}),))
    for inside in (lambda scores: scores + torch.eye(T), lambda scores: scores.masked_fill(FUTURE, -1e9)):
        with pytest.raises(AttentionError, match="go through tanh"):
            run(lambda q, k, v, inside=inside: (3 * inside(q @ k.mT / 3).tanh()).softmax(-1) @ v)


def test_a_temperature_of_each_head_is_read_into_q():
    by_head = torch.tensor([1.5, 0.5, 2.0])[:, None, None]
    bias = torch.eye(T)
    for recording in (
        run(lambda q, k, v: ((q @ k.mT + bias) * by_head).softmax(-1) @ v),
        run(lambda q, k, v: ((q @ k.mT + bias) / (1 / by_head)).softmax(-1) @ v),
    ):
        assert recording.passed
        call = recording.calls[0]
        qkv = (part.double() for part in (call.q, call.k, call.v))
        expected = nn.functional.scaled_dot_product_attention(*qkv, attn_mask=bias.double() * by_head, scale=1.0)
        assert torch.allclose(recording.traces[0]["head_outputs"], expected, atol=1e-6)


def test_attention_over_two_axes_is_read():
    layers = nn.ModuleDict({name: nn.Linear(6, 4) for name in "qkv"})

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            q, k, v = (self.layers[name](x) for name in "qkv")
            return torch.softmax(q @ k.T / 2, -1) @ v

    recording = record(Plain().eval(), torch.randn(T, 6, generator=torch.Generator().manual_seed(1)))
    assert recording.passed and recording.calls[0].sizes == (1, 1, T, T)
    assert recording.run(0).config.scale is None


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("weights", [True, False])
def test_heads_and_texts_are_told_apart_in_any_order_of_axes(batch_first, weights):
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(12, 3, batch_first=batch_first).eval()
    x = torch.randn(2, T, 12, generator=torch.Generator().manual_seed(1))
    given = x if batch_first else x.transpose(0, 1)
    recording = record(layer, given, given, given, need_weights=weights)
    assert recording.passed and recording.calls[0].sizes == (2, 3, T, T)
    alone = record(layer, x[0], x[0], x[0], need_weights=weights)
    assert alone.passed and alone.calls[0].sizes == (1, 3, T, T)


def test_heads_that_share_keys_and_values_are_joined_again():
    recording = run(lambda q, k, v: by_root(q, k[:, :1].expand_as(k), v[:, :1].expand_as(v)))
    assert recording.calls[0].k.shape == (B, 1, T, D) and recording.passed


def test_a_query_that_may_attend_to_nothing_is_counted_and_not_compared():
    nothing = torch.zeros(T, T).index_fill_(0, torch.tensor([2]), -1e9)
    [row] = run(lambda q, k, v: (q @ k.mT + nothing).softmax(-1) @ v).proof()
    assert row.passed and row.blocked_rows == B * H


@pytest.mark.parametrize(
    "mix, reason",
    [
        (lambda q, k, v: torch.relu(q @ k.mT).softmax(-1) @ v, "go through relu, which is not read"),
        (lambda q, k, v: (q - k).softmax(-1).mT @ v, "made of no product of two tensors"),
        (lambda q, k, v: (q @ k.mT).masked_fill(FUTURE, -3.0).softmax(-1) @ v, "-3.0 replaces some scores"),
        (lambda q, k, v: (q @ k.mT).softmax(-1).sin() @ v, "meets no values"),
        (lambda q, k, v: (q @ k.mT).sigmoid() @ v, "no softmax was computed"),
    ],
)
def test_what_is_no_softmax_attention_is_refused_with_its_reason(mix, reason):
    with pytest.raises(AttentionError, match=reason):
        run(mix)


def test_models_of_torch_itself_are_watched():
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(20, 4, 24, batch_first=True), 2).eval()
    x = torch.randn(3, 7, 20, generator=torch.Generator().manual_seed(1))
    recording = record(encoder, x, mask=nn.Transformer.generate_square_subsequent_mask(7), is_causal=True)
    assert recording.layers == ("layers.0.self_attn", "layers.1.self_attn") and recording.passed
    _, weights = encoder.layers[0].self_attn(
        x, x, x, attn_mask=torch.ones(7, 7).triu(1).bool(), average_attn_weights=False
    )
    assert torch.allclose(recording.traces[0]["weights"].float(), weights, atol=1e-6)
