"""What Streamlit itself writes below fields and in lists: in Chinese on a Chinese page."""

import pytest

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
    page.get_by_label(words["control.text"], exact=True).fill("Anna fed")
    assert shown(hint) == words["streamlit.apply"]
    page.get_by_label(words["control.text"], exact=True).press("Enter")
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
