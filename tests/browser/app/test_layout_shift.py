"""Nothing on a page jumps while it loads: its cumulative layout shift (web.dev/articles/cls) stays under 0.1."""

from datetime import date

import pytest

from pages.site.catalog import PAGES
from pages.site.words import load_app_texts
from tests.browser.conftest import PATIENCE, SETTLED

pytestmark = pytest.mark.slow

MOST = 0.1  # "good" is a shift up to this
OBSERVE = """(() => {
    window.shifts = [];
    const name = (node) => {
        const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        const place = element?.closest?.("[class*=st-key-]") ?? element;
        const key = [...(place?.classList ?? [])].find((each) => each.startsWith("st-key-"));
        return `${key ?? place?.dataset?.testid ?? place?.tagName} "${node?.textContent.trim().slice(0, 40)}"`;
    };
    const note = ({ hadRecentInput, value, startTime, sources }) => {
        if (hadRecentInput) return;
        const moved = sources.map(({ node, previousRect: { x, y }, currentRect }) =>
            `${name(node)} from ${x}, ${y} to ${currentRect.x}, ${currentRect.y}`);
        window.shifts.push({ value, at: startTime, moved });
    };
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(note));
    observer.observe({ type: "layout-shift", buffered: true });
})()"""
ARRIVED = """() => document.querySelector("main [data-testid=stElementContainer]") &&
    !document.documentElement.hasAttribute("data-arriving")"""
WINDOWS = [{"width": 1280, "height": 720}, {"width": 390, "height": 844}]


def largest_window(shifts: list[dict]) -> float:
    """The largest sum of a session window: shifts at most 1 s apart, over at most 5 s."""
    sums, first, last = [0], 0, -2000
    for shift in shifts:
        if shift["at"] - last >= 1000 or shift["at"] - first >= 5000:
            sums.append(0)
            first = shift["at"]
        last = shift["at"]
        sums[-1] += shift["value"]
    return max(sums)


def tell_jumps(page, what: str) -> list[str]:
    """What has moved, if that is too much, once the page is there."""
    page.wait_for_function(ARRIVED)
    page.evaluate(SETTLED, PATIENCE)
    shifts = page.evaluate("window.shifts")
    if largest_window(shifts) < MOST:
        return []
    return [f"{what}, {shift['value']:.3f}: {'; '.join(shift['moved'])}" for shift in shifts]


def open_page(profile, window, address):
    page = profile.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(window)
    page.add_init_script(OBSERVE)
    page.goto(address)
    return page


CHINESE_EVERY = 7  # one page in so many, others each day: all of them in a week


@pytest.fixture(scope="module")
def warm_server(profile, server):
    """A server that has drawn the first screen once, so that no visitor's page waits for what is imported or computed
    once a process.
    """
    page = open_page(profile, WINDOWS[0], server)
    page.wait_for_function(ARRIVED, timeout=2 * PATIENCE)
    page.evaluate(SETTLED, PATIENCE)
    page.close()
    return server


GROUPS = 6  # of pages: one test each, for all pages of a window took five minutes on a slow machine


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("window", WINDOWS, ids=["wide", "phone"])
def test_no_page_jumps_while_it_loads(profile, warm_server, window, group):
    today = PAGES[date.today().toordinal() % CHINESE_EVERY :: CHINESE_EVERY]
    visits = [*((entry, "en") for entry in PAGES), *((entry, "zh") for entry in today)]
    jumps = []
    for entry, language in visits[group::GROUPS]:
        slug = "" if entry.slug == "workbench" else entry.slug
        page = open_page(profile, window, f"{warm_server}/{slug}?lang={language}")
        jumps += tell_jumps(page, f"{entry.slug} ({language})")
        page.close()
    assert not jumps, "\n".join(jumps)


FOLLOW = """(path) => {
    window.shifts = [];
    [...document.querySelectorAll("[data-testid=stSidebarNavLink]")].find((link) => link.pathname === path).click();
}"""  # no input of a visitor, after which a browser would not count shifts for half a second

SEND_LATE = """() => {
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (data) { setTimeout(() => send.call(this, data), 300); };
}"""  # as from far away: a dozen frames pass before the server begins to send the page


def test_no_page_jumps_when_the_menu_opens_another(profile, warm_server):
    page = open_page(profile, WINDOWS[1], f"{warm_server}/start?lang=zh")
    tell_jumps(page, "start")
    page.evaluate(SEND_LATE)
    jumps, words = [], load_app_texts("zh")
    for slug in ("heads", "distance", "decoding", "scores", "glossary"):  # that jumped most, by up to 0.7
        page.evaluate(FOLLOW, f"/{slug}")
        page.wait_for_url(f"**/{slug}?*")
        page.get_by_text(words[f"lessons.{slug}.question"]).first.wait_for(state="attached")
        jumps += tell_jumps(page, slug)
    page.close()
    assert not jumps, "\n".join(jumps)
