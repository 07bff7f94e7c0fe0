"""What the last change did: one sentence, and whether the maps show the difference to before."""

import streamlit as st

from attention_core import Trace
from attention_core.cells import Ref
from attention_core.change import Move, most_moved
from attention_core.numerals import fixed, signed
from pages.shared import state
from pages.shared.places import describe
from pages.shared.scene import Scene
from pages.shared.setup import query
from pages.shared.words import literal, say


def show_change(scene: Scene) -> None:
    """A line that is always there, so that nothing moves when it gets something to say."""
    with st.container(horizontal=True, vertical_alignment="center", height=LINE, border=False):
        before = state.before()
        if before is None:
            st.caption(say("change.hint"), width="content")
            return
        st.session_state["c_difference"] = scene.setup.against is not None
        st.toggle(
            say("change.show"), key="c_difference", on_change=switched, width="content", disabled=scene.apart is None
        )
        st.markdown(sentence(scene), width="content")


LINE = 34  # pixels


def switched() -> None:
    """The maps show the difference, or the numbers themselves again."""
    before = state.before()
    wanted = st.session_state["c_difference"] and before is not None
    state.look(against=query(before) if wanted else None)


def sentence(scene: Scene) -> str:
    """What changed most, with its numbers before and now."""
    if scene.apart is None or "weights" not in scene.apart:
        return say("change.sizes")
    move = most_moved(scene.moved)
    if move is None:
        return say("change.new", steps=say("fact.comma").join(scene.new)) if scene.new else say("change.nothing")
    return say("change.same_weights") * ("weights" not in scene.moved) + moved_most(scene.trace, scene.apart, move)


def moved_most(trace: Trace, apart: Trace, move: Move) -> str:
    """A step's largest move in words."""
    now, difference = float(trace[move.step][move.index]), float(apart[move.step][move.index])
    place = literal(describe(trace, Ref(move.step, move.index)))
    values = {"before": fixed(now - difference), "now": fixed(now), "difference": signed(difference)}
    return say("change.most", place=place, **values)
