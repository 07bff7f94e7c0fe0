"""What the last change did: one sentence, and whether the maps show the difference to before."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import StepMove, find_telling_move, most_moved_weight
from attention_core.record.expressions import Ref
from attention_core.record.number_text import choose_decimals, format_fixed, format_signed
from pages.panels.setup_controls import show_refusal
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import count_real_queries, describe_cell, name_token
from pages.session.view import ScreenState
from pages.setup.setup import setup_to_query
from pages.site.words import escape_markdown, say


def show_last_change(scene: ScreenState) -> None:
    """A line that is always there, so that nothing moves when it gets something to say."""
    unknown, none = scene.before is None, setup_state.setup_before() is None
    st.session_state["c_difference"] = scene.setup.against is not None and not unknown
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        pin_switch()
        st.toggle(
            say("change.show"),
            key="c_difference",
            on_change=handle_difference_switch,
            width="content",
            disabled=unknown,
        )
        if none:
            st.caption(say("change.hint"), width="content")
            st.caption(say("compare.hint"), width="content")
        else:
            st.markdown(say("change.sizes") if unknown else describe_change(scene), width="content")
    show_refusal(setup_state.COMPARISON_CONTROL)


def pin_switch() -> None:
    """One click: what is on the screen is A from now on, and what it is changed to B. No higher than the line."""
    st.session_state["c_pin"] = False
    st.toggle(say("compare.pin"), key="c_pin", on_change=pin_and_redraw, width="content")


def pin_and_redraw() -> None:
    """Pins A."""
    setup_state.pin_current_setup()
    redraw()


def handle_difference_switch() -> None:
    """The maps show the difference, or the numbers themselves again."""
    before = setup_state.setup_before()
    wanted = st.session_state["c_difference"] and before is not None
    select_and_redraw(against=setup_to_query(before) if wanted else None)


def describe_change(scene: ScreenState) -> str:
    """What changed most, with its numbers before and now."""
    move = find_telling_move(scene.moved)
    if move is None:
        listed = {"new": scene.new, "reshaped": scene.reshaped}
        parts = [say(f"change.{kind}", steps=say("fact.comma").join(steps)) for kind, steps in listed.items() if steps]
        return " ".join([*parts, say("change.rest")]) if parts else say("change.nothing")
    if move.step == "weights":
        return describe_moved_weight(scene, move)
    return say("change.same_weights") + describe_largest_move(scene, move)


def describe_moved_weight(scene: ScreenState, move: StepMove) -> str:
    """The weight that moved most in the sentence that is looked at, where one moved there."""
    look, trace = scene.look, scene.trace
    seen = most_moved_weight(trace, scene.before, (look.batch, look.head, look.query), count_real_queries(trace))
    if seen is None:
        return describe_largest_move(scene, move)
    _, head, query, key = seen.index
    words = {
        "query": escape_markdown(name_token(trace, "T", query)),
        "key": escape_markdown(name_token(trace, "S", key)),
    }
    return say("change.weight", head=head + 1, **words, **format_move(scene, seen))


def describe_largest_move(scene: ScreenState, move: StepMove) -> str:
    """A step's largest move in words."""
    in_batch = scene.trace.step(move.step).dims[0] == "B"
    there = trace_for(replace(scene.setup, sentence=move.index[0])) if in_batch else scene.trace  # in its own words
    place = escape_markdown(describe_cell(there, Ref(move.step, move.index)))
    return say("change.most", place=place, **format_move(scene, move))


def format_move(scene: ScreenState, move: StepMove) -> dict[str, str]:
    """A cell's number before and now, and the difference."""
    now, before = (float(run[move.step][move.index]) for run in (scene.trace, scene.before))
    difference = 0.0 if now == before else now - before
    digits = choose_decimals(difference)
    return {
        "before": format_fixed(before, digits),
        "now": format_fixed(now, digits),
        "difference": format_signed(difference, digits),
    }
