"""More tokens than can stand in cells: canvases, with the numbers that torch gives for the same matrices."""

import re

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.panels.test_canvas import written

pytestmark = pytest.mark.slow

WORDS = ["Anna", "fed", "the", "dog", "and", "it", "barked"]
VECTORS = torch.tensor(  # x of the words above
    [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, 0, 0, 1], [0, -1, 0, 0], [0, 0, -1, 0]],
    dtype=torch.float64,
)
W_Q = torch.tensor([[0, 0, 0, 0], [3, -3, 0, 0], [0, 0, 3, -3], [0, 0, 0, 0]], dtype=torch.float64)
W_K = torch.tensor([[1, -1, 1, -1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=torch.float64)


def weights(count: int) -> torch.Tensor:
    """What the first example's heads give to a sentence of so many of its words: (2, count, count)."""
    x = VECTORS.repeat(count // 7 + 1, 1)[:count]
    q, k = ((x @ w).view(count, 2, 2).transpose(0, 1) for w in (W_Q, W_K))  # (count, 4) -> (2, count, 2)
    return torch.softmax(q @ k.transpose(1, 2) / 2**0.5, -1)


def sentence(count: int) -> str:
    """A link to it."""
    return "?text=" + "+".join((WORDS * (count // 7 + 1))[:count])


def read(opened, row: int, column: int) -> float:
    """Points at a cell; its number."""
    opened.page.locator(".map .stage").hover(position=opened.place(row, column))
    names = f"“{WORDS[row % 7]}” ({row + 1}) → “{WORDS[column % 7]}” ({column + 1}): "
    line = opened.page.locator(".read")
    expect(line).to_contain_text(names)
    return float(re.search(r"(\S+)$", line.inner_text())[1])


@pytest.mark.parametrize("count", [100, 256])
def test_pointing_zooming_and_choosing_a_head(screen, count):
    opened, computed = screen(sentence(count) + "&step=weights&head=0"), weights(count)
    page = opened.page
    expect(page.locator(".flow .rail button")).to_have_count(2)
    page.locator(".map .stage").scroll_into_view_if_needed()
    opened.settled()
    cells = [(0, 0), (5, 3), (5, 0), (47, 52), (count - 1, count - 2), (5, count - 1)]
    for row, column in cells:
        assert read(opened, row, column) == pytest.approx(float(computed[0, row, column]), rel=1e-5)
    with opened.answered():
        page.locator(".flow .rail button").nth(1).click()
    page.get_by_text("head 2: who does it?").wait_for()
    opened.settled()
    for row, column in [(1, 0), (6, 3), *cells]:
        assert read(opened, row, column) == pytest.approx(float(computed[1, row, column]), rel=1e-5)
    page.locator(".map .stage").hover(position=opened.place(8, 7))
    assert not any("." in text for text in written(opened))
    for _ in range(9):
        page.keyboard.down("Control")
        page.mouse.wheel(0, -100)
        page.keyboard.up("Control")
    expect(page.locator(".seen")).to_contain_text(f"of {count}")
    texts = [text for text in written(opened) if re.fullmatch(r"\d?\.\d\d|\d\.\d\d", text)]
    assert f"{float(computed[1, 8, 7]):.2f}" in texts
    assert len(texts) > 50


def test_a_click_opens_the_arithmetic_of_the_cell(screen):
    opened, computed = screen(sentence(100) + "&step=weights"), weights(100)
    stage = opened.page.locator(".map .stage")
    stage.scroll_into_view_if_needed()
    opened.settled()
    stage.click(position=opened.place(5, 3))
    opened.sums().wait_for()
    title = opened.page.get_by_text("weights [head 1, it #6, dog #4] = ")
    title.first.wait_for()
    number = float(title.first.inner_text().split(" = ")[1])
    assert number == pytest.approx(float(computed[0, 5, 3]), rel=1e-12)
    assert opened.arithmetic().startswith("exp(4.24) / (exp(4.24) + ")
    opened.follow(0, "scaled_scores [head 1, it #6, dog #4]")


def test_what_is_left_of_a_long_row_wins_no_headline(screen):
    """One key stands out of 500; all others together get more than it, and are no key."""
    opened = screen("?text=" + "+".join([*["the"] * 498, "dog", "it"]) + "&head=0")
    headline = opened.page.locator(".flow .headline")
    expect(headline).to_contain_text("it attends to dog")
    expect(headline).not_to_contain_text("others")
