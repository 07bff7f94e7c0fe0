"""A server that is killed and started again: a page that was open comes back by itself, as it was."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.benchmarks.visitor import visiting
from tests.browser.conftest import asks_for_a_run, free_port, serving

BACK = 5  # seconds from when a fresh visitor is served


async def visit(address: str) -> None:
    """A visitor who comes, and leaves when the page is there."""
    async with visiting(address):
        pass


@contextmanager
def killed_and_started(opened, killed, port: int) -> Iterator[list[BackMsg]]:
    """Ends the server under an open page and starts another one; gives what the page then asks for."""
    before, asked = opened.socket, []
    opened.page.evaluate("window.stayed = true")  # gone where the page is loaded again

    def listen(socket) -> None:
        socket.on("framesent", lambda frame: asked.append(BackMsg.FromString(frame)) if asks_for_a_run(frame) else None)

    opened.page.on("websocket", listen)
    killed.close()
    with serving(port):
        while opened.socket is before:
            opened.page.wait_for_event("websocket")
        yield asked
        assert opened.page.evaluate("window.stayed")


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


LOOKED_AT = {
    ("", "?score=cosine&mask=causal&lang=en"): look_at_a_word,
    ("softmax", "?lang=en"): move_a_slider,
    ("present", "?lecture=ten_minutes&scene=3&step=map&lang=en"): go_on,
    ("check", "?kind=from_qkv&stage=scores&lang=en"): write_a_cell,
}


FIRST, *OTHERS = LOOKED_AT.items()


@pytest.mark.parametrize(("page", "use"), [FIRST, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)])
def test_a_page_that_was_only_looked_at_is_back_by_itself_and_answers(screen, mortal, page, use):
    slug, query = page
    opened = screen(query, address=mortal.address, lesson=slug)
    before = seen(opened)
    with killed_and_started(opened, mortal, mortal.port) as asked:
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, visit(mortal.address)).result()
        served = perf_counter()
        opened.settled()
        assert perf_counter() - served < BACK
        assert seen(opened) == before
        assert [message.rerun_script.fragment_id for message in asked] == [""]  # once, and the whole page
        use(opened)
        expect(opened.page.get_by_test_id("stException")).to_have_count(0)
        assert opened.errors == []


@pytest.mark.slow
def test_what_is_clicked_before_the_page_is_back_is_answered(screen, mortal):
    opened = screen("?score=cosine&mask=causal&lang=en", address=mortal.address)
    box = opened.drawn("hits word 2").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    with killed_and_started(opened, mortal, mortal.port) as asked:
        if not asked:  # a click before the connection is open is not sent: the browser says so, and drops it
            opened.socket.wait_for_event("framesent", asks_for_a_run)
        opened.page.mouse.click(*middle)
        opened.page.wait_for_url("**t=2**")
        assert asked[0].rerun_script.fragment_id == "" and asked[1].rerun_script.fragment_id != ""


@pytest.mark.slow
def test_a_text_that_is_half_typed_is_still_there(screen, mortal):
    opened = screen("?score=cosine&lang=en", address=mortal.address)
    box = opened.page.get_by_label("Sentence", exact=True)
    box.fill("Anna fed the dog and she barked")
    with killed_and_started(opened, mortal, mortal.port):
        opened.settled()
        expect(box).to_have_value("Anna fed the dog and she barked")
        box.press("Enter")
        opened.wait_for_sentence("“she”")
        assert opened.query()["text"] == "Anna fed the dog and she barked"
