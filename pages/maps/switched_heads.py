"""Ablates heads of an opened model (switches them off), and shows what the model predicts with and without
these heads.
"""

from dataclasses import replace

import streamlit as st

from attention_core.checkpoints.next_pieces import writes_on
from attention_core.checkpoints.output_changes import (
    find_predicted_place,
    last_vectors,
    list_piece_changes,
)
from attention_core.comparison.measures import measure_moves
from pages.lessons.frame import show_refusal
from pages.maps.given_file import GivenFile
from pages.maps.head_names import name_heads_off
from pages.maps.model_folder import FOLDER, OFF, open_model, read_model_text
from pages.maps.read_file import CHANGE, SIDE, WITHOUT
from pages.panels.lesson_choices import get_choice
from pages.panels.link_controls import choose_option, show_choice_refusal
from pages.panels.markdown_table import NUMBERS, WORDS, make_table
from pages.runs.checkpoint_store import RecordedText
from pages.session.labels import share_in_tenths
from pages.session.opened_drawers import scroll_here
from pages.site.words import escape_markdown, say

SWITCHED_KEY = "maps_switched"  # session key: True after heads were ablated; the page then scrolls to their names
COMPARED_PIECES = 5  # most likely pieces shown for each of the two runs


def show_heads_off(given: GivenFile) -> None:
    """Shows which heads of the model are ablated, what the model predicts with and without them, and a button that
    restores all heads.
    """
    show_choice_refusal(OFF)
    if not given.recorded.wanted.off:
        return
    with st.container(border=True, key="maps_off", gap="small"):
        scroll_here("maps_off", is_new=st.session_state.pop(SWITCHED_KEY, False))
        st.markdown(say("lessons.maps.off.named", heads=escape_markdown(name_heads_off(given.recorded))))
        show_output_change(given.recorded)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            choose_option(SIDE, (WITHOUT, CHANGE))
            puts_back = st.button(say("lessons.maps.off.back"), key="maps_all_heads", icon=":material/undo:")
        if puts_back:
            switch_heads(given.recorded, ())


def show_switch(given: GivenFile) -> None:
    """Shows the button that ablates the open head (or all heads of the open mean) in the model, or restores it."""
    text, off = given.recorded, set(given.recorded.wanted.off)
    heads_in_layer = given.maps.maps.shape[1]
    places = [divmod(number, heads_in_layer) for number in given.reading.mean] or [given.opened]
    heads = {(text.maps.number_of(given.view.group, layer), head) for layer, head in places}
    is_off = heads <= off
    action = "on" if is_off else "off"
    label = say(f"lessons.maps.off.switch_{action}{'_several' if len(heads) > 1 else ''}", count=len(heads))
    icon = ":material/toggle_on:" if is_off else ":material/toggle_off:"
    if st.button(label, key="maps_switch", icon=icon, help=say("lessons.maps.off.help")):
        switch_heads(text, tuple(sorted(off - heads if is_off else off | heads)))


def switch_heads(text: RecordedText, off: tuple[tuple[int, int], ...]) -> None:
    """Lets the model read its text again with the given heads ablated; shows the error if that is refused."""
    st.session_state[SWITCHED_KEY] = bool(off)
    with show_refusal():
        open_model(get_choice(FOLDER, "", read_model_text), replace(text.wanted, off=off))
    st.session_state.pop(SWITCHED_KEY)  # reached only after an error, because open_model ends the script run


# ---- what changes ----------------------------------------------------------------------------------------------------
def show_output_change(text: RecordedText) -> None:
    """Shows the likeliest next pieces with all heads and with some ablated; for a model without predictions, how far
    its vectors moved.
    """
    before, after = (last_vectors(each.maps.recording) for each in (text.whole, text))
    if before is None:
        st.caption(say("lessons.maps.off.returns_nothing"))
        return
    place = find_predicted_place(text.opened, text.inputs)
    if place is None:
        st.markdown(tell_moves(text))
        return
    changes = list_piece_changes(text.opened, before[place], after[place], COMPARED_PIECES)
    kind = "next" if writes_on(text.opened) else "mask"
    heading = [say(f"lessons.maps.off.{name}") for name in (kind, "before", "after")]
    shares = [[share_in_tenths(share) for share in (each.before, each.after)] for each in changes]
    rows = [[escape_markdown(each.shown), *row] for each, row in zip(changes, shares, strict=True)]
    st.markdown(make_table(heading, rows, [WORDS, NUMBERS, NUMBERS]))


def tell_moves(text: RecordedText) -> str:
    """Returns the sentence about how far ablation moved the model's output vectors, and a hint if the text has no
    masked piece to predict.
    """
    before, after = (last_vectors(each.maps.recording) for each in (text.whole, text))
    moves, shown = measure_moves(before, after), text.inputs.further_shown or text.inputs.shown
    if len(moves) != len(shown):
        return say("lessons.maps.off.moved_one", most=share_in_tenths(float(moves.max())))
    farthest = int(moves.argmax())
    told = say(
        "lessons.maps.off.moved",
        mean=share_in_tenths(float(moves.mean())),
        most=share_in_tenths(float(moves[farthest])),
        piece=escape_markdown(shown[farthest]),
    )
    mask = find_mask(text)
    return f"{told} {say('lessons.maps.off.no_mask', mask=escape_markdown(mask))}" if mask else told


def find_mask(text: RecordedText) -> str:
    """Returns the mask token, such as [MASK], of a model that predicts masked pieces; "" for any other model."""
    if text.opened.tokenizer is None or text.opened.model.get_output_embeddings() is None:
        return ""
    mask = text.opened.tokenizer.mask
    return "" if mask is None else mask.token
