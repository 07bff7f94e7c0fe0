"""The parts of a Transformer: every face of every step, and what each part does that torch has no layer for."""

import math

import pytest
import torch
import torch.nn.functional as F

from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights, embed
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights, unembed
from attention_core.verification.proof import prove
from tests.faces import assert_five_faces
from tests.transformer.parts import D, V, draws, small_embedding, small_feed_forward, small_parts

PARTS = small_parts()


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PARTS)
def test_every_step_has_five_faces(name):
    assert_five_faces(PARTS[name], *PARTS[name].computed())


def test_torchs_own_functions_are_witnesses_of_a_part():
    seen = {
        (check.step, check.witness)
        for name in ("feed-forward, all norms", "unembedding, normed")
        for check in prove(PARTS[name]).checks
    }
    steps = ["hidden", "gate", "output", "layer_normed_x", "rms_normed_output", "logits", "probabilities"]
    assert {(step, "torch") for step in steps} <= seen


def test_a_misunderstanding_that_all_faces_share_is_seen_by_torch():
    """A LayerNorm that forgets to take the mean away: its own faces agree with each other."""
    trace = small_feed_forward("gelu", ("layer_norm_before",))
    shifted = trace.holding({"centred_x": trace["x"]})
    shifted = shifted.holding({"layer_normed_x": shifted.reapply("layer_normed_x")})
    assert prove(trace).passed and not prove(shifted).passed


# ---- embedding -------------------------------------------------------------------------------------------------------
def test_an_embedding_is_the_rows_times_the_root_plus_places():
    trace = small_embedding(("learned",), times_root=True)
    ids = torch.tensor([[1, 0, 10], [4, 4, 2]])
    close(trace["x"], math.sqrt(D) * F.embedding(ids, trace["table"]))
    close(trace["positioned_x"], trace["x"] + trace["w_places"][:3])


def test_a_norm_stands_behind_the_embedding():
    trace = small_embedding(("sinusoidal",), ("layer_norm_after",))
    expected = F.layer_norm(trace["positioned_x"], (D,), trace["g_layer_after"], trace["b_layer_after"], 1e-5)
    close(trace["layer_normed_output"], expected)
    assert list(trace.steps)[-1] == "layer_normed_output"


@pytest.mark.parametrize("ids", [[4, 0, 2], (4, 0, 2), [[4, 0, 2]], torch.tensor([4, 0, 2])], ids=str)
def test_words_are_said_in_any_of_these_ways(ids):
    table = draws(7)(V, D)
    assert torch.equal(embed(ids, EmbeddingWeights(table=table))["x"], table[[4, 0, 2]][None])


def test_a_table_learns_from_the_words_that_are_looked_up():
    table = draws(8)(V, D).requires_grad_()
    embed([4, 4, 2], EmbeddingWeights(table=table), EmbeddingConfig(times_root=True))["x"].sum().backward()
    expected = torch.zeros(V, D, dtype=torch.float64)
    expected[4], expected[2] = 2 * math.sqrt(D), math.sqrt(D)
    close(table.grad, expected)


# ---- unembedding -----------------------------------------------------------------------------------------------------
def test_probabilities_are_those_of_torch():
    draw = draws(9)
    x, table, bias, gain = draw(2, 3, D), draw(V, D), draw(V), draw(D)
    weights = UnembeddingWeights(table=table, b_words=bias, g_rms_before=gain)
    trace = unembed(x, weights, UnembeddingConfig(["rms_norm_before"], temperature=0.7))
    logits = F.linear(F.rms_norm(x, (D,), gain, 1e-6), table, bias)
    close(trace["logits"], logits)
    close(trace["probabilities"], F.softmax(logits / 0.7, -1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_a_part_runs_and_is_proven_in_every_precision(dtype):
    table = draws(10)(V, D).to(dtype)
    trace = unembed(embed([3, 1], EmbeddingWeights(table=table))["x"], UnembeddingWeights(table=table))
    assert trace["probabilities"].dtype == dtype
    assert prove(trace).passed
