"""Health and readiness: a script run that hangs is noticed, also when its visitor has left; ready means warm."""

import asyncio
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import sleep
from urllib.error import HTTPError

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from websockets.asyncio.client import connect

from pages.app import health, warming
from tests.browser.conftest import process_of

LIMIT = 0.3  # seconds

APP = """
import streamlit as st
from pages.app import health
app = st.App({page!r}, routes=health.make_routes({limit!r}))
"""
PAGE = """
import pathlib, time
while pathlib.Path({held!r}).exists():
    time.sleep(0.01)
"""


def ask(address: str) -> tuple[int, str]:
    """The status and the text of an answer."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def wait_for(status: int, address: str) -> str:
    """Asks until the answer has a status; returns its text."""
    while True:
        given, text = ask(address)
        if given == status:
            return text
        sleep(0.02)


async def begin_a_run(address: str) -> None:
    """A visitor who asks for a page, and leaves as soon as it is asked for."""
    place = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with connect(place, subprotocols=["streamlit"]) as socket:
        await socket.send(BackMsg(rerun_script=ClientState(query_string="")).SerializeToString())
        await socket.recv()  # the run has begun


def test_a_run_that_hangs_fails_the_health_check_until_it_ends_also_after_its_visitor_has_left(tmp_path):
    held, page, script = tmp_path / "held", tmp_path / "page.py", tmp_path / "app.py"
    held.touch()
    page.write_text(PAGE.format(held=str(held)))
    script.write_text(APP.format(page=str(page), limit=str(LIMIT)))
    with process_of(str(script)) as (address, _):
        assert ask(f"{address}/healthz") == (200, "ok\n")
        with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
            thread.submit(asyncio.run, begin_a_run(address)).result()
        said = wait_for(503, f"{address}/healthz")
        assert said.startswith(f"a script run takes longer than {LIMIT} s")
        assert ask(f"{address}/any/base/readyz") == (503, said) or ask(f"{address}/readyz")[0] == 503
        held.unlink()
        assert wait_for(200, f"{address}/healthz") == "ok\n"


def answers(name: str) -> tuple[int, str]:
    """What a route answers."""
    (send,) = {route.endpoint for route in health.make_routes("") if route.path == f"/{name}"}
    with ThreadPoolExecutor(max_workers=1) as thread:
        response = thread.submit(asyncio.run, send(None)).result()
    return response.status_code, response.body.decode()


@contextmanager
def nothing_frozen(monkeypatch):
    """warm() without what it does to the garbage collector of this process."""
    for name in ("disable", "enable", "freeze"):
        monkeypatch.setattr(warming.gc, name, lambda: None)
    yield


def test_ready_is_what_has_warmed_up_to_the_end(monkeypatch):
    monkeypatch.setattr(warming, "DONE", type(warming.DONE)())
    seen = []
    monkeypatch.setattr(warming, "import_all", lambda: lambda: seen.append(answers("readyz")))
    with nothing_frozen(monkeypatch):
        warming.warm()
    assert seen == [(503, "the app is still importing its modules\n")]
    assert answers("readyz") == (200, "ok\n")


def test_what_could_not_warm_up_is_never_ready_but_in_health(monkeypatch):
    monkeypatch.setattr(warming, "DONE", type(warming.DONE)())

    def fail():
        raise ImportError("no module")

    monkeypatch.setattr(warming, "import_all", fail)
    with nothing_frozen(monkeypatch), pytest.raises(ImportError):
        warming.warm()
    assert answers("readyz")[0] == 503 and answers("healthz")[0] == 200


@pytest.mark.parametrize("setting", ["0", "-1", "soon", "inf", "nan"])
def test_a_limit_that_is_no_number_of_seconds_ends_the_start(setting):
    with pytest.raises(SystemExit, match=f"ATTENTION_LONGEST_RUN must be .*got '{setting}'"):
        health.make_routes(setting)


def test_the_age_of_a_run_counts_from_when_it_was_first_seen(monkeypatch):
    times, running = iter([10.0, 13.0, 17.0, 18.0]), iter([["a"], ["a", "b"], ["b"], []])
    monkeypatch.setattr(health, "monotonic", lambda: next(times))
    monkeypatch.setattr(health, "list_runs", lambda: next(running))
    watch = health.RunWatch()
    assert [watch.longest() for _ in range(4)] == [0.0, 3.0, 17.0 - 13.0, 0.0]
