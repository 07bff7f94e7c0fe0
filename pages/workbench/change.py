"""What the last change did: one sentence, and whether the maps show the difference to before."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import StepMove, exchange, find_telling_move, most_moved_weight
from attention_core.explanation.facts import accident_at
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from attention_core.record.number_text import choose_decimals, format_fixed, format_signed
from pages.panels.setup_controls import show_refusal
from pages.runs.cache import trace_for
from pages.session import setup_history, setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import count_real_queries, describe_cell, name_token, place_name
from pages.session.view import ScreenState
from pages.setup.setup import setup_to_query
from pages.site.words import escape_markdown, say


def show_last_change(scene: ScreenState) -> None:
    """A line that is always there, so that nothing moves when it gets something to say."""
    unknown, none = scene.before is None, setup_state.setup_before() is None
    apart = not unknown and scene.exchange.compared
    st.session_state["c_difference"] = scene.setup.against is not None and apart
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        pin_switch()
        st.toggle(
            say("change.show"),
            key="c_difference",
            on_change=handle_difference_switch,
            width="content",
            disabled=not apart,
        )
        if none:
            st.caption(say("change.hint"), width="content")
            st.caption(say("compare.hint"), width="content")
        else:
            st.markdown(say("change.sizes") if unknown else describe_change(scene), width="content")
    show_refusal(setup_history.COMPARISON_CONTROL)


def pin_switch() -> None:
    """One click: what is on the screen is A from now on, and what it is changed to B. No higher than the line."""
    st.session_state["c_pin"] = False
    st.toggle(say("compare.pin"), key="c_pin", on_change=pin_and_redraw, width="content")


def pin_and_redraw() -> None:
    """Pins A."""
    setup_history.pin_current_setup()
    redraw()


def handle_difference_switch() -> None:
    """The maps show the difference, or the numbers themselves again."""
    before = setup_state.setup_before()
    wanted = st.session_state["c_difference"] and before is not None
    select_and_redraw(against=setup_to_query(before) if wanted else None)


def describe_change(scene: ScreenState) -> str:
    """What changed most, with its numbers before and now, as far as the words are the same; which words are not."""
    if not scene.exchange.compared:
        return among_kept_words(scene)
    told = [
        say("change.exchanged", was=escape_markdown(printable_token(was)), now=escape_markdown(printable_token(now)))
        for was, now in scene.exchange.pairs
    ]
    return "".join(told) + largest_move(scene)


def among_kept_words(scene: ScreenState) -> str:
    """The same between the words that stand where they stood; nothing is compared where others stand."""
    look, trace, others = scene.look, scene.trace, scene.exchange.places
    if not scene.moved:
        return say("change.nothing")
    if any(len(others[axis]) == trace.sizes()[axis] for axis in others):
        return say("change.all_words")
    row = (look.batch, look.head, look.query)
    seen = most_moved_weight(trace, scene.before, row, count_real_queries(trace), left_out=others)
    return say("change.kept_words") + (say("change.none_moved") if seen is None else tell_weight(scene, seen))


def largest_move(scene: ScreenState) -> str:
    """The largest move of all."""
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
    return describe_largest_move(scene, move) if seen is None else tell_weight(scene, seen)


def tell_weight(scene: ScreenState, move: StepMove) -> str:
    """A weight that moved, by its words; whether it comes of random numbers. In few words where others stand before."""
    trace, (_, head, query, key) = scene.trace, move.index
    words = {
        "query": escape_markdown(name_token(trace, "T", query)),
        "key": escape_markdown(name_token(trace, "S", key)),
    }
    told = {"head": head + 1, **words, **format_move(scene, move)}
    if any(accident_at(run, query, [key]) for run in (trace, scene.before)):
        return say("change.weight_by_chance", **told)
    return say("change.weight_after" if scene.exchange.pairs else "change.weight", **told)


def describe_largest_move(scene: ScreenState, move: StepMove) -> str:
    """A step's largest move in words, those of its own sentence of a batch; nothing where that has others now."""
    there, before = scene.trace, scene.before
    if there.step(move.step).dims[0] == "B":
        there, before = (trace_for(replace(setup, sentence=move.index[0])) for setup in (scene.setup, scene.named))
    if not exchange(there, before).compared:
        return say("change.other_sentence", sentence=place_name(there, "B", move.index[0]))
    return say(
        "change.most",
        place=escape_markdown(describe_cell(there, Ref(move.step, move.index))),
        **format_move(scene, move),
    )


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
