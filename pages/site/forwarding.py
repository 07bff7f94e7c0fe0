"""Remembers whether a proxy forwards requests to this process, in which case the app opens no folder that a visitor
names.
"""

from collections.abc import Iterable
from threading import Event

FORWARDED = Event()  # set once a request shows that a proxy stands before this process; never cleared
FORWARDING_HEADERS = frozenset((b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via"))


def note_forwarding(names: Iterable[bytes]) -> None:
    """Checks the header names of a request; if a proxy forwarded it, sets FORWARDED for all sessions.

    names: the names of the headers, in lower case.
    """
    if not FORWARDING_HEADERS.isdisjoint(names):
        FORWARDED.set()
