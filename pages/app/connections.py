"""Turns Nagle's algorithm off, so that the server sends short packets at once.

Streamlit opens its socket without naming TCP, so asyncio does not set TCP_NODELAY. With Nagle's algorithm (RFC 896) a
short packet waits until the one before is acknowledged, which a browser does up to 40 ms later. Such waits happen a
dozen times in a first visit, and once or twice in every change.
"""

import gc
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket


def send_at_once() -> None:
    """Set TCP_NODELAY on every open TCP socket of this process; connections accepted later inherit the option."""
    for each in gc.get_objects():
        if type(each) is not socket:  # not isinstance, because reading __class__ makes some objects warn
            continue
        is_open = each.fileno() >= 0
        is_tcp = each.family in (AF_INET, AF_INET6) and each.type == SOCK_STREAM
        if is_open and is_tcp:
            each.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
