"""Firefox and WebKit: the first screen, a drag, an export, two sliders; all other tests go by Chromium."""

import os
from xml.etree import ElementTree

import pytest

from pages.runs import cache
from pages.setup.codec import setup_from_link
from tests.browser.other_browsers import Firefox, WebKit, missing
from tests.browser.workbench.test_plane import ANNA, AT, DOG, GOES, IT

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {
    "policy: script-src wasm-eval",  # a part of Streamlit tries whether it may compile WebAssembly; Firefox says so
    "ResizeObserver loop completed with undelivered notifications.",  # they come a frame later; nothing is wrong
}
COLOURS = """() => all(".rail canvas").map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
})"""


@pytest.fixture(scope="module", params=[Firefox, WebKit], ids=["firefox", "webkit"])
def browser(request, tmp_path_factory):
    """Firefox and WebKit, one after the other."""
    if lacking := missing(request.param):
        reason = f"there is no {' and no '.join(lacking)} on the path"
        pytest.fail(reason) if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip(reason)
    with request.param.started(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def opened(browser, server):
    """A function that opens a link and waits for its picture; nothing may go wrong in the page but what is known."""

    def open_link(query: str):
        browser.open(f"{server}/{query}")
        return browser

    yield open_link
    assert set(browser.problems()) <= KNOWN


def test_the_first_screen_draws_its_ribbon_and_its_small_maps(opened):
    browser = opened("?lang=en")
    assert browser.run("() => all('.flow .headline')[0].textContent") == "it attends to dog, 93 %"
    browser.wait("() => all('.rail canvas').length === 2")
    assert min(browser.run(COLOURS)) > 1  # not blank
    widths = "(root) => [...root.flow.picture.shapes.made].map(([, { element }]) => element.getBBox().height)"
    assert max(browser.run(f"() => ({widths})(all('.flow')[0])")) > 40


def test_a_dragged_query_moves_the_shares_and_the_server_computes_the_same(opened):
    browser = opened("?lang=en&ex=en_plane")
    browser.click(".flow .views [data-kind=plane]")
    browser.wait("() => all('.plane .grip').length")
    on_plane = "(given) => ({})(all('.flow')[0], given)".format
    start = browser.run(on_plane(AT), ["q", 0])
    browser.drag(start, browser.run(on_plane(GOES), ["k", [0, 3.5]]))
    browser.wait("() => location.search.includes('w_q=') && !all('.flow')[0].flow.isDragged")
    shares = browser.run("() => [...all('.flow')[0].flow.plane.shares]")
    assert shares[ANNA] == pytest.approx(shares[DOG], abs=0.03) and shares[ANNA] > 0.4
    link = browser.run("() => Object.fromEntries(new URLSearchParams(location.search))")
    setup, refused = setup_from_link({key: text for key, text in link.items() if key != "lang"})
    assert not refused
    assert shares == pytest.approx(cache.trace_for(setup)["weights"][0, 0, IT].tolist(), abs=1e-6)


def test_the_picture_is_saved_as_a_file_that_holds_it(opened):
    browser = opened("?lang=en&ex=en_it")
    browser.click(".st-key-export button")
    browser.click(".flowfiles .query button.svg")
    root = ElementTree.fromstring(browser.downloaded("attention_en_it_query.svg", "</svg>"))
    assert int(root.get("width")) > 1.9 * int(root.get("height"))
    assert sum("softmax" in group.get("aria-label", "") for group in root.iter(f"{SVG}g")) == 1  # its formulas below
    assert {"Anna", "barked", "it", "it′", "93 %"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_two_sliders_that_import_one_script_at_once_are_both_drawn(browser, server):
    browser.go(f"{server}/models?lang=en")
    drawn = "all('label.live output').map((each) => each.textContent)"
    named = browser.wait(f"() => {drawn}.length === 2 && {drawn}.every(Boolean) && {drawn}")
    assert named == ["GPT-2 (small)", "gpt-oss-120b"]
    browser.settled()
    assert set(browser.problems()) <= KNOWN
