"""Normalisers: each against an independent loop and torch's own functions, its bad inputs, what reads it."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from attention_core import AttentionConfig, AttentionError, Weights, attend_qkv
from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.facts import row_fact
from attention_core.mechanism.normalisers import NORMALISERS, Normaliser
from attention_core.mechanism.plan import run_plan
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.verification.proof import prove

B, H, KV, T, S, D_K, D_V = 2, 6, 3, 5, 7, 11, 13
SINKS = torch.tensor([-1.0, 0.0, 0.5, 2.0, 3.5, -40.0], dtype=torch.float64)
BIAS = -1.25
CHOSEN = {"sinks": {"normaliser": "sinks"}, "sigmoid": {"normaliser": ("sigmoid", {"bias": BIAS})}}
LEARNED = {"sinks": Weights(sinks=SINKS), "sigmoid": Weights()}
EMPTY_FIRST = ("causal", {"offset": -1})  # the first query may attend to nothing


@pytest.fixture
def qkv(generator):
    shapes = (B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V)
    return [2 * torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def run(name, qkv, **choices):
    return attend_qkv(*qkv, weights=LEARNED[name], config=AttentionConfig(**CHOSEN[name], **choices))


def weight_by_hand(name: str, head: int, scores: list[float], j: int) -> float:
    if name == "sigmoid":
        return 1 / (1 + math.exp(-(scores[j] + BIAS))) if scores[j] > -math.inf else 0.0
    return math.exp(scores[j]) / (math.exp(SINKS[head]) + sum(map(math.exp, scores)))


@pytest.mark.parametrize("masks", [[], ["causal"], [EMPTY_FIRST]], ids=["free", "causal", "empty row"])
@pytest.mark.parametrize("name", CHOSEN)
def test_by_loops(name, masks, qkv):
    q, k, v = qkv
    trace = run(name, qkv, masks=masks)
    reach = {"": S, "causal": S - T, "empty row": -1}[
        "" if not masks else "causal" if masks == ["causal"] else "empty row"
    ]
    for b in range(B):
        for h in range(H):
            g = h // (H // KV)
            for i in range(T):
                scores = []
                for j in range(S):
                    score = sum(q[b, h, i, m].item() * k[b, g, j, m].item() for m in range(D_K)) / math.sqrt(D_K)
                    scores.append(score if j <= i + reach else -math.inf)
                weights = [weight_by_hand(name, h, scores, j) for j in range(S)]
                assert trace["weights"][b, h, i].tolist() == pytest.approx(weights, abs=1e-10)
                for m in range(D_V):
                    mixed = sum(weight * v[b, g, j, m].item() for j, weight in enumerate(weights))
                    assert trace["head_outputs"][b, h, i, m].item() == pytest.approx(mixed, abs=1e-10)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")  # it is right, and slow
def test_sinks_by_flex_attention(qkv):
    """As gpt-oss does it: the output without sinks, times what the keys have of the whole."""
    from torch.nn.attention.flex_attention import AuxRequest

    out, aux = flex_attention(*qkv, enable_gqa=True, return_aux=AuxRequest(lse=True))
    expected = out * torch.sigmoid(aux.lse - SINKS[:, None])[..., None]
    torch.testing.assert_close(run("sinks", qkv)["head_outputs"], expected, atol=1e-10, rtol=0)


def test_a_sink_far_below_all_scores_is_the_softmax_and_one_far_above_takes_all(qkv):
    def with_sinks(sink):
        sinks = Weights(sinks=torch.full((H,), sink, dtype=torch.float64))
        return attend_qkv(*qkv, weights=sinks, config=AttentionConfig(normaliser="sinks"))["weights"]

    torch.testing.assert_close(with_sinks(-1e3), attend_qkv(*qkv)["weights"], atol=1e-12, rtol=0)
    assert with_sinks(1e3).max() < 1e-300


@pytest.mark.parametrize("masks", [[], ["causal"], [EMPTY_FIRST]], ids=["free", "causal", "empty row"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", CHOSEN)
def test_each_is_proven_in_every_precision(name, dtype, masks, qkv):
    weights = Weights(**{key: tensor.to(dtype) for key, tensor in LEARNED[name].given().items()})
    config = AttentionConfig(**CHOSEN[name], masks=masks)
    proof = prove(attend_qkv(*(tensor.to(dtype) for tensor in qkv), weights=weights, config=config))
    assert proof.passed and "sdpa" in {check.witness for check in proof.checks}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_fault_in_both_faces_is_seen_by_the_witness(name, qkv, monkeypatch):
    """Twice the sink, or twice the bias, in torch and in NumPy alike."""
    trace = run(name, qkv)
    faces = NORMALISERS[name].faces

    def doubled(face):
        if name == "sinks":
            return lambda scores, sinks: face(scores, 2 * sinks)
        return lambda scores, *, bias: face(scores, bias=2 * bias)

    wrong = replace(faces, torch=doubled(faces.torch), numpy=doubled(faces.numpy))
    plan = [each.operation for each in trace.computed().values()]
    plan = [replace(each, faces=wrong) if each.output == "weights" else each for each in plan]
    known = {**NORMALISERS, name: replace(NORMALISERS[name], faces=wrong)}
    monkeypatch.setattr("attention_core.mechanism.normalisers.NORMALISERS", known)
    proof = prove(run_plan(trace.inputs(), plan))
    assert {check.witness for check in proof.checks if not check.passed} == {"sdpa"}


@pytest.mark.parametrize("block", [1, 2, 5, 7, 9])
def test_sinks_in_blocks(block, qkv):
    config = AttentionConfig(normaliser="sinks", masks=[EMPTY_FIRST])
    *_, last = attend_blockwise(*qkv, block=block, config=config, weights=LEARNED["sinks"])
    expected = attend_qkv(*qkv, config=config, weights=LEARNED["sinks"])["head_outputs"]
    torch.testing.assert_close(last.output, expected, atol=1e-12, rtol=0)


def test_what_is_of_a_softmax_alone_is_refused(qkv):
    trace = run("sigmoid", qkv)
    for refused in (lambda: with_jacobian(trace), lambda: with_online_softmax(trace, 2)):
        with pytest.raises(AttentionError) as caught:
            refused()
        assert caught.value.code == "needs_softmax"
    with pytest.raises(AttentionError) as caught:
        list(attend_blockwise(*qkv, block=2, config=AttentionConfig(**CHOSEN["sigmoid"])))
    assert caught.value.code == "blockwise_normaliser"


def test_the_arithmetic_of_a_cell():
    q = torch.zeros(1, 1, dtype=torch.float64)
    v = torch.tensor([[2.0], [4.0]], dtype=torch.float64)
    sinks = Weights(sinks=torch.tensor([math.log(2)], dtype=torch.float64))
    trace = attend_qkv(q, v, v, weights=sinks, config=AttentionConfig(normaliser="sinks"))
    assert (
        explain(trace, "weights", (0, 0, 0, 1)).text
        == "exp(0.00) / (exp(0.00) + exp(0.00) + exp(0.69)) = 1.00 / 4.00 = 0.25"
    )
    trace = attend_qkv(q, v, v, config=AttentionConfig(normaliser=("sigmoid", {"bias": -math.log(3)})))
    assert explain(trace, "weights", (0, 0, 0, 0)).text == "σ(0.00 + (−1.0986)) = 0.25"


REFUSED = [
    ("softmin", "unknown_choice"),
    (("sigmoid", {"bias": math.nan}), "finite_number"),
    (("sigmoid", {"offset": 1.0}), "unknown_parameter"),
    (("softmax", {"bias": 1.0}), "unknown_parameter"),
    (3, "choice_form"),
]


@pytest.mark.parametrize(("normaliser", "code"), REFUSED, ids=str)
def test_what_is_no_normaliser_is_refused(normaliser, code):
    with pytest.raises(AttentionError) as caught:
        AttentionConfig(normaliser=normaliser)
    assert caught.value.code == code


@pytest.mark.parametrize("sinks", [torch.zeros(H + 1), torch.zeros(1, H), torch.tensor(0.0)], ids=str)
def test_sinks_are_one_a_head(sinks, qkv):
    with pytest.raises(AttentionError, match="sinks must be"):
        attend_qkv(*qkv, weights=Weights(sinks=sinks.double()), config=AttentionConfig(normaliser="sinks"))
    with pytest.raises(AttentionError, match="sinks has no place here"):
        attend_qkv(*qkv, weights=LEARNED["sinks"])


def test_a_normaliser_that_is_not_wired_is_none():
    entry = NORMALISERS["sigmoid"]
    with pytest.raises(ValueError, match="takes bias: declared are "):
        replace(entry, parameters=())
    with pytest.raises(ValueError, match="takes sinks: declared are "):
        replace(NORMALISERS["sinks"], weights=())
    with pytest.raises(ValueError, match="beside a sink sums to at most one"):
        replace(NORMALISERS["sinks"], row_sum="one")
    with pytest.raises(AttentionError, match="row_sum"):
        Normaliser(entry.faces, "two", entry.witness, parameters=entry.parameters)


def test_only_a_declared_sink_takes_what_a_row_lacks(qkv, monkeypatch):
    """The same weights, at most one a row, once with a sink and once without."""
    trace = run("sinks", qkv)
    assert row_fact(trace, 0, 0).sunk == pytest.approx(1 - trace["weights"][0, 0, 0].sum().item())
    known = {**NORMALISERS, "sinks": replace(NORMALISERS["sinks"], has_sink=False)}
    monkeypatch.setattr("attention_core.mechanism.normalisers.NORMALISERS", known)
    fact = row_fact(trace, 0, 0)
    assert (fact.kind, fact.sunk, fact.total) == ("free", 0.0, trace["weights"][0, 0, 0].sum().item())
    assert prove(trace).passed


def test_equal_choices_are_one():
    one, other = (AttentionConfig(normaliser=given) for given in ("sigmoid", ("sigmoid", {"bias": 0.0})))
    assert one == other and hash(one) == hash(other)


# ---- what rows are declared to sum to --------------------------------------------------------------------------------
def sums_found(name: str) -> str:
    """What rows of weights sum to over scores of many sizes: one of ROW_SUMS."""
    normaliser = NORMALISERS[name]
    generator = torch.Generator().manual_seed(0)
    sums = []
    for size in (0.01, 1.0, 5.0, 40.0):
        scores = size * torch.randn(2, 3, 5, 7, generator=generator, dtype=torch.float64)
        scores = scores.abs() if normaliser.needs_positive else scores
        learned = [torch.randn(3, generator=generator, dtype=torch.float64) for _ in normaliser.weights]
        for bias in (-4.0, 0.0, 1.0):
            params = {parameter.name: bias for parameter in normaliser.parameters}
            sums.append(normaliser.faces.torch(scores, *learned, **params).sum(-1))
    sums = torch.cat(sums)
    if ((sums - 1).abs() < 1e-12).all():
        return "one"
    return "at most one" if (sums <= 1 + 1e-12).all() else "free"


@pytest.mark.parametrize("name", NORMALISERS)
def test_rows_sum_to_what_is_declared(name):
    found, declared = sums_found(name), NORMALISERS[name].row_sum
    assert found == declared, f"{name}: its rows sum to {found}, and its line of NORMALISERS says {declared}"
