"""The page "maps": shows the attention maps of all heads of any model at once, from a file or an opened model."""

from functools import partial

import streamlit as st

from attention_core.checkpoints.next_pieces import writes_on
from attention_core.checkpoints.output_changes import fills_masks
from attention_core.inputs.files.stored_arrays import printable_name
from pages.lessons.frame import Lesson, draw_drawer, draw_page_frame, fold, show_question
from pages.maps.file_reading import show_file_line, show_readings
from pages.maps.given_file import current_file, show_choices, show_file_facts, show_file_form, show_uploader
from pages.maps.head_view import show_all_heads, show_head_files, show_head_scene, show_opened_head, show_rollout
from pages.maps.hidden_piece import show_hidden
from pages.maps.layer_door import show_layer_door
from pages.maps.model_folder import MASKED, show_found, show_model_form
from pages.maps.next_piece import show_next
from pages.maps.recorded_head import show_steps
from pages.maps.switched_heads import show_heads_off, show_switch
from pages.maps.vector_sum import show_vector_sum
from pages.panels.link_controls import show_choice_refusal
from pages.site.words import escape_markdown, say

COLUMN_WIDTHS = (6, 5)  # relative widths of the columns for all heads and for the open head
MAX_HEADS_BESIDE = 6  # most heads in a layer for which the open head fits beside the grid of all heads
DRAWERS = Lesson(
    "maps",
    drawers={
        "model": show_model_form,
        "next": show_next,
        "sum": show_vector_sum,
        "steps": show_steps,
        "form": show_file_form,
    },
)

with draw_page_frame("maps"):
    show_question("maps")
    at_file, at_facts = st.columns(COLUMN_WIDTHS, gap="large")
    with at_file:
        show_uploader()
        fold(DRAWERS, "model", say("lessons.maps.drawer.model"), show_model_form)
        given = current_file()
        show_file_line(given)
        show_readings(given)
    with at_facts:
        show_file_facts(given)
        if given.is_closed:
            st.info(
                say("lessons.maps.model.closed", name=escape_markdown(printable_name(given.name))),
                icon=":material/info:",
            )
            if given.heads_off:
                st.markdown(say("lessons.maps.off.note", heads=escape_markdown(given.heads_off)))
        if given.recorded is not None:
            show_found(given.recorded)
            show_layer_door(given)
            if writes_on(given.recorded.opened):
                fold(DRAWERS, "next", say("lessons.maps.drawer.next"), partial(show_next, given.recorded))
            elif fills_masks(given.recorded.opened):
                fold(DRAWERS, "next", say("lessons.maps.drawer.hidden"), partial(show_hidden, given.recorded))
    if given.recorded is not None:
        show_choice_refusal(MASKED)
        show_heads_off(given)
    given = show_choices(given)
    _, heads_in_layer, *_ = given.maps.maps.shape
    is_beside = heads_in_layer <= MAX_HEADS_BESIDE
    at_all, at_head = st.columns(COLUMN_WIDTHS, gap="large") if is_beside else (st.container(), st.container())
    with at_all:
        show_all_heads(given)
    with at_head:
        show_opened_head(given)
        if given.recorded is not None:
            show_switch(given)
        show_head_files(given)
        show_head_scene(given)
    if given.recorded is not None:
        fold(DRAWERS, "steps", say("lessons.maps.drawer.steps"), partial(show_steps, given))
        fold(DRAWERS, "sum", say("lessons.maps.drawer.sum"), partial(show_vector_sum, given.recorded))
    show_rollout(given)
    is_of_file = given.recorded is None and not given.is_closed
    st.markdown(say("lessons.maps.given" if is_of_file else "lessons.maps.model.given"))
    draw_drawer(DRAWERS, "form")
