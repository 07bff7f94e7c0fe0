"""A query that may attend to nothing, by five kinds of code: each row as it is known, all others as they were."""

import pickle

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, attend_qkv, explain, prove
from attention_core.analysis.blocked_scores import EMPTY_ROW_POLICIES, with_empty_row_policy
from attention_core.examples.examples import EXAMPLES
from tests.faces import assert_five_faces

B, H, KV, T, S, D_K, D_V = 2, 6, 3, 5, 7, 11, 13
EMPTY = 3  # the query that may attend to nothing


@pytest.fixture
def q_k_v(generator):
    shapes = ((B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V))
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def allowed():
    mask = torch.ones(T, S, dtype=torch.bool).tril(2)
    mask[EMPTY] = False
    return mask


def masked(q_k_v, **choices):
    return attend_qkv(*q_k_v, allowed=allowed(), config=AttentionConfig(**choices))


def assert_near(value, expected, atol=1e-10):
    torch.testing.assert_close(value, expected, rtol=0, atol=atol)


# ---- the row ---------------------------------------------------------------------------------------------------------
def test_ours_is_torchs(q_k_v):
    trace = with_empty_row_policy(masked(q_k_v), "zero")
    theirs = F.scaled_dot_product_attention(*q_k_v, attn_mask=allowed(), enable_gqa=True)
    assert_near(trace["head_outputs"], theirs)
    assert (trace["weights"][..., EMPTY, :] == 0).all()
    assert (trace["head_outputs"][..., EMPTY, :] == 0).all()


def test_a_plain_softmax_gives_no_number(q_k_v):
    trace = with_empty_row_policy(masked(q_k_v), "plain")
    assert trace["weights"][..., EMPTY, :].isnan().all()
    assert trace["head_outputs"][..., EMPTY, :].isnan().all()
    others = [t for t in range(T) if t != EMPTY]
    assert trace["head_outputs"][..., others, :].isfinite().all()


@pytest.mark.parametrize("name", ["filled", "lowest"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_a_filled_row_is_even_over_keys_that_it_must_not_see(q_k_v, name, dtype):
    weights = with_empty_row_policy(masked(q_k_v), name, dtype)["weights"]
    assert weights.dtype == dtype
    assert torch.equal(weights[..., EMPTY, :], torch.full((B, H, S), 1 / S, dtype=dtype))


def test_an_added_number_shifts_the_row(q_k_v):
    """As if there were no mask; a float64 of 1e9 has steps of 1.2e-7, to which the scores are rounded."""
    unmasked = attend_qkv(*q_k_v)["weights"][..., EMPTY, :]
    assert_near(with_empty_row_policy(masked(q_k_v), "added")["weights"][..., EMPTY, :], unmasked, atol=2e-7)
    assert unmasked.std() > 0.05


def test_float32_swallows_the_scores_beside_what_is_added(q_k_v):
    """A float32 of 1e9 has steps of 64: no score is left."""
    weights = with_empty_row_policy(masked(q_k_v), "added", torch.float32)["weights"][..., EMPTY, :]
    assert torch.equal(weights, torch.full((B, H, S), 1 / S, dtype=torch.float32))


@pytest.mark.parametrize("name", ["filled", "added"])
def test_float16_has_no_such_number(q_k_v, name):
    """-1e9 is below its -65504, so it is -inf, and the row 0 / 0."""
    assert with_empty_row_policy(masked(q_k_v), name, torch.float16)["weights"][..., EMPTY, :].isnan().all()
    lowest = with_empty_row_policy(masked(q_k_v), "lowest", torch.float16)
    assert lowest.step("masked_scores").operation.params == {"value": -65504.0}
    assert torch.equal(lowest["weights"][..., EMPTY, :], torch.full((B, H, S), 1 / S, dtype=torch.float16))


# ---- all other rows --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", EMPTY_ROW_POLICIES)
@pytest.mark.parametrize("choices", [{}, {"score": "cosine", "positions": ["alibi"]}, {"masks": ["causal"]}], ids=str)
def test_no_other_row_differs(q_k_v, name, choices):
    right = masked(q_k_v, **choices)
    trace = with_empty_row_policy(right, name)
    others = [t for t in range(T) if t != EMPTY]
    for step in ("weights", "head_outputs"):
        assert_near(trace[step][..., others, :], right[step][..., others, :])
    assert {*trace.steps} - {"stable_exponentials"} == {*right.steps}


@pytest.mark.parametrize("name", EMPTY_ROW_POLICIES)
def test_a_mask_that_leaves_every_query_a_key_is_treated_alike(q_k_v, name):
    right = attend_qkv(*q_k_v, config=AttentionConfig(masks=["causal"]))
    assert_near(with_empty_row_policy(right, name)["output"], right["output"])
    assert prove(with_empty_row_policy(right, name)).passed


def test_the_proof_names_every_treatment_but_ours(q_k_v):
    trace = masked(q_k_v)
    passed = {name: prove(with_empty_row_policy(trace, name)).passed for name in EMPTY_ROW_POLICIES}
    assert passed == {"zero": True, "plain": False, "filled": False, "added": False, "lowest": False}


# ---- what else must hold ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["filled", "added", "lowest"])
def test_five_faces(q_k_v, name):
    assert_five_faces(
        with_empty_row_policy(masked(q_k_v), name), "masked_scores", "stable_exponentials", "weights", proven=False
    )


def test_a_plain_softmax_is_nothing_over_nothing(q_k_v):
    """exp(-inf - (-inf)) is no number in any of its faces, and torch's own softmax says so too."""
    trace = with_empty_row_policy(masked(q_k_v), "plain")
    theirs = torch.softmax(trace["masked_scores"], dim=-1)
    torch.testing.assert_close(trace["weights"], theirs, rtol=0, atol=1e-12, equal_nan=True)
    text = explain(trace, "stable_exponentials", (1, 5, EMPTY, 2)).text
    assert text == "exp(−∞ − (−∞)) = NaN"
    assert {check.step for check in prove(trace).checks if not check.passed} == {"weights", "head_outputs"}


def test_words_stay_and_a_pickled_run_is_treated_too():
    example = EXAMPLES["en_it_causal"].run()
    trace = with_empty_row_policy(pickle.loads(pickle.dumps(example)), "filled")  # noqa: S301
    assert trace.labels == example.labels
    assert trace.step("masked_scores").operation.faces == EMPTY_ROW_POLICIES["filled"].mask
    assert_near(trace["output"], example["output"])


def test_what_is_refused(q_k_v):
    with pytest.raises(AttentionError, match=r"treatment must be one of zero, plain, .*: got 'none'"):
        with_empty_row_policy(masked(q_k_v), "none")
    with pytest.raises(KeyError, match="there is no step 'allowed'"):
        with_empty_row_policy(attend_qkv(*q_k_v), "filled")
