"""What the last change did: one sentence, and whether the maps show the difference to before."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import Move, farthest_weight, most_moved
from attention_core.record.expressions import Ref
from attention_core.record.number_text import fixed, signed, telling
from pages.panels.setup_controls import show_refusal
from pages.runs.cache import trace_of
from pages.session import setup_state
from pages.session.fragments import look_at, redraw
from pages.session.labels import describe, real_queries, token
from pages.session.view import Scene
from pages.setup.setup import query
from pages.site.words import literal, say


def show_change(scene: Scene) -> None:
    """A line that is always there, so that nothing moves when it gets something to say."""
    unknown, none = scene.before is None, setup_state.before() is None
    st.session_state["c_difference"] = scene.setup.against is not None and not unknown
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        pin_switch()
        st.toggle(say("change.show"), key="c_difference", on_change=switched, width="content", disabled=unknown)
        if none:
            st.caption(say("change.hint"), width="content")
            st.caption(say("compare.hint"), width="content")
        else:
            st.markdown(say("change.sizes") if unknown else sentence(scene), width="content")
    show_refusal(setup_state.COMPARING)


def pin_switch() -> None:
    """One click: what is on the screen is A from now on, and what it is changed to B. No higher than the line."""
    st.session_state["c_pin"] = False
    st.toggle(say("compare.pin"), key="c_pin", on_change=pin, width="content")


def pin() -> None:
    """Pins A."""
    setup_state.pin()
    redraw()


def switched() -> None:
    """The maps show the difference, or the numbers themselves again."""
    before = setup_state.before()
    wanted = st.session_state["c_difference"] and before is not None
    look_at(against=query(before) if wanted else None)


def sentence(scene: Scene) -> str:
    """What changed most, with its numbers before and now."""
    move = most_moved(scene.moved)
    if move is None:
        listed = {"new": scene.new, "reshaped": scene.reshaped}
        parts = [say(f"change.{kind}", steps=say("fact.comma").join(steps)) for kind, steps in listed.items() if steps]
        return " ".join([*parts, say("change.rest")]) if parts else say("change.nothing")
    if move.step == "weights":
        return moved_weight(scene, move)
    return say("change.same_weights") + moved_most(scene, move)


def moved_weight(scene: Scene, move: Move) -> str:
    """The weight that moved most in the sentence that is looked at, where one moved there."""
    look, trace = scene.look, scene.trace
    seen = farthest_weight(trace, scene.before, (look.batch, look.head, look.query), real_queries(trace))
    if seen is None:
        return moved_most(scene, move)
    _, head, query, key = seen.index
    words = {"query": literal(token(trace, "T", query)), "key": literal(token(trace, "S", key))}
    return say("change.weight", head=head + 1, **words, **figures(scene, seen))


def moved_most(scene: Scene, move: Move) -> str:
    """A step's largest move in words."""
    in_batch = scene.trace.step(move.step).dims[0] == "B"
    there = trace_of(replace(scene.setup, sentence=move.index[0])) if in_batch else scene.trace  # in its own words
    place = literal(describe(there, Ref(move.step, move.index)))
    return say("change.most", place=place, **figures(scene, move))


def figures(scene: Scene, move: Move) -> dict[str, str]:
    """A cell's number before and now, and the difference."""
    now, before = (float(run[move.step][move.index]) for run in (scene.trace, scene.before))
    difference = 0.0 if now == before else now - before
    digits = telling(difference)
    return {
        "before": fixed(before, digits),
        "now": fixed(now, digits),
        "difference": signed(difference, digits),
    }
