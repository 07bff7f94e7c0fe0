"""Lets what the server has to say leave at once.

Streamlit opens its socket without naming TCP. asyncio then leaves TCP's own habit on (RFC 896, Nagle): a short packet
waits until the one before is acknowledged, which a browser does up to 40 ms later. A first visit waits for that a dozen
times, and every change once or twice.
"""

import gc
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket


def send_at_once() -> None:
    """Sets the sockets on which this process listens, before the first visitor: what they accept is set as they are."""
    for each in gc.get_objects():
        if type(each) is socket and is_open_tcp(each):  # isinstance would ask objects that answer with a warning
            each.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)


def is_open_tcp(each: socket) -> bool:
    """Whether a socket is open, and speaks TCP."""
    return each.fileno() >= 0 and each.family in (AF_INET, AF_INET6) and each.type == SOCK_STREAM
