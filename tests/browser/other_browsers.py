"""Firefox and WebKit as Debian builds them, each driven by the W3C protocol that it speaks without a helper."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from websockets.sync.client import connect

from tests.browser.conftest import HEARS, PATIENCE, SETTLED, free_port

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
ALL = """const all = (selector) => [document, ...[...document.querySelectorAll("*")].map((each) => each.shadowRoot)]
    .flatMap((root) => [...root?.querySelectorAll(selector) ?? []])"""
LISTEN = """() => {
    window.problems = [];
    console.error = (...said) => problems.push(said.join(" "));
    addEventListener("error", (event) => problems.push(event.message));
    addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
    addEventListener("securitypolicyviolation", (event) =>
        problems.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
}"""
BOX = """(selector) => {
    const element = all(selector)[0];
    element?.scrollIntoView({ block: "nearest", behavior: "instant" });
    const { x, y, width, height } = element?.getBoundingClientRect() ?? {};
    return width > 0 && [Math.round(x + width / 2), Math.round(y + height / 2)];
}"""
GLIDES = 5  # moves of the pointer on its way


class OtherBrowser:
    """A page in a browser, and what a person does with it. folder: where its downloads arrive.

    A kind of browser says how it goes to an address (`go`), gives the value of an expression (`evaluate`) and moves its
    pointer (`act`), whose actions WebDriver and WebDriver BiDi write alike."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run(self, function: str, *given: object):
        """What a function of the page gives back; in it, `all` finds elements, inside shadow roots, too."""
        result = f"await ({function})({', '.join(map(json.dumps, given))})"
        return json.loads(self.evaluate(f"(async () => {{ {ALL}; return JSON.stringify({result} ?? null) }})()"))

    def wait(self, function: str, *given: object):
        """What a function of the page gives back as soon as it is true."""
        return self.wait_for(lambda: self.run(function, *given), function)

    def open(self, address: str) -> None:
        """Opens a link of the workbench and waits for its picture."""
        self.go(address)
        self.wait(HEARS)
        self.settled()

    def settled(self) -> None:
        """Waits until nothing changes any more."""
        self.run(SETTLED, PATIENCE)

    def wait_for(self, ask, what: object):
        """The first answer that is true."""
        deadline = time.monotonic() + PATIENCE / 1000
        while not (answer := ask()):
            assert time.monotonic() < deadline, f"does not come: {what}"
            time.sleep(0.05)
        return answer

    def move(self, x: float, y: float) -> dict:
        """The pointer's way to a place, long enough to be seen as a move."""
        return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 20}

    def drag(self, start: list[float], end: list[float]) -> None:
        """Takes what lies at a place to another one and lets go."""
        parts = [step / GLIDES for step in range(1, GLIDES + 1)]
        way = [[a + part * (b - a) for a, b in zip(start, end, strict=True)] for part in parts]
        press = {"type": "pointerDown", "button": 0}
        self.act([self.move(*start), press, *[self.move(*each) for each in way], {"type": "pointerUp", "button": 0}])

    def click(self, selector: str) -> None:
        """Clicks the first element of a selector, and waits until what it does is done."""
        self.wait("(selector) => all(selector).length", selector)
        self.settled()
        place = self.wait(BOX, selector)
        self.act([self.move(*place), *[{"type": f"pointer{way}", "button": 0} for way in ("Down", "Up")]])
        self.settled()

    def downloaded(self, name: str, end: str) -> str:
        """The text of a file that arrives, which ends like this."""
        file = self.folder / name
        self.wait_for(lambda: file.exists() and file.read_text("utf-8").rstrip().endswith(end), name)
        return file.read_text("utf-8")

    def problems(self) -> list[str]:
        """What the page wrote to the console as an error, threw, or was refused by its policy."""
        return self.run("() => window.problems")


class Firefox(OtherBrowser):
    """Firefox over WebDriver BiDi, which it speaks at a websocket."""

    programs = ("firefox-esr",)

    def __init__(self, folder: Path, channel):
        super().__init__(folder)
        self.channel, self.numbers = channel, count(1)
        self.send("session.new", capabilities={})
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        behavior = {"type": "allowed", "destinationFolder": str(folder)}
        self.send("browser.setDownloadBehavior", downloadBehavior=behavior)
        self.send("browsingContext.setViewport", context=self.context, viewport={"width": 1280, "height": 720})
        self.send("script.addPreloadScript", functionDeclaration=LISTEN)

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator[OtherBrowser]:
        """A Firefox with a profile of its own, and its end."""
        port = free_port()
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port"]
        with subprocess.Popen([*command, str(port)], env=os.environ | {"HOME": str(folder)}, **QUIET) as process:
            try:
                wait_for_port(port, process)
                with connect(f"ws://127.0.0.1:{port}/session", max_size=None) as channel:
                    yield cls(folder, channel)
            finally:
                process.terminate()

    def send(self, method: str, **params: object) -> dict:
        """The answer to a command; events are passed over."""
        number = next(self.numbers)
        self.channel.send(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := json.loads(self.channel.recv(PATIENCE / 1000))).get("id") != number:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]

    def go(self, address: str) -> None:
        """Opens an address."""
        self.send("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, expression: str) -> str:
        """The text that an expression gives."""
        at = {"target": {"context": self.context}, "awaitPromise": True}
        answer = self.send("script.evaluate", expression=expression, **at)
        assert answer["type"] == "success", answer
        return answer["result"]["value"]

    def act(self, actions: list[dict]) -> None:
        """Lets the pointer act."""
        pointer = {"type": "pointer", "id": "mouse", "actions": actions}
        self.send("input.performActions", context=self.context, actions=[pointer])


class WebKit(OtherBrowser):
    """WebKitGTK over WebDriver, in a window on a screen that nobody sees."""

    programs = ("WebKitWebDriver", "Xvfb")

    def __init__(self, folder: Path, address: str):
        super().__init__(folder)
        self.address = f"{address}/session"
        program = {"binary": mini_browser(), "args": ["--automation"]}
        wanted = {"pageLoadStrategy": "none", "webkitgtk:browserOptions": program}
        self.address += "/" + self.send("", capabilities={"alwaysMatch": wanted})["sessionId"]
        self.send("/window/rect", x=0, y=0, width=1280, height=800)  # of which the window's own bar takes a part

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator[OtherBrowser]:
        """A screen, a driver and its browser, and their end."""
        port = free_port()
        with virtual_screen() as display:
            home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
            settings = os.environ | home | {"DISPLAY": display}
            with subprocess.Popen(["WebKitWebDriver", f"--port={port}"], env=settings, **QUIET) as process:
                try:
                    wait_for_port(port, process)
                    yield cls(folder, f"http://127.0.0.1:{port}")
                finally:
                    process.terminate()  # and with it the browser

    def send(self, path: str, **body: object) -> object:
        """The answer to a command."""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as answer:
            return json.load(answer)["value"]

    def go(self, address: str) -> None:
        """Opens an address, and listens from when its page is first met, as a rule before the app draws in it.

        Asked on a busy machine, the page may have drawn already, and have written its address in other words.
        """
        self.run("() => { window.isBefore = true }")
        self.send("/url", url=address)
        is_there = "!window.isBefore && document.readyState !== 'loading' && document.querySelector('#root')"
        self.wait(f"() => {is_there} && (({LISTEN})(), true)")

    def evaluate(self, expression: str) -> str:
        """The text that an expression gives."""
        return self.send("/execute/sync", script=f"return {expression}", args=[])

    def act(self, actions: list[dict]) -> None:
        """Lets the pointer act."""
        self.send("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])


def mini_browser() -> str:
    """WebKitGTK's own browser, which is not on the path."""
    return str(next(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")))


@contextmanager
def virtual_screen() -> Iterator[str]:
    """A screen in memory; gives its name."""
    ours, its = os.pipe()
    command = ["Xvfb", "-displayfd", str(its), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[its], **QUIET) as process, os.fdopen(ours) as told:
        os.close(its)
        try:
            yield f":{told.readline().strip()}"
        finally:
            process.terminate()


def wait_for_port(port: int, process: subprocess.Popen) -> None:
    """Returns when a process listens."""
    while True:
        assert process.poll() is None, "the browser has ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)


def missing(kind: type[OtherBrowser]) -> list[str]:
    """The programs of a kind of browser that are not on the path."""
    return [program for program in kind.programs if shutil.which(program) is None]
