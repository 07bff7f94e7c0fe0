"""A layer with one wrong line: its numbers, what each of them should be, and its map beside the right one."""

from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.bugs import (
    BUGS,
    LAYER,
    SHOWN,
    Bug,
    meant,
    most_wrong,
    ran,
    row_ratio,
    should_be,
    written,
)
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed
from attention_core.verification.causes import Cause
from pages.lessons.pictures import Shown, alike, map_shown, opened_in, show, show_beside
from pages.panels.link_controls import choice, choose, choose_place, keep, place_of
from pages.panels.step import step_picture
from pages.runs.cache import trace_of
from pages.session.labels import Look, describe, looked_at, token
from pages.session.reveal import revealed
from pages.setup.setup import Setup, member
from pages.site.words import literal, reason, say

MAP = 34.0  # pixels: the largest cell of a map beside the code
FOUND = "bugs_found"  # in the session: which of them were said right


def choose_bug() -> Bug:
    """Which wrong layer; they are numbered, because a name would tell."""
    names = [*map(str, range(1, len(BUGS) + 1))]
    at, found = choice("bug", names[0], member(names)), st.session_state.setdefault(FOUND, set())
    if st.session_state.get("bug", at) != at:
        keep("guess", None)  # another one is guessed anew
    st.session_state["bug"] = at
    bug = BUGS[int(at) - 1]
    if choice("guess", None, place_of(len(LAYER))) == wrong_line(bug):
        found.add(at)
    choose("bug", names, words=lambda name: f"{name} ✓" if name in found else name)
    return bug


def setup_of(example: str, bug: Bug) -> Setup:
    """The right run that stands behind a wrong layer."""
    if bug.padded:
        shorter = EXAMPLES[example].batch.splitlines()[-1]
        return Setup(example=example, more=shorter, sentence=1)
    return Setup(example=example, masks=("causal",))


def broken_run(setup: Setup, bug: Bug) -> Trace:
    """What the layer with the wrong line makes of the same inputs."""
    trace = trace_of(setup)
    return trace.holding(ran(trace, bug.code))


def code_of(bug: Bug) -> list[str]:
    """The lines as they should be."""
    return [written(name, line) for name, line in meant(bug).items()]


def wrong_line(bug: Bug) -> int:
    """The place of the wrong line among them."""
    return [*LAYER].index(bug.line)


def guess_line(bug: Bug) -> bool:
    """Asks for the line; whether the answer may be seen now: it was found, or all answers are shown."""
    labels = [str(number) for number, _ in enumerate(LAYER, 1)]
    guess = choose_place("guess", labels)
    found = guess == wrong_line(bug)
    if guess is not None:
        st.markdown(say("lessons.bugs.found" if found else "lessons.bugs.as_meant", number=guess + 1))
    return found or revealed()


def difference_of(bug: Bug) -> str:
    """The line as it ran and as it was meant, as programmers write a difference."""
    return f"- {written(bug.line, bug.wrong)}\n+ {written(bug.line, meant(bug)[bug.line])}"


def show_broken_map(broken: Trace, look: Look) -> None:
    """The weights of the wrong layer."""
    show_one(broken, weights_shown("weights", broken, look, "alt"))


def weights_shown(name: str, trace: Trace, look: Look, title: str) -> Shown:
    """The map of a head; nothing is said of its rows, which may be anything."""
    return map_shown(name, trace, look, say(f"lessons.bugs.{title}"), most=MAP, outlined=False)


def show_broken_step(broken: Trace, look: Look) -> None:
    """Any step of the wrong layer."""
    step = choose("look", SHOWN, "output")
    opened = opened_in("step", {"": broken})
    picture = step_picture(broken, step, look.at, opened and opened[1])
    show_one(broken, Shown("step", picture, {"": broken}, say("step.alt", step=step)))


def show_one(broken: Trace, shown: Shown) -> None:
    """A picture of the wrong layer; a number that is clicked opens to what the numbers before it give."""
    opened = opened_in(shown.name, {"": broken})
    runs = {"": broken if opened is None else calculated(broken, opened[1])}
    show(shown.name, shown.picture, runs, shown.alt, above=partial(verdict, broken))


def calculated(broken: Trace, cell: Ref) -> Trace:
    """The wrong layer with the step of a cell as it follows from those before it."""
    return broken if broken.step(cell.step).operation is None else should_be(broken, cell.step)


def made_and_right(broken: Trace, cell: Ref) -> tuple[float, ...]:
    """What stands in a cell, and what follows from the numbers before it."""
    return tuple(run[cell.step][cell.index].item() for run in (broken, calculated(broken, cell)))


def verdict(broken: Trace, _run: str, cell: Ref) -> None:
    """What stands in the cell, and what the right line makes of the numbers before it."""
    if broken.step(cell.step).operation is None:
        return
    made, right = made_and_right(broken, cell)
    st.markdown(say("lessons.bugs.verdict", made=exact(made), right=exact(right)))


def show_answer(setup: Setup, bug: Bug, broken: Trace, look: Look) -> None:
    """The wrong line, what it does, and the two maps beside each other."""
    st.code(difference_of(bug), language="diff")
    st.markdown(say("lessons.bugs.cause", reason=reason(Cause(bug.code, ()))))
    row = row_ratio(broken, look.batch, look.head, look.query)
    told = {"ratio": f"{row.ratio:,.0f}", "log": fixed(row.log), "gap": fixed(row.gap), "head": look.head + 1}
    told["word"] = literal(token(broken, "T", look.query))
    wrong = most_wrong(broken, "scores")
    made, right = made_and_right(broken, wrong)
    told |= {"place": literal(describe(broken, wrong)), "made": fixed(made), "right": fixed(right)}
    st.markdown(say(f"lessons.bugs.sign.{bug.code}", **told))
    pair = [weights_shown("theirs", broken, look, "theirs"), weights_shown("ours", trace_of(setup), look, "ours")]
    show_beside(*alike(*pair))


def looked_at_in(setup: Setup) -> Look:
    """The head and the word that tell most."""
    return looked_at(trace_of(setup), setup)
