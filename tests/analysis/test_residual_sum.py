"""The sum that a vector is: it closes at every depth, with every norm, and its parts are what they are called."""

import pytest
import torch
import torch.nn.functional as F

from attention_core import (
    AttentionConfig,
    AttentionError,
    LayerConfig,
    LayerWeights,
    StackConfig,
    StackWeights,
    Weights,
)
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.analysis.logit_attribution import logit_lens
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.record.expressions import Ref
from attention_core.transformer.stack import Stack, run_stack
from attention_core.verification.proof import prove_stack
from tests.faces import assert_five_faces
from tests.transformer.stacks import D, small_stack

STACKS = {
    "LayerNorm before": {},
    "RMSNorm before, gated": {
        "norms": ("rms_norm_before",),
        "activation": "swiglu",
        "last": ("rms_norm_before",),
        "positions": ("sinusoidal",),
    },
    "LayerNorm after": {"norms": ("layer_norm_after",), "last": ()},
    "RMSNorm after": {"norms": ("rms_norm_after",), "activation": "relu", "last": ("rms_norm_before",)},
    "RMSNorm of what a layer adds": {"norms": ("rms_norm_before", "rms_norm_output"), "last": ("rms_norm_before",)},
    "RMSNorm of what parallel layers add": {"norms": ("rms_norm_before", "rms_norm_output"), "parallel": True},
    "before and after": {"norms": ("rms_norm_before", "layer_norm_after")},
    "no norm, no positions": {"norms": (), "last": (), "positions": ()},
    "encoder and decoder": {"with_encoder": True},
    "encoder and decoder, norms after": {"with_encoder": True, "norms": ("layer_norm_after",)},
    "values of words": {"values_of_words": True},
    "shared keys and values": {"kv_heads": 1},
}
every_stack = pytest.mark.parametrize("name", STACKS)


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12 * expected.abs().max().item())


def end_of(stack: Stack, part: str) -> torch.Tensor:
    return stack[part].steps[next(reversed(stack[part].steps))].value


@every_stack
def test_the_parts_add_up_to_the_vectors_after_every_part(name):
    stack = small_stack(**STACKS[name])
    for part in stack.parts:
        if not part.startswith("encoder.") and part != "unembedding":
            close(with_residual_sum(stack, part)["residual_sum"]["parts"].sum(0), end_of(stack, part))


@pytest.mark.parametrize("last", [("layer_norm_before",), ("rms_norm_before",)], ids=str)
def test_the_parts_add_up_behind_the_norm_that_a_stack_ends_with(last):
    stack = small_stack(with_encoder=True, last=last)
    parts = {name.removeprefix("encoder."): trace for name, trace in stack.parts.items() if name.startswith("encoder.")}
    sources = {part: {} for part in parts}
    summed = with_residual_sum(Stack(parts, sources))["residual_sum"]
    close(summed["parts"].sum(0), stack["encoder.norm"][list(stack["encoder.norm"].steps)[-1]])


@every_stack
def test_the_pushes_add_up_to_every_logit(name):
    stack = with_logit_sum(small_stack(**STACKS[name]))
    pushes = stack["logit_sum"]["pushes"]
    assert len(stack["logit_sum"].labels["part"]) == len(pushes)
    close(pushes.sum(0), stack["unembedding"]["logits"])


@pytest.mark.parametrize("name", ["LayerNorm before", "RMSNorm before, gated"])
def test_the_pushes_of_chosen_words_are_those_of_all_words(name):
    stack = small_stack(**STACKS[name])
    every, chosen = with_logit_sum(stack)["logit_sum"], with_logit_sum(stack, words=(7, 0))["logit_sum"]
    for step in ("pushes", "pushes_sum"):
        torch.testing.assert_close(chosen[step], every[step][..., [7, 0]], rtol=0, atol=1e-14)
    assert chosen.labels["part"] == every.labels["part"]
    assert "pushes_of_vectors" in chosen and chosen["pushes_of_vectors"].shape[-1] == 2
    assert_five_faces(chosen, "unembedding_table_chosen", "unembedding_b_words_chosen", "pushes", "pushes_sum")
    assert prove_stack(with_logit_sum(stack, words=(7, 0))).passed


@pytest.mark.parametrize("word", [-1, 11])
def test_a_chosen_word_that_there_is_not_is_refused(word):
    with pytest.raises(AttentionError, match="word must be one of 0 to 10"):
        with_logit_sum(small_stack(), words=(3, word))


@every_stack
def test_the_sums_are_proven_and_begin_with_numbers_of_the_stack(name):
    stack = with_logit_sum(with_residual_sum(small_stack(**STACKS[name])))
    assert prove_stack(stack).passed
    for part in ("residual_sum", "logit_sum"):
        assert set(stack.sources[part]) == set(stack[part].inputs())


@pytest.mark.parametrize("norms", [("layer_norm_after",), ("rms_norm_after",)], ids=str)
def test_every_face_of_a_sum(norms):
    sums = with_logit_sum(small_stack(norms=norms, last=("layer_norm_before",)))["logit_sum"]
    assert_five_faces(sums, *(name for name in sums.computed() if not name.startswith("feed_forward_1")))


def test_a_part_is_what_its_label_says():
    stack = with_residual_sum(small_stack())
    trace, attention, bent = stack["residual_sum"], stack["2.attention"], stack["1.feed_forward"]
    parts = dict(zip(trace.labels["part"], trace["parts"], strict=True))
    assert list(parts)[:6] == [
        "embedding",
        "embedding.positions",
        "1.attention.head_1",
        "1.attention.head_2",
        "1.attention.b_o",
        "1.feed_forward",
    ]
    close(parts["embedding"], stack["embedding"]["x"])
    close(parts["2.attention.head_2"], attention["head_outputs"][:, 1] @ attention["w_o"][3:])
    close(parts["1.feed_forward"], bent["activated"] @ bent["w_2"])
    close(parts["1.feed_forward.b_2"][0, 2], bent["b_2"])


def test_a_head_that_is_left_out_takes_its_push_away():
    """With the divisor of the whole run: what the other parts push is the logits without this head's rows of W_o."""
    stack = with_logit_sum(small_stack(last=()))
    trace = stack["logit_sum"]
    place = trace.labels["part"].index("2.attention.head_1")
    attention = stack["2.attention"]
    added = attention["head_outputs"][:, 0] @ attention["w_o"][:3]
    close(trace["pushes"][place], F.linear(added, stack["unembedding"]["table"]))


def test_a_number_of_the_sum_is_followed_into_the_stack():
    stack = with_residual_sum(small_stack())
    trace = stack["residual_sum"]
    (read,) = trace.read_by(Ref("parts", (0, 0, 2, 1)))
    assert stack.source_of("residual_sum", read) == ("embedding", Ref("x", (0, 2, 1)))


# ---- the logit lens --------------------------------------------------------------------------------------------------
def test_the_lens_reads_the_vectors_after_each_part():
    stack = small_stack(with_encoder=True)
    lens = logit_lens(stack)
    assert list(lens) == [name for name in stack.parts if not name.startswith("encoder.") and name != "unembedding"]
    last = stack["unembedding"]
    assert torch.equal(lens["2.feed_forward"]["probabilities"], last["probabilities"])
    x = stack["1.cross"]["residual"]
    normed = F.layer_norm(x, (D,), last["g_layer_before"], last["b_layer_before"], 1e-5)
    expected = F.softmax(F.linear(normed, last["table"], last["b_words"]) / 0.5, -1)
    close(lens["1.cross"]["probabilities"], expected)


# ---- bad input -------------------------------------------------------------------------------------------------------
def test_what_has_no_such_sum_is_refused():
    without_words = small_stack(ends_in_words=False)
    with pytest.raises(AttentionError, match="the sum of logits needs unembedding, and the stack has embedding, "):
        with_logit_sum(without_words)
    with pytest.raises(AttentionError, match="the logit lens needs unembedding"):
        logit_lens(without_words)
    with pytest.raises(AttentionError, match=r"after must be one of embedding, .*: got '3\.attention'"):
        with_residual_sum(without_words, "3.attention")
    config = AttentionConfig()
    bare = run_stack(torch.eye(3), StackWeights([LayerWeights(Weights())]), StackConfig([LayerConfig(config)]))
    with pytest.raises(AttentionError, match=r"each part has a residual: 1\.attention has none"):
        with_residual_sum(bare)


def test_another_divisor_breaks_the_sum():
    """The sum closes by this run's divisor and by no other."""
    stack = with_logit_sum(small_stack())
    trace = stack["logit_sum"]
    wrong = 1.01 * trace["unembedding_divisor_of_layer_normed_x"]
    parts = trace.reapply("unembedding_parts_of_layer_normed_x", unembedding_divisor_of_layer_normed_x=wrong)
    assert (parts.sum(0) - trace["unembedding_parts_of_layer_normed_x"].sum(0)).abs().max() > 1e-3


@every_stack
@pytest.mark.parametrize("part", ["1.attention", "2.feed_forward"])
def test_with_norms_held_at_another_run_s_roots_the_sums_close_too(name, part):
    head = 1 if part.endswith("attention") else None
    stack = intervene(small_stack(**STACKS[name]), [Intervention(part, head)], hold_norms=True)
    close(with_residual_sum(stack)["residual_sum"]["parts"].sum(0), end_of(stack, list(stack.parts)[-2]))
    close(with_logit_sum(stack)["logit_sum"]["pushes"].sum(0), stack["unembedding"]["logits"])
