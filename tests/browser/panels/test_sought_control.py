"""A control is found by the words that people use for it, and has the focus, in view."""

import pytest

pytestmark = pytest.mark.slow
FOCUSED = """(key) => {
    const on = document.activeElement;
    const isHere = on.closest(`.st-key-${key}, [class*="st-key-${key}_"]`);
    if (!isHere || on.closest("[data-testid=stWidgetLabel]")) return false;
    const { top, bottom } = on.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""


def seek(page, word, key):
    """Opens the search by its key, chooses the first result for a word, and waits until the control has the focus."""
    page.keyboard.press("/")
    field = page.locator("input[role=combobox]:focus")
    field.fill(word)
    page.get_by_role("option").first.wait_for()
    field.press("Enter")
    page.wait_for_function(FOCUSED, arg=key)


@pytest.mark.parametrize(
    ("language", "word", "key"),
    [
        ("en", "heads", "c_heads"),
        ("en", "upload", "c_bring"),
        ("en", "precision", "c_dtype"),
        ("en", "device", "c_device"),
        ("en", "GPU", "c_device"),
        ("zh", "头数", "c_heads"),
        ("zh", "上传", "c_bring"),
        ("zh", "精度", "c_dtype"),
        ("zh", "设备", "c_device"),
    ],
)
def test_enter_leads_to_the_control_that_a_word_means(screen, language, word, key):
    opened = screen(f"?lang={language}")
    seek(opened.page, word, key)
    assert not opened.errors


def test_the_key_of_the_search_works_again_where_a_search_has_led(screen):
    opened = screen("?lang=en")
    # "precision" scrolls the page down; "device" opens a popover, in which a select box has the focus
    for word, key in (("precision", "c_dtype"), ("device", "c_device"), ("GPU", "c_device"), ("upload", "c_bring")):
        seek(opened.page, word, key)
    seek(opened.page, "heads", "c_heads")
    assert not opened.errors
