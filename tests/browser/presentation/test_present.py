"""A lecture in a real browser: keys, also of a remote and while somebody types; full screen; the second window."""

import re
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from pages.components import COMPONENTS
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_link
from pages.setup.setup import make_setup
from tests.browser.conftest import FORGET_LECTURE, PATIENCE, WINDOW, Screen, set_look, wait_for_flow

PLACE = "() => [...new URLSearchParams(location.search)].filter(([name]) => ['scene', 'step'].includes(name)).join()"


@pytest.fixture
def showing(profile, find_profile, server):
    """A function that opens the page by a link and gives a Screen; a second visitor has another profile."""
    opened = []

    def open_link(query):
        page = (find_profile(len(opened)) if opened else profile).new_page()
        set_look(page)
        opened.append(Screen(page, server))
        page.goto(f"{server}/present{query}")
        page.locator(".lectern, .prompter").first.wait_for(state="attached")
        opened[-1].settled()
        return opened[-1]

    yield open_link
    for each in opened:
        each.page.evaluate(FORGET_LECTURE)
        each.page.close()
    assert [each.blocked for each in opened] == [[] for _ in opened]


def wait_for_place(opened, place):
    opened.page.wait_for_function(f"wanted => ({PLACE})() === wanted", arg=place)
    opened.settled()


def press(opened, key, place):
    opened.page.keyboard.press(key)
    wait_for_place(opened, place)


PARTS = {"words": ".writing", "heads": ".heads", "circuits": ".circuits", "sum": ".block", "what_if": ".what-if"}


@pytest.mark.slow
def test_what_a_language_model_is_asked_is_shown_and_answers_on_the_stage(showing):
    setups = [make_setup(example="model_en_decoder", panel=panel, token=8) for panel in PARTS]
    scenes = [Scene(setup, "Asked", steps=("model",)) for setup in setups]
    scenes[-1] = replace(scenes[-1], steps=("journey", "model"))
    opened = showing(f"?own={lecture_to_link(Lecture('', tuple(scenes)))}&scene=1&step=model")
    for number, (panel, part) in enumerate(PARTS.items(), 1):
        wait_for_place(opened, f"scene,{number},step,model")
        shown = opened.page.locator(f".st-key-beat_model {part}")
        shown.wait_for()
        assert smallest_text(opened.page) >= 16, panel
        if panel == "sum":
            press(opened, "ArrowRight", "scene,5,step,journey")
        opened.page.keyboard.press("ArrowRight" if number < 4 else "End")
    shown.get_by_role("button", name="layer 3: who is described?: off, or on again").click()
    expect(shown.locator(".outcome .row").first).to_contain_text("→ <1 %")
    press(opened, "Home", "scene,1,step,model")


COMPOSING = """key => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true, isComposing: true }))"""
HIDDEN = ("stHeader", "stToolbar")


def test_keys_and_buttons_lead_through_it_and_nothing_else_is_on_the_screen(showing):
    opened = showing("?lecture=ten_minutes&scene=3&step=question")
    page = opened.page
    for name in HIDDEN:
        expect(page.get_by_test_id(name)).to_be_hidden()
    press(opened, "Space", "scene,3,step,map")
    press(opened, "PageDown", "scene,3,step,cell")
    assert smallest_text(page) >= 16
    press(opened, "ArrowRight", "scene,3,step,symbol")
    press(opened, "PageUp", "scene,3,step,cell")
    page.keyboard.press("b")
    expect(page.locator(".lectern-black")).to_be_visible()
    page.keyboard.press("b")
    expect(page.locator(".lectern-black")).to_be_hidden()
    page.get_by_role("button", name="Next (→, Space)").click()
    wait_for_place(opened, "scene,3,step,symbol")
    press(opened, "Space", "scene,3,step,shapes")  # the button that was clicked keeps no key for itself
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    wait_for_place(opened, "scene,4,step,map")
    press(opened, "F5", "scene,1,step,question")
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement === null")
    press(opened, "ArrowRight", "scene,1,step,journey")
    press(opened, "Escape", "")
    for name in HIDDEN[:1]:
        expect(page.get_by_test_id(name)).to_be_visible()
    press(opened, "ArrowRight", "scene,1,step,question")  # in the overview, it starts the lecture
    press(opened, "Escape", "")
    assert opened.errors == [] and opened.outside == []


def smallest_text(page):
    """The smallest letters of the picture, in pixels of the screen."""
    return page.locator("[data-testid=stVegaLiteChart] svg text").evaluate_all(
        """all => Math.min(...all.filter(each => each.textContent.trim()).map(each => {
            const { a, b } = each.getScreenCTM(); // turned and scaled
            return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b);
        }))"""
    )


@pytest.mark.slow
def test_keys_belong_to_whoever_types_and_a_key_leads_back_to_the_script(showing):
    opened = showing("?lecture=ten_minutes&scene=4&step=map")
    page = opened.page
    expect(page.get_by_text("93 %").first).to_be_visible()
    page.keyboard.press("e")
    box = page.get_by_label("Sentence", exact=True)
    box.fill("Tom fed the cat and it purred")
    for key in ("s", "b", "ArrowRight", "Space", "PageDown"):  # all of them the text's own
        box.press(key)
    for key in ("ArrowRight", "n", " ", "b"):
        page.evaluate(COMPOSING, key)
    page.evaluate("document.activeElement.blur()")
    for key in ("ArrowRight", " ", "b"):  # what an input method takes is no key of ours, wherever the focus is
        page.evaluate(COMPOSING, key)
    expect(page.get_by_text("of its attention to “cat”", exact=False)).to_be_visible()
    expect(box).to_have_value("Tom fed the cat and it purredsb ")
    expect(page.locator(".lectern-black")).to_be_hidden()
    wait_for_place(opened, "scene,4,step,map")
    page.keyboard.press("s")
    expect(page.get_by_text("of its attention to “dog”", exact=False)).to_be_visible()
    page.keyboard.press("e")
    expect(box).to_be_hidden()
    assert opened.errors == []


@pytest.mark.slow
def test_the_second_window_hears_the_first_moves_it_and_nobody_else_hears_them(showing):
    opened = showing("?lecture=ten_minutes&scene=1&step=question")
    with opened.page.context.expect_page() as opening:
        opened.page.keyboard.press("n")
    notes = opening.value
    expect(notes.locator(".note")).to_contain_text("Every word puts a question")
    expect(notes.locator(".status")).to_contain_text("Follows the presentation")
    expect(notes.locator(".next")).to_have_text("Journey")
    press(opened, "End", "scene,11,step,cell")
    expect(notes.locator(".title")).to_have_text("Your turn")
    expect(notes.locator(".next")).to_have_text("the end")
    notes.keyboard.press("Home")
    wait_for_place(opened, "scene,1,step,question")
    expect(notes.locator(".scene_step")).to_have_text("Question")
    opened.page.keyboard.press("e")
    opened.settled()
    opened.type("Sentence", "Tom fed the cat and it purred")
    expect(notes.locator(".departed")).to_have_text("Changed: back to the script")
    stranger = showing("?view=notes&pair=00000000&lecture=ten_minutes")
    expect(stranger.page.locator(".status")).to_contain_text("No presentation is running")
    stranger.page.keyboard.press("PageDown")
    expect(stranger.page.locator(".scene_step")).to_have_text("Journey")
    expect(notes.locator(".scene_step")).to_have_text("Question")
    notes.close()
    assert opened.errors == []


@pytest.mark.slow
def test_the_notes_that_are_opened_amid_the_show_leave_it_running_and_follow_it(showing):
    """A second window takes the full screen away; the show goes on in its own."""
    opened = showing("?lecture=ten_minutes")
    page = opened.page
    press(opened, "F5", "scene,1,step,question")
    page.wait_for_function("() => document.fullscreenElement !== null")
    with page.context.expect_page() as opening:
        page.keyboard.press("n")
    notes = opening.value
    expect(notes.locator(".status")).to_contain_text("Follows the presentation")
    page.wait_for_function("() => document.fullscreenElement === null")
    press(opened, "Shift+ArrowRight", "scene,2,step,question")
    expect(notes.locator(".place")).to_contain_text("Scene 2 of 11")
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement !== null")
    expect(page.locator("html")).to_have_class(re.compile("presenting"))
    page.evaluate("document.exitFullscreen()")  # as Escape does, which no page hears there
    wait_for_place(opened, "")
    notes.close()
    assert opened.errors == []


@pytest.mark.slow
def test_notes_that_are_open_before_it_begins_follow_the_show(showing):
    opened = showing("?lecture=ten_minutes")
    with opened.page.context.expect_page() as opening:
        opened.page.keyboard.press("n")
    notes = opening.value
    expect(notes.locator(".status")).to_contain_text("No presentation is running")
    press(opened, "F5", "scene,1,step,question")
    press(opened, "PageDown", "scene,1,step,journey")
    expect(notes.locator(".status")).to_contain_text("Follows the presentation")
    expect(notes.locator(".scene_step")).to_have_text("Journey")
    notes.keyboard.press("Shift+ArrowRight")
    wait_for_place(opened, "scene,2,step,question")
    notes.close()


@pytest.mark.slow
def test_the_presenter_view_says_how_far_the_talk_is_from_its_plan(showing):
    opened = showing("?lecture=forty_five_minutes&scene=1&step=text")
    with opened.page.context.expect_page() as opening:
        opened.page.keyboard.press("n")
    notes = opening.value
    plan, lag, clock = (notes.locator(f".prompter .{name}") for name in ("plan", "lag", "clock"))
    expect(plan).to_have_text("planned 0–1 min")
    expect(lag).to_have_text("on time")
    press(opened, "Shift+ArrowRight", "scene,2,step,question")
    press(opened, "Shift+ArrowRight", "scene,3,step,question")
    expect(plan).to_have_text("planned 4–6 min")
    turn_to = """(root, wanted) => {
        const [minutes, seconds] = root.querySelector(".clock").textContent.split(":").map(Number), now = Date.now;
        Date.now = () => now() + 1000 * (60 * (wanted - minutes) - seconds);
    }"""
    for minutes, said in ((1, "(3:00|2:[45].) ahead"), (5, "on time"), (8, "2:[01]. behind")):  # seconds may pass
        notes.locator(".prompter").evaluate(turn_to, minutes)
        expect(lag).to_have_text(re.compile(f"^{said}$"))
    expect(lag).to_have_class(re.compile("behind"))
    notes.get_by_role("button", name="Pause timer").click()
    expect(clock).to_have_class(re.compile("rests"))
    rested = clock.text_content()
    press(opened, "Shift+ArrowRight", "scene,4,step,question")
    expect(plan).to_have_text("planned 6–8 min")
    assert clock.text_content() == rested
    notes.get_by_role("button", name="Go on").click()
    notes.get_by_role("button", name="Reset timer").click()
    expect(plan).to_have_text("planned 0–2 min")  # from this scene on
    expect(lag).to_have_text("on time")
    notes.reload()
    expect(plan).to_have_text("planned 6–8 min")  # of the show, which goes on
    notes.close()
    assert opened.errors == []


@pytest.mark.slow
def test_who_goes_back_before_the_scene_at_which_the_clock_began_sees_no_minutes_below_zero(showing):
    opened = showing("?lecture=forty_five_minutes&scene=24&step=cell")
    with opened.page.context.expect_page() as opening:
        opened.page.keyboard.press("n")
    notes = opening.value
    plan, lag = (notes.locator(f".prompter .{name}") for name in ("plan", "lag"))
    expect(plan).to_have_text("planned 0–1 min")
    press(opened, "Home", "scene,1,step,text")
    expect(plan).to_have_text("planned 0–1 min")
    expect(lag).to_have_text("on time")
    press(opened, "Shift+ArrowRight", "scene,2,step,question")
    expect(plan).to_have_text("planned 1–4 min")
    notes.close()
    assert opened.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_time_the_next_scene_and_the_buttons_stay_in_sight_under_a_long_note(showing, language):
    opened = showing(f"?lecture=forty_five_minutes&scene=2&step=lesson&view=notes&lang={language}")
    page = opened.page
    page.set_viewport_size({"width": 960, "height": 720})  # as the window opens
    note = page.locator(".note")
    expect(note).not_to_be_empty()
    for part in (".clock", ".next", "button[data-way=black]"):
        expect(page.locator(f".prompter {part}")).to_be_in_viewport(ratio=1)
    assert note.evaluate("note => parseFloat(getComputedStyle(note).fontSize)") >= 20
    assert note.evaluate("note => note.scrollHeight - note.clientHeight") <= 40  # at most its last line is scrolled to
    opened.page.set_viewport_size({"width": 960, "height": 1200})
    expect(note).to_have_css("font-size", "32px")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("scene", "last"),
    [
        (7, "[data-testid=stVegaLiteChart]"),
        (9, ".told"),
        (10, ".frames"),
        (14, "h5"),
    ],
)
def test_a_lesson_on_the_stage_shows_its_own_picture_whole_on_a_projector(showing, scene, last, language):
    opened = showing(f"?lecture=forty_five_minutes&scene={scene}&step=lesson&lang={language}")
    opened.page.set_viewport_size({"width": 1280, "height": 720})
    opened.settled()
    assert opened.page.locator(".flow").count() == 0
    shown = opened.page.locator(f".st-key-beat_lesson {last}").last
    shown.wait_for()
    assert shown.evaluate("shown => shown.getBoundingClientRect().bottom <= innerHeight")


@pytest.mark.slow
def test_no_words_are_read_through_the_buttons_of_the_stage(showing):
    opened = showing("?lecture=forty_five_minutes&scene=20&step=lesson")
    look = "root => [getComputedStyle(root).opacity, getComputedStyle(root).backgroundColor]"
    assert opened.page.locator(".lectern").evaluate(look) == ["1", "rgb(255, 255, 255)"]


# ---- the journey on the stage ----------------------------------------------------------------------------------------
AT_STOP = "(flow, stop) => !flow.glide && flow.progress === stop"
FROM_ABOVE = "(flow) => flow.opened === 1"


@pytest.mark.slow
def test_a_key_moves_the_journey_by_one_stop_and_leads_on_behind_the_last(showing):
    opened = showing("?lecture=ten_minutes&scene=1&step=journey")
    page = opened.page
    wait_for_flow(page, AT_STOP, 0)
    stops = page.locator(".flow").evaluate("root => root.flow.snapshot.stops.length")
    assert stops >= 6
    for stop, key in enumerate(("ArrowRight", "PageDown", "Space"), 1):
        page.keyboard.press(key)
        wait_for_flow(page, AT_STOP, stop)
        wait_for_place(opened, "scene,1,step,journey")
    for _ in range(stops - 3):
        page.keyboard.press("ArrowRight")
    wait_for_flow(page, AT_STOP, stops)
    press(opened, "ArrowRight", "scene,1,step,map")
    wait_for_flow(page, FROM_ABOVE)
    press(opened, "ArrowLeft", "scene,1,step,journey")
    wait_for_flow(page, AT_STOP, stops)  # who comes back finds its end
    page.keyboard.press("ArrowLeft")
    wait_for_flow(page, AT_STOP, stops - 1)
    for _ in range(stops):  # faster than anything moves: each key counts, and the last one leads out
        page.keyboard.press("PageUp")
    wait_for_place(opened, "scene,1,step,question")
    assert opened.errors == []


@pytest.mark.slow
def test_a_key_passes_the_stops_that_a_scene_before_has_shown_and_rests_at_new_ones(showing):
    opened = showing("?lecture=ten_minutes&scene=1&step=journey")
    page = opened.page
    stop_of = """(flow, motion) => !flow.journey.glide &&
        flow.progress === flow.journey.stops.findIndex((each) => each.motion === motion) + 1"""
    wait_for_flow(page, AT_STOP, 0)
    press(opened, "Shift+ArrowRight", "scene,2,step,question")
    press(opened, "ArrowRight", "scene,2,step,journey")
    wait_for_flow(page, AT_STOP, 0)
    page.keyboard.press("ArrowRight")
    wait_for_flow(page, "(flow) => !flow.glide && flow.progress === flow.journey.stops.length")
    press(opened, "ArrowRight", "scene,2,step,map")
    for at in range(3, 7):
        press(opened, "Shift+ArrowRight", f"scene,{at},step,question")
    press(opened, "ArrowRight", "scene,6,step,journey")
    page.keyboard.press("ArrowRight")
    wait_for_flow(page, stop_of, "mask")
    page.keyboard.press("ArrowRight")
    wait_for_flow(page, "(flow) => !flow.glide && flow.progress === flow.journey.stops.length")
    page.keyboard.press("ArrowLeft")
    wait_for_flow(page, stop_of, "mask")
    assert opened.errors == []


@pytest.mark.slow
def test_an_edit_midway_leaves_the_journey_where_it_is(showing):
    opened = showing("?lecture=ten_minutes&scene=1&step=journey")
    wait_for_flow(opened.page, AT_STOP, 0)
    for stop in (1, 2):
        opened.page.keyboard.press("ArrowRight")
        wait_for_flow(opened.page, AT_STOP, stop)
    opened.page.keyboard.press("e")
    opened.settled()
    opened.type("Sentence", "Tom fed the cat and it purred")
    wait_for_flow(opened.page, "(flow) => flow.data.words.S.includes('cat')")
    wait_for_flow(opened.page, AT_STOP, 2)


STAGE = """(root) => {
    const box = (element) => element.getBoundingClientRect();
    const [flow, picture] = [box(root), box(root.querySelector("svg"))];
    const title = box(document.querySelector(".st-key-stage h4"));
    const line = [...root.querySelectorAll(".headline, .caption")].find((each) => each.offsetHeight);
    const words = [...root.querySelectorAll("svg text")].filter((each) => each.textContent.trim() && box(each).width);
    return {
        share: flow.height / innerHeight, picture: picture.height / innerHeight, foot: flow.bottom - innerHeight,
        wide: flow.width / innerWidth, axis: box(line).left - title.left,
        over: title.bottom - box(line).top,
        least: Math.min(...words.map((each) => parseFloat(getComputedStyle(each).fontSize))),
    };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scene, step", [(1, "journey"), (2, "map"), (10, "map")])
def test_the_picture_fills_the_stage(showing, scene, step):
    opened = showing(f"?lecture=ten_minutes&scene={scene}&step={step}")
    for width, height in ((1280, 720), (1920, 1080)):
        opened.page.set_viewport_size({"width": width, "height": height})
        wait_for_flow(opened.page, "(flow, wide) => flow.svg.getAttribute('width') > wide", 0.9 * width)
        wait_for_flow(opened.page, "(flow, opened) => flow.opened === opened", int(step == "map"))
        opened.settled()
        stage = opened.page.locator(".flow").evaluate(STAGE)
        assert stage["share"] >= 0.85 and stage["picture"] >= 0.72 and stage["foot"] <= 0 and stage["wide"] >= 0.9
        assert abs(stage["axis"]) <= 2 and stage["over"] <= 2  # title and line on one axis, and not over each other
        assert stage["least"] >= 16
        if step == "journey":
            bar, buttons = (opened.page.locator(each).bounding_box() for each in (".flow .bar", ".lectern"))
            assert bar["x"] + bar["width"] <= buttons["x"]


@pytest.mark.slow
def test_the_row_that_is_spoken_of_is_strong_and_the_others_are_pale(showing):
    opened = showing("?lecture=ten_minutes&scene=10&step=map")
    wait_for_flow(opened.page, FROM_ABOVE)
    look = "(root, row) => root.flow.map.shapes.made.get(`cells result ${row} 2`).element.getAttribute('opacity')"
    rows = [float(opened.page.locator(".flow").evaluate(look, row)) for row in (7, 2)]
    assert rows[0] == 1 and rows[1] < 0.6


# ---- the style of the stage ------------------------------------------------------------------------------------------
LECTERNS = """async (code) => {
    const { default: lectern } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const way = ["start", "previous", "next", "reveal", "edit", "script", "black", "notes", "full", "leave"];
    const data = (presenting) => ({ presenting, on: [], words: {}, notes: {}, place: "", language: "en", address: "" });
    const drawn = (presenting) => {
        const parentElement = document.body.appendChild(document.createElement("div"));
        const buttons = way.map((name) => `<button data-way="${name}"><span></span></button>`).join("");
        parentElement.innerHTML = `<div class="lectern"><small class="lectern-place"></small>${buttons}</div>` +
            '<div class="lectern-black"></div>';
        return lectern({ parentElement, data: data(presenting), setTriggerValue: () => {} });
    };
    const ended = drawn(false);
    drawn(true);
    ended(); // the desk's part goes after that of the stage has come
    return document.documentElement.classList.contains("presenting");
}"""


def test_a_desk_that_leaves_late_does_not_take_the_style_of_the_stage(profile, server):
    page = profile.new_page()
    page.goto(f"{server}/_stcore/health")
    assert page.evaluate(LECTERNS, COMPONENTS["lectern"].script) is True
    page.close()


@pytest.mark.slow
def test_cards_are_put_in_order_by_drag_and_by_keyboard_and_a_click_chooses(showing):
    scenes = tuple(Scene(OwnText(name), name, steps=("text",)) for name in ("one", "two", "three"))
    screen = showing(f"?own={lecture_to_link(Lecture('Mine', scenes))}")
    page = screen.page
    titles = page.locator(".scenes .title")
    expect(titles).to_have_text(["one", "two", "three"])
    screen.settled()
    from_card, to_card = (page.locator(".scene").nth(at).bounding_box() for at in (0, 2))
    page.mouse.move(from_card["x"] + 40, from_card["y"] + 40)
    page.mouse.down()
    page.mouse.move(to_card["x"] + 40, to_card["y"] + 40, steps=8)
    expect(titles).to_have_text(["two", "three", "one"])
    with screen.answered():
        page.mouse.up()
    expect(page.get_by_label("Title", exact=True).last).to_have_value("one")
    expect(page.locator(".scenes .heard")).to_have_text("Scene 3 of 3: one")
    with screen.answered():
        page.keyboard.press("Alt+ArrowLeft")
    expect(titles).to_have_text(["two", "one", "three"])
    expect(page.locator(".scenes .heard")).to_have_text("Scene 2 of 3: one")
    expect(page.locator(".scenes button:focus .title")).to_have_text("one")
    page.keyboard.press("ArrowRight")
    with screen.answered():
        page.keyboard.press("Enter")
    expect(page.get_by_label("Title", exact=True).last).to_have_value("three")
    expect(page.locator(".scenes .chosen .title")).to_have_text("three")


def shows_whole(opened, picture):
    """Whether all of a picture is seen, once it is there."""
    opened.page.set_viewport_size({"width": 1280, "height": 720})
    shown = opened.page.locator(f".st-key-beat_lesson {picture}")
    shown.wait_for()
    opened.settled()
    opened.page.wait_for_function(
        "shown => shown.getBoundingClientRect().bottom <= innerHeight", arg=shown.element_handle(), timeout=PATIENCE
    )
    return shown.bounding_box()["y"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "pictures"),
    [(2, [".neck"]), (7, [".product"]), (10, [".cloud", ".frames >> nth=0"]), (14, [".painted"])],
)
def test_the_picture_of_a_lesson_stands_whole_on_a_small_projector(showing, scene, pictures):
    opened = showing(f"?lecture=forty_five_minutes&scene={scene}&step=lesson")
    for picture in pictures:
        assert shows_whole(opened, picture), picture


ADDED = {"cost": ".areas", "decoder": ".decoder .picture", "explanation": 'svg:has-text("look up")'}


@pytest.mark.slow
def test_the_picture_of_a_lesson_that_somebody_adds_stands_whole_on_a_small_projector(showing):
    scenes = tuple(Scene(LessonPart(slug), slug, steps=("lesson",)) for slug in ADDED)
    opened = showing(f"?own={lecture_to_link(Lecture('', scenes))}&scene=1&step=lesson")
    for number, (slug, picture) in enumerate(ADDED.items(), 1):
        wait_for_place(opened, f"scene,{number},step,lesson")
        assert shows_whole(opened, picture), slug
        opened.page.keyboard.press("ArrowRight")


@pytest.mark.slow
@pytest.mark.parametrize("window", [WINDOW, {"width": 390, "height": 844}], ids=["laptop", "phone"])
def test_the_way_back_from_a_lecture_that_replaced_ones_own_is_in_sight_where_one_has_clicked(showing, window):
    scenes = tuple(Scene(OwnText(f"words {number}"), f"scene {number}") for number in range(9))
    opened = showing(f"?own={lecture_to_link(Lecture('Mine', scenes))}")
    opened.page.set_viewport_size(window)
    opened.settled()
    opened.page.get_by_role("button", name="New lecture").click()
    expect(opened.page.get_by_text("There is no scene yet")).to_be_attached()
    opened.settled()
    back = opened.page.get_by_role("button", name="Bring it back")
    expect(back).to_be_in_viewport(ratio=1)
    back.click()
    expect(opened.page.get_by_text("scene 8")).to_be_attached()
    expect(back).to_have_count(0)
    assert opened.errors == []


@pytest.mark.slow
def test_the_browser_draws_the_way_of_the_query_for_the_slide_file(showing):
    opened = showing("?lecture=ten_minutes&lang=en")
    page = opened.page
    page.locator(".st-key-lecture_files button").first.click()
    page.get_by_text("Rendering the pictures of the query").wait_for()
    page.get_by_text("Rendering the pictures of the query").wait_for(state="detached", timeout=2 * PATIENCE)
    with page.expect_download(timeout=3 * PATIENCE) as download:  # a minute of drawing on a slow machine
        page.get_by_role("button", name="PPTX").click()
    slides = Presentation(download.value.path()).slides
    (picture,) = [shape for shape in slides[9].shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]
    width, height = picture.image.size
    assert width == 3 * 1312 and width > 2 * height
    with Image.open(BytesIO(picture.image.blob)) as drawn:
        colours = {colour for count, colour in drawn.convert("RGB").getcolors(10**7) if count > 20_000}
    assert any(blue > 150 > green and 100 < red < 160 for red, green, blue in colours)  # the ribbon


@pytest.mark.slow
def test_a_touch_on_the_right_half_of_a_slide_goes_on_and_a_swipe_comes_back(find_profile, server):
    phone = find_profile(has_touch=True, is_mobile=True)
    page = phone.new_page()
    set_look(page, {"width": 390, "height": 844})
    opened = Screen(page, server)
    page.goto(f"{server}/present?lecture=ten_minutes&scene=1&step=question&lang=en")
    page.locator(".lectern").first.wait_for(state="attached")
    opened.settled()
    buttons = page.locator(".lectern button:visible").evaluate_all("all => all.map((each) => each.dataset.way)")
    assert buttons == ["previous", "next", "reveal", "leave"]
    row = page.locator(".lectern").bounding_box()
    assert row["x"] >= 0 and row["x"] + row["width"] <= 390
    page.touchscreen.tap(330, 700)
    wait_for_place(opened, "scene,1,step,journey")
    channel = phone.new_cdp_session(page)
    for kind, places in (("Start", [80]), ("Move", [330]), ("End", [])):
        points = [{"x": x, "y": 60} for x in places]
        channel.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    wait_for_place(opened, "scene,1,step,question")
    page.touchscreen.tap(60, 700)  # nothing is before the first slide
    opened.settled()
    assert page.evaluate(PLACE) == "scene,1,step,question"
    page.close()
