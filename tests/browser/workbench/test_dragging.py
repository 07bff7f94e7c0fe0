"""What a drag shows before the server answers, and what the screen says where the server then has other numbers."""

import math

import pytest
from playwright.sync_api import expect

# The twin's e is a little too small for every power but that of 0: the server's is not.
PLANT = "() => { const exp = Math.exp; Math.exp = (x) => exp(x) * (x < 0 ? 1.001 : 1); }"


# Takes the knob of the temperature to a number, and holds it there.
HOLD = """(input, temperature) => {
    const { min, max } = input, ends = [0.1, 10].map(Math.log);
    const at = (Math.log(temperature) - ends[0]) / (ends[1] - ends[0]);
    input.value = Number(min) + at * (max - min);
    input.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def press_temperature(opened) -> None:
    """Moves the temperature by a tenth of its way: a drag and its release."""
    with opened.answered():
        opened.page.locator(".live input").press("PageUp")


def test_while_the_knob_is_held_knob_headline_and_picture_say_the_same(screen):
    opened = screen("?ex=en_it&lang=en")
    opened.page.locator(".live input").evaluate(HOLD, 2)
    flow = opened.page.locator(".flow")
    expect(flow.locator(".headline")).to_have_text("it attends to dog, 62 %")
    assert opened.page.locator("label.live output").inner_text() == "2"
    score = 6 / math.sqrt(2) / 2  # of it and dog; of it and Anna its negative, of the others 0
    share = math.exp(score) / (math.exp(score) + math.exp(-score) + 5)
    assert round(share, 2) == 0.62
    assert flow.evaluate("root => root.flow.snapshot.shares[3]") == pytest.approx(share, abs=1e-6)
    assert "temperature" not in opened.page.url and flow.evaluate("root => root.flow.isDragged")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("My teacher loves pizza", "Head 1: “loves” has a random vector, which carries no meaning."),
        (
            "Anna fed the glorp and it barked",
            "Head 2: “fed” meets the random vector of “glorp”, which carries no meaning.",
        ),
    ],
)
def test_a_drag_claims_nothing_of_random_words(screen, text, says):
    opened = screen(f"?ex=en_it&lang=en&text={text.replace(' ', '+')}")
    opened.page.locator(".live input").evaluate(HOLD, 0.2)
    expect(opened.page.locator(".flow .headline")).to_contain_text(says)
    assert opened.page.locator(".flow").evaluate("root => root.flow.isDragged")


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_drag_that_the_server_confirms_says_nothing(screen, dtype):
    opened = screen(f"?dtype={dtype}&ex=zh_colour&lang=en")
    press_temperature(opened)
    flow = opened.page.locator(".flow")
    assert flow.evaluate("root => [root.flow.isDragged, root.flow.moved.includes('weights')]") == [False, True]
    assert flow.evaluate("root => root.flow.differs") is None
    expect(flow.locator(".differs")).to_have_count(0)
