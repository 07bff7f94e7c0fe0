"""The message under a solved puzzle: what it teaches, and a button to the next one."""

import streamlit as st

from attention_core.exercises.puzzles import PUZZLES
from pages.practice.puzzles import game
from pages.practice.puzzles.cast import say_title, say_with_cast
from pages.practice.puzzles.game import PlayedPuzzle
from pages.site.words import say


def show_solved(played: PlayedPuzzle) -> None:
    """Shows that a puzzle is solved, what it teaches, and a button to the next unsolved one."""
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
    """The sentence that compares the number of changes with the fewest known to be enough."""
    if played.changed < played.fewest:
        return say("lessons.puzzles.with_fewer", fewest=played.fewest)
    if played.changed == played.fewest:
        return say("lessons.puzzles.with_fewest")
    return say("lessons.puzzles.with_more", fewest=played.fewest)
