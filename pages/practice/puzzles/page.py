"""Puzzles: change a few numbers of a head until it does what is asked."""

import streamlit as st

from pages.lessons.frame import frame, stands_for
from pages.practice.puzzles.board import (
    show_bounds,
    show_buttons,
    show_cells,
    show_hint,
    show_list,
    show_maps,
    show_output,
    show_task,
    width_of_cells,
)
from pages.practice.puzzles.game import follow_key, play

with frame("puzzles") as place:
    follow_key()
    played = play()
    with st.container(horizontal=True, vertical_alignment="center"):
        show_list(played)
        wanted = show_buttons(played)
    show_task(played)
    with st.container(horizontal=True, gap="small"):
        with st.container(width=width_of_cells(played)):
            show_cells(played)
            show_bounds(played)
            if wanted:
                show_hint(played)
        with st.container(width="stretch"):  # what opens under a map takes the room that there is beside the cells
            show_maps(played)
            show_output(played)
    stands_for(played.setup, place)
