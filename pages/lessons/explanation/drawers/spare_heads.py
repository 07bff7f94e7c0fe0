"""The lesson on explanation, drawer "spare": heads to spare?"""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.explanation.task_texts import TaskTexts
from pages.lessons.learned.classifiers import measure_accuracy_by_heads, setup_for_classifier
from pages.lessons.learned.learning import get_training_record
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import list_place_labels, show_sentence
from pages.runs.cache import trace_for
from pages.session.labels import place_name, written_share
from pages.site.words import say

SPARE_HEADS = 4
SPARE_BARS_HEIGHT_PX = 60  # pixels: the bars of one head


def show_spare_heads(texts: TaskTexts) -> None:
    """Shows four heads that learned the same: what is lost without one, and what one alone can do."""
    record = get_training_record("lookup_heads")
    network = record.network_at(max(record.steps))
    _, text = texts["lookup"]
    setup = setup_for_classifier("lookup", network, text, SPARE_HEADS)
    trace = trace_for(setup)
    accuracy = measure_accuracy_by_heads(network, SPARE_HEADS)
    show_sentence("lessons.explanation.spare", all=format_percent(accuracy[()]))
    show_accuracy_table(trace, accuracy)
    show_weights_by_head(trace)
    link_to_workbench(setup, "spare")


def show_accuracy_table(trace: Trace, accuracy: Mapping[tuple[int, ...], float]) -> None:
    """Shows the share of right answers without each head, and with it alone.

    accuracy: by the heads that are off."""
    all_on = accuracy[()]
    rows = [make_accuracy_row(say("lessons.explanation.all_heads"), all_on, all_on)]
    heads = range(SPARE_HEADS)
    for head in heads:
        others = tuple(other for other in heads if other != head)
        name = place_name(trace, "H", head)
        row = make_accuracy_row(name, accuracy[(head,)], accuracy[others])
        rows.append(row)
    st.table(rows, hide_index=True, width="content")


def make_accuracy_row(name: str, without: float, alone: float) -> dict[str, str]:
    """Makes a row of the table, by the heads of its columns."""
    return {
        say("lessons.explanation.head_left"): name,
        say("lessons.explanation.head_without"): written_share(without),
        say("lessons.explanation.head_alone"): written_share(alone),
    }


def show_weights_by_head(trace: Trace) -> None:
    """Shows the weights of each head as bars."""
    rows = []
    for head in range(SPARE_HEADS):
        name = place_name(trace, "H", head)
        row = row_of(name, trace, "weights", (0, head, 0))
        rows.append(row)
    show_bar_rows(
        "spare",
        rows,
        list_place_labels(trace, "S"),
        {"": trace},
        trace,
        say("lessons.explanation.alt_spare"),
        height=SPARE_BARS_HEIGHT_PX,
        whole=True,
    )
