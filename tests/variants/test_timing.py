"""Measurements: what is run, and how often. No test waits for a time."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.variants import timing as measured
from attention_core.variants.cost import MatrixProducts
from attention_core.variants.sparse import Local, Strided, near_pairs, pairs, saved
from attention_core.variants.timing import (
    BATCH,
    KINDS,
    RUNS,
    STRIDE,
    WINDOW,
    Case,
    Kind,
    Timing,
    measure,
    products,
    saved_by,
)


def tensors(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(3)
    return tuple(torch.randn(batch, 1, length, 5, generator=generator, dtype=torch.float64) for _ in "qkv")


# ---- what is run -----------------------------------------------------------------------------------------------------
def test_every_kind_is_the_attention_that_it_says():
    for name, kind in KINDS.items():
        q, k, v = tensors(kind.batch, 71)
        local = AttentionConfig(masks=[("local", {"window": WINDOW})] if name == "local" else [])
        allowed = pairs(Strided(STRIDE), 71, 71) if name == "strided" else None
        expected = attend_qkv(q, k, v, config=local, allowed=allowed)["head_outputs"]
        torch.testing.assert_close(kind.run((q, k, v)), expected, rtol=0, atol=1e-12)
    assert KINDS["together"].batch == KINDS["one_by_one"].batch == BATCH
    assert KINDS["together"].lengths == KINDS["one_by_one"].lengths  # to be put beside each other
    assert KINDS["full"].lengths == KINDS["local"].lengths == KINDS["strided"].lengths


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("length", [71, 256, 300])
def test_the_multiply_adds_are_those_that_happen(name, length):
    kind = KINDS[name]
    q, k, v = (torch.zeros(kind.batch, 1, length, measured.WIDTH) for _ in "qkv")
    with MatrixProducts() as counted:
        kind.run((q, k, v))
    assert products(name, length) == counted.count


def test_one_by_one_runs_each_sequence_alone(monkeypatch):
    shapes = []

    def spied(q, k, v):
        shapes.append(tuple(q.shape))
        return attend_qkv(q, k, v)

    monkeypatch.setattr(measured, "attend_qkv", spied)
    measured.one_by_one(tensors(BATCH, 7))
    measured.full(tensors(BATCH, 7))
    assert shapes == [(1, 1, 7, 5)] * BATCH + [(BATCH, 1, 7, 5)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_a_measurement_runs_what_was_asked_for(monkeypatch, dtype):
    given = []

    def spied(tensors):
        given.append((tensors, torch.is_inference_mode_enabled()))

    monkeypatch.setitem(KINDS, "spied", Kind(spied, 3, (7, 11)))
    timing = measure("spied", 11, dtype=dtype)
    assert timing.runs == RUNS
    assert len(given) == RUNS + 1
    for (q, k, v), without_gradients in given:
        assert without_gradients
        assert {tensor.shape for tensor in (q, k, v)} == {(3, 1, 11, measured.WIDTH)}
        assert {tensor.dtype for tensor in (q, k, v)} == {getattr(torch, dtype)}
        assert not torch.equal(q, k)
    first = given[0][0][0]
    measure("spied", 11, dtype=dtype)
    assert torch.equal(given[-1][0][0], first)  # the same numbers each time


def test_the_draw_is_the_seeds_alone():
    before = torch.random.get_rng_state()
    measure("full", 64)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    "call",
    [
        lambda: measure("quick", 64),
        lambda: measure("full", 65),
        lambda: measure("full", 10**6),
        lambda: measure("together", 2048),
        lambda: measure("full", 64, dtype="int8"),
        lambda: measure("full", 64, device="tpu"),
    ],
)
def test_what_is_not_offered_is_refused(call):
    with pytest.raises(AttentionError) as caught:
        call()
    assert caught.value.code == "unknown_choice"


def test_a_case_measures_its_kind_in_its_precision_on_its_device(monkeypatch):
    asked = []
    monkeypatch.setattr(measured, "measure", lambda *given, **how: asked.append((given, how)) or Timing(0.25, 1))
    assert Case("strided", "bfloat16", "cuda").seconds(512) == 0.25
    assert asked == [(("strided", 512), {"dtype": "bfloat16", "device": "cuda"})]
    assert Case("local").products((64, 128)) == {64: products("local", 64), 128: products("local", 128)}
    assert [
        Case(*given).name for given in (("full",), ("local",), ("full", "float16"), ("full", "float32", "cuda"))
    ] == [
        "full",
        "local",
        "float16",
        "cuda",
    ]


@pytest.mark.parametrize(("kind", "pattern"), [("local", Local(WINDOW, 128)), ("strided", Strided(STRIDE))])
def test_what_a_kind_saves_is_that_of_its_pattern(kind, pattern):
    generator = torch.Generator().manual_seed(0)
    random = [torch.randn(1, 1, 256, measured.WIDTH, generator=generator) for _ in "qkv"]
    assert saved_by(kind, 256, "random") == saved(*random, pattern)
    assert saved_by(kind, 256, "near") == saved(*near_pairs(256, measured.WIDTH), pattern)


@pytest.mark.parametrize("given", [("full", 64, "near"), ("local", 64, "far")])
def test_no_other_pattern_and_no_other_inputs(given):
    with pytest.raises(AttentionError) as caught:
        saved_by(*given)
    assert caught.value.code == "unknown_choice"
