"""axe-core finds nothing on any page but what Streamlit, Vega and axe itself leave no way to mend."""

from itertools import cycle
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages.site.catalog import PAGES
from tests.browser.conftest import WINDOW, Screen, set_look

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
LOOKS = (("en", "light", WINDOW), ("zh", "dark", PHONE), ("en", "dark", WINDOW), ("zh", "light", PHONE))
PRESSED = (  # what is pressed on the workbench before it is looked at
    *(f".flow .views [data-kind={view}]" for view in ("heads", "map", "plane")),
    *(f".st-key-c_way button >> nth={way}" for way in (1, 2, 3)),  # Matrices, Model, File
    *(f".st-key-{name} button >> nth=0" for name in ("more", "examples", "export")),
)
SHOWN = (  # a lecture as it is shown, and the speaker's notes
    *(f"present?lecture=ten_minutes&scene={scene}" for scene in ("1&step=journey", "1&step=question", "4&step=map")),
    *(f"present?lecture=forty_five_minutes&scene=2&step=lesson{view}" for view in ("", "&view=notes")),
)
DRAWERS = "[data-testid=stExpander] summary"
SIGHTS = (
    *((f"{page.slug if page.slug != 'workbench' else ''}?", None) for page in PAGES),
    *(("?", press) for press in PRESSED),
    *((f"{shown}&", None) for shown in SHOWN),
    *((f"{slug}?", DRAWERS) for slug in ("softmax", "encoder")),
)
KNOWN = (  # a rule of axe and a part of the element that it names: why that stays
    ("list", "stSidebarNavItems"),  # Streamlit's menu on a phone has the sections of the menu between list and entries
    ("listitem", '<li class="st-emotion-cache'),  # the entries of that menu
    ("presentation-role-conflict", "stFileUploaderDropzone"),  # Streamlit names the area of a file, and hides its role
    ("empty-table-header", "aria-colindex"),  # the corner of Streamlit's grid, between its headings
    ("scrollable-region-focusable", "<pre "),  # Streamlit's code, wider than a phone; most browsers let keys scroll it
    ("svg-img-alt", "></g>"),  # a layer of a chart in which nothing is drawn: Vega gives it the role of a picture
    ("region", "stSkipToContent"),  # axe takes a link inside a shadow root for an earlier one on the page
)


@pytest.fixture(scope="module")
def visits():
    """A page in each look, by language, scheme and width: it is loaded once, and led from one entry to another."""
    opened = {}
    yield opened
    for each in opened.values():
        each.page.close()


@pytest.fixture
def visit(visits, profile, server):
    """A function that opens a page in a language and a look, presses what is to be seen, and gives the page."""

    def open_page(path: str, press: str | None, language: str, scheme: str, viewport: dict):
        look, link = (language, scheme, viewport["width"]), f"/{path}lang={language}"
        if look not in visits:
            visits[look] = Screen(profile.new_page(), server)
            set_look(visits[look].page, viewport, scheme, "reduce")
        opened = visits[look]
        slug = urlsplit(opened.page.url).path
        if slug in ("blank", urlsplit(link).path):  # what was pressed there is gone after loading alone
            opened.page.goto(f"{server}{link}")
        else:
            opened.change_address(link)
        opened.page.get_by_test_id("stMain").get_by_test_id("stElementContainer").first.wait_for(state="attached")
        opened.settled()
        for each in opened.page.locator(press).all() if press else ():
            each.press("Enter")
            opened.settled()
        return opened.page

    return open_page


def findings(page) -> list[tuple[str, str, str]]:
    """What axe finds and nobody knows yet: the rule, the element, and what is wrong."""
    violations = Axe().run(page).response["violations"]
    found = [(each["id"], node["html"], node["failureSummary"]) for each in violations for node in each["nodes"]]
    return [each for each in found if not any(each[0] == rule and part in each[1] for rule, part in KNOWN)]


@pytest.mark.parametrize(
    ("sight", "look"), list(zip(SIGHTS, cycle(LOOKS), strict=False)), ids=lambda part: " ".join(map(str, part[:2]))
)
def test_a_page_has_no_finding(visit, sight, look):
    assert findings(visit(*sight, *look)) == []


def test_a_fault_inside_a_component_is_found(visit):
    page = visit("start?", None, *LOOKS[0])
    page.locator(".flow").evaluate("(root) => root.append(document.createElement('button'))")
    assert [rule for rule, _, _ in findings(page)] == ["button-name"]
