"""The lesson on one vector, drawer "untrained": what of formats or lengths not in training?"""

from collections.abc import Callable, Mapping
from datetime import date

import streamlit as st

from attention_core.learned.tasks import dates
from attention_core.record.number_text import format_percent
from pages.lessons.bottleneck.drawers.longer_texts import show_longer_texts
from pages.lessons.learned.learning import TrainingRecord, load_shipped_training
from pages.lessons.learned.writers import cached_writing, shorten_writing
from pages.panels.link_controls import choose_option, option_labels
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.site.words import say

EXAMPLE_DATE = date(2019, 3, 5)
DATE_NETWORK_KINDS = ("additive", "dot", "one")


def show_untrained(task: str, records: Mapping[str, TrainingRecord]) -> None:
    """Shows formats of dates, or lengths, that no network was trained on.

    records: those of the lesson, by the kind of network."""
    usual = "formats" if task == "dates" else "lengths"
    if choose_option("unseen", ("formats", "lengths"), usual) == "formats":
        show_untrained_formats(records)
    else:
        show_longer_texts()


@cache_by_setup
def measure_untrained_formats(network: str) -> dict[str, float]:
    """Measures the share of dates that a network writes exactly, by format, none of which it was trained on."""
    return find_network(network).measure(dates.exact_in_untrained_formats)


def show_untrained_formats(records: Mapping[str, TrainingRecord]) -> None:
    """Shows one date in formats that no network was trained on, what is made of it, and the share of many dates."""
    networks = {kind: get_last_network(f"dates_{kind}", records) for kind in DATE_NETWORK_KINDS}
    rows = []
    for name, write in dates.UNTRAINED_FORMATS.items():
        row = make_format_row(name, write, networks)
        rows.append(row)
    st.table(rows, hide_index=True, width="content")
    st.caption(say("lessons.bottleneck.never"))


def make_format_row(name: str, write: Callable[[date], str], networks: Mapping[str, str]) -> dict[str, str]:
    """Makes the row of a format, by the heads of its columns: what each network makes of a date in it.

    write: writes a date in the format."""
    text = write(EXAMPLE_DATE)
    row = {say("lessons.bottleneck.head_format"): text}
    for kind, network in networks.items():
        share = measure_untrained_formats(network)[name]
        written = shorten_writing(cached_writing(network, text))
        head = option_labels("kind")(kind)
        row[head] = say("lessons.bottleneck.never_cell", written=written, share=format_percent(share))
    return row


def get_last_network(course: str, records: Mapping[str, TrainingRecord]) -> str:
    """The last network of a course: of the record that the lesson shows, else of the one that comes with the app."""
    shown = {record.course: record for record in records.values()}
    record = shown.get(course) or load_shipped_training(course)
    return record.network_at(max(record.steps))
