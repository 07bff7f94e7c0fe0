"""A figure with its target, the machine that it was taken on, and the Markdown table of both."""

import argparse
import math
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from tests.browser.conftest import CHROMIUM

RUNS = 30  # how often each figure is taken


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured, what it should be, what it is."""

    what: str
    target: str
    found: str


def against(
    what: str, ours: list[float], bare: list[float], most: float | None = None, aim: float | None = None
) -> Figure:
    """Our median as a multiple of the bare one's; both in seconds."""
    ratio = median(ours) / median(bare)
    target = "–" if most is None else f"≤ {most:g}×" + ("" if aim is None else f", aim {aim:g}×")
    return Figure(what, target, f"{ratio:.2f}× ({milliseconds(median(ours))} to {milliseconds(median(bare))})")


def milliseconds(seconds: float) -> str:
    """A time as it is printed."""
    return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all do not exceed (nearest rank).

    >>> percentile([3, 1, 2, 4], 0.5)
    2
    """
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def alternately(runs: int, *measures: Callable[[], float], warm_up: int = 3) -> list[list[float]]:
    """Each measure `runs` times, one after the other in turn, so that a slow minute of the machine meets all alike."""
    for _ in range(warm_up):
        for measure in measures:
            measure()
    taken: list[list[float]] = [[] for _ in measures]
    for _ in range(runs):
        for times, measure in zip(taken, measures, strict=True):
            times.append(measure())
    return taken


def machine() -> str:
    """Processor, cores, Python, torch, Streamlit and browser."""
    parts = [processor(), f"{len(os.sched_getaffinity(0))} cores", f"Python {platform.python_version()}"]
    parts += [f"{name} {version(name)}" for name in ("torch", "streamlit")]
    if CHROMIUM and shutil.which(CHROMIUM):
        parts.append(subprocess.run([CHROMIUM, "--version"], capture_output=True, text=True).stdout.strip())
    return ", ".join(parts)


def processor() -> str:
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def report(measures: list[Callable[[int], Iterator[Figure]]]) -> None:
    """Runs measures as the command line says, says each figure when it is there, and prints the table of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=RUNS, help=f"how often each figure is taken ({RUNS})")
    runs, found = parser.parse_args().runs, []
    for measure in measures:
        for figure in measure(runs):
            print(f"{figure.what}: {figure.found}", file=sys.stderr, flush=True)
            found.append(figure)
    print(f"{machine()}; medians of {runs}\n")
    print("| measured | target | found |\n|---|---|---|")
    for figure in found:
        print(f"| {figure.what} | {figure.target} | {figure.found} |")
