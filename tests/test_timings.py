"""Measurements: what is run, how often, and what is made of the times. No test waits for a time."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core import timings as measured
from attention_core.counts import MatrixProducts
from attention_core.sparse import Strided, pairs
from attention_core.timings import (
    BATCH,
    KINDS,
    RUNS,
    STRIDE,
    WINDOW,
    Kind,
    Timing,
    fitted_slope,
    measure,
    products,
    timed,
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


# ---- how it is timed -------------------------------------------------------------------------------------------------
def clocked(*seconds: float) -> tuple[Timing, int]:
    """A timing by a clock on which the runs take these seconds, and how often it ran."""
    now, ran, waiting = [0.0], [0], list(seconds)

    def run():
        ran[0] += 1
        if ran[0] > 1:  # the first does not count
            now[0] += waiting.pop(0)

    return timed(run, "cpu", lambda: now[0]), ran[0]


def test_the_fastest_of_a_few_runs_after_one_that_does_not_count():
    timing, ran = clocked(0.03, 0.01, 0.02, 0.05, 0.005)  # their median is 0.02
    assert timing.seconds == pytest.approx(0.005)
    assert (timing.runs, ran) == (5, 6)


def test_no_run_begins_when_the_time_is_up():
    timing, ran = clocked(0.14, 0.08)
    assert timing.seconds == pytest.approx(0.08)
    assert (timing.runs, ran) == (2, 3)
    assert clocked(0.3)[0] == Timing(pytest.approx(0.3), 1)


def test_a_gpu_is_waited_for(monkeypatch):
    order = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: order.append("waited"))
    monkeypatch.setattr(measured, "RUNS", 2)
    timed(lambda: order.append("ran"), "cuda", lambda: order.append("clock") or 0.0)
    assert order == ["ran", "waited"] + ["clock", "ran", "waited", "clock"] * 2
    order.clear()
    timed(lambda: order.append("ran"), "cpu", lambda: 0.0)
    assert "waited" not in order


# ---- how the time grows ----------------------------------------------------------------------------------------------
def test_slopes_by_hand():
    assert fitted_slope([1, 2, 4], [3, 12, 48]) == pytest.approx(2)
    assert fitted_slope([10, 1000], [7, 0.07]) == pytest.approx(-1)
    assert fitted_slope([5, 10, 20, 40], [2, 2, 2, 2]) == pytest.approx(0)
    # in powers of 2: x = 0, 1, 2 and y = 0, 0, 3; around their means -1, 0, 1 and -1, -1, 2: (1 + 2) / 2
    assert fitted_slope([1, 2, 4], [1, 1, 8]) == pytest.approx(1.5)
    # one length measured twice: x = 0, 0, 1 and y = 0, 2, 3; in ninths (5 - 1 + 8) over (1 + 1 + 4)
    assert fitted_slope([1, 1, 2], [1, 4, 8]) == pytest.approx(2)


@pytest.mark.parametrize(
    ("lengths", "seconds"),
    [([], []), ([4], [1]), ([4, 4], [1, 2]), ([1, 2], [1]), ([0, 2], [1, 1]), ([1, 2], [1, 0]), ([1, 2], [1, -1])],
)
def test_no_slope_without_points(lengths, seconds):
    with pytest.raises(AttentionError) as caught:
        fitted_slope(lengths, seconds)
    assert caught.value.code == "slope_points"
