"""What a page that is back asks of its parts waits until the page is drawn, on no other connection and not for ever."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.app import reconnection

NEW, BACK = ["streamlit", "token"], ["streamlit", "token", "session"]
WHOLE = BackMsg(rerun_script=ClientState(query_string="lang=en")).SerializeToString()
PART = BackMsg(rerun_script=ClientState(fragment_id="looking")).SerializeToString()
NONE = b"\xff no message"
BEGUN = ForwardMsg(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN).SerializeToString()
ENDED = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY).SerializeToString()


def handed_on(protocols: list[str], asked: list[bytes], told: list[bytes]) -> list[str]:
    """What becomes of what a page asks and of what it is told, in this order: all is asked before anything is told."""
    names = {WHOLE: "whole", PART: "part", NONE: "none", BEGUN: "begun", ENDED: "ended"}
    happened = []

    async def app(scope, receive, send):
        async def tell():
            for frame in told:
                await asyncio.sleep(0.01)
                await send({"type": "websocket.send", "bytes": frame})

        telling = asyncio.create_task(tell())
        for _ in asked:
            happened.append(names[(await receive())["bytes"]])
        await telling

    async def connect():
        frames = iter(asked)

        async def receive():
            return {"type": "websocket.receive", "bytes": next(frames)}

        async def send(message):
            happened.append(names[message["bytes"]])

        await reconnection.InTurn(app)({"type": "websocket", "subprotocols": protocols}, receive, send)

    with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
        thread.submit(asyncio.run, connect()).result()
    return happened


@pytest.mark.parametrize(
    ("protocols", "asked", "happened"),
    [
        (BACK, [WHOLE, PART, PART], ["whole", "begun", "ended", "part", "part"]),
        (BACK, [WHOLE, WHOLE], ["whole", "whole", "begun", "ended"]),
        (BACK, [NONE, PART], ["none", "begun", "ended", "part"]),  # what is none ends the connection later
        (NEW, [WHOLE, PART], ["whole", "part", "begun", "ended"]),
    ],
)
def test_a_part_is_asked_for_when_the_page_is_drawn(protocols, asked, happened):
    assert handed_on(protocols, asked, [BEGUN, ENDED]) == happened


def test_it_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(reconnection, "PATIENCE", 0.05)
    assert handed_on(BACK, [WHOLE, PART], [BEGUN]) == ["whole", "begun", "part"]
