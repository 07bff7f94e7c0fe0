"""Shows tasks for the visitor: guess an answer before it is shown, reach a goal, compare two kinds, find errors."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from attention_core.record.expressions import Ref
from attention_core.variants.influence import InfluenceByDistance, first_overtaking_distance
from pages.panels.lesson_choices import current_slug, get_choice, store_choice
from pages.panels.link_controls import choose_option, choose_place, option_labels
from pages.panels.live_choice import Followed
from pages.panels.live_frames import show_live_goal
from pages.session.answers import are_answers_revealed, note_answer
from pages.session.staged import is_answered_on_stage
from pages.site.words import say


def predict(labels: Sequence[str], right: Collection[int], question: str | None = None, name: str = "guess") -> bool:
    """Asks the visitor to guess an answer, and shows whether the guess was right; returns whether to show the answer.

    labels: the answers to choose from. right: the indices of the right answers. question: the text of the question;
    None for the label of the choice in the content. name: the name of the choice, if a lesson asks for several guesses.
    On a slide of a lecture that shows the answer, the visitor is not asked, and the result is True.
    """
    if is_answered_on_stage():
        return True
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guess = choose_place(name, labels, question)
        if guess is not None:
            judge_guess(guess in right)
    return guess is not None or are_answers_revealed()


def bet(labels: Sequence[str]) -> Callable[[int | None], None]:
    """Asks the visitor to guess which of several candidates is the fastest; returns a function that judges the guess.

    The returned function takes the index of the fastest candidate, or None if it is not known.
    """
    guess = choose_place("guess", labels)

    def settle(first: int | None) -> None:
        if guess is not None and first is not None:
            judge_guess(guess == first)

    return settle


def judge_guess(is_right: bool) -> None:
    """Records in the session whether the visitor's guess was right, and shows it."""
    note_answer(is_right)
    verdict = "ritual.right" if is_right else "ritual.wrong"
    st.markdown(say(verdict), width="content")


def show_goal(reached: bool, done: str, still: str) -> None:
    """Records in the session whether the goal of an exercise is reached, and shows it.

    done: the text if the goal is reached. still: the text if it is not reached yet.
    """
    note_answer(reached)
    if reached:
        st.success(done, icon=":material/check_circle:")
    else:
        st.info(still, icon=":material/flag:")


def show_race(
    found: Mapping[str, InfluenceByDistance],
    distance: Followed,
    starters: Sequence[str],
    spoken: Callable[[float], str],
) -> None:
    """Shows a task: find the distance from which on a word has more influence in one of two kinds of encoder than in
    the other.

    The answer is the first distance at which the kind with the smaller influence at the start has the larger one.
    found: the influence of each kind, by distance. distance: the slider of the distance. starters: the two default
    kinds. spoken: a function that formats a number.
    """
    slug = current_slug()
    one, other = choose_racers([*found], starters)
    turn = first_overtaking_distance(found[one], found[other])
    if turn is None:
        outcome = "same" if one == other else "never"
        st.caption(say(f"lessons.{slug}.{outcome}"))
        return
    texts = [compare_influences(found, (one, other), each, turn, spoken) for each in distance.options]
    show_live_goal(distance, f"{slug}_race", [each == turn for each in distance.options], texts)


def compare_influences(
    found: Mapping[str, InfluenceByDistance],
    racers: Sequence[str],
    distance: int,
    turn: int,
    spoken: Callable[[float], str],
) -> str:
    """Returns a sentence that says in which of two kinds of encoder a word at this distance has more influence.

    racers: the two kinds. turn: the first distance at which the kind with less influence at the start has more. spoken:
    a function that formats a number.
    """
    slug = current_slug()
    influences = {kind: found[kind].at(distance) for kind in racers}
    leader, chaser = sorted(racers, key=influences.__getitem__, reverse=True)
    label = option_labels("kinds")
    values = {
        "leader": label(leader),
        "chaser": label(chaser),
        "distance": distance,
        "turn": turn,
        "more": spoken(influences[leader]),
        "less": spoken(influences[chaser]),
    }
    if distance == turn:
        return say(f"lessons.{slug}.overtaken", **values)
    still = say(f"lessons.{slug}.race", **values)
    if not are_answers_revealed():
        return still
    answer = say(f"lessons.{slug}.answer", **values)
    return f"{still} {answer}"


def choose_racers(kinds: Sequence[str], starters: Sequence[str]) -> list[str]:
    """Shows the choice of two kinds of encoder to compare, and returns them.

    starters: the kinds that are chosen by default, if both are among `kinds`.
    """
    are_there = all(kind in kinds for kind in starters)
    defaults = starters if are_there else kinds[:2]
    label = option_labels("kinds")
    racers = []
    with st.container(horizontal=True):
        for name, default in zip(("one", "other"), defaults, strict=True):
            racer = choose_option(name, kinds, default, label)
            racers.append(racer)
    return racers


# ---- find the error --------------------------------------------------------------------------------------------------
MAX_TRIED_CELLS = 500  # most clicked cells that a link can contain
# matches the name of a cell, such as "scores.0.0.2.1"
CELL_NAME_PATTERN = re.compile(r"[a-z_]{1,20}(\.[0-9]{1,3}){1,6}")


def ask_to_find_errors(wrong: Collection[Ref]) -> set[Ref] | None:
    """Asks the visitor to click the wrong cells, and shows how many are found.

    Returns the cells whose marks may be shown. Returns None if all marks may be shown, because all errors are found or
    all answers are revealed.
    """
    slug = current_slug()
    tried = get_tried_cells()
    found = tried.intersection(wrong)
    note_answer(bool(wrong) and len(found) == len(wrong))
    counts = {"found": len(found), "count": len(wrong)}
    if len(found) < len(wrong) and not are_answers_revealed():
        st.markdown(say(f"lessons.{slug}.find", **counts))
        return tried
    outcome = "found" if wrong else "faultless"
    st.markdown(say(f"lessons.{slug}.{outcome}", **counts))
    return None


def try_cell(cell: Ref) -> None:
    """Adds a cell to the cells that the visitor clicked as wrong; at most MAX_TRIED_CELLS are stored."""
    name = write_cell_name(cell)
    tried = get_choice("guess", (), read_cell_names)
    is_new = name not in tried
    if is_new and len(tried) < MAX_TRIED_CELLS:
        store_choice("guess", (*tried, name))


def get_tried_cells() -> set[Ref]:
    """Returns the cells that the visitor clicked as wrong."""
    names = get_choice("guess", (), read_cell_names)
    return {read_cell_name(name) for name in names}


def write_cell_name(cell: Ref) -> str:
    """Formats a cell as step and index, such as "scores.0.0.2.1"."""
    numbers = [str(number) for number in cell.index]
    return ".".join([cell.step, *numbers])


def read_cell_name(name: str) -> Ref:
    """Parses a name such as "scores.0.0.2.1" as a cell."""
    step, *numbers = name.split(".")
    return Ref(step, tuple(int(number) for number in numbers))


def read_cell_names(text: str) -> tuple[str, ...]:
    """Parses names of cells, separated by commas. Raises ValueError for another format, or for too many cells."""
    names = tuple(filter(None, text.split(",")))
    if len(names) > MAX_TRIED_CELLS:
        raise ValueError(text)
    for name in names:
        if not CELL_NAME_PATTERN.fullmatch(name):
            raise ValueError(text)
    return names


def after_guess(draw: Callable[..., None]) -> Callable[..., None]:
    """Returns a function that draws an accordion's content only after the visitor has guessed.

    The returned function takes `known` as its first argument; if `known` is False, it shows the request to guess first
    instead of the accordion's content.
    """

    def draw_if_known(known: bool, *given: object) -> None:
        if known:
            draw(*given)
        else:
            st.info(say(f"lessons.{current_slug()}.first"), icon=":material/psychology_alt:")

    return draw_if_known
