"""The one Setup of a session: where it comes from, how it changes, what was refused, and the way back.

A change is tried before it is taken: where the core refuses it, the refusal is kept for the control that was touched,
the control keeps what was typed, and the screen keeps the last good Setup.
"""

from collections.abc import Callable
from dataclasses import fields, replace

import streamlit as st

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.setup.setup import (
    BESIDES,
    DEFAULT,
    Setup,
    against_of,
    check_link,
    check_parts,
    computed_part,
    from_link,
    key_of,
    pinned_of,
    query,
    seen_from,
    to_link,
)

KEPT = 50  # Setups that undo can go back through
NO_HISTORY: dict = {"past": [], "future": [], "before": None}
NOTHING_WRONG: dict = {"refused": {}, "drafts": {}, "unread": [], "unfit": []}


def current() -> Setup:
    """The Setup on the screen; at the start of a session the one in the link."""
    return st.session_state["setup"]


def open_link(compute: Callable[[Setup], Trace]) -> None:
    """Starts a session from its link, or goes where the link of another page leads; what cannot be read, computed or
    found is named, the rest of it is shown."""
    link = {name: text for name, text in st.query_params.to_dict().items() if name not in BESIDES}
    if "setup" not in st.session_state:
        begin()
        open_setup(*from_link(link), "link", compute)
        st.session_state.update(NO_HISTORY)
    elif st.session_state["arrived"] and link:
        open_setup(*from_link(link), "link", compute)


def begin() -> None:
    """A session in which nothing was changed yet."""
    st.session_state.update(setup=DEFAULT, source="link", **NOTHING_WRONG, **NO_HISTORY)


def adopt(setup: Setup) -> None:
    """Shows a Setup that another page made; undo leads back to what was there."""
    if "setup" not in st.session_state:
        begin()
    take(setup, [])
    new_version()


def open_setup(wanted: Setup, unread: list[tuple[str, str]], source: str, compute: Callable[[Setup], Trace]) -> None:
    """Shows what a link or a file says, as far as it can be computed; what of it cannot is named with its source."""
    setup, refused = as_far_as_it_computes(wanted, compute)
    unfit = [(key_of(name), error) for name, error in refused.items()]
    compared = against_of(setup)
    if compared is not None and (error := failure(compared, compute)) is not None:
        setup, unfit = replace(setup, against=None, pinned=None), [*unfit, (key_of("against"), error)]
    setup, missing = what_is_there(setup, compute(setup))
    take(setup, [])
    st.session_state.update(NOTHING_WRONG | {"unread": unread + missing, "unfit": unfit, "source": source})
    new_version()


def what_is_there(setup: Setup, trace: Trace) -> tuple[Setup, list[tuple[str, str]]]:
    """The Setup without a step or a cell that the run does not have, and these as (key, text)."""
    if setup.step is not None and setup.step not in trace:
        return replace(setup, step=None, cell=None), [("step", setup.step[:40])]
    if setup.cell is not None and not trace.holds(setup.step, setup.cell):
        return replace(setup, cell=None), [("cell", ",".join(map(str, setup.cell)))]
    return setup if setup.cell is None else replace(setup, **place_of(setup, trace)), []


def place_of(setup: Setup, trace: Trace) -> dict[str, int]:
    """The head and the token that go with an opened cell, where the Setup does not choose them."""
    place = dict(zip(trace.step(setup.step).dims, setup.cell, strict=True))
    chosen = {"head": place.get("H"), "token": place.get("T")}
    return {name: at for name, at in chosen.items() if at is not None and getattr(setup, name) is None}


def as_far_as_it_computes(linked: Setup, compute: Callable[[Setup], object]) -> tuple[Setup, dict[str, AttentionError]]:
    """The Setup without the fields that cannot be computed, and why each of them cannot."""
    if failure(linked, compute) is None:
        return linked, {}
    names = [field.name for field in fields(Setup) if getattr(linked, field.name) != field.default]
    for name in sorted(names, key="example".__eq__):  # most often one field alone is wrong, and not the example
        without = replace(linked, **{name: getattr(DEFAULT, name)})
        if failure(without, compute) is None:
            return without, {name: failure(linked, compute)}
    setup, refused = DEFAULT, {}
    for name in names:
        attempt = replace(setup, **{name: getattr(linked, name)})
        error = failure(attempt, compute)
        if error is None:
            setup = attempt
        else:
            refused[name] = error
    return setup, refused


def failure(setup: Setup, compute: Callable[[Setup], object]) -> AttentionError | None:
    """Why a Setup cannot be computed, if it cannot."""
    try:
        compute(setup)
    except AttentionError as error:
        return error
    return None


def show_link() -> None:
    """Writes the Setup into the address bar, where it is not there yet."""
    link = to_link(current())
    if "lang" in st.session_state:
        link["lang"] = st.session_state["lang"]
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)


def change(control: str, compute: Callable[[Setup], Trace], **updates) -> None:
    """Takes a change if it can be computed, with what was refused before if that helps; else keeps the refusal.

    A step or cell that the new run does not have is closed.
    Several changes may need each other (a new width in q and in k): what was refused waits as a draft of its control.
    """
    try:
        check_parts(updates)
    except AttentionError as refusal:
        refuse(control, refusal)
        return
    before, drafts = current(), st.session_state["drafts"]
    waiting = {name: value for draft in drafts.values() for name, value in draft.items()}
    for attempt, settled in (
        (replace(before, **waiting | updates), [*drafts, control]),
        (replace(before, **updates), [control]),
    ):
        try:
            trace = compute(attempt)
            check_link(attempt)  # with what it is compared with
        except AttentionError as refusal:
            error = refusal
            continue
        take(what_is_there(attempt, trace)[0], settled)
        return
    st.session_state["drafts"] = {**drafts, control: updates}
    refuse(control, error)


def take(setup: Setup, settled: list[str]) -> None:
    """Makes a Setup the current one; the controls that are settled have nothing refused any more."""
    if computed_part(setup) != computed_part(current()):
        setup = remember(setup)
    forget(*settled, HISTORY)
    st.session_state.update(setup=setup, unread=[], unfit=[])


def remember(setup: Setup) -> Setup:
    """Puts the current Setup into the history; the new one compares with it where a difference is shown."""
    before = current()
    st.session_state.update(past=[*st.session_state["past"], before][-KEPT:], future=[], before=before)
    return compared_with(setup, before)


def compared_with(setup: Setup, before: Setup) -> Setup:
    """The Setup with the difference to another one, where a difference is shown; what is pinned stays."""
    return setup if setup.against is None or setup.pinned else replace(setup, against=query(before))


def before() -> Setup | None:
    """The Setup that the current one is compared with: the one that the link names, else the one before the change."""
    named = against_of(current())
    return st.session_state["before"] if named is None else named


def look(**updates) -> None:
    """A change of what is looked at (token, head, step, cell): nothing is computed anew, nothing can be refused."""
    st.session_state["setup"] = replace(current(), **updates)


def trail() -> list[tuple[str, tuple[int, ...] | None]]:
    """The cells through which a number was followed to the one that is open, as (step, cell)."""
    passed, here = st.session_state.get("trail", []), (current().step, current().cell)
    return passed if passed and passed[-1] == here else [here]


def follow(step: str, cell: tuple[int, ...]) -> None:
    """Goes on to an operand; what was open stays in the trail. A cell that is in the trail already is gone back to."""
    passed, there = trail(), (step, cell)
    passed = passed[: passed.index(there)] if there in passed else passed
    st.session_state["trail"] = [*passed, there][-KEPT:]


def refuse(control: str, error: AttentionError) -> None:
    """Keeps a refusal for a control."""
    st.session_state["refused"] = {**st.session_state["refused"], control: error}


def forget(*controls: str) -> None:
    """Drops the refusals of controls, and what waits there."""
    for waiting in ("refused", "drafts"):
        kept = {name: what for name, what in st.session_state[waiting].items() if name not in controls}
        st.session_state[waiting] = kept


def refused(control: str) -> AttentionError | None:
    """What was refused at a control, if anything."""
    return st.session_state["refused"].get(control)


def start_over(example: str) -> None:
    """An example as it ships."""
    setup, now = replace(DEFAULT, example=example), current()
    if pinned_of(now) is not None:  # the example is another B
        setup = replace(setup, against=now.against, pinned=now.pinned)
    remember(setup)
    st.session_state.update(setup=setup, before=None, **NOTHING_WRONG)
    new_version()


# ---- A and B ---------------------------------------------------------------------------------------------------------
COMPARING = "comparing"  # pinning, swapping and going back, as a place of refusals


def pin() -> None:
    """What is on the screen is A from now on, and what it is changed to B."""
    pinned = replace(current(), against=query(current()), pinned=current().pinned or "values")
    try:
        check_link(pinned)
    except AttentionError as error:
        refuse(COMPARING, error)
        return
    forget(COMPARING)
    st.session_state["setup"] = pinned


def swap(compute: Callable[[Setup], Trace]) -> None:
    """A becomes B and B becomes A."""
    now = current()
    to_a(replace(now, against=query(now)), compute)


def back(compute: Callable[[Setup], Trace]) -> None:
    """B becomes what A is."""
    to_a(current(), compute)


def to_a(seen: Setup, compute: Callable[[Setup], Trace]) -> None:
    """Shows the settings of A, looked at as `seen` is."""
    setup = seen_from(pinned_of(current()), seen)
    try:
        setup = what_is_there(setup, compute(setup))[0]
    except AttentionError as error:  # its file is held no more
        refuse(COMPARING, error)
        return
    take(setup, [*st.session_state["refused"], *st.session_state["drafts"]])
    new_version()


def swapped(one: Setup, other: Setup) -> bool:
    """Whether each of two Setups is the other one's A: then one was made of the other by a swap."""
    pinned = one.pinned and other.pinned
    return bool(pinned) and (one.against, other.against) == (query(other), query(one)) and query(one) != query(other)


# ---- undo and redo ---------------------------------------------------------------------------------------------------
HISTORY = "history"  # undo and redo, as a place of refusals
MOVES = {"undo": ("past", "future"), "redo": ("future", "past")}


def travel(move: str, compute: Callable[[Setup], Trace]) -> None:
    """undo: the Setup before the last change; redo: the one that undo left. Both seen as the screen is seen now."""
    source, target = MOVES[move]
    if not st.session_state[source]:
        return
    now, *rest = reversed(st.session_state[source])
    left = current()
    kept = [*st.session_state[target], left][-KEPT:]
    seen = compared_with(seen_from(now, left), left)
    if swapped(now, left):
        seen = replace(seen, against=now.against)
    try:
        setup = what_is_there(seen, compute(seen))[0]
    except AttentionError as error:  # its file is held no more
        refuse(HISTORY, error)
        return
    st.session_state.update({source: rest[::-1], target: kept, "setup": setup, "before": left, **NOTHING_WRONG})
    new_version()


def can(move: str) -> bool:
    """Whether there is something to "undo" or to "redo"."""
    return bool(st.session_state[MOVES[move][0]])


def new_version() -> None:
    """Makes editors forget what was typed into them."""
    st.session_state["version"] = version() + 1


def version() -> int:
    """The version that editors carry in their keys."""
    return st.session_state.get("version", 0)


# ---- a screen for a while --------------------------------------------------------------------------------------------
def screen() -> dict:
    """All that the session keeps of its Setup, to be restored."""
    names = ("setup", "source", "past", "future", "before", *NOTHING_WRONG)
    return {name: st.session_state[name] for name in names}


def restore(kept: dict) -> None:
    """Shows a screen that was kept."""
    st.session_state.update(kept)
    renewed()


def stage(setup: Setup, kept: dict) -> None:
    """Shows a Setup for a while, compared with none; undo leads back to a screen that was kept."""
    past = [*kept["past"], kept["setup"]][-KEPT:]
    st.session_state.update(NO_HISTORY | NOTHING_WRONG | {"setup": setup, "past": past})
    renewed()


def renewed() -> None:
    """Editors forget what was typed into them, and nothing of what was looked at is kept for what is shown now."""
    st.session_state.pop("seen", None)
    new_version()
