"""The lesson on heads, drawer "share": can heads share keys and values, and what do heads cost?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import find_moves
from attention_core.drawing.bars import row_of
from attention_core.mechanism.config import kv_choices
from attention_core.record.number_text import format_grouped, format_or_scientific
from attention_core.variants.cost import attention_cost
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.heads.drawers.stability import show_stability
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import join_with_commas, list_place_labels, list_place_names, show_sentence
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import trace_for
from pages.session.labels import Selection, name_token, place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

POSITION_EXAMPLES = {"en_colour": "en_it", "zh_colour": "zh_ta"}
COST_HEAD_COUNTS = (1, 2, 4, 8, 16)


def show_sharing(setup: Setup) -> None:
    """Shows fewer key/value heads than query heads, what heads cost, or whether they make training stable."""
    sights = {"group": show_shared_heads, "cost": show_head_costs, "stable": show_stability}
    show_sight = choose_sight("sharing", sights)
    show_sight(setup)


def show_shared_heads(setup: Setup) -> None:
    """Shows a head that reads the keys and values of another: what becomes of its weights and of the output."""
    separate = choose_shared_run(setup)
    before = trace_for(separate)
    head_names = list_place_names(before, "H")
    counts = kv_choices(before.sizes()["H"])
    labels = [str(count) for count in counts]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = pick_place("kv", labels, len(counts) - 1, width=160)
        head = pick_place("head", head_names, len(head_names) - 1, width=160)
    grouped = replace(separate, kv_heads=counts[choice], head=head)
    now = trace_for(grouped)
    selection = selection_of(now, grouped)
    say_sharing(before, now, selection)
    show_weights_of_both(before, now, selection)
    link_to_workbench(grouped, "shared")


def choose_shared_run(setup: Setup) -> Setup:
    """Asks in which run heads share keys and values."""
    runs = {
        "own": setup,
        "it": Setup(example=POSITION_EXAMPLES[setup.example]),
        "eight": Setup(example="eight_heads"),
    }
    chosen = choose_option("of", tuple(runs))
    return runs[chosen]


def say_sharing(before: Trace, now: Trace, selection: Selection) -> None:
    """Says whose keys a head reads now, how far the output moves, and how many numbers of keys are left."""
    moved = find_moves(now, before).get("output")
    gap = format_or_scientific(moved.size) if moved else "0"
    show_sentence(
        "lessons.heads.shared",
        head=place_name(now, "H", selection.head),
        own=place_name(now, "H_kv", selection.kv),
        moved=gap,
        kept=format_grouped(now["k"].numel()),
        all=format_grouped(before["k"].numel()),
    )


def show_weights_of_both(before: Trace, now: Trace, selection: Selection) -> None:
    """Shows a head's weights with its own keys, and with those that it shares."""
    word = name_token(now, "T", selection.query)
    index = (selection.batch, selection.head, selection.query)
    own_title = say("lessons.heads.own_keys", word=word)
    own = row_of(own_title, before, "weights", index, "before")
    shared_title = say("lessons.heads.shared_keys", word=word)
    shared = row_of(shared_title, now, "weights", index, "now")
    runs = {"before": before, "now": now}
    names = list_place_labels(now, "S")
    show_cell_rows("shared", [own, shared], names, runs, now)


def show_head_costs(_: Setup) -> None:
    """Shows what the same layer costs when it is cut into more and more heads."""
    with st.container(horizontal=True):
        length = slide("length", (5, 10, 64, 256, 512), 10)
        width = slide("D", (64, 128, 256, 512), 64)
    lines = [say("lessons.heads.cost_head"), "|---:|---:|---:|---:|"]
    products_of_layer = set()
    for heads in COST_HEAD_COUNTS:
        cost = attention_cost(T=length, D=width, H=heads)
        totals = cost.totals()
        products = format_grouped(totals["multiply_adds"])
        products_of_layer.add(products)
        parameters = format_grouped(totals["parameters"])
        scores = format_grouped(cost.multiply_adds["scores"])
        weights = format_grouped(cost.stored["weights"])
        lines.append(f"| {heads} | {parameters} | {scores} | {weights} |")
    show_sentence("lessons.heads.cost", layer=join_with_commas(sorted(products_of_layer)))
    st.markdown("\n".join(lines))
