"""A run with heads or feed-forward layers changed: against the run of changed weights, and loops written out."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.transformer.stack import Stack
from attention_core.verification.proof import prove_stack
from tests.faces import assert_five_faces
from tests.transformer.stacks import D_HEAD, HEADS, WORDS, D, small_stack

SECOND = 1  # the head that is changed, of 2
T = len(WORDS[0])
EVERY = pytest.mark.parametrize(
    "choices",
    [
        {},
        {"norms": ("rms_norm_before",), "activation": "swiglu", "last": ("rms_norm_before",)},
        {"norms": ("layer_norm_after",), "last": ()},
        {"norms": ("rms_norm_after",), "last": ("rms_norm_before",)},
        {"with_encoder": True},
        {"values_of_words": True},
    ],
    ids=str,
)


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12 * max(1.0, expected.abs().max().item()))


def with_inputs(stack: Stack, part: str, **inputs: torch.Tensor) -> Stack:
    """All parts again by their own operations, after some inputs of a part were exchanged: no change is planned."""
    done: dict = {}
    for name, trace in stack.parts.items():
        values = {read: done[source][step] for read, (source, step) in stack.sources[name].items()}
        values |= inputs if name == part else {}
        steps = {step.name: replace(step, value=values.get(step.name, step.value)) for step in trace.inputs().values()}
        done[name] = replace(trace, steps=steps).then(*(step.operation for step in trace.computed().values()))
    return Stack(done, stack.sources)


@EVERY
def test_nothing_changed_is_the_same_run(choices):
    stack = small_stack(**choices)
    again = intervene(stack, [])
    assert all(again[part] is stack[part] for part in stack.parts)


@EVERY
@pytest.mark.parametrize("part", ["1.attention", "2.attention"])
def test_a_head_that_is_off_is_one_whose_rows_of_w_o_are_zero(choices, part):
    stack = small_stack(**choices)
    w_o = stack[part]["w_o"].clone()
    w_o[SECOND * D_HEAD : (SECOND + 1) * D_HEAD] = 0  # (H * d_v, D): its rows
    found = intervene(stack, [Intervention(part, head=SECOND)])
    close(found.end, with_inputs(stack, part, w_o=w_o).end)
    assert not torch.allclose(found.end, stack.end)
    assert found[part]["weights"][:, SECOND].abs().max() == 0
    assert torch.equal(found[part]["weights"][:, 0], found[part]["computed_weights"][:, 0])
    assert prove_stack(found).passed


@EVERY
def test_a_feed_forward_layer_that_is_off_adds_nothing(choices):
    stack = small_stack(**choices)
    found = intervene(stack, [Intervention("1.feed_forward")])
    assert found["1.feed_forward"]["output"].abs().max() == 0
    zeros = {name: torch.zeros_like(stack["1.feed_forward"][name]) for name in ("w_2", "b_2")}
    close(found.end, with_inputs(stack, "1.feed_forward", **zeros).end)
    assert prove_stack(found).passed


def test_parts_before_the_first_change_are_not_run_again():
    stack = small_stack(with_encoder=True)
    found = intervene(stack, [Intervention("2.cross", head=0)])
    names = list(stack.parts)
    before = names[: names.index("2.cross")]
    assert [name for name in names if found[name] is stack[name]] == before
    assert prove_stack(found).passed


def test_even_weights_are_shared_among_the_words_that_may_be_looked_at():
    stack = small_stack()
    trace = intervene(stack, [Intervention("1.attention", head=SECOND, kind="even")])["1.attention"]
    for t in range(T):
        expected = [1 / (t + 1) if s <= t else 0.0 for s in range(T)]  # causal: t + 1 words
        close(trace["weights"][0, SECOND, t], torch.tensor(expected, dtype=torch.float64))
        outputs = sum(share * trace["v"][0, SECOND, s] for s, share in enumerate(expected))
        close(trace["head_outputs"][0, SECOND, t], outputs)
    assert torch.equal(trace["weights"][0, 0], stack["1.attention"]["weights"][0, 0])


def test_a_head_looks_as_in_another_sentence():
    stack, other = small_stack(), small_stack(positions=())
    found = intervene(stack, [Intervention("2.attention", head=0, kind="other")], other)
    assert torch.equal(found["2.attention"]["weights"][0, 0], other["2.attention"]["weights"][0, 0])
    assert torch.equal(found["2.attention"]["weights"][0, 1], stack["2.attention"]["weights"][0, 1])
    assert prove_stack(found).passed


@pytest.mark.parametrize("choices", [{}, {"with_encoder": True}, {"values_of_words": True}], ids=str)
@pytest.mark.parametrize("part", ["1.attention", "encoder.1.attention"])
def test_a_mask_that_is_drawn_is_that_of_attend(choices, part):
    """With a causal mask beside it, and without any, as in the encoder."""
    stack = small_stack(**choices)
    if part not in stack.parts:
        return
    pairs = ((2, 0), (2, 1), (3, 3))
    found = intervene(stack, [Intervention(part, head=SECOND, kind="mask", blocked=pairs)])[part]
    allowed = torch.ones_like(stack[part]["weights"], dtype=torch.bool)
    for query, key in pairs:
        allowed[0, SECOND, query, key] = False
    q, k, v = (stack[part][name] for name in "qkv")
    scores = q @ k.mT / D_HEAD**0.5
    if "allowed" in stack[part]:
        allowed &= torch.ones(allowed.shape[-2:], dtype=torch.bool).tril()
    expected = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    close(found["weights"], expected)
    close(found["head_outputs"], expected @ v)


def test_a_mask_goes_into_one_that_was_given():
    x = torch.randn(1, T, D, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    given = torch.ones(T, T, dtype=torch.bool)
    given[1, 0] = False
    for masks in ((), ("causal",)):
        trace = attend(x, config=AttentionConfig(masks=masks), allowed=given)
        changes = [Intervention("a", head=0, kind="mask", blocked=((2, 1),))]
        found = intervene(Stack({"a": trace}, {"a": {}}), changes)["a"]
        both = given.clone()
        both[2, 1] = False
        close(found["weights"], attend(x, config=AttentionConfig(masks=masks), allowed=both)["weights"])


@pytest.mark.parametrize("norm", ["rms_norm_before", "layer_norm_before"])
def test_held_norms_divide_by_the_roots_of_the_run_as_it_was(norm):
    stack = small_stack(norms=(norm,), last=(norm,))
    found = intervene(stack, [Intervention("1.attention", head=SECOND)], hold_norms=True)
    x = found["1.attention"]["residual"][0]
    own = stack["1.feed_forward"]["x"][0]
    eps = 1e-5 if norm.startswith("layer") else 1e-6
    weights = stack["1.feed_forward"]
    for t in range(T):
        centre = norm.startswith("layer")
        root = ((own[t] - own[t].mean() * centre).square().mean() + eps).sqrt()
        gain = weights["g_layer_before" if centre else "g_rms_before"]
        expected = (x[t] - x[t].mean() * centre) / root * gain + (weights["b_layer_before"] if centre else 0)
        name = "layer_normed_x" if centre else "rms_normed_x"
        close(found["1.feed_forward"][name][0, t], expected)
    assert prove_stack(found).passed
    assert not torch.allclose(found.end, intervene(stack, [Intervention("1.attention", head=SECOND)]).end)


def test_with_norms_held_the_last_layer_acts_by_its_own_numbers_alone():
    """Behind the last feed-forward layer stands one norm: held, the logits fall by what the layer pushed."""
    stack = small_stack(norms=("rms_norm_before",), last=("rms_norm_before",))
    found = intervene(stack, [Intervention("2.feed_forward")], hold_norms=True)
    last = stack["unembedding"]
    root = (last["x"].square().mean(-1, keepdim=True) + 1e-6).sqrt()
    pushed = stack["2.feed_forward"]["output"] / root * last["g_rms_before"] @ last["table"].T
    close(found["unembedding"]["logits"], last["logits"] - pushed)


def test_each_new_step_has_five_faces():
    stack = small_stack(norms=("rms_norm_before",), last=("layer_norm_before",))
    changes = [
        Intervention("1.attention", head=0),
        Intervention("1.attention", head=1, kind="mask", blocked=((2, 1),)),
    ]
    found = intervene(stack, changes, hold_norms=True)
    assert_five_faces(found["1.attention"], "rms_normed_x", "computed_weights", "weights")
    assert_five_faces(found["unembedding"], "layer_normed_x_unshifted", "layer_normed_x")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"part": "3.attention", "head": 0}, "part must be one of"),
        ({"part": "1.attention", "head": HEADS}, "no head 2 in 1.attention"),
        ({"part": "1.attention", "head": -1}, "no head -1 in 1.attention"),
        ({"part": "1.attention"}, "no head None in 1.attention"),
        ({"part": "1.feed_forward", "head": 0}, "no head 0 in 1.feed_forward"),
        ({"part": "embedding"}, "no head None in embedding"),
        ({"part": "1.attention", "head": 0, "kind": "odd"}, "kind must be one of"),
        ({"part": "1.feed_forward", "kind": "even"}, "kind must be one of"),
        ({"part": "1.attention", "head": 0, "kind": "mask", "blocked": ((0, T),)}, "must lie inside the map"),
        ({"part": "1.attention", "head": 0, "kind": "other"}, "the other sentence, whose weights"),
    ],
)
def test_what_cannot_be_changed_is_refused(change, says):
    with pytest.raises(AttentionError, match=says):
        intervene(small_stack(), [Intervention(**change)])


def test_changed_twice_and_another_length_are_refused():
    stack = small_stack()
    with pytest.raises(AttentionError, match="changed twice"):
        intervene(stack, [Intervention("1.attention", 0), Intervention("1.attention", 0, "even")])
    changed = intervene(stack, [Intervention("1.attention", 0)])
    with pytest.raises(AttentionError, match="replaced only once"):
        intervene(changed, [Intervention("1.attention", 1)])
    shorter = Stack({"1.attention": attend(torch.eye(3, dtype=torch.float64))}, {})
    with pytest.raises(AttentionError, match="as many words as this one, 4: it has 3"):
        intervene(stack, [Intervention("1.attention", 0, "other")], shorter)
