"""Looking and dragging in the picture of the flow, in the browser's own trace: nothing of it waits for the server.

A look is another word, head or step: script, style, layout and paint of its frame together. A frame is a callback of
requestAnimationFrame while a hand drags the bar of the stops or the temperature.
"""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from statistics import median

from playwright.sync_api import Browser, Page

from tests.benchmarks.figures import Figure, percentile, report
from tests.benchmarks.tab import chromium, new_page
from tests.browser.conftest import process_of

MOST_LOOK_MS = 16
LEAST_LOOKS = 100  # of which the median is taken
LEAST_FRAMES, MOST_FRAME_MS = 55, 20  # a second; of 95 % of the frames
DRAG_MS = 3000
WORDS = ("Anna", "fed", "the", "dog", "and", "it", "barked")
LOOKS = {
    "another word": "flow.lookAt({ query: (flow.look.query + 1) % flow.data.words.T.length })",
    "another head": "flow.lookAt({ head: 1 - flow.look.head })",
    "another row of the map": "flow.lookAt({ view: 'map', query: (flow.look.query + 1) % flow.data.words.T.length })",
    "the map or the flow": "flow.lookAt({ view: flow.look.view === 'map' ? 'flow' : 'map' })",
}
DRAGS = {
    "bar": "the stops scrubbed",
    "temperature": "the temperature dragged",
    "vector": "a query dragged in the plane",
}
LOOK = """({ flow }) => new Promise((done) => {
    performance.mark("look");
    %s;
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""
DRAG = """({ flow }, [what, ms]) => new Promise((done) => {
    const times = [], begun = performance.now(), { hands } = flow.plane;
    if (what === "vector") hands.begin({ role: "q", place: flow.look.query });
    const step = (now) => {
        times.push(now);
        const share = Math.abs(((now - begun) / 1000) % 2 - 1); // there and back in two seconds
        if (what === "bar") flow.journey.scrub(share * flow.snapshot.stops.length);
        else if (what === "vector") hands.move([Math.cos(3 * share), Math.sin(3 * share)]);
        else flow.drag({ params: { scaled_scores: { temperature: 0.1 * 100 ** share } } });
        if (now - begun < ms) requestAnimationFrame(step);
        else done(times.slice(1).map((time, i) => time - times[i]));
    };
    requestAnimationFrame(step);
})"""
WORK = ("RunTask", "ThreadControllerImpl::RunTask")  # a task of the page's main thread, as Chromium's trace has it


def sentence(tokens: int) -> str:
    """A link to a sentence of so many words."""
    return "?lang=en&text=" + "+".join(islice(cycle(WORDS), tokens))


def opened(browser: Browser, address: str) -> Page:
    """The workbench, ready."""
    page = new_page(browser)
    page.goto(address)
    page.locator(".flow .word").first.wait_for()
    page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")
    return page


def time_look(browser: Browser, page: Page, look: str) -> float:
    """Milliseconds of the main thread from a look on, until its frame is painted."""
    flow = page.locator(".flow")
    browser.start_tracing(page=page, categories=["devtools.timeline", "toplevel", "blink.user_timing"])
    flow.evaluate(LOOK % look)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mark = next(event for event in events if event["name"] == "look")
    thread = (mark["pid"], mark["tid"])
    tasks = [event for event in events if event["name"] in WORK and (event["pid"], event["tid"]) == thread]
    after = [event for event in tasks if event["ts"] + event.get("dur", 0) >= mark["ts"]]
    return sum(event.get("dur", 0) for event in after) / 1000


def measure(runs: int) -> Iterator[Figure]:
    """Looks, then frames of drags, at 7 and at 40 words."""
    with process_of("app.py") as (address, _), chromium() as browser:
        page = opened(browser, f"{address}/{sentence(7)}")
        for what, look in LOOKS.items():
            times = [time_look(browser, page, look) for _ in range(max(runs, LEAST_LOOKS) + 3)][3:]
            found = f"{median(times):.1f} ms (95 %: {percentile(times, 0.95):.1f} ms)"
            yield Figure(f"looking, {what}: main thread until painted (7 tokens)", f"< {MOST_LOOK_MS} ms", found)
        for tokens in (7, 40):
            page = opened(browser, f"{address}/{sentence(tokens)}")
            for what, name in DRAGS.items():
                yield frames_of(page, what, f"{name} ({tokens} tokens)")


def frames_of(page: Page, what: str, name: str) -> Figure:
    """Frames a second while a hand drags."""
    if what == "vector":
        page.locator(".flow .views [data-kind=plane]").click()
        page.locator(".plane .grip").first.wait_for(state="attached")
    gaps = page.locator(".flow").evaluate(DRAG, [what, DRAG_MS])
    rate = 1000 * len(gaps) / sum(gaps)
    found = f"{rate:.1f} a second; 95 %: {percentile(gaps, 0.95):.1f} ms; longest {max(gaps):.0f} ms"
    return Figure(f"frames, {name}", f"≥ {LEAST_FRAMES} a second, 95 % < {MOST_FRAME_MS} ms", found)


if __name__ == "__main__":
    report([measure])
