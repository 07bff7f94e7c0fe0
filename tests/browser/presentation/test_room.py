"""An audience in real browsers: it follows scene, keyframe and cell, leaves and comes back, and loses no room."""

import gzip
from contextlib import contextmanager
from threading import Thread
from time import sleep

import pytest
import uvicorn
from playwright.sync_api import expect
from starlette.applications import Starlette

from attention_core.documents.lecture_page import FollowTexts, lecture_page
from pages.app import room_routes
from pages.classroom.rooms import Place, RoomPage, RoomStore
from pages.export.flow_files import list_drawings
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_link
from pages.presentation.lecture_files import make_slide_show
from pages.presentation.room import FOLLOW_TEXTS
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts, use_language
from tests.browser.conftest import WINDOW, free_port

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
WORD, COUNT = "dog", 7  # a word of the sentence, and how many it has
FLOW = "document.querySelector('.on .moving').firstChild.shadowRoot.firstChild.flow"
CELL = """() => {
    const flow = document.querySelector('.on .moving').firstChild.shadowRoot.firstChild.flow;
    return flow.look.view === 'map' && flow.hands.cell?.row === 2 && flow.hands.cell?.column === 1;
}"""


def test_browsers_follow_leave_come_back_and_the_lecturer_may_reload(chromium, server):
    setup = make_setup(example="en_it")
    scenes = (Scene(setup, "First", question="Why?", steps=("journey", "map")), Scene(setup, "Second", steps=("cell",)))
    link = lecture_to_link(Lecture("Two scenes", scenes))
    lecturer = chromium.new_context(viewport=WINDOW, reduced_motion="reduce")
    audience = chromium.new_context(**PHONE, reduced_motion="reduce")
    said = []
    stage, phone = lecturer.new_page(), audience.new_page()
    for page in (stage, phone):
        page.on("pageerror", lambda error: said.append(str(error)))
    phone.on("console", lambda message: said.append(message.text))
    stage.goto(f"{server}/present?own={link}&scene=1&step=question")
    expect(stage.locator(".lectern-place")).to_have_text("Scene 1 of 2")  # the keys are heard now
    stage.keyboard.press("r")
    code = stage.locator(".st-key-room_code h1").inner_text()
    phone.goto(f"{server}/room")
    phone.locator("input").fill(code.lower())
    phone.locator("button").click()
    expect(phone.locator("#follow")).to_have_text("Following the lecturer")
    expect(phone.locator(".slide.on h2")).to_have_text("1 First")
    expect(phone.locator("#next")).to_be_hidden()
    expect(stage.locator(".room")).to_contain_text("1 following")

    stage.keyboard.press("r")
    stage.locator(".st-key-asked").wait_for()
    choice = phone.locator(".polled").get_by_role("button", name=WORD, exact=True)
    choice.click()
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(stage.locator(".poll")).to_contain_text("Answers so far: 1")
    stage.keyboard.press("ArrowRight")  # the answer, then its keyframes
    for page, place in ((stage, ".poll"), (phone, ".polled")):
        expect(page.locator(f"{place} .bars .answers")).to_have_count(COUNT)
        widths = page.locator(f"{place} .bars .answers").evaluate_all("bars => bars.map((bar) => bar.style.width)")
        assert sorted(widths) == ["0%"] * (COUNT - 1) + ["100%"]
    phone.wait_for_function(f"() => document.querySelector('.on .moving')?.firstChild && {FLOW}.progress === 0")
    stage.keyboard.press("ArrowRight")
    stage.keyboard.press("ArrowRight")
    phone.wait_for_function(f"() => {FLOW}.progress === 2")
    expect(phone.locator(".polled")).to_have_count(0)
    expect(stage.locator(".poll")).to_be_hidden()
    stage.keyboard.press("Shift+ArrowRight")
    expect(phone.locator(".slide.on h2")).to_have_text("2 Second")
    expect(phone.locator(".on .figures")).to_be_visible()

    phone.locator("#leave").click()
    phone.locator("#previous").click()
    stage.keyboard.press("Shift+ArrowLeft")
    expect(stage.locator(".lectern-place")).to_have_text("Scene 1 of 2")
    expect(phone.locator("#follow")).to_have_text("On your own")
    expect(phone.locator(".slide.on h2")).to_have_text("2 Second")
    phone.locator("#leave").click()
    expect(phone.locator(".slide.on h2")).to_have_text("1 First")

    stage.goto(f"{server}/present?own={link}&scene=1&step=map")  # as after a reload: the server forgets who leads
    expect(stage.locator(".room")).to_contain_text(code)
    phone.wait_for_function(f"() => document.querySelector('.on .moving')?.firstChild && {FLOW}.look.view === 'map'")
    stage.evaluate(
        """() => {
            const { flow } = globalThis[Symbol.for("attention")].paintedFlow;
            flow.hands.hover({ at: { row: 2, column: 1 } });
        }"""
    )
    phone.wait_for_function(CELL)

    stage.keyboard.press("r")
    stage.locator(".st-key-end_room button").click()
    expect(phone.locator("#follow")).to_have_text("The room has ended; this page stays.")
    expect(phone.locator("#next")).to_be_visible()
    for context in (lecturer, audience):
        context.close()
    assert said == []


@contextmanager
def routes_at(port):
    """A server with the routes of rooms alone, which ends at once, as a network that breaks off."""
    config = uvicorn.Config(Starlette(routes=room_routes.routes), port=port, log_level="critical")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        sleep(0.01)
    yield
    server.should_exit = server.force_exit = True
    thread.join()


def test_a_page_whose_network_breaks_off_says_so_and_comes_back_to_the_latest_place(chromium, monkeypatch):
    store, port = RoomStore(), free_port()
    monkeypatch.setattr(room_routes, "ROOMS", store)
    lecture = Lecture("", tuple(Scene(OwnText(each), each, question="?") for each in ("one", "two", "three")))
    words = load_app_texts("en")
    texts = {name: words[f"present.room.follow.{name}"] for name in FOLLOW_TEXTS}
    with use_language("en"):
        show = make_slide_show(lecture, {}, "https://attention.example.edu/", "")
    page = lecture_page(show, list_drawings(), FollowTexts("5f", answers="", truth="", **texts))
    key = store.open(RoomPage(gzip.compress(page.encode()), "5f"))

    def lead_to(scene):
        store.move(key, Place(f'{{"scene": {scene}, "step": "question", "look": null}}', scene, "question"))

    context = chromium.new_context(viewport=WINDOW)
    phone = context.new_page()
    told, title = phone.locator("#follow"), phone.locator(".slide.on h2")
    with routes_at(port):
        phone.goto(f"http://127.0.0.1:{port}/room?room={key.code}")
        expect(told).to_have_text(texts["waiting"])
        lead_to(1)
        expect(title).to_have_text("1 one")
        expect(told).to_have_text(texts["following"])
    expect(told).to_have_text(texts["lost"])
    lead_to(2)
    lead_to(3)
    expect(title).to_have_text("1 one")  # what it has stays on the screen
    with routes_at(port):
        expect(title).to_have_text("3 three")
        expect(told).to_have_text(texts["following"])
        store.end(key)
        expect(told).to_have_text(texts["ended"])
    context.close()
