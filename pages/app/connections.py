"""Switches Nagle's algorithm off (TCP_NODELAY), so that the server sends short packets at once.

Nagle's algorithm (RFC 896) holds a short packet back until the one before is acknowledged, which a browser does up to
40 ms later. That delays a first visit a dozen times, and every change once or twice. asyncio would set TCP_NODELAY
itself, but not on the socket that Streamlit opens without naming the protocol TCP.
"""

import gc
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket


def send_at_once() -> None:
    """Sets TCP_NODELAY on every open TCP socket of this process; connections accepted later inherit the option."""
    for each in gc.get_objects():
        if type(each) is not socket:  # not isinstance, because some objects warn when their __class__ is read
            continue
        is_open = each.fileno() >= 0
        is_tcp = each.family in (AF_INET, AF_INET6) and each.type == SOCK_STREAM
        if is_open and is_tcp:
            each.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
