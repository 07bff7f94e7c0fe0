"""Finds the visitor for whom a thread works: the visitor of the thread's session, or the one who requested a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

NOBODY = ""
# the visitor, for threads without a session
ASKING_VISITOR: ContextVar[str] = ContextVar("asking_visitor", default=NOBODY)


def current_visitor() -> str:
    """Returns the name of the session for which this thread works; NOBODY if there is none."""
    context = get_script_run_ctx(suppress_warning=True)
    return ASKING_VISITOR.get() if context is None else context.session_id


@contextmanager
def work_for(visitor: str) -> Iterator[None]:
    """Records for which visitor this thread works, if it has no session."""
    token = ASKING_VISITOR.set(visitor)
    try:
        yield
    finally:
        ASKING_VISITOR.reset(token)


def has_asker_left() -> bool:
    """Returns whether the visitor for whom this thread makes a file has left; False in the thread of a page."""
    visitor = ASKING_VISITOR.get()
    return visitor != NOBODY and runtime.exists() and not runtime.get_instance().is_active_session(visitor)
