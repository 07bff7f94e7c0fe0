"""A mask read by the other convention, and one with its heads' axis in the wrong place: against torch itself."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv, prove, to_mha_mask
from attention_core.examples.examples import EXAMPLES
from attention_core.verification.mask_conventions import (
    TORCH_PATHS,
    TorchAnswer,
    compare_with_torch_layer,
    measure_mask_damage,
    run_torch_layer,
    run_under_mask,
    with_inverted_mask,
    with_misplaced_mask,
    without_padding_mask,
)

H, T, S, D, D_KEY, D_VALUE = 2, 5, 7, 6, 11, 13


def numbers(generator, *shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def assert_near(value, expected, atol=1e-10, **more):
    torch.testing.assert_close(value, expected, rtol=0, atol=atol, **more)


def layer(generator, cross=False, biases=True, masks=("causal",), **given):
    """A layer that torch has too: two heads of width 3 in a model of width 6."""
    widths = (D, D_KEY, D_VALUE) if cross else (D, D, D)
    names = {f"w_{role}": (width, D) for role, width in zip("qkvo", (*widths, D), strict=True)}
    names |= {f"b_{role}": (D,) for role in "qkvo"} if biases else {}
    weights = Weights(**{name: numbers(generator, *shape) for name, shape in names.items()})
    inputs = [numbers(generator, 3, T, D)] + (
        [numbers(generator, 3, S, width) for width in widths[1:]] if cross else []
    )
    return attend(*inputs, weights=weights, config=AttentionConfig(heads=H, masks=masks), **given)


# ---- another mask ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("choices", [{}, {"replace": "uniform"}, {"dropout": 0.5}], ids=str)
def test_another_mask_is_the_run_with_that_mask(generator, choices):
    q, k, v = (numbers(generator, 2, 3, length, 4) for length in (T, S, S))
    mine = numbers(generator, T, S) > 0
    several = AttentionConfig(masks=["causal", ("padding", {"lengths": (7, 4)})], **choices)
    trace = run_under_mask(attend_qkv(q, k, v, config=several, allowed=mine), ~mine)
    wanted = attend_qkv(q, k, v, config=AttentionConfig(**choices), allowed=~mine)
    for step in ("allowed", "masked_scores", "weights", "output"):
        assert torch.equal(trace[step], wanted[step]), step
    assert prove(trace).passed
    assert trace.step("allowed").operation is None


def test_the_other_convention_is_the_complement(generator):
    q, k, v = (numbers(generator, 2, 3, length, 4) for length in (T, S, S))
    mine = numbers(generator, T, S) > 0
    trace = with_inverted_mask(attend_qkv(q, k, v, allowed=mine))
    assert torch.equal(trace["weights"], attend_qkv(q, k, v, allowed=~mine)["weights"])
    assert (trace["weights"][..., mine] == 0).all()


def test_a_causal_mask_inverted_lets_words_attend_to_the_future_alone():
    example = EXAMPLES["en_it_causal"].run()
    weights = with_inverted_mask(example)["weights"]
    assert (weights.tril() == 0).all()
    assert (weights[..., -1, :] == 0).all()  # no future is left for the last
    assert with_inverted_mask(example).labels == example.labels


def test_without_a_mask_there_is_none_to_invert():
    with pytest.raises(KeyError, match="there is no step 'allowed'"):
        with_inverted_mask(EXAMPLES["en_it"].run())


# ---- torch's own layer -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("path", TORCH_PATHS)
def test_torchs_layer_with_our_mask_converted_and_not(generator, cross, biases, path):
    trace = layer(generator, cross, biases)  # causal: inverted it leaves the last query without a key
    output, weights = run_torch_layer(trace, to_mha_mask(trace["allowed"]), path)
    assert_near(output, trace["output"])
    assert weights is None if path != "weights" else (weights - trace["weights"]).abs().max() < 1e-10
    theirs, _ = run_torch_layer(trace, trace["allowed"], path)
    other = with_inverted_mask(trace)
    some = other["allowed"][0, 0].any(-1)  # (T,): queries to which the inverted mask leaves a key
    assert some.any() and not some.all()
    assert_near(theirs[:, some], other["output"][:, some])
    assert (theirs - trace["output"])[:, some].abs().max() > 0.1


def test_what_torchs_layer_gives_a_query_that_may_attend_to_nothing(generator):
    """NaN, or 0 and so b_o alone: by the way that the code takes inside."""
    mine = torch.ones(T, T).tril().bool()
    mine[2] = False
    trace = layer(generator, masks=(), allowed=mine)
    found = {path: run_torch_layer(trace, to_mha_mask(trace["allowed"]), path) for path in TORCH_PATHS}
    assert found["weights"][0][:, 2].isnan().all()
    assert found["weights"][1][:, :, 2].isnan().all()
    assert_near(found["no_weights"][0][:, 2], trace["b_o"].expand(3, D))
    assert_near(found["no_weights"][0], trace["output"])
    assert found["fast"][0][:, 2].isnan().all()


def test_no_mask_at_all(generator):
    trace = layer(generator, masks=())
    assert_near(run_torch_layer(trace)[0], trace["output"])


def test_a_layer_draws_nothing(generator):
    before = torch.get_rng_state()
    run_torch_layer(layer(generator))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_run_that_is_not_torchs_layer(generator):
    assert run_torch_layer(attend_qkv(*(numbers(generator, 3, 4) for _ in range(3)))) is None
    trace = layer(generator)
    mixed = attend(trace["x"], weights=Weights(**weights_of(trace)), config=AttentionConfig(heads=H, dropout=0.5))
    assert run_torch_layer(mixed) is None
    with pytest.raises(AttentionError, match="path must be one of weights, no_weights, fast: got 'slow'"):
        run_torch_layer(trace, path="slow")


def weights_of(trace):
    return {name: step.value for name, step in trace.inputs().items() if name[:2] in ("w_", "b_")}


def test_the_built_example_is_such_a_layer():
    """In torch's layer with our causal mask as it is, "it" attends to what stands behind it, and to nothing else."""
    trace = EXAMPLES["en_it_causal"].run()
    _, weights = run_torch_layer(trace, trace["allowed"])
    it = trace.labels["T"].index("it")
    assert (weights[0, 0, it, : it + 1] == 0).all()
    assert weights[0, 0, it, it + 1].item() == 1


# ---- the heads' axis in the wrong place ------------------------------------------------------------------------------
def by_broadcasting(q, k, v, added):
    """What torch makes of a mask of three axes."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=added)


def test_a_mask_of_queries_and_keys_lands_on_the_heads(generator):
    """Three queries and three heads: no error, and head n gets row n."""
    q, k, v = (numbers(generator, 2, 3, length, 5) for length in (3, 7, 7))
    mask = torch.ones(3, 7).tril(4).bool()
    right = attend_qkv(q, k, v, allowed=mask)
    wrong = with_misplaced_mask(right)
    assert_near(wrong["head_outputs"], by_broadcasting(q, k, v, mask.unsqueeze(1)))
    assert (wrong["head_outputs"] - right["head_outputs"]).abs().max() > 0.1


def test_a_padding_mask_lands_on_the_heads(generator):
    """Two sentences and two heads: head 0 has the first sentence's padding in both, head 1 the second's."""
    q, k, v = (numbers(generator, 2, 2, length, 5) for length in (3, 7, 7))
    lengths = torch.tensor([7, 4])
    mask = torch.arange(7) < lengths[:, None]  # (B, S)
    config = AttentionConfig(masks=[("padding", {"lengths": (7, 4)})])
    right = attend_qkv(q, k, v, config=config)
    assert_near(right["head_outputs"], by_broadcasting(q, k, v, mask[:, None, None]))
    wrong = with_misplaced_mask(right)
    assert_near(wrong["head_outputs"], by_broadcasting(q, k, v, mask.unsqueeze(1)))
    assert (wrong["weights"][1, 0, :, 4:] > 0).all()  # padding is attended to
    found = measure_mask_damage(wrong, right)
    # the second sentence's first head sees 3 keys too many, the first sentence's second head 3 too few: 3 queries each
    assert (found.pairs, found.of) == (2 * 3 * 3, 2 * 2 * 3 * 7)
    assert found.weights == 2 * 3 * 7  # every weight of these rows moved
    gaps = (wrong["weights"] - right["weights"]).abs()
    assert found.largest.size == pytest.approx(gaps.max().item())
    assert gaps[found.largest.index] == gaps.max()
    assert found.output.size == pytest.approx((wrong["output"] - right["output"]).abs().max().item())


def test_no_damage():
    trace = EXAMPLES["en_it_causal"].run()
    assert measure_mask_damage(trace, trace).pairs == measure_mask_damage(trace, trace).weights == 0
    assert measure_mask_damage(trace, trace).largest is measure_mask_damage(trace, trace).output is None


def test_where_torch_refuses_so_do_we():
    trace = EXAMPLES["en_it_causal"].run()  # seven queries, two heads
    with pytest.raises(AttentionError, match=r"mask.unsqueeze\(1\) must broadcast to .* \(1, 2, 7, 7\).* \(7, 1, 7\)"):
        with_misplaced_mask(trace)
    q, k, v = trace["q"], trace["k"], trace["v"]
    with pytest.raises(RuntimeError, match="must match"):
        by_broadcasting(q, k, v, trace["allowed"][0, 0].unsqueeze(1))


@pytest.mark.parametrize("shape", [(2, 1, 3, 7), (1, 3, 3, 7)])
def test_a_mask_of_more_axes_is_no_such_case(generator, shape):
    q, k, v = (numbers(generator, 2, 3, length, 5) for length in (3, 7, 7))
    with pytest.raises(AttentionError, match=r"allowed must have the axes \(T, S\) or \(B, S\)"):
        with_misplaced_mask(attend_qkv(q, k, v, allowed=torch.ones(shape).bool()))


# ---- what fills a batch up, seen -------------------------------------------------------------------------------------
LENGTHS = ("padding", {"lengths": (7, 4)})


@pytest.mark.parametrize("others", [[], ["causal"], ["causal", ("local", {"window": 2})]], ids=str)
def test_without_its_padding_mask_a_batch_is_the_run_of_the_other_masks(generator, others):
    q, k, v = (numbers(generator, 2, 3, length, 4) for length in (T, S, S))
    batch = attend_qkv(q, k, v, config=AttentionConfig(masks=[*others, LENGTHS]))
    wanted = attend_qkv(q, k, v, config=AttentionConfig(masks=others))
    assert torch.equal(without_padding_mask(batch)["weights"], wanted["weights"])
    assert not torch.equal(batch["weights"], wanted["weights"])


# ---- what torch's own layer makes of a mask --------------------------------------------------------------------------
def test_torchs_layer_gives_the_inverted_run_where_it_gives_numbers(generator):
    trace = layer(generator)
    answer = compare_with_torch_layer(trace, trace["allowed"], with_inverted_mask(trace))
    assert (answer.lost, answer.rows) == (3 * H, 3 * H * T)  # the last query of each: nothing lies behind it
    assert answer.gap < 1e-12
    mended = compare_with_torch_layer(trace, to_mha_mask(trace["allowed"]), trace)
    assert mended.lost == 0 and mended.gap < 1e-12


def test_a_gap_to_another_run_is_found(generator):
    trace, (index, size) = layer(generator), ((2, 1, 4, 0), 0.25)
    weights = trace["weights"].clone()
    weights[index] += size
    other = Trace({**trace.steps, "weights": replace(trace.step("weights"), value=weights)})
    assert compare_with_torch_layer(trace, to_mha_mask(trace["allowed"]), other).gap == pytest.approx(size)


def test_where_everything_is_blocked_nothing_is_compared(generator):
    trace = layer(generator, allowed=torch.ones(T, T).bool(), masks=())
    assert compare_with_torch_layer(trace, trace["allowed"], with_inverted_mask(trace)) == TorchAnswer(
        0.0, 3 * H * T, 3 * H * T
    )


def test_a_layer_that_torch_does_not_have_has_no_answer(generator):
    trace = attend(numbers(generator, T, D), config=AttentionConfig(masks=["causal"]))
    assert compare_with_torch_layer(trace, trace["allowed"], trace) is None
