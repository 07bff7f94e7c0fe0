"""The page "puzzles": the visitor changes a few numbers of a head until it meets a goal."""

import streamlit as st

from pages.lessons.frame import draw_page_frame, show_lesson_run
from pages.practice.puzzles.board import (
    get_cells_width,
    show_bounds,
    show_cells,
    show_puzzle_buttons,
    show_puzzle_list,
    show_puzzle_maps,
    show_task,
)
from pages.practice.puzzles.game import follow_arrow_key_to_puzzle, load_played_puzzle
from pages.practice.puzzles.hint import show_hint
from pages.practice.puzzles.output_pictures import show_puzzle_output
from pages.practice.puzzles.solved import show_solved

with draw_page_frame("puzzles") as place:
    follow_arrow_key_to_puzzle()
    played = load_played_puzzle()
    with st.container(horizontal=True, vertical_alignment="center"):
        show_puzzle_list(played)
        is_hint_wanted = show_puzzle_buttons(played)
    show_task(played)
    with st.container(horizontal=True, gap="small"):
        with st.container(width=get_cells_width(played)):
            show_cells(played)
            if played.solved:
                show_solved(played)
            show_bounds(played)
            if is_hint_wanted:
                show_hint(played)
        # the arithmetic under a map fills the width beside the cells; on a phone it shrinks: page.css
        with st.container(width="stretch", key="shrinks"):
            show_puzzle_maps(played)
            show_puzzle_output(played)
    show_lesson_run(played.setup, place)
