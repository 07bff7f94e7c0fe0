"""A real server process and a real browser. Without a browser these tests skip; under REQUIRE_BROWSER=1 they fail."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(script: str = "app.py") -> Iterator[str]:
    """A fresh server process; gives its address and ends it."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_health(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for_health(address: str, process: subprocess.Popen) -> None:
    """Returns when the server answers."""
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            continue


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One server for the tests that do not need a fresh process."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """The browser."""
    if CHROMIUM is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail("REQUIRE_BROWSER=1, and there is no chromium on the path")
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def screen(chromium, server):
    """A function that opens a link in a new browser profile and gives a Screen."""
    contexts = []

    def open_link(query: str = "", address: str | None = None, **options) -> Screen:
        context = chromium.new_context(viewport=options.pop("viewport", {"width": 1280, "height": 720}), **options)
        contexts.append(context)
        opened = Screen(context.new_page(), address or server)
        opened.open(query)
        return opened

    yield open_link
    for context in contexts:
        context.close()


class Screen:
    """A page in the browser, and what a person does with it. Every wait is for a condition."""

    def __init__(self, page, address: str):
        self.page, self.address, self.outside, self.errors = page, address, [], []
        page.set_default_timeout(30_000)
        page.on("request", lambda request: self.note(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def note(self, url: str) -> None:
        """Remembers requests that leave the host."""
        if not url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.outside.append(url)

    def open(self, query: str) -> None:
        """Opens a link and waits for the first map."""
        self.page.goto(f"{self.address}/{query}")
        self.maps().first.wait_for()
        self.settled()

    def settled(self) -> None:
        """Waits until no rerun is under way."""
        self.page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")

    def maps(self):
        """The charts, ready to be clicked."""
        return self.page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg")

    def sentence(self) -> str:
        """The computed sentence."""
        return self.page.locator("h5").first.inner_text()

    def tokens(self) -> list[str]:
        """The tiles' words."""
        return self.page.locator(".tile bdi").all_inner_texts()

    def arithmetic(self) -> str:
        """The arithmetic of the opened cell."""
        return self.page.locator(".arithmetic .sum").inner_text()

    def type(self, label: str, text: str) -> None:
        """Types into a text box and leaves it."""
        box = self.page.get_by_label(label, exact=True)
        box.fill(text)
        box.press("Enter")

    def wait_for_sentence(self, part: str) -> None:
        """Waits until the computed sentence contains a text."""
        self.page.locator("h5", has_text=part).first.wait_for()

    def follow(self, number: int, until: str) -> None:
        """Clicks an operand of the arithmetic and waits until the cell that it leads to is named."""
        self.page.locator(".operand").nth(number).click()
        self.page.get_by_text(until, exact=False).first.wait_for()

    def query(self) -> dict[str, str]:
        """The parameters in the address bar."""
        from urllib.parse import parse_qsl, urlsplit

        self.settled()  # the address is written last
        return dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
