"""The lesson on masks, drawer "wirings", one of its sights: the first word, on which others rest."""

from dataclasses import replace

import streamlit as st

from attention_core.explanation.facts import mean_received_share, row_fact
from attention_core.record.number_text import format_fixed, format_percent, format_row
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_weights_map
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.link_controls import pick_example, sentence_box, switch
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup


def show_attention_sink(_: Setup) -> None:
    """Shows a head in which words that ask for nothing rest on the first one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sink = sentence_box(pick_example("en_it_sink", "zh_ta_sink", zh="zh_ta_sink", name="starts"), "sink")
        if switch("causal"):
            sink = replace(sink, masks=("causal",))
    trace = trace_for(sink)
    selection = selection_of(trace, sink)
    first = quote_token(trace, "T", 0)
    queries = range(trace.sizes()["T"])
    resting = [query for query in queries if row_fact(trace, selection.head, query).keys == (0,)]
    percent = format_percent(mean_received_share(trace, selection.head, 0))
    if trace.chance:
        show_sentence("lessons.masks.sink_random", first=first, percent=percent)
    elif resting:
        last = resting[-1]
        share = trace["weights"][0, selection.head, last, 0].item()
        values = {
            "count": len(resting),
            "T": len(queries),
            "share": format_fixed(share),
            "word": quote_token(trace, "T", last),
            "percent": percent,
        }
        show_sentence("lessons.masks.sink", first=first, **values)
    value = trace.step("v").window(B=0, H_kv=selection.kv, S=0)
    effect = "costs" if value.any() else "free"
    show_sentence(f"lessons.masks.{effect}", first=first, value=format_row(value))
    show_weights_map("sink", trace, selection, place_name(trace, "H", selection.head))
    link_to_workbench(sink, "sink")
