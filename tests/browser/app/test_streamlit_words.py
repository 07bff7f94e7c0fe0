"""What Streamlit itself writes below fields, in lists, menus and dialogs: in Chinese on a Chinese page."""

import pytest
from playwright.sync_api import expect

from pages.site.words import load_app_texts

SHOWN = """(each) => parseFloat(getComputedStyle(each).fontSize) > 0
    ? each.innerText
    : JSON.parse(getComputedStyle(each, "::after").content)"""


def shown(place) -> str:
    """What a visitor reads in a place where Streamlit writes in English."""
    return place.evaluate(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_streamlit_says_of_a_field_and_a_list_is_in_the_language_of_the_page(screen, language):
    words = load_app_texts(language)
    opened = screen(f"?ex=en_it&lang={language}")
    page = opened.page
    hint = page.get_by_test_id("InputInstructions").locator("span").first
    sentence = page.get_by_label(words["control.text"], exact=True)
    sentence.fill("")  # a sentence would be applied when the hand rests
    assert shown(hint) == words["streamlit.apply"]
    sentence.fill("Anna fed")
    sentence.press("Enter")
    opened.open_way(words["way.matrices"])
    page.locator("textarea").first.fill("1 2")
    assert shown(hint) == words["streamlit.apply_lines"]
    page.reload()
    opened.settled()
    page.keyboard.press("Tab")
    assert shown(page.get_by_test_id("stSkipToContent")) == words["streamlit.skip"]
    page.locator(".st-key-export button").first.click()
    page.get_by_test_id("stSelectbox").locator("input").first.fill("nothing of the kind")
    assert shown(page.locator("[role=listbox] [role=option] span")) == words["streamlit.nothing"]


@pytest.mark.slow
def test_the_menu_of_a_column_and_a_missing_page_speak_chinese(screen):
    words = load_app_texts("zh")
    opened = screen("?lang=zh", lesson="nosuchpage")
    expect(opened.page.get_by_test_id("stDialog")).to_contain_text(words["streamlit.exact.not_found"])
    expect(opened.page.get_by_test_id("stDialog")).to_contain_text(words["streamlit.exact.no_page"])
    opened.open("?lang=zh&step=scores")
    opened.open_drawer(words["step.title"])
    opened.page.get_by_text(words["table.title"], exact=True).click()
    grid = opened.page.get_by_test_id("stDataFrame")
    grid.hover()
    tools = opened.page.get_by_test_id("stElementToolbar").get_by_role("button")
    names = [tool.get_attribute("aria-label") for tool in tools.all()]
    assert names == [words[f"streamlit.exact.{name}"] for name in ("columns", "csv", "search", "fullscreen")]


@pytest.mark.slow
def test_the_document_has_its_language_before_a_picture_can_be_drawn(find_profile, server):
    """Without a connection nothing is drawn; the language is the link's, else the browser's."""
    page = find_profile(locale="zh-CN").new_page()
    page.route_web_socket("**/_stcore/stream*", lambda socket: socket.close())
    for link, tag in (("", "zh-Hans"), ("?lang=en", "en"), ("?lang=zh", "zh-Hans"), ("?lang=constructor", "zh-Hans")):
        page.goto(f"{server}/{link}")
        assert page.evaluate("() => document.documentElement.lang") == tag
