"""Shows a sentence about the effect of the last change, and the switch that shows this effect in the maps."""

from collections.abc import Collection, Mapping

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import NOWHERE, StepMove, exchange, find_telling_move, most_moved_weight
from attention_core.explanation.facts import accident_at
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from attention_core.record.number_text import choose_move_decimals, format_fixed, format_signed
from pages.panels.setup_controls import field_control, show_refusal
from pages.runs.cache import cache_in_thread, trace_for
from pages.session import setup_history, setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import count_real_queries, describe_cell, name_token, place_name
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say


def show_last_change(screen: ScreenState) -> None:
    """Shows the sentence about the last change, and the switches that pin the run as A or show the difference.

    Sentence and switches always take two lines, so that the content below never moves.
    """
    can_compare = screen.before is not None and screen.exchange.compared
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        # pins the shown run as A; later runs are B
        pin = field_control("pin", False, lambda _: pin_and_redraw(), label="compare.pin")
        pin.draw(st.toggle, width="content")
        if can_compare:
            is_on = screen.setup.comparison.against is not None
            control = field_control("against", is_on, switch_difference, "c_difference", "change.show")
            control.draw(st.toggle, width="content")
    is_new = setup_state.setup_before() is None
    key = "change_hint" if is_new else None
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key):
        if is_new:
            st.caption(say("change.hint"), width="content")
            st.caption(say("compare.hint"), width="content")
        else:
            st.markdown(describe_last_change(screen), width="content")
    show_refusal(setup_history.COMPARISON_CONTROL)


def pin_and_redraw() -> None:
    """Pins the current Setup as run A of a comparison, and redraws the page."""
    setup_history.pin_current_setup()
    redraw()


def switch_difference(is_on: bool) -> None:
    """Makes the maps of steps show the difference from the previous run; if `is_on` is False, the current run."""
    before = setup_state.setup_before()
    select_and_redraw(against=before.run if is_on and before is not None else None)


# ---- in words --------------------------------------------------------------------------------------------------------
@cache_in_thread
def describe_last_change(screen: ScreenState) -> str:
    """Returns the sentence about what changed most since the previous run, or that the sizes of the runs differ."""
    return say("change.sizes") if screen.before is None else describe_change(screen)


def describe_change(screen: ScreenState) -> str:
    """Returns sentences about the exchanged words and the largest change, with the numbers before and after it."""
    if not screen.exchange.compared:
        return describe_change_among_kept_words(screen)
    sentences = []
    for before, now in screen.exchange.pairs:
        old_word = escape_markdown(printable_token(before))
        new_word = escape_markdown(printable_token(now))
        sentences.append(say("change.exchanged", was=old_word, now=new_word))
    sentences.append(describe_telling_change(screen))
    return "".join(sentences)


def describe_change_among_kept_words(screen: ScreenState) -> str:
    """Returns the sentence about the weight that changed most, apart from those at positions with exchanged words."""
    if not screen.moved:
        return say("change.nothing")
    sizes = screen.trace.sizes()
    exchanged_places = screen.exchange.places
    if any(len(places) == sizes[axis] for axis, places in exchanged_places.items()):
        return say("change.all_words")
    move = find_moved_weight(screen, exchanged_places)
    sentence = say("change.none_moved") if move is None else describe_weight_move(screen, move)
    return say("change.kept_words") + sentence


def find_moved_weight(screen: ScreenState, left_out: Mapping[str, Collection[int]] = NOWHERE) -> StepMove | None:
    """Returns the weight in the selected sentence that changed most since the previous run; None if none changed.

    left_out: the queries ("T") and the keys ("S") that are not compared.
    """
    selection, trace = screen.selection, screen.trace
    row = (selection.batch, selection.head, selection.query)
    query_count = count_real_queries(trace)
    return most_moved_weight(trace, screen.before, row, query_count, left_out)


def describe_telling_change(screen: ScreenState) -> str:
    """Returns the sentence about the most important change; if no number changed, the sentence about new steps."""
    move = find_telling_move(screen.moved)
    if move is None:
        return describe_new_steps(screen)
    if move.step != "weights":
        return say("change.same_weights") + describe_largest_move(screen, move)
    weight_move = find_moved_weight(screen)
    if weight_move is None:
        return describe_largest_move(screen, move)
    return describe_weight_move(screen, weight_move)


def describe_new_steps(screen: ScreenState) -> str:
    """Returns the sentences about steps that the previous run lacked or had in another shape.

    If there are no such steps, returns the sentence that nothing changed.
    """
    comma = say("fact.comma")
    sentences = []
    if screen.new:
        sentences.append(say("change.new", steps=comma.join(screen.new)))
    if screen.reshaped:
        sentences.append(say("change.reshaped", steps=comma.join(screen.reshaped)))
    if not sentences:
        return say("change.nothing")
    return " ".join([*sentences, say("change.rest")])


def describe_weight_move(screen: ScreenState, move: StepMove) -> str:
    """Returns the sentence about an attention weight that changed since the previous run.

    The wording differs if random numbers determine the weight, or if words were exchanged.
    """
    trace = screen.trace
    _, head, query, key = move.index
    values = {
        "head": head + 1,
        "query": escape_markdown(name_token(trace, "T", query)),
        "key": escape_markdown(name_token(trace, "S", key)),
        **format_move(trace, screen.before, move),
    }
    if accident_at(trace, query, [key]) or accident_at(screen.before, query, [key]):
        return say("change.weight_by_chance", **values)
    if screen.exchange.pairs:
        return say("change.weight_after", **values)
    return say("change.weight", **values)


def describe_largest_move(screen: ScreenState, move: StepMove) -> str:
    """Returns the sentence about a step's largest change, or that a sentence of the batch was replaced by another."""
    trace, before = screen.trace, screen.before
    numbers = format_move(trace, before, move)
    sentence = move.index[0]
    is_of_batch = trace.step(move.step).dims[0] == "B"
    if is_of_batch:
        trace = trace_for(screen.setup.with_fields(sentence=sentence))
        before = trace_for(screen.named.with_fields(sentence=sentence))
    if not exchange(trace, before).compared:
        return say("change.other_sentence", sentence=place_name(trace, "B", sentence))
    place = describe_cell(trace, Ref(move.step, move.index))
    return say("change.most", place=escape_markdown(place), **numbers)


def format_move(trace: Trace, before: Trace, move: StepMove) -> dict[str, str]:
    """Returns a cell's number in the previous and the current run, and their difference, as texts."""
    number_now = float(trace[move.step][move.index])
    number_before = float(before[move.step][move.index])
    difference = 0.0 if number_now == number_before else number_now - number_before
    digits = choose_move_decimals(number_before, number_now)
    return {
        "before": format_fixed(number_before, digits),
        "now": format_fixed(number_now, digits),
        "difference": format_signed(difference, digits),
    }
