"""200 browsers that follow a lecture: when a change reaches them, and what it costs the server."""

import asyncio
import json
import time
import urllib.request
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.benchmarks.figures import Figure, milliseconds, percentile, report
from tests.benchmarks.process import cpu_seconds, resident_megabytes
from tests.browser.conftest import ROOT, process_of

FOLLOWERS = 200
PAUSE = 0.5  # seconds between two changes
MOST_WAIT, MOST_CPU = 0.150, 0.0002  # seconds: 95 % hear of a change in less; a follower and change costs less
LOOK = {"head": 0, "query": 5, "view": "map", "step": "weights", "stop": 7, "cell": {"row": 5, "column": 3}}

# The app with an open room, whose key it writes into a file. Streamlit looks for the name of a st.App in the text.
SCRIPT = """
import json, sys
sys.path.insert(0, {root!r})
import streamlit as st
from pages.classroom.rooms import ROOMS, RoomPage
app = st.App({router!r})
from app import app as whole
app = whole
key = ROOMS.open(RoomPage(b"", "5f"))
with open({key!r}, "w") as file:
    json.dump([key.code, key.secret], file)
"""


async def ask(address: str, what: str, *headers: str, body: bytes = b"") -> tuple[StreamReader, StreamWriter]:
    """A request whose answer has begun."""
    host = address.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    lines = [f"{what} HTTP/1.1", f"Host: {host}", "Accept-Encoding: gzip", f"Content-Length: {len(body)}", *headers]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    status = await reader.readline()
    assert b" 200 " in status, status
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def tell(address: str, code: str, secret: str, scene: int) -> float:
    """The lecturer goes to a scene; gives the time at which the browser began to say so."""
    body = json.dumps({"scene": scene, "step": "map", "look": LOOK, "link": ""}).encode()
    begun = perf_counter()
    what = f"POST /room/place?room={code}"
    _, writer = await ask(address, what, f"X-Room-Secret: {secret}", "Connection: close", body=body)
    writer.close()
    return begun


async def hear(reader: StreamReader, heard: dict[int, list[float]]) -> None:
    """Notes when each scene arrives at one follower."""
    while line := await reader.readline():
        if line.startswith(b"data: {"):
            place = json.loads(line.removeprefix(b"data: "))["place"]
            if place:
                heard.setdefault(place["scene"], []).append(perf_counter())


async def lead(address: str, pid: int, key: tuple[str, str], changes: int) -> tuple[list[float], float, float]:
    """The seconds after which followers heard of each change, processor seconds a follower and change, and MB."""
    heard: dict[int, list[float]] = {}
    before = resident_megabytes(pid)
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(asyncio.TaskGroup())
        tasks = []
        for _ in range(FOLLOWERS):
            reader, writer = await ask(address, f"GET /room/events?room={key[0]}")
            stack.callback(writer.close)
            tasks.append(group.create_task(hear(reader, heard)))
        grown = resident_megabytes(pid) - before
        waits = []
        await tell(address, *key, 1)
        spent = cpu_seconds(pid)
        for scene in range(2, changes + 2):
            await asyncio.sleep(PAUSE)
            begun = await tell(address, *key, scene)
            while len(heard.get(scene, ())) < FOLLOWERS:
                await asyncio.sleep(0.005)
            waits += [arrived - begun for arrived in heard[scene]]
        spent = cpu_seconds(pid) - spent
        for task in tasks:
            task.cancel()
    return waits, spent / (changes * FOLLOWERS), grown


def wait_until_ready(address: str) -> None:
    """Returns when the server has imported its modules, which would be counted otherwise."""
    while True:
        with suppress(OSError), urllib.request.urlopen(f"{address}/readyz", timeout=10):
            return
        time.sleep(0.1)


def measure(runs: int) -> Iterator[Figure]:
    """A change each half second, which a lecturer's browser tells, and 200 connections that wait for it."""
    with TemporaryDirectory() as folder:
        script, key = Path(folder) / "classroom_app.py", Path(folder) / "key.json"
        router = str(ROOT / "pages" / "app" / "router.py")
        script.write_text(SCRIPT.format(root=str(ROOT), router=router, key=str(key)))
        with process_of(str(script)) as (address, pid):
            wait_until_ready(address)
            code, secret = json.loads(key.read_text())
            waits, cost, grown = asyncio.run(lead(address, pid, (code, secret), runs))
    every = f"{FOLLOWERS} followers of a room"
    p95 = f"{milliseconds(percentile(waits, 0.95))} (median {milliseconds(median(waits))})"
    yield Figure(f"{every}: a change reaches 95 % of them within", f"≤ {milliseconds(MOST_WAIT)}", p95)
    found = f"{1000 * cost:.3f} ms"
    yield Figure(f"{every}: processor time of the server a follower and change", f"≤ {1000 * MOST_CPU:g} ms", found)
    yield Figure(f"{every}: the process grows by", "–", f"{grown:.1f} MB")


if __name__ == "__main__":
    report([measure])
