"""Real replicas behind a real HAProxy: one is killed, all are restarted in turn; no page is lost, no number crossed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import socket
from time import sleep
from urllib.error import HTTPError

import numpy as np
import psutil
import pytest
from playwright.sync_api import expect

from tests.browser.app.test_reconnection import look_at_a_word, seen
from tests.browser.conftest import ROOT, Screen, free_port
from tests.browser.workbench.test_tensors import SIZES, drawn, packed

pytestmark = pytest.mark.slow

BASE = "/attention"
BACK = 30  # seconds: more than a page needs for another connection; docs/halls.md has what was measured
PATIENCE_OF_RESTART = 120  # seconds: both replicas start anew, one after the other
WORKBENCH = "?score=cosine&mask=causal&lang=en"
NUMBER = re.compile(r'^haproxy_server_(\w+)\{proxy="app",server="(\w+)"(?:,state="(\w+)")?\} (\d+)', re.MULTILINE)


def free_pair() -> int:
    """The first of two ports beside each other on which nobody listens."""
    while True:
        first = free_port()
        with socket() as other, suppress(OSError):
            other.bind(("127.0.0.1", first + 1))
            return first


class RunningHall:
    """`python -m deploy` with two replicas."""

    def __init__(self, log):
        self.log = log
        self.front, self.numbers, self.first = free_port(), free_port(), free_pair()
        command = [sys.executable, "-m", "deploy", "--listen", f"127.0.0.1:{self.front}", "--base", BASE]
        command += ["--metrics", f"127.0.0.1:{self.numbers}", "--first-port", str(self.first), "--drain", "1"]
        with log.open("w") as lines:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=lines, stderr=subprocess.STDOUT)
        self.address = f"http://127.0.0.1:{self.front}{BASE}"

    def read(self, what: str, state: str = "") -> dict[str, int]:
        """A number of HAProxy for each replica."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.numbers}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        return {name: int(value) for each, name, at, value in NUMBER.findall(text) if (each, at) == (what, state)}

    def are_up(self) -> bool:
        """Whether visitors are sent to both replicas."""
        try:
            return [*self.read("status", "UP").values()] == [1, 1]
        except OSError:  # HAProxy does not listen yet
            return False

    def wait_until_all_are_up(self) -> None:
        """Returns when visitors are sent to both replicas, each of which must then be warm."""
        while not self.are_up():
            assert self.process.poll() is None, self.log.read_text()
            sleep(0.1)
        for place in range(2):
            urllib.request.urlopen(f"http://127.0.0.1:{self.first + place}{BASE}/readyz", timeout=30).close()

    def has_come_back(self) -> bool:
        """Whether HAProxy has said that a replica answers again, since one was started again."""
        _, restarted, since = self.log.read_text().rpartition("and is started again")
        return bool(restarted) and " is UP" in since

    def replica_of_pages(self) -> int:
        """The place of the replica that has open pages, once the other one, which may just have ended, has none."""
        while len(names := [name for name, open_now in self.read("current_sessions").items() if open_now]) != 1:
            time.sleep(0.05)  # seconds
        return int(names[0][1:]) - 1

    def process_of(self, place: int) -> psutil.Process:
        """The process of a replica."""
        port = str(self.first + place)
        (found,) = (each for each in psutil.Process(self.process.pid).children() if port in each.cmdline())
        return found


@pytest.fixture(scope="module")
def hall(tmp_path_factory):
    """Two replicas behind HAProxy."""
    if shutil.which("haproxy") is None and os.environ.get("REQUIRE_BROWSER") != "1":
        pytest.skip("there is no haproxy on the path")
    running = RunningHall(tmp_path_factory.mktemp("hall") / "log")
    try:
        running.wait_until_all_are_up()
        yield running
    finally:
        running.process.terminate()
        running.process.wait()


@contextmanager
def connected_anew(*pages: Screen, seconds: float) -> Iterator[None]:
    """What is done within ends the connection of each page, which has another one after so many seconds at most."""
    sockets = [opened.socket for opened in pages]
    for opened in pages:
        opened.page.evaluate("window.stayed = true")  # gone where the page is loaded again
    yield
    for opened, before in zip(pages, sockets, strict=True):
        while opened.socket is before:
            opened.page.wait_for_event("websocket", timeout=seconds * 1000)
        opened.settled()
        assert opened.page.evaluate("window.stayed") and opened.errors == []


def shares(query: list, key: list) -> list[list[float]]:
    """The weights of one head, by NumPy."""
    scores = np.exp(np.array(query) @ np.array(key).T / np.sqrt(len(query[0])))
    return (scores / scores.sum(-1, keepdims=True)).tolist()


def check_numbers(opened: Screen, weights: list[list[float]]) -> None:
    """The page shows these weights of its first head, with the names of rows and columns counted from 1."""
    opened.wait_for_number("weights [head 1, 1, 1]", f"{weights[0][0]:.4f}"[:5])
    drawn_numbers = opened.numbers("weights [head 1")
    assert len(drawn_numbers) == len(weights) * len(weights[0])
    for name, number in drawn_numbers.items():
        _, row, column = (int(digits) for digits in re.findall(r"\d+", name))
        assert float(number) == pytest.approx(weights[row - 1][column - 1], abs=1e-12)


def test_pages_whose_replica_goes_are_back_by_themselves_each_with_its_own_numbers(screen, hall):
    brings = screen("?lang=en", address=hall.address)
    brings.open_way("File")
    given = drawn(**SIZES)
    with brings.answered():
        brings.upload("mine.npz", packed(**given))
    weights = shares(given["q"][0, 0], given["k"][0, 0])
    check_numbers(brings, weights)
    first = hall.replica_of_pages()
    looks = screen(WORKBENCH, address=hall.address)
    before, others = seen(looks), hall.process_of(1 - first)

    with connected_anew(brings, seconds=BACK):
        hall.process_of(first).kill()
    assert hall.replica_of_pages() == 1 - first and others.is_running()
    check_numbers(brings, weights)
    assert seen(looks) == before

    while not hall.has_come_back():  # the replica that was killed
        brings.page.wait_for_timeout(50)
    hall.wait_until_all_are_up()
    known = {hall.process_of(place).pid for place in range(2)}
    with connected_anew(brings, looks, seconds=PATIENCE_OF_RESTART):
        hall.process.send_signal(signal.SIGHUP)
    while "all replicas are restarted" not in hall.log.read_text():
        assert "stopped" not in hall.log.read_text() and hall.process.poll() is None
        brings.page.wait_for_timeout(100)
    assert known.isdisjoint(hall.process_of(place).pid for place in range(2))
    check_numbers(brings, weights)
    assert seen(looks) == before
    look_at_a_word(looks)
    for opened in (brings, looks):
        expect(opened.page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.parametrize("name", ["metrics", "readyz", "healthz", "_stcore/metrics"])
def test_what_is_for_operators_is_not_told_through_the_proxy(hall, name):
    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(f"{hall.address}/{name}", timeout=10)
    with refused.value as error:
        assert error.code == 403
