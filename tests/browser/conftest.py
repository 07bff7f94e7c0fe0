"""A real server process and a real browser. Without a browser these tests skip; under REQUIRE_BROWSER=1 they fail."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the first there is
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--process-per-site",  # pages of one profile share a process, which keeps what it has compiled
]
UNOPTIMISED = "--js-flags=--no-maglev --no-turbofan --no-script-streaming"  # no page of a test lives to repay it
PATIENCE = 60_000  # ms: a condition that is not there by then does not come, on a loaded machine either


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(port: int | None = None, **settings: str) -> Iterator[str]:
    """A fresh server process of the app, environment variables set; gives its address and ends it."""
    with process_of("app.py", port, **settings) as (address, _):
        yield address


@contextmanager
def process_of(script: str, port: int | None = None, **settings: str) -> Iterator[tuple[str, int]]:
    """A fresh server process that runs a script; gives its address and its number, and ends it."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = f"http://127.0.0.1:{port}/{settings.get('STREAMLIT_SERVER_BASE_URL_PATH', '')}".rstrip("/")
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | settings, **quiet) as process:
        try:
            wait_for_health(address, process)
            yield address, process.pid
        finally:
            process.kill()  # a server has nothing to save: each run stands in the link


def wait_for_health(address: str, process: subprocess.Popen) -> None:
    """Returns when the server answers."""
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.05)  # seconds: asking without a pause takes a core from the server that starts


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
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, UNOPTIMISED])
        # the end of Playwright ends it, after 30 s by force; its own close may wait for ever


WINDOW = {"width": 1280, "height": 720}


@pytest.fixture(scope="session")
def profile(chromium, server):
    """One browser profile for all tests that ask for nothing else: what it has loaded once, it loads no second time."""
    context = chromium.new_context(viewport=WINDOW, reduced_motion="reduce")
    context.new_page().goto(f"{server}/_stcore/health")  # stays open, and so does the process of its pages
    return context


@pytest.fixture(scope="session")
def find_profile(chromium, server):
    """A function that gives the browser profile of a further visitor, or one with options that a page cannot take.

    The same visitor with the same options has the same profile in all tests, empty at each call: it loads and compiles
    Streamlit's scripts once.
    """
    kept = {}

    def find(visitor: int = 0, **options):
        key = visitor, repr(sorted(options.items()))
        if key not in kept:
            kept[key] = chromium.new_context(viewport=WINDOW, **options).new_page()
            kept[key].goto(f"{server}/_stcore/health")  # stays open, as in the shared profile
        context = kept[key].context
        for page in context.pages:
            if page is not kept[key]:
                page.close()
        kept[key].evaluate("localStorage.clear()")
        context.clear_cookies()
        return context

    return find


FORGET_LECTURE = "localStorage.removeItem('attention-lecture')"  # other tests share the profile
LOOK = {"viewport", "color_scheme", "reduced_motion"}  # options of a profile that a page can take instead


def set_look(page, viewport=WINDOW, color_scheme="light", reduced_motion="no-preference") -> None:
    """Gives a page of the shared profile the look that a profile with these options would give it."""
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)


@pytest.fixture
def screen(profile, find_profile, server):
    """A function that opens a link and gives a Screen; no screen may break its own policy.

    A second visitor has another browser profile, and so has one with options that a page cannot take. Without options
    a first visitor's page moves nothing; with them, and for a second visitor, it moves, unless they say otherwise.
    """
    opened = []

    def open_link(query: str = "", address: str | None = None, lesson: str = "", **options) -> Screen:
        look = {name: options.pop(name) for name in LOOK & options.keys()}
        is_other = opened or options
        page = (find_profile(len(opened), **options) if is_other else profile).new_page()
        if look or is_other:
            set_look(page, **look)
        opened.append(Screen(page, address or server))
        opened[-1].open_lesson(lesson, query) if lesson else opened[-1].open(query)
        return opened[-1]

    yield open_link
    for each in opened:
        with suppress(PlaywrightError):  # a page of another origin keeps nothing
            each.page.evaluate(FORGET_LECTURE if each.page.context is profile else "localStorage.clear()")
        each.page.close()
    assert [each.blocked for each in opened] == [[] for _ in opened]


SETTLED = """async (patience) => {
    const grows = (each) => each.constructor === Animation && each.effect.target?.closest("details")
    const calm = () => document.querySelector('[data-test-script-state=notRunning]') &&
        !document.querySelector('[data-testid=stSkeleton]') && // a part whose code is still loading
        !window[Symbol.for("attention")]?.look?.awaits && // the page comes after its picture
        !document.getAnimations().some(grows) && // a drawer
        [...document.querySelectorAll('[data-testid=stElementContainer]')].every(each => each.firstElementChild) &&
        [...document.querySelectorAll('[data-testid=stVegaLiteChart]')].every(each => each.querySelector('svg, canvas'))
    let changed = true
    const change = () => { changed = true }
    const watch = new MutationObserver(change)
    watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    document.addEventListener("scroll", change, true) // a drawer that was opened comes into view
    const deadline = performance.now() + patience
    while (changed || !calm()) {
        changed = false
        for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame)
        if (performance.now() > deadline) throw new Error("the page does not come to rest")
    }
    document.removeEventListener("scroll", change, true)
    watch.disconnect()
}"""

CELLS = """(root, part) => {
    const { data } = root.flow, found = {};
    const token = (words, at) => words.filter(word => word === words[at]).length === 1
        ? words[at] : `${words[at]} #${at + 1}`;
    const place = (dim, at) => ({ B: `sentence ${at + 1}`, H: `head ${at + 1}`, H_kv: `head ${at + 1}` })[dim] ??
        (data.words[dim] ? token(data.words[dim], at) : data.names[dim]?.[at] ?? String(at + 1));
    for (const [name, { dims, shape, value }] of Object.entries(data.cut ? {} : data.steps)) {
        if (!part.startsWith(`${name} [`)) continue;
        value.forEach((number, cell) => {
            const each = (axis) => shape.slice(axis + 1).reduce((one, other) => one * other, 1);
            const at = shape.map((size, axis) => Math.floor(cell / each(axis)) % size);
            const named = dims.flatMap((dim, axis) => dim === "B" && shape[axis] === 1 ? [] : [place(dim, at[axis])]);
            const said = `${name} [${named.join(", ")}]`;
            if (said.includes(part)) found[said] = String(number).replace("-", "−");
        });
    }
    return found;
}"""
HEARS = """() => [document, ...[...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean)]
    .some((root) => root.querySelector(".flow")?.flow?.data?.hears)"""
DRAWN = """(selector) => document.querySelector(selector) ||
        [...document.querySelectorAll("*")].some((each) => each.shadowRoot?.querySelector(selector))"""
HOLDS = f"""([root, cell, start]) => ({DRAWN})(`path[aria-label*="${{cell}}: ${{start}}"]`) ||
    ({CELLS})(root, cell)[cell]?.startsWith(start)"""
DIFFERS = f"""([root, cell, before]) =>
    Object.entries(({CELLS})(root, cell)).some(([name, number]) => before[name] !== number)"""
OTHERS = """([cell, before]) =>
    [document, ...[...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean)]
    .flatMap((root) => [...root.querySelectorAll(`path[aria-label*="${cell}"]`)])
    .some(each => !before.includes(each.getAttribute("aria-label")))"""


GO_TO = """link => {
    history.pushState(null, "", link);
    dispatchEvent(new PopStateEvent("popstate"));
}"""


def asks_for_a_run(frame: bytes) -> bool:
    """Whether a message of the page asks the server for a run."""
    return BackMsg.FromString(frame).WhichOneof("type") == "rerun_script"


def begins_a_run(frame: bytes) -> bool:
    """Whether a message of the server says that the script has begun."""
    return ForwardMsg.FromString(frame).WhichOneof("type") == "new_session"


def ends_a_run(frame: bytes) -> bool:
    """Whether a message of the server says that the script has ended: a short run shows in nothing else."""
    message = ForwardMsg.FromString(frame)
    ended = message.WhichOneof("type") == "script_finished"
    return ended and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


def wait_for_flow(page, condition: str, arg: object = None) -> None:
    """Waits until a condition on the picture of the flow holds: a function of it and of an argument."""
    page.locator(".flow svg text").first.wait_for(state="attached")
    root = page.locator(".flow").element_handle()
    page.wait_for_function(f"([{{ flow }}, arg]) => ({condition})(flow, arg)", arg=[root, arg])


class Screen:
    """A page in the browser, and what a person does with it. Every wait is for a condition."""

    def __init__(self, page, address: str):
        self.page, self.address, self.outside, self.errors = page, address, [], []
        self.blocked = []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self.note(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.listen(message.text))
        page.on("websocket", self.connected)

    def note(self, url: str) -> None:
        """Remembers requests that leave the host."""
        if not url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.outside.append(url)

    def listen(self, message: str) -> None:
        """Remembers what the browser says that it did not load or run."""
        if "Content Security Policy" in message:
            self.blocked.append(message)

    def connected(self, socket) -> None:
        """Follows from now on what is asked for and what is answered."""
        self.socket, self.owed = socket, {"an answer"}
        socket.on("framesent", lambda frame: self.owed.add("an answer") if asks_for_a_run(frame) else None)
        socket.on("framereceived", self.heard)

    def heard(self, frame: bytes) -> None:
        """Keeps what the server still owes: the answer to what was asked last, and the end of what it has begun."""
        if begins_a_run(frame):
            self.owed = {"the end"}
        elif ends_a_run(frame):
            self.owed.discard("the end")

    @contextmanager
    def answered(self, patience: int = PATIENCE) -> Iterator[None]:
        """What is done within leads to a run, at once or a moment later; gives way when its picture is drawn. patience:
        milliseconds until that run has ended."""
        self.settled()
        with self.socket.expect_event("framereceived", ends_a_run, timeout=patience):
            yield
        self.settled()

    def open(self, query: str) -> None:
        """Opens a link and waits for the picture."""
        self.page.goto(f"{self.address}/{query}")
        self.wait_for_picture()
        self.settled()

    def change_address(self, link: str) -> None:
        """Opens another page without loading the app again, as a link on the page does."""
        with self.socket.expect_event("framesent", asks_for_a_run):
            self.page.evaluate(GO_TO, link)
        self.settled()

    def wait_for_picture(self) -> None:
        """Waits until the workbench has drawn its picture."""
        self.page.wait_for_function(HEARS)  # a lesson's is only looked at
        self.page.wait_for_function("() => window[Symbol.for('attention')]?.look?.awaits === false")
        self.page.locator(".flow svg text").first.wait_for(state="attached")

    def open_lesson(self, slug: str, query: str = "") -> None:
        """Opens a lesson and waits for its picture."""
        self.page.goto(f"{self.address}/{slug}{query}")
        others = ".heads .card, .tokens .token, .walk input, .shelves .layer, .timeline .stop"
        drawn = self.maps().or_(self.page.locator(others))
        drawn.filter(visible=True).first.wait_for()  # on a phone, a picture for wide screens is hidden
        self.settled()

    def press(self, group: str, option: str) -> None:
        """Presses a choice of a row, by the row's label and what stands on it."""
        row = self.page.get_by_test_id("stButtonGroup").filter(has=self.page.get_by_text(group, exact=True))
        choices = [row.get_by_role(role, name=option, exact=True) for role in ("button", "radio")]
        with self.answered():
            choices[0].or_(choices[1]).click()

    def open_drawer(self, question: str) -> None:
        """Opens a further sight by its question, and waits until something is drawn in it."""
        drawer = self.page.get_by_test_id("stExpander").filter(has=self.page.get_by_text(question, exact=True))
        drawer.get_by_text(question, exact=True).click()
        drawer.get_by_test_id("stExpanderDetails").locator("p").first.wait_for()
        self.settled()

    def open_step_drawer(self) -> None:
        """Opens what says any step by name."""
        self.open_drawer("Any step by name: formula, code, table")

    def slide(self, label: str, key: str, times: int = 1) -> None:
        """Moves a slider by keyboard: "ArrowLeft", "End" and the like."""
        handle = self.page.get_by_test_id("stSlider").or_(self.page.locator("label.live"))
        handle = handle.filter(has=self.page.get_by_text(label, exact=True))
        for _ in range(times):
            with self.answered():
                handle.get_by_role("slider").press(key)

    def wait_for_text(self, part: str) -> None:
        """Waits until a text stands on the page."""
        self.page.get_by_text(part, exact=False).first.wait_for()

    def settled(self) -> None:
        """Waits until every run that was asked for has ended, every chart is drawn, and nothing changes any more."""
        self.page.evaluate(SETTLED, PATIENCE)
        while self.owed:
            self.socket.wait_for_event("framereceived", ends_a_run)
            self.page.evaluate(SETTLED, PATIENCE)

    def maps(self):
        """The charts, ready to be clicked."""
        charts = "[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg"
        return self.page.locator(f"{charts}, .frames svg, .flow svg, .threads .word")

    def strip(self):
        """The steps as small maps, a button each, under the map."""
        return self.page.locator(".flow .strip button")

    def open_map(self) -> None:
        """Shows the map in the place of the flow."""
        self.page.locator(".flow .views [data-kind=map]").click()
        self.strip().first.wait_for()

    def drawn(self, key: str):
        """A shape of the flow by its layer and its name, such as "shares share 3"."""
        shape = "(root, key) => [...root.flow.picture.shapes.made, ...root.flow.map.shapes.made]"
        shape += ".find(([name]) => name === key)?.[1].element"
        return self.page.locator(".flow").evaluate_handle(shape, key).as_element()

    def click_drawn(self, key: str) -> None:
        """Clicks a shape of the flow, and waits until the server has heard of it."""
        box = self.drawn(key).bounding_box()
        with self.answered():
            self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def look_at(self, word: int) -> None:
        """Lets another word ask."""
        self.click_drawn(f"hits word {word}")

    def sentence(self) -> str:
        """The computed sentence."""
        self.settled()
        return self.page.locator("h5, .heard").first.inner_text()

    def tokens(self) -> list[str]:
        """The words that ask."""
        self.settled()
        return self.page.locator(".flow").evaluate("root => root.flow.data.words.T")

    def click_cell(self, name: str, which: int = 0) -> None:
        """Clicks a drawn cell by a part of its name; which: of several, counted from 0, or from the end with -1."""
        with self.answered():
            hidden = '[class*="st-key-narrow_"] *'  # a second picture for phones
            self.page.locator(f'path[aria-label*="{name}"]:not({hidden})').nth(which).click()

    def wait_for_number(self, cell: str, start: str) -> None:
        """Waits until a cell, such as "weights [head 1, it, dog]", holds a number that begins like this."""
        if self.page.locator(".flow").count():
            self.page.wait_for_function(HOLDS, arg=[self.page.locator(".flow").element_handle(), cell, start])
            return
        self.page.locator(f'path[aria-label*="{cell}: {start}"]').first.wait_for(state="attached")

    def numbers(self, cell: str) -> dict[str, str]:
        """The number of each cell whose name begins like this, such as "weights [head 1, it,"."""
        self.settled()
        drawn = self.page.locator(f'path[aria-label*="{cell}"]')
        if self.page.locator(".flow").count() and drawn.count() == 0:
            return self.page.locator(".flow").evaluate(CELLS, cell)
        drawn.first.wait_for(state="attached")  # the page is settled before its pictures are drawn
        labels = drawn.evaluate_all("paths => paths.map(path => path.getAttribute('aria-label'))")
        return dict(label.rsplit(": ", 1) for label in labels)

    def wait_for_others(self, cell: str, before: dict[str, str]) -> None:
        """Waits until a drawn cell whose name begins like this holds another number than before."""
        drawn = self.page.locator(f'path[aria-label*="{cell}"]')
        if self.page.locator(".flow").count() and drawn.count() == 0:
            self.page.wait_for_function(DIFFERS, arg=[self.page.locator(".flow").element_handle(), cell, before])
            return
        self.page.wait_for_function(OTHERS, arg=[cell, [": ".join(each) for each in before.items()]])

    def open_matrix(self, name: str) -> None:
        """Opens the matrices beside the picture and chooses one."""
        self.open_way("Matrices")
        self.choose_matrix(name)

    def open_way(self, name: str) -> None:
        """Opens a way in by its name: Sentence, Matrices, Model or File."""
        with self.answered():
            self.page.locator(".st-key-c_way").get_by_text(name, exact=True).click()

    def choose_matrix(self, name: str) -> None:
        """Chooses a matrix in the open drawer."""
        drawer = self.page.get_by_role("radiogroup", name="Matrix")
        drawer.wait_for()
        self.settled()
        if drawer.get_by_role("radio", name=name, exact=True, checked=True).count() == 0:
            drawer.get_by_role("radio", name=name, exact=True).click()
            drawer.get_by_role("radio", name=name, exact=True, checked=True).wait_for()
        self.settled()

    def go_to(self, row: int, column: int) -> None:
        """Puts the grid's cursor on a cell, counted from 0."""
        grid = self.page.get_by_test_id("stDataFrame").first
        grid.locator("canvas").first.wait_for()
        self.settled()
        grid.hover(trial=True)  # scrolls, and waits until the grid stays where it is
        box = grid.bounding_box()
        grid.click(position={"x": box["width"] - 12, "y": box["height"] - 12})
        self.page.wait_for_function("() => document.activeElement?.closest('[data-testid=stDataFrame]')")
        for key in ["Control+Home", *["ArrowRight"] * (column + 1), *["ArrowDown"] * row]:  # the headings come first
            self.page.keyboard.press(key)

    def edit(self, row: int, column: int, text: str, was: str) -> None:
        """Types a number into a cell of the grid, in the place of another."""
        self.go_to(row, column)
        self.page.keyboard.press("Enter")
        self.page.wait_for_function("was => document.querySelector('.gdg-input')?.value === was", arg=was)
        with self.answered():
            self.page.locator(".gdg-input").fill(text)
            self.page.keyboard.press("Enter")

    def place(self, row: int, column: int) -> dict[str, float]:
        """The middle of a cell of the canvas, in pixels of its stage."""
        take = "({ map }, at) => [map.left + ((at[1] + .5) * map.unit - map.x) / map.ratio, "
        take += "map.top + ((at[0] + .5) * map.unit - map.y) / map.ratio]"
        return dict(zip("xy", self.page.locator(".map").evaluate(take, [row, column]), strict=True))

    def open_more(self) -> None:
        """Opens the further controls."""
        with self.answered():
            self.page.locator(".st-key-more").get_by_role("button").click()

    def open_row(self, name: str) -> None:
        """Opens a row of the further controls by its name, and the further controls before, if they are closed."""
        side = self.page.locator(".st-key-side")
        if side.locator("[class*=st-key-c_panel_]").count() == 0:
            self.open_more()
        row = side.get_by_text(name, exact=True)
        row.wait_for()
        if row.locator("xpath=ancestor::details[@open]").count():  # it was left open
            return
        with self.answered():
            row.click()

    def choose(self, label: str, option: str) -> None:
        """Another one of a list; by keyboard, and again where the list closes because its place moves."""
        self.settled()
        box = self.page.get_by_label(label, exact=True)
        wanted = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(10):
            box.press("ArrowDown")
            with suppress(PlaywrightError):
                with self.answered(10_000):
                    wanted.click(timeout=3000)
                return
        raise AssertionError(f"{option} is not among {label}")

    def pick(self, part: str, option: str) -> None:
        """The one of the list with the focus that a part of its name, typed, leaves."""
        self.settled()
        self.page.keyboard.type(part)
        self.page.get_by_role("option", name=option, exact=True).wait_for()
        self.page.keyboard.press("Enter")

    def upload(self, name: str, content: bytes) -> None:
        """Puts a file into the uploader."""
        self.settled()
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        box = self.page.get_by_test_id("stFileUploader").locator("input")
        self.page.wait_for_function(  # the one before may still be leaving
            "() => document.querySelectorAll('[data-testid=stFileUploader] input').length === 1"
        )
        box.set_input_files(file)

    def arithmetic(self) -> str:
        """The arithmetic of the opened cell."""
        self.settled()
        return self.sums().first.inner_text()

    def sums(self):
        """The arithmetic that is open, in the picture first."""
        return self.page.locator(".flow .panel .sum, .arithmetic .sum")

    def type(self, label: str, text: str) -> None:
        """Types into a text box and leaves it."""
        box = self.page.get_by_label(label, exact=True)
        with self.answered():
            box.fill(text)
            box.press("Enter")

    def wait_for_sentence(self, part: str) -> None:
        """Waits until the computed sentence contains a text."""
        self.page.locator("h5, .heard", has_text=part).first.wait_for(state="attached")

    def follow(self, number: int, until: str) -> None:
        """Clicks an operand of the arithmetic and waits until the cell that it leads to is named."""
        with self.answered():
            self.page.locator(".operand").nth(number).click()
        self.page.get_by_text(until, exact=False).first.wait_for()

    def query(self) -> dict[str, str]:
        """The parameters in the address bar, without the panel beside the picture."""
        from urllib.parse import parse_qsl, urlsplit

        self.settled()  # the address is written last
        parameters = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        return {key: text for key, text in parameters.items() if key != "side_panel"}
