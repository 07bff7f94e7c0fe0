"""What several pages have in their first line stands at the same place on all of them; the picture has the room."""

import pytest

from pages.site.catalog import PAGES
from tests.browser.conftest import WINDOW, Screen

ITEMS = ("c_lang", "export", "proof", "door_workbench", "c_reveal")
PLACES = """(items) => Object.fromEntries(items.flatMap((item) => {
    const box = document.querySelector(`.st-key-${item}`)?.getBoundingClientRect();
    return box?.width ? [[item, [box.left, box.top].map(Math.round)]] : [];
}))"""
WITHOUT_A_RUN = {"present", "cost", "glossary", "history"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_item_of_the_toolbar_stands_at_the_same_place_on_every_page(chromium, server, lang):
    visit = Screen(chromium.new_context(viewport=WINDOW).new_page(), server)
    page = visit.page
    found = {item: {} for item in ITEMS}
    for entry in PAGES:
        address = "" if entry.slug == "workbench" else entry.slug
        page.goto(f"{server}/{address}?lang={lang}")
        wanted = [".st-key-c_lang"] if entry.slug in WITHOUT_A_RUN else [".st-key-c_lang", ".st-key-export"]
        for selector in wanted:
            page.locator(selector).first.wait_for()
        visit.settled()
        assert page.get_by_test_id("stSidebar").count() == 0, entry.slug
        for item, place in page.evaluate(PLACES, list(ITEMS)).items():
            found[item][entry.slug] = tuple(place)
    page.context.close()
    assert len(found["c_lang"]) == len(PAGES) and len(found["export"]) == len(PAGES) - len(WITHOUT_A_RUN)
    assert {item: len(set(places.values())) for item, places in found.items()} == dict.fromkeys(ITEMS, 1), found


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_hero_has_most_of_the_width(screen, width):
    opened = screen(viewport={"width": width, "height": 720})
    opened.page.wait_for_function("() => document.querySelector('.flow svg').getAttribute('width') > 0")
    measure = """() => {
        const content = document.querySelector('[data-testid=stMainBlockContainer] > *').getBoundingClientRect().width;
        const hero = document.querySelector('.flow svg').getBoundingClientRect();
        return [hero.width / content, hero.width];
    }"""
    share, wide = opened.page.evaluate(measure)
    assert share >= 0.6 and wide >= {1280: 672, 1920: 1050}[width]
