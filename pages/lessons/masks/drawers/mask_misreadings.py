"""The lesson on masks, drawer "nothing", two of its sights: a mask that code reads otherwise than it is meant."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace, to_mha_mask
from attention_core.explanation.facts import accident_at
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed
from attention_core.verification.mask_conventions import (
    compare_with_torch_layer,
    measure_mask_damage,
    with_inverted_mask,
    with_misplaced_mask,
)
from pages.export.page_links import link_to_workbench
from pages.lessons.masks.mask_maps import show_runs_side_by_side
from pages.lessons.sentences import format_gap, quote_token, show_sentence
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal


def show_mask_conventions(own: Setup, setup: Setup) -> None:
    """Gives the same matrix to code in which True means blocked, and shows what torch's own layer makes of it."""
    trace = trace_for(setup)
    if "allowed" not in trace:
        show_sentence("lessons.masks.no_mask")
        return
    wrong = with_inverted_mask(trace)
    show_mask_damage("lessons.masks.inverted", wrong, trace)
    selection = selection_of(trace_for(own), own)
    show_runs_side_by_side("conventions", {"kept": trace, "blocked": wrong}, selection)
    theirs = compare_with_torch_layer(trace, trace["allowed"], wrong)
    mended = compare_with_torch_layer(trace, to_mha_mask(trace["allowed"]), trace)
    if theirs is None:
        show_sentence("lessons.masks.no_torch")
        return
    show_sentence(
        "lessons.masks.torch",
        rows=theirs.rows,
        gap=format_gap(theirs.gap),
        lost=theirs.lost,
        mended=format_gap(mended.gap),
        empty=mended.lost,
    )


def show_misplaced_axis(own: Setup, setup: Setup) -> None:
    """Puts the heads' axis of a mask into the wrong place: torch refuses it, or takes it without a word."""
    trace = trace_for(setup)
    if "allowed" not in trace:
        show_sentence("lessons.masks.no_mask")
        return
    T = trace.sizes()["T"]
    d_k, d_v = trace.step("k").shape[-1], trace.step("v").shape[-1]
    many = replace(setup, heads=slide("heads", range(1, 17), T), d_k=d_k, d_v=d_v)
    run = trace_for(many)
    try:
        wrong = with_misplaced_mask(run)
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        key = "refused" if many.heads > 1 else "refused_one"
        show_sentence(f"lessons.masks.{key}", T=T, heads=many.heads)
        return
    show_mask_damage("lessons.masks.misplaced", wrong, run)
    selection = selection_of(trace_for(own), own)
    heads = range(many.heads)
    selection = replace(selection, head=min(selection.head, len(heads) - 1))
    show_runs_side_by_side("axes", {"intended": run, "applied": wrong}, selection)
    link_to_workbench(many, "axes")


def show_mask_damage(key: str, wrong: Trace, right: Trace) -> None:
    """Says how many pairs and weights a wrong mask moved, and which weight it moved most."""
    found = measure_mask_damage(wrong, right)
    if found.largest is None:
        show_sentence("lessons.masks.no_damage")
        return
    worst = describe_worst_weight(found.largest.index, wrong, right)
    show_sentence(key, pairs=found.pairs, of=found.of, weights=found.weights, worst=worst)


def describe_worst_weight(index: tuple[int, ...], wrong: Trace, right: Trace) -> str:
    """Names a weight under a wrong mask and under the right one; says nothing where random numbers make it."""
    _, head, query, key = index
    if accident_at(right, query, [key]):
        return ""
    return say(
        "lessons.masks.worst",
        head=place_name(right, "H", head),
        query=quote_token(right, "T", query),
        key=quote_token(right, "S", key),
        before=format_fixed(right["weights"][index].item()),
        now=format_fixed(wrong["weights"][index].item()),
    )
