"""Shows the page "puzzles": the visitor changes a few numbers of a head until the head meets a goal."""

import streamlit as st

from attention_core.exercises.puzzles import PUZZLES
from pages.lessons.frame import draw_page_frame, show_lesson_run
from pages.practice.class_work import report_progress
from pages.practice.puzzles import game
from pages.practice.puzzles.board import (
    get_cells_width,
    show_bounds,
    show_cells,
    show_puzzle_buttons,
    show_puzzle_list,
    show_puzzle_maps,
    show_task,
)
from pages.practice.puzzles.game import PlayedPuzzle, follow_arrow_key_to_puzzle, load_played_puzzle
from pages.practice.puzzles.hint import show_hint
from pages.practice.puzzles.names import say_title, say_with_cast
from pages.practice.puzzles.output_pictures import show_puzzle_output
from pages.site.words import say


# ---- the message under a solved puzzle: what it teaches, and a button to the next one --------------------------------
def show_solved(played: PlayedPuzzle) -> None:
    """Shows that a puzzle is solved, what it teaches, and a button to the next unsolved puzzle."""
    was_shown = played.puzzle.name in game.remembered_puzzles("puzzles_shown")
    title = say("lessons.puzzles.was_shown" if was_shown else "lessons.puzzles.solved")
    learned = say_with_cast(played, f"lessons.puzzles.done.{played.puzzle.name}")
    st.success(f"### :material/check_circle: {title}\n{learned} {say_count(played)}")
    following = game.next_unsolved_puzzle(played.puzzle.name)
    if following is None:
        st.markdown(say("lessons.puzzles.all_solved", count=len(PUZZLES)))
        return
    number = [*PUZZLES].index(following) + 1
    st.button(
        say("lessons.puzzles.go_on", number=number, title=say_title(PUZZLES[following])),
        key="puzzles_go_on",
        on_click=game.go_to_puzzle,
        args=(following,),
        type="primary",
        icon=":material/arrow_forward:",
    )


def say_count(played: PlayedPuzzle) -> str:
    """Returns the sentence that compares the number of changed numbers with the least number known to suffice."""
    if played.changed < played.fewest:
        return say("lessons.puzzles.with_fewer", fewest=played.fewest)
    if played.changed == played.fewest:
        return say("lessons.puzzles.with_fewest")
    return say("lessons.puzzles.with_more", fewest=played.fewest)


with draw_page_frame("puzzles") as place:
    follow_arrow_key_to_puzzle()
    played = load_played_puzzle()
    report_progress(len(game.remembered_puzzles("puzzles_solved")), len(PUZZLES))
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
        # The arithmetic below an attention map fills the width beside the cells; page.css lets it shrink on a phone.
        with st.container(width="stretch", key="shrinks"):
            show_puzzle_maps(played)
            show_puzzle_output(played)
    show_lesson_run(played.setup, place)
