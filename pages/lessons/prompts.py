"""What a reader does before the answer is shown: predicts it, builds it, lets two race, finds the error."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from attention_core.record.expressions import Ref
from attention_core.variants.influence import InfluenceByDistance, first_overtaking_distance
from pages.panels.link_controls import (
    choose_option,
    choose_place,
    current_slug,
    get_choice,
    option_labels,
    store_choice,
)
from pages.session.reveal import are_answers_revealed
from pages.site.words import say


def predict(labels: Sequence[str], right: Collection[int], question: str | None = None, name: str = "guess") -> bool:
    """Asks for one of several answers; after it says whether it was right, and whether the answer may be seen now.

    question: where it has numbers of the run in it; else it stands in the content as the label of the guess. name: of
    the guess, where a lesson asks for several."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guess = choose_place(name, labels, question)
        if guess is not None:
            st.markdown(say("ritual.right" if guess in right else "ritual.wrong"), width="content")
    return guess is not None or are_answers_revealed()


def bet(labels: Sequence[str]) -> Callable[[int | None], None]:
    """Asks which of several will be first. Gives what draws whether that was so, once the first is known."""
    guess = choose_place("guess", labels)

    def settle(first: int | None) -> None:
        if guess is not None and first is not None:
            st.markdown(say("ritual.right" if guess == first else "ritual.wrong"), width="content")

    return settle


def show_goal(reached: bool, done: str, still: str) -> None:
    """Says whether what was to be built is there. done, still: what is said then, and before."""
    if reached:
        st.success(done, icon=":material/check_circle:")
    else:
        st.info(still, icon=":material/flag:")


def show_race(
    found: Mapping[str, InfluenceByDistance], distance: int, starters: Sequence[str], spoken: Callable[[float], str]
) -> None:
    """Two of several kinds against each other: at which distance does the one that was behind overtake?

    found: what each kind has at every distance. starters: who begins. spoken: how a number is told."""
    named, kinds = option_labels("kinds"), [*found]
    starters = starters if {*starters} <= {*kinds} else kinds[:2]
    with st.container(horizontal=True):
        one, other = (
            choose_option(name, kinds, kind, named) for name, kind in zip(("one", "other"), starters, strict=True)
        )
    turn = first_overtaking_distance(found[one], found[other])
    if turn is None:
        st.caption(say(f"lessons.{current_slug()}.never" if one != other else f"lessons.{current_slug()}.same"))
        return
    leader, chaser = sorted((one, other), key=lambda kind: found[kind].at(distance), reverse=True)
    told = {"leader": named(leader), "chaser": named(chaser), "distance": distance, "turn": turn}
    told |= {"more": spoken(found[leader].at(distance)), "less": spoken(found[chaser].at(distance))}
    answer = f" {say(f'lessons.{current_slug()}.answer', **told)}" if are_answers_revealed() else ""
    show_goal(
        distance == turn,
        say(f"lessons.{current_slug()}.overtaken", **told),
        say(f"lessons.{current_slug()}.race", **told) + answer,
    )


# ---- find the error --------------------------------------------------------------------------------------------------
MAX_TRIED_CELLS = 500  # cells that a link may name
CELL_NAME_PATTERN = re.compile(r"([a-z_]{1,20})((?:\.[0-9]{1,3}){1,6})")  # "scores.0.0.2.1"


def ask_to_find_errors(wrong: Collection[Ref]) -> set[Ref] | None:
    """Asks to click the cells that hold an error, and says how many are found. The cells whose answer may be seen; None
    for all of them, once all errors are found or where all answers are shown."""
    seen = get_tried_cells()
    told = {"found": len(seen.intersection(wrong)), "count": len(wrong)}
    if told["found"] < told["count"] and not are_answers_revealed():
        st.markdown(say(f"lessons.{current_slug()}.find", **told))
        return seen
    st.markdown(say(f"lessons.{current_slug()}.found" if wrong else f"lessons.{current_slug()}.faultless", **told))
    return None


def try_cell(cell: Ref) -> None:
    """A reader holds this cell wrong: its answer may be seen from now on."""
    name = ".".join(map(str, (cell.step, *cell.index)))
    earlier = get_choice("guess", (), read_cell_names)
    if name not in earlier and len(earlier) < MAX_TRIED_CELLS:
        store_choice("guess", (*earlier, name))


def get_tried_cells() -> set[Ref]:
    """The cells that the reader has clicked."""
    found = [CELL_NAME_PATTERN.fullmatch(name) for name in get_choice("guess", (), read_cell_names)]
    return {Ref(match[1], tuple(map(int, match[2].split(".")[1:]))) for match in found}


def read_cell_names(text: str) -> tuple[str, ...]:
    """Cells by name, between commas."""
    names = tuple(filter(None, text.split(",")))
    if len(names) > MAX_TRIED_CELLS or not all(map(CELL_NAME_PATTERN.fullmatch, names)):
        raise ValueError(text)
    return names
