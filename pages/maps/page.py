"""The page "maps": shows the attention maps that a file has of any model, with all heads at once."""

import streamlit as st

from pages.lessons.frame import draw_page_frame, show_question
from pages.maps.file_reading import show_file_line, show_readings
from pages.maps.given_file import current_file, show_file_facts, show_form, show_uploader
from pages.maps.head_view import show_all_heads, show_head_files, show_head_scene, show_opened_head

COLUMN_WIDTHS = (5, 6)  # relative widths of two columns: one for the file, one for the open head

with draw_page_frame("maps"):
    show_question("maps")
    at_file, at_head = st.columns(COLUMN_WIDTHS, gap="large")
    with at_file:
        show_uploader()
        given = current_file()
        show_file_line(given)
        show_readings(given)
        show_file_facts(given)
        show_form()
    with at_head:
        show_opened_head(given)
        show_head_files(given)
        show_head_scene(given)
    show_all_heads(given)
