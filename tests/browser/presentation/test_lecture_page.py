"""A lecture in one file, opened from a disk without a network: it is gone through by keys, moves, and prints."""

import logging
import re
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from attention_core.documents.lecture_page import lecture_page
from pages.export.flow_files import list_drawings
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.script import Lecture, Scene, load_shipped_lecture
from pages.presentation.lecture_files import make_slide_show
from pages.site.words import use_language
from tests.browser.conftest import WINDOW
from tests.screen.drawn_part import draw_part

pytestmark = pytest.mark.slow

FLOW = "document.querySelector('.on .moving').firstChild.shadowRoot.firstChild.flow"


@pytest.fixture
def opened(chromium, tmp_path):
    """The page of three scenes."""
    lecture = load_shipped_lecture("ten_minutes", "en")
    scenes = tuple(lecture.scenes[place] for place in (0, 2, 10))
    with open_file(chromium, tmp_path, Lecture(lecture.title, scenes), {}) as page:
        yield page


@contextmanager
def open_file(chromium, folder, lecture, drawn):
    """A lecture's page in a browser that reaches nothing: it asks for nothing, its policy blocks nothing."""
    logging.disable()
    with use_language("en"):
        show = make_slide_show(lecture, drawn, "https://attention.example.edu/", "")
    file = folder / "lecture.html"
    file.write_text(lecture_page(show, list_drawings()), encoding="utf-8")
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
    expect(page.locator(".on aside")).to_contain_text("Every word puts a question to every word")
    page.keyboard.press("ArrowLeft")  # from behind: at the end of the way
    page.wait_for_function(f"count => {FLOW}.progress === count", arg=stops)
    page.keyboard.press("End")
    expect(page.locator(".slide.on h2")).to_have_text("3 Your turn")


CUT = """() => {
    const part = document.querySelector(".on .moving div"), inside = part.getBoundingClientRect();
    const root = part.shadowRoot, below = document.querySelector("nav").getBoundingClientRect().top;
    const bottoms = (selector) => [...root.querySelectorAll(selector)]
        .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().bottom);
    const bar = root.querySelector("div.bar").getBoundingClientRect().top;
    return {
        names: Math.max(...bottoms(".track .label")) - inside.bottom,
        words: Math.max(...bottoms("svg .word")) - bar,
        page: document.documentElement.scrollHeight - innerHeight,
        part: inside.bottom - below,
    };
}"""


@pytest.mark.parametrize("width, height", [(1280, 720), (1280, 800), (1366, 768), (1920, 1080)])
def test_the_names_of_the_stops_and_the_last_word_stand_whole_on_a_projector(opened, width, height):
    page = opened
    page.set_viewport_size({"width": width, "height": height})
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    for stop in (1, 2):  # the sentence of the second has two lines
        page.keyboard.press("Space")
        page.wait_for_function(f"wanted => {FLOW}.progress === wanted", arg=stop)
        page.wait_for_function(f"() => Object.values(({CUT})()).every((beyond) => beyond <= 0)")


def test_with_shift_a_key_leads_to_the_next_slide_from_any_of_its_parts_and_back(opened):
    page = opened
    for key, title in (
        ("Shift+ArrowRight", "1 Who is “it”?"),
        ("ArrowRight", "1 Who is “it”?"),
        ("Shift+ArrowRight", "2 q · k by hand"),
        ("Shift+ArrowRight", "3 Your turn"),
        ("Shift+ArrowRight", "3 Your turn"),
        ("Shift+ArrowLeft", "2 q · k by hand"),
    ):
        page.keyboard.press(key)
        expect(page.locator(".slide.on h2")).to_have_text(title)
    expect(page.locator(".on .question")).to_be_visible()


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


def test_beside_figures_without_a_picture_stands_what_moved_and_on_paper_it_stands_once(chromium, tmp_path):
    part = LessonPart("bottleneck")
    lecture = Lecture("Pictures", (Scene(part, "bottleneck"),))
    with open_file(chromium, tmp_path, lecture, {part: draw_part(part.slug)}) as page:
        again = page.locator(".slide.on .figures img")
        for _ in range(2):  # there and back
            page.keyboard.press("Shift+ArrowRight")
            while not page.locator(".slide.on .figures.on").count():
                page.keyboard.press("ArrowRight")
            expect(again).to_have_count(1)
            expect(again).to_be_in_viewport(ratio=1)
            page.keyboard.press("Home")
        page.emulate_media(media="print")
        expect(page.locator(".figures img")).to_be_hidden()


def place_of(page):
    """The number of the slide that is seen."""
    return int(page.locator(".slide.on").get_attribute("id"))


STILL = """() => new Promise((done) => {
    let [before, calm] = ["", 0];
    const look = () => {
        const parts = [...document.querySelectorAll(".slide.on .moving > *")];
        const now = [document.documentElement.scrollHeight, ...parts.map((each) => each.offsetHeight)].join();
        calm = now === before ? calm + 1 : 0;
        before = now;
        calm === 5 ? done() : requestAnimationFrame(look);
    };
    look();
})"""  # a part has its height when it has drawn, and is put on a page then


def wait_for_page(page) -> None:
    """Returns when the parts of a slide are drawn, and stand on a page that fits on the screen."""
    page.evaluate(STILL)
    page.wait_for_function("() => document.documentElement.scrollHeight <= innerHeight")


def test_what_is_higher_than_a_projector_comes_on_pages_and_each_part_is_seen_whole_on_one(chromium, tmp_path):
    parts = [LessonPart(slug) for slug in ("distance", "scale", "heads", "positions", "encoder")]
    lecture = Lecture("Pictures", tuple(Scene(part, part.slug) for part in parts))
    with open_file(chromium, tmp_path, lecture, {part: draw_part(part.slug) for part in parts}) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.keyboard.press("ArrowRight")
        for number, part in enumerate(parts, 1):
            seen, pages = set(), 0
            while page.locator(".slide.on .answer.on").count() and place_of(page) == number:
                wait_for_page(page)
                here = page.locator(".slide.on .moving > *").evaluate_all("all => all.map((each) => !each.hidden)")
                seen |= {place for place, is_seen in enumerate(here) if is_seen}
                pages += 1
                page.keyboard.press("ArrowRight")
            assert seen == {*range(len(here))} and (pages > 1) == (part.slug != "encoder"), part.slug
            while place_of(page) == number and number < len(parts):
                wait_for_page(page)
                page.keyboard.press("ArrowRight")


# ---- pictures of lessons ---------------------------------------------------------------------------------------------
def test_the_pictures_of_lessons_follow_their_sliders_and_no_key_of_a_slider_turns_the_slide(chromium, tmp_path):
    parts = [LessonPart(slug) for slug in ("scale", "masks", "heads", "induction", "distance")]
    lecture = Lecture("Pictures", tuple(Scene(part, part.slug) for part in parts))
    with open_file(chromium, tmp_path, lecture, {part: draw_part(part.slug) for part in parts}) as page:
        page.keyboard.press("ArrowRight")
        slider, told = page.locator(".on input[type=range]"), page.locator(".on .told")
        width, at_first = page.locator(".on output"), page.locator(".on .cloud").get_attribute("aria-label")
        expect(width).to_have_text("64")
        slider.press("ArrowLeft")
        expect(width).not_to_have_text("64")
        expect(told.first).to_contain_text(f"dₖ = {width.inner_text()}:")
        expect(page.locator(".on .cloud")).not_to_have_attribute("aria-label", at_first)
        expect(page.locator(".slide.on h2")).to_have_text("1 scale")
        slider.evaluate("each => each.blur()")
        while not page.locator(".slide.on .figures.on").count():
            page.keyboard.press("PageDown")
        expect(page.locator(".slide.on .figures.on")).to_contain_text("The gradient at q.")
        page.keyboard.press("PageDown")
        expect(page.locator(".slide.on h2")).to_have_text("2 masks")
        expect(page.locator(".on .threads [role=button]").first).to_be_visible()
        for number, slug in enumerate(("heads", "induction", "distance"), 3):
            page.keyboard.press("Shift+ArrowRight")
            expect(page.locator(".slide.on h2")).to_have_text(f"{number} {slug}")
            expect(page.locator(".on .moving svg").first).to_be_visible()
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 720})
            assert page.evaluate("document.documentElement.scrollWidth") == width
