"""The lesson on heads, drawer "share", one of its sights: do more heads make training more stable?"""

from statistics import fmean

import streamlit as st

from attention_core.learned.training.head_overfitting import STEPS as OVERFITTING_STEPS
from attention_core.learned.training.head_overfitting import (
    TEXT_COUNTS,
    OverfittingRow,
    chance_that_heads_are_alike,
    read_overfitting,
)
from attention_core.learned.training.head_stability import (
    HEAD_COUNTS,
    RATES,
    SEEDS,
    STEPS,
    StabilityRow,
    chance_of_difference,
    read_stability,
)
from attention_core.record.number_text import format_percent
from pages.lessons.sentences import show_sentence
from pages.panels.markdown_table import make_table
from pages.setup.setup import Setup
from pages.site.words import say


def show_stability(_: Setup) -> None:
    """Shows how small networks with 1 to 8 heads ended, over seeds and rates."""
    runs = {(row.heads, row.rate): row for row in read_stability()}
    one = runs[HEAD_COUNTS[0], RATES[-1]].failed
    most = runs[HEAD_COUNTS[-1], RATES[-1]].failed
    show_sentence(
        "lessons.heads.stable",
        seeds=len(SEEDS),
        steps=STEPS,
        rate=RATES[-1],
        one=sum(one),
        most=sum(most),
        heads=HEAD_COUNTS[-1],
        chance=format_percent(chance_of_difference(one, most)),
    )
    show_sentence("lessons.heads.stable_head")
    st.markdown(make_stability_table(runs))
    show_sentence("lessons.heads.stable_limits")
    show_overfitting()


def show_overfitting() -> None:
    """Shows how much better small networks are on the few texts that they were trained on than on others."""
    runs = {(row.heads, row.texts): row for row in read_overfitting()}
    values = {}
    for name, count in zip(("few", "some", "many"), TEXT_COUNTS, strict=True):
        one, most = runs[HEAD_COUNTS[0], count].unseen, runs[HEAD_COUNTS[-1], count].unseen
        values[name] = count
        values[f"{name}_one"] = format_percent(fmean(one))
        values[f"{name}_most"] = format_percent(fmean(most))
        values[f"{name}_chance"] = format_percent(chance_that_heads_are_alike(one, most))
    show_sentence("lessons.heads.overfit", steps=OVERFITTING_STEPS, seeds=len(SEEDS), heads=HEAD_COUNTS[-1], **values)
    show_sentence("lessons.heads.overfit_head")
    counts = [say("lessons.heads.overfit_texts", count=count) for count in TEXT_COUNTS]
    titles = [say("lessons.heads.stable_heads"), *counts]
    rows = []
    for heads in HEAD_COUNTS:
        cells = [describe_overfitting(runs[heads, count]) for count in TEXT_COUNTS]
        rows.append([str(heads), *cells])
    st.markdown(make_table(titles, rows, "--:"))


def describe_overfitting(row: OverfittingRow) -> str:
    """The mean share of right answers on the texts that were trained, and on others."""
    return say(
        "lessons.heads.overfit_cell",
        seen=format_percent(fmean(row.seen)),
        unseen=format_percent(fmean(row.unseen)),
    )


def make_stability_table(runs: dict[tuple[int, float], StabilityRow]) -> str:
    """A row for each number of heads, and in it how the runs ended at each rate."""
    titles = [say("lessons.heads.stable_heads"), *[say("lessons.heads.stable_rate", rate=rate) for rate in RATES]]
    rows = []
    for heads in HEAD_COUNTS:
        cells = [describe_runs(runs[heads, rate]) for rate in RATES]
        rows.append([str(heads), *cells])
    return make_table(titles, rows, "--:")


def describe_runs(row: StabilityRow) -> str:
    """The mean share of right answers, its spread, and how many runs failed."""
    return say(
        "lessons.heads.stable_cell",
        mean=format_percent(row.mean),
        spread=format_percent(row.spread),
        failed=sum(row.failed),
    )
