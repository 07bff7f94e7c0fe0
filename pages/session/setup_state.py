"""The one Setup of a session: where it comes from, how it changes, what was refused, and the way back.

A change is tried before it is taken: where the core refuses it, the refusal is kept for the control that was touched,
the control keeps what was typed, and the screen keeps the last good Setup.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from time import thread_time

import streamlit as st

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.setup.setup import (
    DEFAULT_SETUP,
    OTHER_LINK_KEYS,
    Setup,
    check_link_length,
    check_link_values,
    compared_setup_of,
    link_key_of,
    pinned_setup_of,
    setup_from_link,
    setup_to_query,
    start_in,
    to_address,
    with_view_of,
    without_view,
)
from pages.site.words import current_language

MAX_HISTORY = 50  # Setups that undo can go back through
TRYING = 0.4  # seconds of the processor for trying the fields of a link one by one, twice: what others do counts not
EMPTY_HISTORY: dict = {"past": [], "future": [], "before": None}
NO_REFUSALS: dict = {"refused": {}, "drafts": {}, "unread": [], "unfit": []}


def current_setup() -> Setup:
    """The Setup on the screen; at the start of a session the one in the link."""
    return st.session_state["setup"]


def open_linked_setup(check: Callable[[Setup], None], compute: Callable[[Setup], Trace]) -> None:
    """Starts a session from its link, or goes where the link of another page leads; what cannot be read, computed or
    found is named, the rest of it is shown. check: raises AttentionError where compute would, in a small part of its
    time."""
    link = {name: text for name, text in st.query_params.to_dict().items() if name not in OTHER_LINK_KEYS}
    if "setup" not in st.session_state:
        begin_session()
        if any(not name.startswith("utm_") for name in link):
            open_setup(*setup_from_link(link), "link", check, compute)
            st.session_state.update(EMPTY_HISTORY)
    elif st.session_state["arrived"] and link:
        open_setup(*setup_from_link(link), "link", check, compute)
    if untouched() and current_setup() != start_in(current_language()):
        begin_session()
        renew_editors()


def begin_session() -> None:
    """A session in which nothing was changed yet: its language says what it starts with."""
    start = start_in(current_language())
    st.session_state.update(setup=start, start=start, source="link", **NO_REFUSALS, **EMPTY_HISTORY)


def untouched() -> bool:
    """Whether the screen is still the one that the session's language gave it: it then follows the language."""
    session = st.session_state
    tried = (session["past"], session["future"], session["refused"], session["drafts"])
    return session.get("start") == current_setup() and not any(tried)


def adopt_setup(setup: Setup) -> None:
    """Shows a Setup that another page made; undo leads back to what was there."""
    if "setup" not in st.session_state:
        begin_session()
    take_setup(setup, [])
    renew_editors()


def open_setup(
    wanted: Setup,
    unread: list[tuple[str, str]],
    source: str,
    check: Callable[[Setup], None],
    compute: Callable[[Setup], Trace],
) -> None:
    """Shows what a link or a file says, as far as it can be computed; what of it cannot is named with its source."""
    setup, refused = keep_computable_fields(wanted, check)
    unfit = [(link_key_of(name), error) for name, error in refused.items()]
    compared = compared_setup_of(setup)
    if compared is not None and (error := find_failure(compared, check)) is not None:
        setup, unfit = replace(setup, against=None, pinned=None), [*unfit, (link_key_of("against"), error)]
    setup, missing = drop_missing_cell(setup, compute(setup))
    take_setup(setup, [])
    said = {"unread": unread + missing, "unfit": unfit, "source": source, "start": None}
    st.session_state.update(NO_REFUSALS | said)
    renew_editors()


def drop_missing_cell(setup: Setup, trace: Trace) -> tuple[Setup, list[tuple[str, str]]]:
    """The Setup without a step or a cell that the run does not have, and these as (key, text)."""
    if setup.step is not None and setup.step not in trace:
        return replace(setup, step=None, cell=None), [("step", setup.step[:40])]
    if setup.cell is not None and not trace.holds(setup.step, setup.cell):
        return replace(setup, cell=None), [("cell", ",".join(map(str, setup.cell)))]
    return setup if setup.cell is None else replace(setup, **view_fields_for_cell(setup, trace)), []


def view_fields_for_cell(setup: Setup, trace: Trace) -> dict[str, int]:
    """The head and the token that go with an opened cell, where the Setup does not choose them."""
    place = dict(zip(trace.step(setup.step).dims, setup.cell, strict=True))
    chosen = {"head": place.get("H"), "token": place.get("T")}
    return {name: at for name, at in chosen.items() if at is not None and getattr(setup, name) is None}


def keep_computable_fields(linked: Setup, check: Callable[[Setup], None]) -> tuple[Setup, dict[str, AttentionError]]:
    """The Setup without the fields that cannot be computed, and why each of them cannot.

    With many wrong fields of a large run there may be no time to try all; what was not tried is left out as well.
    """
    wrong = find_failure(linked, check)
    if wrong is None:
        return linked, {}
    names = [field.name for field in fields(Setup) if getattr(linked, field.name) != field.default]
    for name in in_time(
        sorted(names, key="example".__eq__)
    ):  # most often one field alone is wrong, and not the example
        without = replace(linked, **{name: getattr(DEFAULT_SETUP, name)})
        if find_failure(without, check) is None:
            return without, {name: wrong}
    setup, refused = DEFAULT_SETUP, dict.fromkeys(names, AttentionError("not_tried"))
    for name in in_time(names):
        attempt = replace(setup, **{name: getattr(linked, name)})
        error = find_failure(attempt, check)
        if error is None:
            setup = attempt
            del refused[name]
        else:
            refused[name] = error
    return setup, refused


def in_time(names: list[str]) -> Iterator[str]:
    """One name after the other, until the time to try them is up."""
    end = thread_time() + TRYING
    for name in names:
        if thread_time() > end:
            return
        yield name


def find_failure(setup: Setup, check: Callable[[Setup], None]) -> AttentionError | None:
    """Why a Setup cannot be computed, if it cannot."""
    try:
        check(setup)
    except AttentionError as error:
        return error
    return None


def write_setup_link() -> None:
    """Writes the Setup into the address bar, where it is not there yet."""
    link = to_address(current_setup(), current_language())
    if "lang" in st.session_state:
        link["lang"] = st.session_state["lang"]
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)


def change_setup(control: str, compute: Callable[[Setup], Trace], **updates) -> None:
    """Takes a change if it can be computed, with what was refused before if that helps; else keeps the refusal.

    A step or cell that the new run does not have is closed.
    Several changes may need each other (a new width in q and in k): what was refused waits as a draft of its control.
    """
    try:
        check_link_values(updates)
    except AttentionError as refusal:
        store_refusal(control, refusal)
        return
    before, drafts = current_setup(), st.session_state["drafts"]
    waiting = {name: value for draft in drafts.values() for name, value in draft.items()}
    for attempt, settled in (
        (replace(before, **waiting | updates), [*drafts, control]),
        (replace(before, **updates), [control]),
    ):
        try:
            trace = compute(attempt)
            check_link_length(attempt)  # with what it is compared with
        except AttentionError as refusal:
            error = refusal
            continue
        take_setup(drop_missing_cell(attempt, trace)[0], settled)
        return
    st.session_state["drafts"] = {**drafts, control: updates}
    store_refusal(control, error)


def take_setup(setup: Setup, settled: list[str]) -> None:
    """Makes a Setup the current one; the controls that are settled have nothing refused any more."""
    if without_view(setup) != without_view(current_setup()):
        setup = push_history(setup)
    forget_refusals(*settled, HISTORY_CONTROL)
    st.session_state.update(setup=setup, unread=[], unfit=[])


def push_history(setup: Setup) -> Setup:
    """Puts the current Setup into the history; the new one compares with it where a difference is shown."""
    before = current_setup()
    st.session_state.update(past=[*st.session_state["past"], before][-MAX_HISTORY:], future=[], before=before)
    return with_comparison(setup, before)


def with_comparison(setup: Setup, before: Setup) -> Setup:
    """The Setup with the difference to another one, where a difference is shown; what is pinned stays."""
    return setup if setup.against is None or setup.pinned else replace(setup, against=setup_to_query(before))


def setup_before() -> Setup | None:
    """The Setup that the current one is compared with: the one that the link names, else the one before the change."""
    named = compared_setup_of(current_setup())
    return st.session_state["before"] if named is None else named


def select(**updates) -> None:
    """A change of what is looked at (token, head, step, cell): nothing is computed anew, nothing can be refused."""
    st.session_state["setup"] = replace(current_setup(), **updates)


def get_trail() -> list[tuple[str, tuple[int, ...] | None]]:
    """The cells through which a number was followed to the one that is open, as (step, cell)."""
    passed, here = st.session_state.get("trail", []), (current_setup().step, current_setup().cell)
    return passed if passed and passed[-1] == here else [here]


def extend_trail(step: str, cell: tuple[int, ...]) -> None:
    """Goes on to an operand; what was open stays in the trail. A cell that is in the trail already is gone back to."""
    passed, there = get_trail(), (step, cell)
    passed = passed[: passed.index(there)] if there in passed else passed
    st.session_state["trail"] = [*passed, there][-MAX_HISTORY:]


def store_refusal(control: str, error: AttentionError) -> None:
    """Keeps a refusal for a control."""
    st.session_state["refused"] = {**st.session_state["refused"], control: error}


def forget_refusals(*controls: str) -> None:
    """Drops the refusals of controls, and what waits there."""
    for waiting in ("refused", "drafts"):
        kept = {name: what for name, what in st.session_state[waiting].items() if name not in controls}
        st.session_state[waiting] = kept


def get_refusal(control: str) -> AttentionError | None:
    """What was refused at a control, if anything."""
    return st.session_state["refused"].get(control)


def open_example(example: str) -> None:
    """An example as it ships."""
    setup, now = replace(DEFAULT_SETUP, example=example), current_setup()
    if pinned_setup_of(now) is not None:  # the example is another B
        setup = replace(setup, against=now.against, pinned=now.pinned)
    push_history(setup)
    st.session_state.update(setup=setup, before=None, **NO_REFUSALS)
    renew_editors()


# ---- A and B ---------------------------------------------------------------------------------------------------------
COMPARISON_CONTROL = "comparing"  # pinning, swapping and going back, as a place of refusals


def pin_current_setup() -> None:
    """What is on the screen is A from now on, and what it is changed to B."""
    pinned = replace(
        current_setup(), against=setup_to_query(current_setup()), pinned=current_setup().pinned or "values"
    )
    try:
        check_link_length(pinned)
    except AttentionError as error:
        store_refusal(COMPARISON_CONTROL, error)
        return
    forget_refusals(COMPARISON_CONTROL)
    st.session_state["setup"] = pinned


def swap_a_and_b(compute: Callable[[Setup], Trace]) -> None:
    """A becomes B and B becomes A."""
    now = current_setup()
    show_a(replace(now, against=setup_to_query(now)), compute)


def reset_b_to_a(compute: Callable[[Setup], Trace]) -> None:
    """B becomes what A is."""
    show_a(current_setup(), compute)


def show_a(seen: Setup, compute: Callable[[Setup], Trace]) -> None:
    """Shows the settings of A, looked at as `seen` is."""
    setup = with_view_of(pinned_setup_of(current_setup()), seen)
    try:
        setup = drop_missing_cell(setup, compute(setup))[0]
    except AttentionError as error:  # its file is held no more
        store_refusal(COMPARISON_CONTROL, error)
        return
    take_setup(setup, [*st.session_state["refused"], *st.session_state["drafts"]])
    renew_editors()


def are_swapped(one: Setup, other: Setup) -> bool:
    """Whether each of two Setups is the other one's A: then one was made of the other by a swap."""
    pinned = one.pinned and other.pinned
    return (
        bool(pinned)
        and (one.against, other.against) == (setup_to_query(other), setup_to_query(one))
        and setup_to_query(one) != setup_to_query(other)
    )


# ---- undo and redo ---------------------------------------------------------------------------------------------------
HISTORY_CONTROL = "history"  # undo and redo, as a place of refusals
HISTORY_MOVES = {"undo": ("past", "future"), "redo": ("future", "past")}


def move_in_history(move: str, compute: Callable[[Setup], Trace]) -> None:
    """undo: the Setup before the last change; redo: the one that undo left. Both seen as the screen is seen now."""
    source, target = HISTORY_MOVES[move]
    if not st.session_state[source]:
        return
    now, *rest = reversed(st.session_state[source])
    left = current_setup()
    kept = [*st.session_state[target], left][-MAX_HISTORY:]
    seen = with_comparison(with_view_of(now, left), left)
    if are_swapped(now, left):
        seen = replace(seen, against=now.against)
    try:
        setup = drop_missing_cell(seen, compute(seen))[0]
    except AttentionError as error:  # its file is held no more
        store_refusal(HISTORY_CONTROL, error)
        return
    st.session_state.update({source: rest[::-1], target: kept, "setup": setup, "before": left, **NO_REFUSALS})
    renew_editors()


def can_move(move: str) -> bool:
    """Whether there is something to "undo" or to "redo"."""
    return bool(st.session_state[HISTORY_MOVES[move][0]])


def renew_editors() -> None:
    """Makes editors forget what was typed into them."""
    st.session_state["version"] = editors_version() + 1


def editors_version() -> int:
    """The version that editors carry in their keys."""
    return st.session_state.get("version", 0)


# ---- a screen for a while --------------------------------------------------------------------------------------------
def save_screen() -> dict:
    """All that the session keeps of its Setup, to be restored."""
    names = ("setup", "source", "past", "future", "before", *NO_REFUSALS)
    return {name: st.session_state[name] for name in names}


def restore_screen(kept: dict) -> None:
    """Shows a screen that was kept."""
    st.session_state.update(kept)
    renew_editors_and_view()


def show_temporarily(setup: Setup, kept: dict) -> None:
    """Shows a Setup for a while, compared with none; undo leads back to a screen that was kept."""
    past = [*kept["past"], kept["setup"]][-MAX_HISTORY:]
    st.session_state.update(EMPTY_HISTORY | NO_REFUSALS | {"setup": setup, "past": past})
    renew_editors_and_view()


def renew_editors_and_view() -> None:
    """Editors forget what was typed into them, and nothing of what was looked at is kept for what is shown now."""
    st.session_state.pop("seen", None)
    renew_editors()
