"""The page "maps": shows the attention maps that a file has of any model, with all heads at once."""

import streamlit as st

from pages.lessons.frame import draw_page_frame, show_question
from pages.maps.file_reading import show_file_line, show_readings
from pages.maps.given_file import current_file, show_choices, show_file_facts, show_form, show_uploader
from pages.maps.head_view import show_all_heads, show_head_files, show_head_scene, show_opened_head
from pages.site.words import say

COLUMN_WIDTHS = (6, 5)  # relative widths of two columns: all heads, and the open head
MAX_HEADS_BESIDE = 6  # with more heads in a layer, the open head stands below all heads instead of beside them

with draw_page_frame("maps"):
    show_question("maps")
    at_file, at_facts = st.columns(COLUMN_WIDTHS, gap="large")
    with at_file:
        show_uploader()
        given = current_file()
        show_file_line(given)
        show_readings(given)
    with at_facts:
        show_file_facts(given)
    given = show_choices(given)
    _, heads_in_layer, *_ = given.maps.maps.shape
    is_beside = heads_in_layer <= MAX_HEADS_BESIDE
    at_all, at_head = st.columns(COLUMN_WIDTHS, gap="large") if is_beside else (st.container(), st.container())
    with at_all:
        show_all_heads(given)
    with at_head:
        show_opened_head(given)
        show_head_files(given)
        show_head_scene(given)
    st.markdown(say("lessons.maps.given"))
    show_form()
