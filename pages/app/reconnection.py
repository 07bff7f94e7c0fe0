"""Lets a page continue after its connection was lost, also with a restarted server that does not know its session.

After a reconnection the page requests a full script run. Fragment reruns (clicks) wait until that run has ended,
because the new session has no fragments yet, and Streamlit drops a rerun of an unknown fragment.
"""

from asyncio import Event, timeout
from contextlib import suppress

import streamlit as st
from starlette.middleware import Middleware
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

DAY = 24 * 60 * 60  # number of seconds in a day, longer than any visit
PATIENCE = 30  # seconds that a fragment rerun waits at most for the page's first full run, or for the server to start
RESUMING = 3  # a reconnecting page sends at least three subprotocols of a websocket: Streamlit's, a token, its session


@st.fragment(run_every=DAY)
def come_back() -> None:
    """Defines an empty fragment with run_every, so that Streamlit's page requests a full script run after a
    reconnection.

    Otherwise the page requests a full run only if the last run was of a fragment; a page on which nothing was clicked
    would no longer respond to clicks.
    """


def is_back() -> bool:
    """Returns whether the browser is reconnecting, perhaps to a restarted server, and still shows the former page."""
    protocols = st.context.headers.get("sec-websocket-protocol", "")
    return len(protocols.split(",")) >= RESUMING


class InTurn:
    """ASGI middleware that delays the fragment reruns of a reconnected page until its first full run has ended."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Forwards one ASGI connection; delays the websocket of a page that reconnects, by at most PATIENCE seconds."""
        if scope["type"] != "websocket" or len(scope["subprotocols"]) < RESUMING:
            await self.app(scope, receive, send)
            return
        drawn = Event()

        async def receive_in_turn():
            message = await receive()
            if not drawn.is_set() and asks_for_part(message.get("bytes")):
                with suppress(TimeoutError):
                    async with timeout(PATIENCE):
                        await drawn.wait()
            return message

        async def send_and_note(message) -> None:
            await send(message)
            if drawn.is_set():
                return
            if ends_run(message.get("bytes")):
                drawn.set()

        await self.app(scope, receive_in_turn, send_and_note)


def asks_for_part(frame: bytes | None) -> bool:
    """Returns whether a message from the browser requests a rerun of one fragment."""
    message = BackMsg()
    with suppress(Exception):  # ignores an unreadable websocket frame: Streamlit itself closes the connection
        message.ParseFromString(frame or b"")
    return bool(message.rerun_script.fragment_id)


def ends_run(frame: bytes | None) -> bool:
    """Returns whether a server message reports that a script run ended; False if it ended early because a rerun was
    requested.
    """
    message = ForwardMsg.FromString(frame or b"")
    if message.WhichOneof("type") != "script_finished":
        return False
    return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


in_turn = Middleware(InTurn)
