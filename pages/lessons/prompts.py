"""What a reader does before the answer is shown: predicts it, builds it, lets two race, finds the error."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from attention_core.record.expressions import Ref
from attention_core.variants.influence import Heard, first_overtaking
from pages.panels.link_controls import choice, choose, choose_place, keep, option, slug
from pages.session.reveal import revealed
from pages.site.words import say


def predict(labels: Sequence[str], right: Collection[int], question: str | None = None, name: str = "guess") -> bool:
    """Asks for one of several answers; after it says whether it was right, and whether the answer may be seen now.

    question: where it has numbers of the run in it; else it stands in the content as the label of the guess. name: of
    the guess, where a lesson asks for several."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guess = choose_place(name, labels, question)
        if guess is not None:
            st.markdown(say("ritual.right" if guess in right else "ritual.wrong"), width="content")
    return guess is not None or revealed()


def bet(labels: Sequence[str]) -> Callable[[int | None], None]:
    """Asks which of several will be first. Gives what draws whether that was so, once the first is known."""
    guess = choose_place("guess", labels)

    def settle(first: int | None) -> None:
        if guess is not None and first is not None:
            st.markdown(say("ritual.right" if guess == first else "ritual.wrong"), width="content")

    return settle


def goal(reached: bool, done: str, still: str) -> None:
    """Says whether what was to be built is there. done, still: what is said then, and before."""
    if reached:
        st.success(done, icon=":material/check_circle:")
    else:
        st.info(still, icon=":material/flag:")


def race(found: Mapping[str, Heard], distance: int, starters: Sequence[str], spoken: Callable[[float], str]) -> None:
    """Two of several kinds against each other: at which distance does the one that was behind overtake?

    found: what each kind has at every distance. starters: who begins. spoken: how a number is told."""
    named, kinds = option("kinds"), [*found]
    starters = starters if {*starters} <= {*kinds} else kinds[:2]
    with st.container(horizontal=True):
        one, other = (choose(name, kinds, kind, named) for name, kind in zip(("one", "other"), starters, strict=True))
    turn = first_overtaking(found[one], found[other])
    if turn is None:
        st.caption(say(f"lessons.{slug()}.never" if one != other else f"lessons.{slug()}.same"))
        return
    leader, chaser = sorted((one, other), key=lambda kind: found[kind].at(distance), reverse=True)
    told = {"leader": named(leader), "chaser": named(chaser), "distance": distance, "turn": turn}
    told |= {"more": spoken(found[leader].at(distance)), "less": spoken(found[chaser].at(distance))}
    answer = f" {say(f'lessons.{slug()}.answer', **told)}" if revealed() else ""
    goal(distance == turn, say(f"lessons.{slug()}.overtaken", **told), say(f"lessons.{slug()}.race", **told) + answer)


# ---- find the error --------------------------------------------------------------------------------------------------
MOST_TRIED = 500  # cells that a link may name
CELL = re.compile(r"([a-z_]{1,20})((?:\.[0-9]{1,3}){1,6})")  # "scores.0.0.2.1"


def find(wrong: Collection[Ref]) -> set[Ref] | None:
    """Asks to click the cells that hold an error, and says how many are found. The cells whose answer may be seen; None
    for all of them, once all errors are found or where all answers are shown."""
    seen = tried()
    told = {"found": len(seen.intersection(wrong)), "count": len(wrong)}
    if told["found"] < told["count"] and not revealed():
        st.markdown(say(f"lessons.{slug()}.find", **told))
        return seen
    st.markdown(say(f"lessons.{slug()}.found" if wrong else f"lessons.{slug()}.faultless", **told))
    return None


def try_cell(cell: Ref) -> None:
    """A reader holds this cell wrong: its answer may be seen from now on."""
    name = ".".join(map(str, (cell.step, *cell.index)))
    earlier = choice("guess", (), read_cells)
    if name not in earlier and len(earlier) < MOST_TRIED:
        keep("guess", (*earlier, name))


def tried() -> set[Ref]:
    """The cells that the reader has clicked."""
    found = [CELL.fullmatch(name) for name in choice("guess", (), read_cells)]
    return {Ref(match[1], tuple(map(int, match[2].split(".")[1:]))) for match in found}


def read_cells(text: str) -> tuple[str, ...]:
    """Cells by name, between commas."""
    names = tuple(filter(None, text.split(",")))
    if len(names) > MOST_TRIED or not all(map(CELL.fullmatch, names)):
        raise ValueError(text)
    return names
