"""From which word each head took what it pushes: against loops, and the sum of the logits."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.analysis.logit_attribution import with_word_pushes
from attention_core.analysis.residual_sum import with_logit_sum
from tests.faces import assert_five_faces
from tests.transformer.stacks import D_HEAD, HEADS, LAYERS, WORDS, V, small_stack

RMS = {"norms": ("rms_norm_before",), "last": ("rms_norm_before",)}
T = len(WORDS[0])
WORD = 7


LAYER = {"last": ("layer_norm_before",)}


@pytest.mark.parametrize(
    "more",
    [{}, {"values_of_words": True}, {"activation": "swiglu", "positions": ()}, {"kv_heads": 1}, LAYER],
    ids=str,
)
def test_each_push_is_the_value_through_w_o_times_the_weight(more):
    stack = small_stack(**RMS | more)
    pushes = with_word_pushes(stack, WORD)["word_pushes"]
    last = stack["unembedding"]
    for layer in range(1, LAYERS + 1):
        trace = stack[f"{layer}.attention"]
        for h in range(HEADS):
            rows = trace["w_o"][h * D_HEAD : (h + 1) * D_HEAD]  # (d_v, D)
            for t in range(T):
                if more is LAYER:
                    root, gain = last["x"][0, t].var(correction=0).add(1e-5).sqrt(), last["g_layer_before"]
                else:
                    root, gain = last["x"][0, t].square().mean().add(1e-6).sqrt(), last["g_rms_before"]
                for s in range(T):
                    value = trace["v"][0, h if len(trace["v"][0]) == HEADS else 0, s]
                    written = trace["weights"][0, h, t, s] * value @ rows  # (D,)
                    written = written - written.mean() if more is LAYER else written
                    expected = written / root * gain @ last["table"][WORD]
                    found = pushes[f"attention_{layer}_pushes"][0, h, t, s]
                    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("more", [{}, {"kv_heads": 1}, LAYER], ids=str)
def test_over_the_words_they_add_up_to_the_push_of_the_head(more):
    stack = with_logit_sum(small_stack(**RMS | more))
    pushes = with_word_pushes(stack, WORD)["word_pushes"]
    parts = stack["logit_sum"].labels["part"]
    for layer in range(1, LAYERS + 1):
        for h in range(HEADS):
            whole = stack["logit_sum"]["pushes"][parts.index(f"{layer}.attention.head_{h + 1}"), ..., WORD]  # (B, T)
            found = pushes[f"attention_{layer}_pushes"][:, h].sum(-1)
            torch.testing.assert_close(found, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("more", [{}, {"kv_heads": 1}, LAYER], ids=str)
def test_with_norms_held_they_add_up_as_well(more):
    stack = with_logit_sum(intervene(small_stack(**RMS | more), [Intervention("1.attention", 0)], hold_norms=True))
    trace = with_word_pushes(stack, WORD)["word_pushes"]
    parts = stack["logit_sum"].labels["part"]
    whole = stack["logit_sum"]["pushes"][parts.index("2.attention.head_1"), ..., WORD]
    torch.testing.assert_close(trace["attention_2_pushes"][:, 0].sum(-1), whole, rtol=0, atol=1e-12)
    assert_five_faces(trace, "attention_2_pushes")


def test_every_step_has_five_faces():
    centred = with_word_pushes(small_stack(**LAYER, kv_heads=1), WORD)["word_pushes"]
    assert_five_faces(centred, "root", "aim_centred", "attention_1_written", "attention_1_carried")
    trace = with_word_pushes(small_stack(**RMS), WORD)["word_pushes"]
    assert_five_faces(trace, "root", "aim", "attention_1_written", "attention_1_carried", "attention_2_pushes")


def test_its_numbers_lead_back_into_the_stack():
    stack = with_word_pushes(small_stack(**RMS), WORD)
    assert stack.sources["word_pushes"]["attention_2_weights"] == ("2.attention", "weights")
    assert stack.sources["word_pushes"]["unembedding_x"] == ("unembedding", "x")


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"ends_in_words": False}, "needs unembedding"),
        ({"last": ()}, "unembedding is different"),
        ({"last": ("rms_norm_before", "layer_norm_before")}, "unembedding is different"),
        ({**RMS, "norms": ("rms_norm_after",)}, "1.attention is different"),
    ],
    ids=str,
)
def test_a_stack_whose_pushes_are_no_sum_over_words_is_refused(choices, says):
    with pytest.raises(AttentionError, match=says):
        with_word_pushes(small_stack(**choices), WORD)


@pytest.mark.parametrize("word", [-1, V])
def test_a_word_that_there_is_not_is_refused(word):
    with pytest.raises(AttentionError, match="word must be one of 0 to 10"):
        with_word_pushes(small_stack(**RMS), word)
