"""A layer with one wrong line: its numbers, what each of them should be, and its map beside the right one."""

from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.bugs import (
    BUGS,
    LAYER_LINES,
    LAYER_STEPS,
    Bug,
    find_most_wrong_cell,
    format_line,
    right_lines,
    row_ratio,
    run_layer,
    with_step_reapplied,
)
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.verification.causes import Cause
from pages.lessons.pictures import (
    RunPicture,
    equalize_sizes,
    get_opened_cell,
    make_weights_map,
    show_picture,
    show_side_by_side,
)
from pages.panels.link_controls import choose_option, choose_place, get_choice, make_place_reader, store_choice
from pages.panels.step import make_step_picture
from pages.runs.cache import trace_for
from pages.session.labels import Selection, describe_cell, name_token, selection_of
from pages.session.reveal import are_answers_revealed
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_cause

BUG_MAP_CELL_PX = 34.0  # pixels: the largest cell of a map beside the code
FOUND_BUGS_KEY = "bugs_found"  # in the session: which of them were said right


def choose_bug() -> Bug:
    """Which wrong layer; they are numbered, because a name would tell."""
    names = [*map(str, range(1, len(BUGS) + 1))]
    at, found = (
        get_choice("bug", names[0], make_member_reader(names)),
        st.session_state.setdefault(FOUND_BUGS_KEY, set()),
    )
    if st.session_state.get("bug", at) != at:
        store_choice("guess", None)  # another one is guessed anew
    st.session_state["bug"] = at
    bug = BUGS[int(at) - 1]
    if get_choice("guess", None, make_place_reader(len(LAYER_LINES))) == find_wrong_line(bug):
        found.add(at)
    choose_option("bug", names, words=lambda name: f"{name} ✓" if name in found else name)
    return bug


def setup_for_bug(example: str, bug: Bug) -> Setup:
    """The right run that stands behind a wrong layer."""
    if bug.padded:
        shorter = EXAMPLES[example].batch.splitlines()[-1]
        return Setup(example=example, more=shorter, sentence=1)
    return Setup(example=example, masks=("causal",))


def run_broken_layer(setup: Setup, bug: Bug) -> Trace:
    """What the layer with the wrong line makes of the same inputs."""
    trace = trace_for(setup)
    return trace.holding(run_layer(trace, bug.code))


def write_right_lines(bug: Bug) -> list[str]:
    """The lines as they should be."""
    return [format_line(name, line) for name, line in right_lines(bug).items()]


def find_wrong_line(bug: Bug) -> int:
    """The place of the wrong line among them."""
    return [*LAYER_LINES].index(bug.line)


def guess_line(bug: Bug) -> bool:
    """Asks for the line; whether the answer may be seen now: it was found, or all answers are shown."""
    labels = [str(number) for number, _ in enumerate(LAYER_LINES, 1)]
    guess = choose_place("guess", labels)
    found = guess == find_wrong_line(bug)
    if guess is not None:
        st.markdown(say("lessons.bugs.found" if found else "lessons.bugs.as_meant", number=guess + 1))
    return found or are_answers_revealed()


def format_bug_diff(bug: Bug) -> str:
    """The line as it ran and as it was meant, as programmers write a difference."""
    return f"- {format_line(bug.line, bug.wrong)}\n+ {format_line(bug.line, right_lines(bug)[bug.line])}"


def show_broken_map(broken: Trace, look: Selection) -> None:
    """The weights of the wrong layer."""
    show_broken_picture(broken, make_bug_map("weights", broken, look, "alt"))


def make_bug_map(name: str, trace: Trace, look: Selection, title: str) -> RunPicture:
    """The map of a head; nothing is said of its rows, which may be anything."""
    return make_weights_map(name, trace, look, say(f"lessons.bugs.{title}"), most=BUG_MAP_CELL_PX, outlined=False)


def show_broken_step(broken: Trace, look: Selection) -> None:
    """Any step of the wrong layer."""
    step = choose_option("look", LAYER_STEPS, "output")
    opened = get_opened_cell("step", {"": broken})
    picture = make_step_picture(broken, step, look.at, opened and opened[1])
    show_broken_picture(broken, RunPicture("step", picture, {"": broken}, say("step.alt", step=step)))


def show_broken_picture(broken: Trace, shown: RunPicture) -> None:
    """A picture of the wrong layer; a number that is clicked opens to what the numbers before it give."""
    opened = get_opened_cell(shown.name, {"": broken})
    runs = {"": broken if opened is None else recompute_cell_step(broken, opened[1])}
    show_picture(shown.name, shown.picture, runs, shown.alt, above=partial(show_bug_verdict, broken))


def recompute_cell_step(broken: Trace, cell: Ref) -> Trace:
    """The wrong layer with the step of a cell as it follows from those before it."""
    return broken if broken.step(cell.step).operation is None else with_step_reapplied(broken, cell.step)


def get_made_and_right(broken: Trace, cell: Ref) -> tuple[float, ...]:
    """What stands in a cell, and what follows from the numbers before it."""
    return tuple(run[cell.step][cell.index].item() for run in (broken, recompute_cell_step(broken, cell)))


def show_bug_verdict(broken: Trace, _run: str, cell: Ref) -> None:
    """What stands in the cell, and what the right line makes of the numbers before it."""
    if broken.step(cell.step).operation is None:
        return
    made, right = get_made_and_right(broken, cell)
    st.markdown(say("lessons.bugs.verdict", made=format_exact(made), right=format_exact(right)))


def show_answer(setup: Setup, bug: Bug, broken: Trace, look: Selection) -> None:
    """The wrong line, what it does, and the two maps beside each other."""
    st.code(format_bug_diff(bug), language="diff")
    st.markdown(say("lessons.bugs.cause", reason=say_cause(Cause(bug.code, ()))))
    row = row_ratio(broken, look.batch, look.head, look.query)
    told = {
        "ratio": f"{row.ratio:,.0f}",
        "log": format_fixed(row.log),
        "gap": format_fixed(row.gap),
        "head": look.head + 1,
    }
    told["word"] = escape_markdown(name_token(broken, "T", look.query))
    wrong = find_most_wrong_cell(broken, "scores")
    made, right = get_made_and_right(broken, wrong)
    told |= {
        "place": escape_markdown(describe_cell(broken, wrong)),
        "made": format_fixed(made),
        "right": format_fixed(right),
    }
    st.markdown(say(f"lessons.bugs.sign.{bug.code}", **told))
    pair = [make_bug_map("theirs", broken, look, "theirs"), make_bug_map("ours", trace_for(setup), look, "ours")]
    show_side_by_side(*equalize_sizes(*pair))


def selection_for_bug(setup: Setup) -> Selection:
    """The head and the word that tell most."""
    return selection_of(trace_for(setup), setup)
