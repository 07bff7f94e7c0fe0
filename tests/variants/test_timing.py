"""Measurements: what is run, and how often. No test waits for a time."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.variants import timing as measured
from attention_core.variants.cost import ProductCounter
from attention_core.variants.sparse import LocalPattern, StridedPattern, make_local_qkv, measure_savings, pattern_pairs
from attention_core.variants.timing import (
    MAX_TIMED_RUNS,
    TIMED_BATCH,
    TIMED_KINDS,
    TIMED_STRIDE,
    TIMED_WINDOW,
    TimedCase,
    TimedKind,
    Timing,
    count_timed_products,
    measure_kind,
    savings_of_kind,
)


def tensors(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(3)
    return tuple(torch.randn(batch, 1, length, 5, generator=generator, dtype=torch.float64) for _ in "qkv")


# ---- what is run -----------------------------------------------------------------------------------------------------
def test_every_kind_is_the_attention_that_it_says():
    for name, kind in TIMED_KINDS.items():
        q, k, v = tensors(kind.batch, 71)
        local = AttentionConfig(masks=[("local", {"window": TIMED_WINDOW})] if name == "local" else [])
        allowed = pattern_pairs(StridedPattern(TIMED_STRIDE), 71, 71) if name == "strided" else None
        expected = attend_qkv(q, k, v, config=local, allowed=allowed)["head_outputs"]
        torch.testing.assert_close(kind.run((q, k, v)), expected, rtol=0, atol=1e-12)
    assert TIMED_KINDS["together"].batch == TIMED_KINDS["one_by_one"].batch == TIMED_BATCH
    assert TIMED_KINDS["together"].lengths == TIMED_KINDS["one_by_one"].lengths  # to be put beside each other
    assert TIMED_KINDS["full"].lengths == TIMED_KINDS["local"].lengths == TIMED_KINDS["strided"].lengths


@pytest.mark.parametrize("name", TIMED_KINDS)
@pytest.mark.parametrize("length", [71, 256, 300])
def test_the_multiply_adds_are_those_that_happen(name, length):
    kind = TIMED_KINDS[name]
    q, k, v = (torch.zeros(kind.batch, 1, length, measured.TIMED_WIDTH) for _ in "qkv")
    with ProductCounter() as counted:
        kind.run((q, k, v))
    assert count_timed_products(name, length) == counted.count


def test_one_by_one_runs_each_sequence_alone(monkeypatch):
    shapes = []

    def spied(q, k, v):
        shapes.append(tuple(q.shape))
        return attend_qkv(q, k, v)

    monkeypatch.setattr(measured, "attend_qkv", spied)
    measured.run_one_by_one(tensors(TIMED_BATCH, 7))
    measured.run_full(tensors(TIMED_BATCH, 7))
    assert shapes == [(1, 1, 7, 5)] * TIMED_BATCH + [(TIMED_BATCH, 1, 7, 5)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_a_measurement_runs_what_was_asked_for(monkeypatch, dtype):
    given = []

    def spied(tensors):
        given.append((tensors, torch.is_inference_mode_enabled()))

    monkeypatch.setitem(TIMED_KINDS, "spied", TimedKind(spied, 3, (7, 11)))
    timing = measure_kind("spied", 11, dtype=dtype)
    assert timing.runs == MAX_TIMED_RUNS
    assert len(given) == MAX_TIMED_RUNS + 1
    for (q, k, v), without_gradients in given:
        assert without_gradients
        assert {tensor.shape for tensor in (q, k, v)} == {(3, 1, 11, measured.TIMED_WIDTH)}
        assert {tensor.dtype for tensor in (q, k, v)} == {getattr(torch, dtype)}
        assert not torch.equal(q, k)
    first = given[0][0][0]
    measure_kind("spied", 11, dtype=dtype)
    assert torch.equal(given[-1][0][0], first)  # the same numbers each time


def test_the_draw_is_the_seeds_alone():
    before = torch.random.get_rng_state()
    measure_kind("full", 64)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    "call",
    [
        lambda: measure_kind("quick", 64),
        lambda: measure_kind("full", 65),
        lambda: measure_kind("full", 10**6),
        lambda: measure_kind("together", 2048),
        lambda: measure_kind("full", 64, dtype="int8"),
        lambda: measure_kind("full", 64, device="tpu"),
    ],
)
def test_what_is_not_offered_is_refused(call):
    with pytest.raises(AttentionError) as caught:
        call()
    assert caught.value.code == "unknown_choice"


def test_a_case_measures_its_kind_in_its_precision_on_its_device(monkeypatch):
    asked = []
    monkeypatch.setattr(measured, "measure_kind", lambda *given, **how: asked.append((given, how)) or Timing(0.25, 1))
    assert TimedCase("strided", "bfloat16", "cuda").seconds(512) == 0.25
    assert asked == [(("strided", 512), {"dtype": "bfloat16", "device": "cuda"})]
    assert TimedCase("local").products((64, 128)) == {
        64: count_timed_products("local", 64),
        128: count_timed_products("local", 128),
    }
    assert [
        TimedCase(*given).name for given in (("full",), ("local",), ("full", "float16"), ("full", "float32", "cuda"))
    ] == [
        "full",
        "local",
        "float16",
        "cuda",
    ]


@pytest.mark.parametrize(
    ("kind", "pattern"), [("local", LocalPattern(TIMED_WINDOW, 128)), ("strided", StridedPattern(TIMED_STRIDE))]
)
def test_what_a_kind_saves_is_that_of_its_pattern(kind, pattern):
    generator = torch.Generator().manual_seed(0)
    random = [torch.randn(1, 1, 256, measured.TIMED_WIDTH, generator=generator) for _ in "qkv"]
    assert savings_of_kind(kind, 256, "random") == measure_savings(*random, pattern)
    assert savings_of_kind(kind, 256, "near") == measure_savings(*make_local_qkv(256, measured.TIMED_WIDTH), pattern)


@pytest.mark.parametrize("given", [("full", 64, "near"), ("local", 64, "far")])
def test_no_other_pattern_and_no_other_inputs(given):
    with pytest.raises(AttentionError) as caught:
        savings_of_kind(*given)
    assert caught.value.code == "unknown_choice"
