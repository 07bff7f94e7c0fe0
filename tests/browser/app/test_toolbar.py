"""What several pages have in their first line stands at the same place on all of them; what a page is about, its
picture, is the largest thing on its screen; and every drawer of a lesson is drawn."""

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.site.catalog import LESSONS, PAGES
from pages.site.words import load_app_texts
from tests.browser.conftest import Screen, wait_for_flow
from tests.browser.lessons.test_pictures import HEROES, LEAST_SHARE, width_of_picture
from tests.screen.lesson import record_of

ITEMS = ("other_language", "export", "proof", "door_workbench", "c_reveal")
PLACES = """(items) => Object.fromEntries(items.flatMap((item) => {
    const box = document.querySelector(`.st-key-${item}`)?.getBoundingClientRect();
    return box?.width ? [[item, [box.left, box.top].map(Math.round)]] : [];
}))"""
SAME = f"""() => {{
    const now = JSON.stringify(({PLACES})({list(ITEMS)}));
    const isSame = now === window.placesBefore;
    window.placesBefore = now;
    return isSame;
}}"""
ROWS = """(line) => {
    const shown = [...line.querySelectorAll("button, a, label")].map((item) => item.getBoundingClientRect());
    const middles = shown.filter(({ width }) => width).map(({ top, height }) => top + height / 2).sort((a, b) => a - b);
    return middles.filter((middle, n) => !n || middle - middles[n - 1] > 15); // of one row
}"""
WITHOUT_A_RUN = {"choice", "present", "maps", "cost", "glossary", "history"}


ONE_OF_EACH_FRAME = [page for page in PAGES if page.slug in ("workbench", "scale", "puzzles", "maps", "glossary")]


@pytest.mark.slow
@pytest.mark.parametrize("lang, pages", [("zh", ONE_OF_EACH_FRAME), ("en", PAGES)], ids=["zh", "en"])
def test_every_page_has_its_toolbar_at_one_place_its_picture_wide_and_its_drawers_drawn(profile, server, lang, pages):
    visit = Screen(profile.new_page(), server)
    page = visit.page
    found, widths = {item: {} for item in ITEMS}, {}
    for entry in pages:
        address = "" if entry.slug == "workbench" else entry.slug
        drawers = record_of(entry.slug).drawers if entry.slug in LESSONS else ()
        opening = f"&open={','.join(drawers)}" if drawers else ""
        link = f"/{address}?lang={lang}{opening}"
        visit.change_address(link) if found["other_language"] else page.goto(f"{server}{link}")
        page.locator(".st-key-other_language").get_by_text({"en": "中文", "zh": "EN"}[lang], exact=True).wait_for()
        if entry.slug not in WITHOUT_A_RUN:
            page.locator(".st-key-export button").wait_for()
            page.locator(".st-key-proof button").wait_for()
        visit.settled()  # every chart is there, also in the drawers
        assert page.get_by_test_id("stException").count() == 0, entry.slug
        page.wait_for_function(SAME)  # its fonts and buttons are there
        assert page.get_by_test_id("stSidebar").count() == 0, entry.slug
        for item, place in page.evaluate(PLACES, list(ITEMS)).items():
            found[item][entry.slug] = tuple(place)
        if entry.slug in HEROES:
            widths[entry.slug] = width_of_picture(visit, entry.slug)
    page.close()
    assert visit.errors + visit.blocked + visit.outside == []
    with_a_run = [entry for entry in pages if entry.slug not in WITHOUT_A_RUN]
    assert len(found["other_language"]) == len(pages) and len(found["export"]) == len(with_a_run)
    assert {item: len(set(places.values())) for item, places in found.items()} == dict.fromkeys(ITEMS, 1), found
    assert {slug: share for slug, share in widths.items() if not LEAST_SHARE <= share <= 1} == {}


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_hero_has_most_of_the_width(screen, width):
    opened = screen(viewport={"width": width, "height": 720})
    wait_for_flow(opened.page, "(flow) => flow.svg.getAttribute('width') > 0")
    content = opened.page.get_by_test_id("stMainBlockContainer").locator("> *").first.bounding_box()["width"]
    wide = opened.page.locator(".flow .stage > svg").bounding_box()["width"]
    share = wide / content
    assert share >= 0.6 and wide >= {1280: 672, 1920: 1050}[width]


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "lesson", "following"), [("en", "scale", "masks"), ("zh", "scores", "cross")])
def test_on_a_phone_the_toolbar_of_a_lesson_is_one_row_and_a_button_opens_its_other_tools(
    screen, lang, lesson, following
):
    opened = screen(f"?lang={lang}", lesson=lesson, viewport={"width": 390, "height": 844})
    toolbar, words = opened.page.locator(".st-key-toolbar"), load_app_texts(lang)
    tools = [toolbar.locator(f".st-key-{key}") for key in ("c_reveal", "door_workbench", "proof", "export")]
    tools[-1].wait_for(state="attached")
    opened.settled()
    assert len(toolbar.evaluate(ROWS)) == 1
    assert toolbar.bounding_box()["height"] <= 48
    for tool in tools:
        expect(tool).to_be_hidden()
    more = toolbar.get_by_role("button", name=words["toolbar.more"])
    more.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    for tool in tools:
        expect(tool).to_be_in_viewport(ratio=1)
    assert opened.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth") <= 390
    toolbar.locator(".st-key-export button").click()
    expect(opened.page.get_by_test_id("stPopoverBody")).to_be_in_viewport()
    opened.settled()
    asked = []
    opened.socket.on("framesent", lambda frame: asked.append(BackMsg.FromString(frame).rerun_script.page_script_hash))
    toolbar.get_by_role("link", name=words["lesson.next"]).click()
    opened.page.wait_for_url(f"**/{following}**")
    expect(more).to_have_attribute("aria-expanded", "false")
    former = asked[0]  # the press also closes the menu, which the browser reports for the page that it is on
    assert former not in asked[asked.count(former) :], asked  # that page is asked for before the next one, not after it
