"""Words alone in the browser: the maps of a head's two circuits."""

import re

import pytest
from playwright.sync_api import expect

from attention_core.learned.language.circuits import word_circuit
from attention_core.learned.language.reading import cut_sentence

pytestmark = pytest.mark.slow

TIRED = "The animal did not cross the street because it was too tired."
AT = 9  # "it"
NAME = "en_asked_encoder"


def numbers(step, layer=3, head=0):
    words = tuple(dict.fromkeys(cut_sentence(NAME, TIRED)))[:12]
    return words, word_circuit(NAME, words, layer)[f"{layer}.circuit"][step][0, head]


def test_a_number_is_reached_and_opened_with_the_keyboard(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}&panel=circuits")
    tables = opened.page.locator(".circuits table")
    expect(tables).to_have_count(4)
    cells = tables.first.locator("button.cell")
    expect(cells).to_have_count(144)
    words, scores = numbers("scaled_scores")
    assert cells.nth(1).inner_text().replace("−", "-") == f"{float(scores[0, 1]):.1f}"
    most = tables.first.locator("tbody tr").nth(words.index("it")).locator("button.most")
    expect(most).to_have_attribute("title", re.compile("^it → animal: "))
    cells.first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        opened.page.keyboard.press(key)
    expect(
        opened.page.get_by_text(re.compile(r"layer 3, words alone · scaled_scores \[head 1, the, animal\]"))
    ).to_be_visible()
    expect(tables.first.locator("button.cell[tabindex='0']")).to_have_count(1)
    opened.page.locator(".arithmetic .operand").first.click()
    expect(opened.page.get_by_text(re.compile("layer 3, words alone · scores"))).to_be_visible()


def test_a_word_of_a_row_is_looked_at_and_another_head_has_other_maps(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}&panel=circuits&layer=1&head=1")
    rows = opened.page.locator(".circuits table").first.locator("tbody tr")
    expect(rows.nth(8)).to_have_class("now")
    rows.nth(2).locator("button.word").click()
    expect(rows.nth(2)).to_have_class("now")
    expect(opened.page).to_have_url(re.compile(r"[?&]t=2(&|$)"))
    expect(opened.page.locator(".circuits table")).to_have_count(2)
    _, scores = numbers("scaled_scores", layer=1, head=1)
    expect(rows.first.locator("button.cell").first).to_have_text(f"{float(scores[0, 0]):.1f}".replace("-", "−"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_fits_a_phone(screen, language):
    example = {"en": "model_en", "zh": "model_zh"}[language]
    opened = screen(f"?ex={example}&panel=circuits&lang={language}", viewport={"width": 390, "height": 844})
    expect(opened.page.locator(".circuits table")).to_have_count(4)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390
    box = opened.page.locator(".circuits table").first.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
