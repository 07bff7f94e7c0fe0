"""Layers whose attention and feed-forward layer read the same vectors: loops over numbers, sums, changes, refusals."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, feed_forward, with_logit_sum, with_residual_sum
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.record.expressions import Ref
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.stack import LayerConfig, LayerWeights, Stack, StackConfig, StackWeights, run_stack
from attention_core.verification.proof import prove_stack
from tests.transformer.parts import draws
from tests.transformer.stacks import small_stack
from tests.transformer.test_naive_block import D_HEAD, D_HIDDEN, D, H, T, attention_of, bent_of, plus

NORMS = ["rms_norm_before"]
ATTENTION = AttentionConfig(heads=H, masks=["causal"], modifiers=NORMS, residual=True)
GATED = FeedForwardConfig("swiglu", NORMS, residual=True)


def test_two_parallel_blocks_by_loops():
    draw = draws(11)
    shapes = {**dict.fromkeys(("w_q", "w_k", "w_v"), (D, H * D_HEAD)), "w_o": (H * D_HEAD, D), "g_rms_before": (D,)}
    bent = {"w_1": (D, D_HIDDEN), "w_gate": (D, D_HIDDEN), "w_2": (D_HIDDEN, D), "g_rms_before": (D,)}
    tensors = [[{name: draw(*shape) for name, shape in each.items()} for each in (shapes, bent)] for _ in range(2)]
    weights = [LayerWeights(Weights(**of), FeedForwardWeights(**and_bent)) for of, and_bent in tensors]
    x = draw(T, D)
    stack = run_stack(x, StackWeights(weights), StackConfig([LayerConfig(ATTENTION, GATED, parallel=True)] * 2))

    words = x.tolist()
    for layer in tensors:
        of, and_bent = ({name: tensor.tolist() for name, tensor in each.items()} for each in layer)
        attended, fed = attention_of(words, of), [bent_of(word, and_bent) for word in words]
        minus = [[-number for number in word] for word in words]  # both hold the vectors themselves
        words = [plus(plus(one, other), less) for one, other, less in zip(attended, fed, minus, strict=True)]
    for i, word in enumerate(words):
        for m, number in enumerate(word):
            assert math.isclose(stack.end[0, i, m].item(), number, rel_tol=1e-10, abs_tol=1e-10)


@pytest.fixture(scope="module")
def parallel() -> Stack:
    return small_stack(parallel=True)


def test_a_parallel_layer_reads_the_vectors_before_it_and_adds_to_those_behind_attention(parallel):
    assert parallel.sources["2.attention"] == {"x": ("1.feed_forward", "residual")}
    assert parallel.sources["2.feed_forward"] == {
        "x": ("1.feed_forward", "residual"),
        "stream": ("2.attention", "residual"),
    }
    assert parallel.source_of("2.feed_forward", Ref("stream", (0, 1, 2))) == (
        "2.attention",
        Ref("residual", (0, 1, 2)),
    )
    assert prove_stack(parallel).passed


def test_vectors_and_logits_of_parallel_layers_are_sums(parallel):
    stack = with_logit_sum(with_residual_sum(parallel))
    end = parallel["2.feed_forward"]["residual"]
    torch.testing.assert_close(stack["residual_sum"]["parts"].sum(0), end, rtol=0, atol=1e-12)
    logits = parallel["unembedding"]["logits"]
    torch.testing.assert_close(stack["logit_sum"]["pushes"].sum(0), logits, rtol=0, atol=1e-11)


def test_a_head_that_is_off_leaves_the_feed_forward_layer_of_its_own_layer_as_it_is(parallel):
    changed = intervene(parallel, [Intervention("1.attention", 0)])
    fed, before = changed["1.feed_forward"], parallel["1.feed_forward"]
    assert torch.equal(fed["output"], before["output"])
    assert not torch.equal(fed["residual"], before["residual"])
    assert not torch.equal(changed["2.feed_forward"]["output"], parallel["2.feed_forward"]["output"])
    follows = intervene(small_stack(), [Intervention("1.attention", 0)])["1.feed_forward"]
    assert not torch.equal(follows["output"], small_stack()["1.feed_forward"]["output"])


def test_a_parallel_layer_whose_stream_is_another_breaks_its_link(parallel):
    parts = dict(parallel.parts)
    trace, given = parts["2.feed_forward"], parts["2.feed_forward"]["stream"] + 1
    parts["2.feed_forward"] = feed_forward(
        trace["x"],
        FeedForwardWeights(
            **{name: step.value for name, step in trace.inputs().items() if name not in ("x", "stream")}
        ),
        FeedForwardConfig("gelu", ["layer_norm_before"], residual=True),
        given,
    )
    proof = prove_stack(Stack(parts, parallel.sources))
    assert not proof.passed and proof.fault.part == "2.feed_forward"


EYE = torch.eye(3, dtype=torch.float64)
WEIGHTS = FeedForwardWeights(w_1=EYE, w_2=EYE[:, :2])
ADDED = FeedForwardConfig(residual=True)


def test_what_is_added_to_may_have_another_width_than_what_is_read():
    x = torch.tensor([[1.0, -2.0, 3.0]], dtype=torch.float64)
    stream = torch.tensor([[10.0, 20.0]], dtype=torch.float64)
    assert feed_forward(x, WEIGHTS, ADDED, stream)["residual"].tolist() == [[[11.0, 20.0]]]


REFUSED = {
    "parallel_layer": (
        lambda: LayerConfig(AttentionConfig(), GATED, parallel=True),
        "a parallel layer needs attention and a feed-forward layer, both with residual=True, and no cross-attention",
    ),
    "stream_unused": (
        lambda: feed_forward(EYE, WEIGHTS, FeedForwardConfig(), EYE),
        "stream is what the residual adds the output to: it needs residual=True",
    ),
    "stream_shape": (
        lambda: feed_forward(EYE, WEIGHTS, ADDED, EYE),
        "stream must have the shape of the output, (1, 3, 2): got (1, 3, 3)",
    ),
    "not_finite": (lambda: feed_forward(EYE, WEIGHTS, ADDED, EYE[:, :2] / 0), "stream must be finite"),
}


@pytest.mark.parametrize("code", REFUSED)
def test_bad_input_is_refused(code):
    act, said = REFUSED[code]
    with pytest.raises(AttentionError) as raised:
        act()
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "choices",
    [{"feed_forward": None}, {"cross": ATTENTION}, {"feed_forward": FeedForwardConfig()}],
    ids=["no feed-forward layer", "cross-attention", "no residual"],
)
def test_a_parallel_layer_has_two_parts_that_are_added(choices):
    with pytest.raises(AttentionError, match=r"^a parallel layer needs"):
        LayerConfig(ATTENTION, **{"feed_forward": GATED, **choices}, parallel=True)
