"""A lecture in one file, opened from a disk without a network: it is gone through by keys, moves, and prints."""

import logging
import re

import pytest
from playwright.sync_api import expect

from attention_core.documents.lecture_page import lecture_page
from pages.lectures.script import Lecture, load_shipped_lecture
from pages.presentation.lecture_slides import make_moving_picture, make_slide_show
from pages.site.words import use_language
from tests.browser.conftest import WINDOW

pytestmark = pytest.mark.slow

FLOW = "document.querySelector('.on .moving').firstChild.shadowRoot.firstChild.flow"


@pytest.fixture
def opened(chromium, tmp_path):
    """The page of three scenes in a browser that reaches nothing: it asks for nothing, its policy blocks nothing."""
    logging.disable()
    lecture = load_shipped_lecture("ten_minutes", "en")
    with use_language("en"):
        scenes = tuple(lecture.scenes[place] for place in (0, 2, 10))
        show = make_slide_show(Lecture(lecture.title, scenes), {}, "https://attention.example.edu/", "")
    file = tmp_path / "lecture.html"
    file.write_text(lecture_page(show, make_moving_picture()), encoding="utf-8")
    context = chromium.new_context(viewport=WINDOW, reduced_motion="reduce", offline=True)
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()
    logging.disable(logging.NOTSET)
    assert (asked, said) == ([], [])


def test_keys_lead_from_the_question_through_what_moves_to_its_map_and_its_figures_and_back(opened):
    page = opened
    expect(page.locator("h1")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".on .question")).to_have_text("To which word will “it” attend most?")
    expect(page.locator(".on .answer, .on .figures, .on aside")).to_have_count(3)
    for hidden in (".on .answer", ".on .figures", ".on aside"):
        expect(page.locator(hidden)).to_be_hidden()
    page.get_by_role("button", name="Show the answer").click()
    stops = page.evaluate(f"{FLOW}.journey.stops.length")
    assert stops >= 5 and page.evaluate(f"{FLOW}.progress") == 0
    for stop in range(1, stops + 1):
        page.keyboard.press("Space")
        page.wait_for_function(f"wanted => {FLOW}.progress === wanted", arg=stop)
    expect(page.locator(".on .moving .headline")).to_have_text("it attends to dog, 93 %")
    page.keyboard.press("Space")
    page.wait_for_function(f"() => {FLOW}.look.view === 'map' && {FLOW}.opened === 1")
    page.keyboard.press("Space")
    expect(page.locator(".on .figures")).to_contain_text("“it” gives: “dog” 93 %")
    page.keyboard.press("n")
    expect(page.locator(".on aside")).to_contain_text("Every word asks a question of every word")
    page.keyboard.press("ArrowLeft")  # from behind: at the end of the way
    page.wait_for_function(f"count => {FLOW}.progress === count", arg=stops)
    page.keyboard.press("End")
    expect(page.locator(".slide.on h2")).to_have_text("3 Your turn")


def test_a_narrow_screen_never_scrolls_sideways_and_paper_has_every_slide_with_its_notes(opened):
    page = opened
    page.set_viewport_size({"width": 390, "height": 800})
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert len(pages) == 4
    page.emulate_media(media="print")
    for shown in ("aside", ".slide", ".answer img"):
        for each in page.locator(shown).all():
            expect(each).to_be_visible()
    expect(page.locator(".moving").first).to_be_hidden()
    expect(page.locator("nav")).to_be_hidden()
