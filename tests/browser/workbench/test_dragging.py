"""What a drag shows before the server answers, and what the screen says where the server then has other numbers."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

# The twin's e is a little too small for every power but that of 0: the server's is not.
PLANT = "() => { const exp = Math.exp; Math.exp = (x) => exp(x) * (x < 0 ? 1.001 : 1); }"


def press_temperature(opened) -> None:
    """Moves the temperature by a tenth of its way: a drag and its release."""
    with opened.answered():
        opened.page.locator(".live input").press("PageUp")


@pytest.mark.parametrize(
    ("lang", "says"),
    [
        ("en", "Not the same: at weights the drag showed other numbers than the server has now computed"),
        ("zh", "不一致：拖动时“权重”一步的数，与服务器现在算出的不同"),
    ],
)
def test_where_the_drag_and_the_server_differ_the_screen_says_so(screen, lang, says):
    opened = screen(f"?lang={lang}&ex=en_it")
    headline = opened.page.locator(".flow .headline")
    before = headline.inner_text()
    opened.page.evaluate(PLANT)
    press_temperature(opened)
    expect(headline).to_have_text(says)
    opened.look_at(1)  # another look is the server's alone
    expect(headline).not_to_have_text(says)
    opened.look_at(5)
    expect(headline).not_to_have_text(before)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_drag_that_the_server_confirms_says_nothing(screen, dtype):
    opened = screen(f"?dtype={dtype}&ex=zh_colour&lang=en")
    press_temperature(opened)
    flow = opened.page.locator(".flow")
    assert flow.evaluate("root => [root.flow.isDragged, root.flow.moved.includes('weights')]") == [False, True]
    assert flow.evaluate("root => root.flow.differs") is None
    expect(flow.locator(".differs")).to_have_count(0)
