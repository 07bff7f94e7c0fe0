"""The lesson on cost, drawer "skip": which pairs can be skipped?"""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.scaling_curves import time_ratio
from attention_core.record.number_text import format_duration, format_grouped, format_percent
from attention_core.record.trace import Step
from attention_core.variants.sparse_patterns import work_map
from attention_core.variants.timed_kinds import LONG_TIMED_LENGTHS, TIMED_KINDS, TimedCase
from pages.lessons.cost.routed_heads import show_routed_heads
from pages.lessons.sentences import show_sentence
from pages.panels.canvas_map import show_plain_map
from pages.panels.link_controls import choose_option, slide
from pages.panels.progress import measure_on_request
from pages.runs.cache import cached_savings
from pages.site.words import say


def show_skipped_pairs() -> None:
    """Shows the pairs of a pattern, those that are computed, what that saves, and what it does to the output."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_option("pattern", ("local", "strided"), width="content")
        made = choose_option("made", ("near", "random"), width="content")
        with st.container(width=300):
            length = slide("tokens", LONG_TIMED_LENGTHS[:-1], 256, format_grouped)
    show_savings(kind, length, made)
    show_work_map(kind, length)
    measure_saved_time(kind, length)
    show_sentence("lessons.cost.experts")
    show_routed_heads()


def show_savings(kind: str, length: int, made: str) -> None:
    """Says how many pairs and multiply-adds a pattern saves, and how far its output is from full attention.

    made: how the inputs are made."""
    savings = cached_savings(kind, length, made)
    share = time_ratio(savings.computed, savings.pairs)
    show_sentence(
        "lessons.cost.skipped",
        kept=format_grouped(savings.kept),
        pairs=format_grouped(savings.pairs),
        computed=format_grouped(savings.computed),
        share=format_percent(share),
        multiply_adds=format_grouped(savings.multiply_adds),
        all=format_grouped(savings.all_multiply_adds),
    )
    show_sentence(f"lessons.cost.error_{made}", error=format_percent(savings.error))


def show_work_map(kind: str, length: int) -> None:
    """Shows which pairs of so many tokens a pattern has, and which are computed."""
    pattern = TIMED_KINDS[kind].pattern
    work = work_map(pattern, length, length)  # (T, S)
    trace = Trace({"pairs": Step("pairs", work, ("T", "S"))})
    alt = say("lessons.cost.pairs_alt")
    title = say("lessons.cost.pairs")
    show_plain_map(trace, "pairs", "cost_pairs", alt, title)


def measure_saved_time(kind: str, length: int) -> None:
    """Measures on request how long all pairs take, and how long the pattern."""
    cases = (TimedCase(), TimedCase(kind))
    measure_on_request(
        f"skip_{kind}_{length}",
        cases,
        lambda case: case.seconds(length),
        say("lessons.cost.measure_here"),
        partial(show_saved_time, cases, length),
    )


def show_saved_time(cases: Sequence[TimedCase], length: int, seconds: Mapping[TimedCase, float]) -> None:
    """Says how long all pairs took, and how long the pattern, once both are measured."""
    if len(seconds) < len(cases):
        return
    full, skipping = seconds.values()
    show_sentence(
        "lessons.cost.skip_took",
        length=format_grouped(length),
        a=format_duration(full),
        b=format_duration(skipping),
    )
