"""Remembers whether a proxy hands requests on to this process, which then opens no folder that a visitor names."""

from collections.abc import Iterable
from threading import Event

FORWARDED = Event()  # set for good when a request shows that a proxy stands before this process
FORWARDING_HEADERS = frozenset((b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via"))


def note_forwarding(names: Iterable[bytes]) -> None:
    """Remembers, for all sessions and for good, if the headers of a request say that a proxy handed it on.

    names: the names of the headers, in lower case.
    """
    if not FORWARDING_HEADERS.isdisjoint(names):
        FORWARDED.set()
