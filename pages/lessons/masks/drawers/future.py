"""The lesson on masks, drawer "future": can a word learn of its future?"""

from functools import partial

import streamlit as st

from attention_core.analysis.future_leakage import with_moved_rows
from attention_core.comparison.differences import find_moves
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import count_allowed_pairs
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.masks.drawers.added_mask import show_added_mask
from pages.lessons.masks.drawers.shifted_targets import show_shifted_targets
from pages.lessons.masks.mask_maps import (
    label_mask,
    list_shown_masks,
    make_tick_map,
    reach_after_layers,
    run_all_masks,
)
from pages.lessons.pictures import show_bar_rows, show_step_picture
from pages.lessons.sentences import join_with_commas, list_place_names, quote_token, show_sentence
from pages.lessons.trained_model import show_without
from pages.panels.chart import show_chart
from pages.panels.link_controls import pick_place, slide, text_box
from pages.panels.word_swaps import suggest_word, with_word
from pages.runs.cache import trace_for
from pages.session.labels import selection_of, spoken_step_name
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_future(own: Setup, setup: Setup) -> None:
    """Shows what a later word changes before it, which step a mask changes, what it adds, or how far news travels.

    own: the run without a mask; setup: the run under the reader's mask."""
    sights = {
        "change": show_later_word,
        "step": show_changed_steps,
        "added": show_added_mask,
        "layers": show_reach_by_layers,
        "shifted": show_shifted_targets,
    }
    show_sight = choose_sight("future", sights)
    show_sight(own, setup)
    show_without("mask")


def show_later_word(own: Setup, setup: Setup) -> None:
    """Exchanges a word, and shows how far each output moves, without a mask and with the reader's."""
    free = trace_for(own)
    names = list_place_names(free, "T")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = pick_place("changed", names, len(names) - 1)
        new = text_box("into", suggest_word(own, place), partial(with_word, own, place))
    runs = {}
    rows = []
    values = {
        "before": place,
        "old": quote_token(free, "T", place),
        "new": escape_markdown(new),
    }
    for name, setup_of_run in (("free", own), ("masked", setup)):
        changed = trace_for(with_word(setup_of_run, place, new))
        runs[name] = with_moved_rows(changed, trace_for(setup_of_run))
        title = say(f"lessons.masks.moved_{name}")
        row = row_of(title, runs[name], "moved", (0,), name)
        rows.append(row)
        earlier = row.values[:place]
        values[name] = sum(value > 0 for value in earlier)
    show_sentence("lessons.masks.leaked" if place else "lessons.masks.leaked_none", **values)
    names = list_place_names(runs["masked"], "T")
    alt = say("lessons.masks.leak_alt")
    show_bar_rows("leak", rows, names, runs, runs["masked"], alt)
    link_to_workbench(with_word(setup, place, new), "leak")


def show_changed_steps(own: Setup, setup: Setup) -> None:
    """Compares the steps of the run under the mask with those of the run without it, and says where they part."""
    now = trace_for(setup)
    before = trace_for(own)
    moved = find_moves(now, before)
    if not moved:
        show_sentence("lessons.masks.same")
        return
    first, *later = moved
    same = [step for step in now.computed() if step in before and step not in moved]
    steps = {
        "same": escape_markdown(join_with_commas(map(spoken_step_name, same))),
        "first": escape_markdown(spoken_step_name(first)),
        "later": escape_markdown(join_with_commas(map(spoken_step_name, later))),
    }
    pairs = count_allowed_pairs(now)
    show_sentence("lessons.masks.parts", blocked=pairs.blocked, of=pairs.of, **steps)
    show_step_picture("step", now, "masked_scores", selection_of(before, own))


def show_reach_by_layers(own: Setup, setup: Setup) -> None:
    """Shows who has heard from whom after several layers, under every mask."""
    layers = slide("layers", range(1, 9), 2)
    masks = run_all_masks(own, setup, 1)
    heard = reach_after_layers(masks, layers)
    names = list_place_names(masks, "T")
    # the last row of each mask, (S,): from whom the last word has heard
    last_rows = {name: heard[f"allowed_{name}"][-1] for name in list_shown_masks(masks)}
    under_which = [escape_markdown(label_mask(name)) for name, row in last_rows.items() if row[0]]
    words = {
        "layers": layers,
        "under": join_with_commas(under_which) or say("lessons.masks.nobody"),
        "first": escape_markdown(names[0]),
        "last": escape_markdown(names[-1]),
    }
    show_sentence("lessons.masks.heard", **words)
    with st.container(horizontal=True, gap=None):
        for name, row in last_rows.items():
            count = int(row.sum())
            title = say("lessons.masks.hears", name=label_mask(name), count=count, T=len(names))
            picture = make_tick_map(heard, f"allowed_{name}", title)
            show_chart(picture, f"masks_layers_{name}", title, lambda _: None)
