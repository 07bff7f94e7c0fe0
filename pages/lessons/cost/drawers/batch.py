"""The lesson on cost, drawer "batch": does a batch save time?"""

from collections.abc import Sequence
from functools import partial

from attention_core.drawing.scaling_curves import time_ratio
from attention_core.record.number_text import format_duration, format_fixed, format_grouped
from attention_core.variants.timed_kinds import TIMED_BATCH, TIMED_KINDS, TimedCase
from pages.lessons.races import PointsByLength, run_race
from pages.lessons.sentences import show_sentence


def show_batch() -> None:
    """Lets eight sequences in one run race against the same sequences in eight runs."""
    lengths = TIMED_KINDS["together"].lengths
    cases = (TimedCase("together"), TimedCase("one_by_one"))
    tell = partial(show_batch_times, lengths)
    run_race("batch", cases, lengths, {}, tell, "lessons.cost.batch_alt")


def show_batch_times(lengths: Sequence[int], measured: Sequence[PointsByLength]) -> None:
    """Says how long the batch took and how long its sequences one by one, at the shortest and at the longest length."""
    show_sentence("lessons.cost.batch", count=TIMED_BATCH)
    together, alone = measured
    for length in (lengths[0], lengths[-1]):
        if length not in together or length not in alone:
            continue
        ratio = time_ratio(alone[length], together[length])
        show_sentence(
            "lessons.cost.batch_took",
            length=format_grouped(length),
            a=format_duration(together[length]),
            b=format_duration(alone[length]),
            times=format_fixed(ratio, 1),
        )
