"""Opens a Setup from a link or a file without the fields that cannot be computed, and records their errors."""

from collections.abc import Callable, Iterator, Mapping
from time import thread_time

import streamlit as st

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.session import setup_state
from pages.session.linked_state import LinkPart, link_on_arrival
from pages.setup.codec import DEFAULTS, link_key_of, setup_from_link
from pages.setup.setup import DEFAULT_SETUP, Setup, start_in
from pages.site.words import current_language

SOURCES = ("recorded", "file")  # fields that name where all numbers of a run come from
TRYING = 0.4  # seconds of CPU time for trying a link's fields one by one; each of two passes may take this long


def open_linked_setup(check: Callable[[Setup], None], compute: Callable[[Setup], Trace]) -> None:
    """Starts a session from the link in its address, or opens the link that led the visitor here from another page.

    Parts of the link that cannot be read or computed are recorded; the others are shown. check: a function that raises
    AttentionError if `compute` would, but in much less time. compute: a function that returns the run of a Setup.
    """
    is_new = not setup_state.has_begun()
    if is_new:
        setup_state.begin_session()
    link = link_on_arrival(is_new)
    if link:
        open_link(link, is_new, check, compute)
    if setup_state.is_untouched() and setup_state.current_setup() != start_in(current_language()):
        setup_state.begin_session()
        setup_state.renew_editors()


def open_link(
    link: dict[str, str], is_new: bool, check: Callable[[Setup], None], compute: Callable[[Setup], Trace]
) -> None:
    """Shows the Setup of a link; if the session lacks the link's uploaded files, waits until the browser sends those
    that it stores.

    is_new: whether the session begins with this link, so that there is nothing to undo.
    """
    forget_awaited_link()
    wanted, unread = setup_from_link(link)
    open_setup(wanted, unread, "link", check, compute)
    if is_new:
        st.session_state.update(setup_state.EMPTY_HISTORY)
    if any(error.code == "file_away" for _, error in setup_state.workbench().unfit):
        st.session_state[setup_state.AWAITED_KEY] = (wanted.run.file or wanted.comparison.run_a.file, link)


def awaited_file() -> str:
    """Returns the digest of the uploaded files for which the opened link waits; "" if it waits for none."""
    digest, _ = st.session_state.get(setup_state.AWAITED_KEY) or ("", None)
    return digest


def open_awaited_link(check: Callable[[Setup], None], compute: Callable[[Setup], Trace]) -> None:
    """Opens the link that waits for uploaded files once more, now that the session has them."""
    _, link = st.session_state[setup_state.AWAITED_KEY]
    open_link(link, True, check, compute)


def forget_awaited_link() -> None:
    """Stops waiting for uploaded files."""
    st.session_state[setup_state.AWAITED_KEY] = None


def open_setup(
    wanted: Setup,
    unread: list[LinkPart],
    source: str,
    check: Callable[[Setup], None],
    compute: Callable[[Setup], Trace],
) -> None:
    """Shows a Setup from a link or a file; fields that cannot be computed are removed and recorded.

    unread: the parts of the link that could not be parsed. source: "link" or "file", which is recorded too. check,
    compute: functions that check and compute the run of a Setup.
    """
    setup, refused = keep_computable_fields(wanted, check)
    unfit = [(link_key_of(name), error) for name, error in refused.items()]
    if "recorded" in refused:
        keep_screen(refused["recorded"], source)
        return
    compared = setup.comparison.against
    error = None if compared is None else find_failure(Setup(compared), check)
    if error is not None:
        setup = setup.with_fields(against=None, pinned=None)
        unfit.append((link_key_of("against"), error))
    setup, missing = setup_state.drop_missing(setup, compute(setup))
    setup_state.take_setup(setup, [])
    st.session_state["workbench"] = setup_state.WorkbenchState(
        unread=unread + missing,
        unfit=unfit,
        source=source,
    )
    setup_state.renew_editors()


def keep_screen(missing: AttentionError, source: str) -> None:
    """Records why nothing of a link or file is shown: its recorded model is not kept. The screen stays as it was.

    A session that has shown nothing before shows no numbers: those of an example would look like the model's.
    """
    is_empty = setup_state.is_untouched() or setup_state.workbench().is_empty
    st.session_state["workbench"] = setup_state.WorkbenchState(missing=missing, source=source, is_empty=is_empty)


def find_source_error(refused: Mapping[str, AttentionError]) -> AttentionError | None:
    """Returns why the numbers that a Setup names are not there: a recorded model or a file; None if they are.

    The rest of such a Setup would show numbers of an example. refused: the fields of the Setup that cannot be computed,
    with their errors.
    """
    return next((refused[name] for name in SOURCES if name in refused), None)


def keep_computable_fields(linked: Setup, check: Callable[[Setup], None]) -> tuple[Setup, dict[str, AttentionError]]:
    """Returns the Setup without the fields that cannot be computed, and the error of each removed field.

    If a large run has many invalid fields, the time limit may end before all fields are tried. Fields that were not
    tried are removed, too. check: a function that raises AttentionError if a Setup cannot be computed.
    """
    wrong = find_failure(linked, check)
    if wrong is None:
        return linked, {}
    names = [name for name, default in DEFAULTS.items() if linked.value_of(name) != default]
    # the example comes last, because usually some other field is wrong
    likely_first = sorted(names, key="example".__eq__)
    for name in in_time(likely_first):
        without = linked.with_fields(**{name: DEFAULTS[name]})
        if find_failure(without, check) is None:
            return without, {name: wrong}
    setup, refused = DEFAULT_SETUP, dict.fromkeys(names, AttentionError("not_tried"))
    for name in in_time(names):
        attempt = setup.with_fields(**{name: linked.value_of(name)})
        error = find_failure(attempt, check)
        if error is None:
            setup = attempt
            del refused[name]
        else:
            refused[name] = error.without_frames()
    return setup, refused


def in_time(names: list[str]) -> Iterator[str]:
    """Yields the names of a Setup's fields, to be tried one by one, until the time limit TRYING has passed."""
    end = thread_time() + TRYING
    for name in names:
        if thread_time() > end:
            return
        yield name


def find_failure(setup: Setup, check: Callable[[Setup], None]) -> AttentionError | None:
    """Returns the AttentionError that prevents a Setup from being computed; None if the Setup can be computed.

    check: a function that raises this error.
    """
    try:
        check(setup)
    except AttentionError as error:
        return error
    return None
