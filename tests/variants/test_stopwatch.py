"""The stopwatch: how often it runs, and what is made of the times. No test waits for a time."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.variants import timing
from attention_core.variants.timing import Timing, fit_slope, time_run


# ---- how it is timed -------------------------------------------------------------------------------------------------
def clocked(*seconds: float) -> tuple[Timing, int]:
    """A timing by a clock on which the runs take these seconds, and how often it ran."""
    now, ran, waiting = [0.0], [0], list(seconds)

    def run():
        ran[0] += 1
        if ran[0] > 1:  # the first does not count
            now[0] += waiting.pop(0)

    return time_run(run, "cpu", lambda: now[0]), ran[0]


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
    monkeypatch.setattr(timing, "MAX_TIMED_RUNS", 2)
    time_run(lambda: order.append("ran"), "cuda", lambda: order.append("clock") or 0.0)
    assert order == ["ran", "waited"] + ["clock", "ran", "waited", "clock"] * 2
    order.clear()
    time_run(lambda: order.append("ran"), "cpu", lambda: 0.0)
    assert "waited" not in order


# ---- how the time grows ----------------------------------------------------------------------------------------------
def test_slopes_by_hand():
    assert fit_slope([1, 2, 4], [3, 12, 48]) == pytest.approx(2)
    assert fit_slope([10, 1000], [7, 0.07]) == pytest.approx(-1)
    assert fit_slope([5, 10, 20, 40], [2, 2, 2, 2]) == pytest.approx(0)
    # in powers of 2: x = 0, 1, 2 and y = 0, 0, 3; around their means -1, 0, 1 and -1, -1, 2: (1 + 2) / 2
    assert fit_slope([1, 2, 4], [1, 1, 8]) == pytest.approx(1.5)
    # one length measured twice: x = 0, 0, 1 and y = 0, 2, 3; in ninths (5 - 1 + 8) over (1 + 1 + 4)
    assert fit_slope([1, 1, 2], [1, 4, 8]) == pytest.approx(2)


@pytest.mark.parametrize(
    ("lengths", "seconds"),
    [([], []), ([4], [1]), ([4, 4], [1, 2]), ([1, 2], [1]), ([0, 2], [1, 1]), ([1, 2], [1, 0]), ([1, 2], [1, -1])],
)
def test_no_slope_without_points(lengths, seconds):
    with pytest.raises(AttentionError) as caught:
        fit_slope(lengths, seconds)
    assert caught.value.code == "slope_points"
