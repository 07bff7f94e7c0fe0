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


# ---- which words stay ------------------------------------------------------------------------------------------------
INF = float("inf")


def choose(logits: list[float], **choices) -> dict[str, list[float]]:
    """What an unembedding makes of these logits: the table is their own, x is 1."""
    table = torch.tensor(logits, dtype=torch.float64)[:, None]  # (V, 1)
    trace = unembed(
        torch.ones(1, 1, dtype=torch.float64), UnembeddingWeights(table=table), UnembeddingConfig(**choices)
    )
    assert prove(trace).passed
    return {name: trace[name][0, 0].tolist() for name in trace.computed()}


def test_top_k_leaves_the_largest_and_those_that_tie_with_the_last():
    assert choose([1, 4, 2, 3], top_k=2)["top_k_logits"] == [-INF, 4, -INF, 3]
    assert choose([1, 3, 2, 3], top_k=1)["top_k_logits"] == [-INF, 3, -INF, 3]
    found = choose([1, 3, 2, 2], top_k=2)
    assert found["top_k_logits"] == [-INF, 3, 2, 2]
    assert found["probabilities"] == pytest.approx([0, math.e / (math.e + 2), 1 / (math.e + 2), 1 / (math.e + 2)])


@pytest.mark.parametrize("top_k", [4, 5, 1000])
def test_as_many_as_there_are_words_leave_all_of_them(top_k):
    assert list(choose([1, 4, 2, 3], top_k=top_k)) == ["logits", "probabilities"]


@pytest.mark.parametrize(
    ("top_p", "kept"), [(1e-9, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.76, 3), (0.999, 4), (1.0, 4)], ids=str
)
def test_top_p_leaves_the_fewest_likeliest_words_that_hold_its_share(top_p, kept):
    shares = [0.25, 0.5, 0.125, 0.125 - 1e-3]
    found = choose([math.log(share) for share in shares], top_p=top_p)
    likeliest = sorted(range(4), key=lambda v: -shares[v])[:kept]
    held = sum(shares[v] for v in likeliest)
    expected = [shares[v] / held if v in likeliest else 0 for v in range(4)]
    assert found["probabilities"] == pytest.approx(expected, abs=1e-12)


def test_top_p_is_a_share_of_what_temperature_and_top_k_left():
    """A naive loop over the words, the likeliest first."""
    draw = draws(11)
    logits = draw(29).tolist()
    for temperature, top_k, top_p in ((0.5, 9, 0.8), (2.0, 20, 0.3), (1.0, 29, 0.95), (4.0, 1, 0.5)):
        order = sorted(range(29), key=lambda v: -logits[v])[:top_k]
        powers = {v: math.exp(logits[v] / temperature) for v in order}
        left, held = [], 0.0
        while held < top_p * sum(powers.values()):
            left.append(order[len(left)])
            held += powers[left[-1]]
        expected = [powers[v] / held if v in left else 0 for v in range(29)]
        found = choose(logits, temperature=temperature, top_k=top_k, top_p=top_p)
        assert found["probabilities"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "choice",
    [{"top_k": 0}, {"top_k": 2.0}, {"top_k": True}, {"top_p": 0}, {"top_p": 1.01}, {"top_p": math.nan}],
    ids=str,
)
def test_a_cut_that_leaves_no_word_is_refused(choice):
    with pytest.raises(ValueError, match="top_"):
        UnembeddingConfig(**choice)
