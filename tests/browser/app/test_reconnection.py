"""A server that is killed and started again: a page that was open comes back by itself, as it was."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from socket import SHUT_WR, create_connection, socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from time import perf_counter
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.benchmarks.visitor import visiting
from tests.browser.conftest import Screen, asks_for_a_run, free_port, serving

BACK = 5  # seconds from when a fresh visitor is served
SAYS_SO = 2000  # milliseconds until the page says that nothing is computed
GONE = re.compile("^No connection: nothing is computed")


async def visit(address: str) -> None:
    """A visitor who comes, and leaves when the page is there."""
    async with visiting(address):
        pass


@contextmanager
def killed_and_started(killed, *pages: Screen) -> Iterator[list[list[BackMsg]]]:
    """Ends the server under open pages and starts another one; gives what each page then asks for."""
    sockets, asked = [opened.socket for opened in pages], [[] for _ in pages]
    for opened, messages in zip(pages, asked, strict=True):
        opened.page.evaluate("window.stayed = true")  # gone where the page is loaded again
        opened.page.on("websocket", lambda socket, messages=messages: listen(socket, messages))
    killed.close()
    limit = SAYS_SO if len(pages) == 1 else None  # many pages of one process wait for each other, as no visitor's do
    for opened in pages:
        expect(told(opened)).to_have_text(GONE, timeout=limit)
    with serving(killed.port):
        for opened, before in zip(pages, sockets, strict=True):
            while opened.socket is before:
                opened.page.wait_for_event("websocket")
        for opened in pages:
            expect(told(opened)).to_be_empty()
        yield asked
        for opened in pages:
            assert opened.page.evaluate("window.stayed"), opened.page.url


def told(opened: Screen):
    """What the page says of its connection."""
    return opened.page.locator(".connection")


def listen(socket, messages: list[BackMsg]) -> None:
    """Keeps what a page asks for from now on."""
    socket.on("framesent", lambda frame: messages.append(BackMsg.FromString(frame)) if asks_for_a_run(frame) else None)


class Server:
    """A server process that a test ends."""

    def __init__(self):
        self.port = free_port()
        self.running = serving(self.port)
        self.address = self.running.__enter__()

    def close(self) -> None:
        """Kills it."""
        if self.running:
            self.running.__exit__(None, None, None)
            self.running = None


@pytest.fixture
def mortal():
    """A server that can be killed."""
    server = Server()
    yield server
    server.close()


def seen(opened) -> tuple[str, str]:
    """What stands on the page, and its address."""
    opened.settled()
    return opened.page.get_by_test_id("stMain").inner_text(), opened.page.url


def look_at_a_word(opened) -> None:
    opened.look_at(2)
    assert opened.query() == {"score": "cosine", "mask": "causal", "t": "2", "head": "0", "lang": "en"}


def move_a_slider(opened) -> None:
    opened.slide("Temperature τ", "End")
    opened.wait_for_sentence("At τ = 10 the largest of 4 numbers gets 29 %")


def go_on(opened) -> None:
    with opened.answered():
        opened.page.keyboard.press("ArrowRight")
    assert opened.page.url.endswith("scene=3&step=cell&lang=en")


def write_a_cell(opened) -> None:
    opened.page.get_by_role("textbox", name="scores, 1, 2").fill("-4")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("Of 9 numbers: 1 right")


@pytest.mark.slow
def test_a_network_that_falls_silent_is_told_and_no_more_when_it_is_back(screen):
    opened = screen()
    expect(told(opened)).to_be_empty()
    opened.page.context.set_offline(True)  # its websocket stays open
    expect(told(opened)).to_have_text(GONE, timeout=SAYS_SO)
    opened.page.context.set_offline(False)
    expect(told(opened)).to_be_empty()


@contextmanager
def network_to(server: str) -> Iterator[tuple[str, Event]]:
    """A network before a server: its address there, and what must be set for anything to pass. Nothing is closed."""
    flows, place = Event(), urlsplit(server)
    flows.set()

    def hand_on(source: socket, sink: socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                flows.wait()
                sink.sendall(data)
            sink.shutdown(SHUT_WR)

    class Line(BaseRequestHandler):
        def handle(self):
            with create_connection((place.hostname, place.port)) as behind:
                Thread(target=hand_on, args=(behind, self.request), daemon=True).start()
                hand_on(self.request, behind)

    class Network(ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

    with Network(("127.0.0.1", 0), Line) as network:
        Thread(target=network.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{network.server_address[1]}", flows
        finally:  # else a test that fails leaves a thread that takes a core from all later tests
            flows.set()
            network.shutdown()


@pytest.mark.slow
def test_a_server_that_answers_nothing_over_an_open_connection_is_told_though_nobody_acts(screen, server):
    with network_to(server) as (address, flows):
        opened = screen(address=address)
        expect(told(opened)).to_be_empty()
        flows.clear()
        expect(told(opened)).to_have_text(GONE, timeout=SAYS_SO)
        flows.set()
        expect(told(opened)).to_be_empty()
        assert not opened.socket.is_closed()


@pytest.mark.slow
def test_a_mistyped_page_of_a_server_that_answers_is_not_told_to_be_gone(screen, server):
    opened = screen()
    with opened.page.expect_response("**/nothing_of_the_kind/_stcore/health") as answer:
        opened.page.goto(f"{server}/nothing_of_the_kind")
    assert answer.value.status == 404
    for _ in range(2):  # when the second answer is there, the first has been read
        opened.page.wait_for_event("response", lambda each: each.url.endswith("/_stcore/health"))
    expect(told(opened)).to_be_empty()


WORKBENCH = "?score=cosine&mask=causal&lang=en"
OTHERS = {
    ("softmax", "?lang=en"): move_a_slider,
    ("present", "?lecture=ten_minutes&scene=3&step=map&lang=en"): go_on,
    ("check", "?kind=from_qkv&stage=scores&lang=en"): write_a_cell,
}


@pytest.mark.slow
def test_a_page_that_was_only_looked_at_is_back_by_itself_and_answers(screen, mortal):
    opened = screen(WORKBENCH, address=mortal.address)
    before = seen(opened)
    with killed_and_started(mortal, opened) as (asked,):
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, visit(mortal.address)).result()
        served = perf_counter()
        opened.settled()
        assert perf_counter() - served < BACK
        check_that_it_is_back(opened, before, asked)
        look_at_a_word(opened)
        expect(opened.page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.slow
def test_every_kind_of_page_is_back_also_one_that_is_clicked_too_early_or_half_typed(screen, mortal):
    clicked, typed = (screen(WORKBENCH, address=mortal.address) for _ in range(2))
    others = {screen(query, address=mortal.address, lesson=slug): use for (slug, query), use in OTHERS.items()}
    before = [*map(seen, others)]
    box = clicked.drawn("hits word 2").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    sentence = typed.page.get_by_label("Sentence", exact=True)
    sentence.fill("Anna fed the dog and she barked")
    with killed_and_started(mortal, clicked, typed, *others) as (asked, _, *asked_by_others):
        if not asked:  # a click before the connection is open is not sent: the browser says so, and drops it
            clicked.socket.wait_for_event("framesent", asks_for_a_run)
        clicked.page.mouse.click(*middle)
        clicked.page.wait_for_url("**t=2**")
        assert asked[0].rerun_script.fragment_id == "" and asked[1].rerun_script.fragment_id != ""

        typed.settled()
        expect(sentence).to_have_value("Anna fed the dog and she barked")
        sentence.press("Enter")
        typed.wait_for_sentence("“she”")
        assert typed.query()["text"] == "Anna fed the dog and she barked"

        for (opened, use), stood, messages in zip(others.items(), before, asked_by_others, strict=True):
            check_that_it_is_back(opened, stood, messages)
            use(opened)
        for opened in (clicked, typed, *others):
            expect(opened.page.get_by_test_id("stException")).to_have_count(0)
            assert opened.errors == [], opened.page.url


def check_that_it_is_back(opened, before: tuple[str, str], asked: list[BackMsg]) -> None:
    """The page is as it was, and has asked for one run, of the whole page."""
    assert seen(opened) == before
    assert [message.rerun_script.fragment_id for message in asked] == [""], opened.page.url
    assert opened.errors == [], opened.page.url
