"""A page whose connection was lost comes back by itself, also to a server that has never seen it.

It then asks for a whole run, and what is clicked until that has ended waits for it: the new session knows no part yet,
and Streamlit drops what is asked of a part that it does not know.
"""

from asyncio import Event, timeout
from contextlib import suppress

import streamlit as st
from starlette.middleware import Middleware
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

DAY = 24 * 60 * 60  # seconds
PATIENCE = 30  # seconds for the first run of a page that is back, the server's start included
RESUMING = 3  # what a page that was connected says in the place of one protocol: Streamlit's, a token, its session


@st.fragment(run_every=DAY)
def come_back() -> None:
    """A part that shows nothing.

    When its connection is back, Streamlit's page asks for a whole run only where parts run by themselves, or one ran
    last. Without it a page that was only looked at would stay as it is, and no click be answered.
    """


def is_back() -> bool:
    """Whether the page was connected before, perhaps to another server: it shows what it showed."""
    protocols = st.context.headers.get("sec-websocket-protocol", "")
    return len(protocols.split(",")) >= RESUMING


class InTurn:
    """Lets what a page that is back asks of its parts wait until it is drawn."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """One connection, as ASGI has it."""
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
    """Whether a message of the page asks for a run of one part."""
    message = BackMsg()
    with suppress(Exception):  # Streamlit closes the connection where it is none
        message.ParseFromString(frame or b"")
    return bool(message.rerun_script.fragment_id)


def ends_run(frame: bytes | None) -> bool:
    """Whether a message of the server says that the script has ended, and does not begin anew."""
    message = ForwardMsg.FromString(frame or b"")
    if message.WhichOneof("type") != "script_finished":
        return False
    return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


in_turn = Middleware(InTurn)
