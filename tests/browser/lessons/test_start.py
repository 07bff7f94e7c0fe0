"""Start here in a real browser: the journey that plays, the doors, the cards and what this browser keeps of them."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WINDOW, Screen, set_look, wait_for_flow

pytestmark = pytest.mark.slow

WORDS = {"en": ("opened", "solved", "Forget this"), "zh": ("已打开", "已答对", "清除记录")}
KEPT = "JSON.parse(localStorage.getItem('attention-progress'))"


@pytest.fixture
def visitor(profile, find_profile, server):
    """A function that opens Start here, or another page, or none yet, in a browser that remembers nothing, and gives a
    Screen, in which the journey plays only if it is asked for; a second visitor has another browser profile."""
    opened = []

    def open_browser(address="start", **look):
        context = find_profile(len(opened)) if opened else profile
        opened.append(Screen(context.new_page(), server))
        set_look(opened[-1].page, **{"reduced_motion": "reduce"} | look)
        opened[-1].page.goto(f"{server}/_stcore/health")
        opened[-1].page.evaluate("localStorage.clear()")
        if address:
            come_to(opened[-1], address)
        return opened[-1]

    yield open_browser
    for each in opened:
        each.page.close()
    assert [each.blocked + each.errors + each.outside for each in opened] == [[] for _ in opened]


def come_to(screen, address):
    screen.page.goto(f"{screen.address}/{address}")
    screen.page.locator(".cards .card" if address.startswith("start") else "h4").first.wait_for()
    screen.settled()


def card(screen, slug):
    return screen.page.locator(".card").filter(has=screen.page.locator(f'a[href^="{slug}?"]'))


def test_the_journey_plays_by_itself_to_its_end_the_answer_comes_last_and_its_bar_is_on_the_first_screen(visitor):
    page = visitor(reduced_motion="no-preference").page
    wait_for_flow(page, "(flow) => flow.progress > 0.1")
    expect(page.locator(".flow .headline")).to_be_hidden()
    expect(page.locator(".flow .caption")).to_be_visible()
    page.locator(".flow .track").press("End")
    expect(page.locator(".flow .headline")).to_have_text("it attends to dog, 93 %")
    assert page.locator(".flow > .bar").bounding_box()["y"] + 46 <= WINDOW["height"]


def test_where_nothing_may_move_it_rests_at_its_end_and_a_card_is_reached_and_opened_by_keyboard(visitor):
    page = visitor(reduced_motion="reduce").page
    expect(page.locator(".flow .headline")).to_have_text("it attends to dog, 93 %")
    flow = "({ flow }) => [flow.progress === flow.snapshot.stops.length, flow.playing ?? null]"
    assert page.locator(".flow").evaluate(flow) == [True, None]
    link = page.locator(".card a").nth(1)
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    style = link.evaluate(
        "each => [getComputedStyle(each).outlineStyle, parseFloat(getComputedStyle(each).outlineWidth)]"
    )
    assert style == ["solid", 3]
    page.keyboard.press("Enter")
    page.wait_for_url("**/qkv*")


@pytest.mark.parametrize("lang", WORDS)
def test_the_doors_lead_where_they_say(visitor, lang):
    screen = visitor(None)
    doors = {
        "learn": ("/qkv", {"en": "To the next lesson", "zh": "去下一课"}),
        "teach": ("/present", {"en": "To the lecture", "zh": "打开讲稿"}),
    }
    for door, (address, label) in doors.items():
        come_to(screen, f"start?lang={lang}")
        screen.page.locator(f".st-key-doorway_{door}").get_by_text(label[lang]).click()
        screen.page.wait_for_url(f"**{address}*")


def test_the_first_door_leads_to_the_workbench_with_ones_own_sentence(visitor):
    screen = visitor()
    box = screen.page.get_by_label("Sentence", exact=True)
    box.fill("Tom fed the cat and it purred")
    box.press("Enter")
    words = "(flow) => flow.data.words.S.includes('cat')"
    wait_for_flow(screen.page, words)  # the journey is about it, too
    screen.page.locator(".st-key-doorway_see").get_by_role("button").last.click()
    screen.page.wait_for_url(lambda url: "start" not in url)
    screen.page.locator(".flow .rail button").first.wait_for()
    wait_for_flow(screen.page, words)


@pytest.mark.parametrize("lang", WORDS)
def test_a_visited_lesson_is_marked_on_its_card_in_this_browser_alone(visitor, lang):
    opened, solved, forget = WORDS[lang]
    screen = visitor(f"start?lang={lang}")
    expect(screen.page.locator(".card .stage")).to_have_count(0)
    card(screen, "masks").click()
    screen.page.wait_for_url("**/masks*")
    screen.page.wait_for_function(f"() => {KEPT}?.masks === 'opened'")
    come_to(screen, f"qkv?lang={lang}")
    screen.page.get_by_test_id("stButtonGroup").get_by_text("dog" if lang == "en" else "狗", exact=True).click()
    screen.page.wait_for_function(f"() => {KEPT}?.qkv === 'solved'")
    come_to(screen, f"start?lang={lang}")
    expect(card(screen, "masks").locator(".stage")).to_have_text(opened)
    expect(card(screen, "qkv").locator(".stage")).to_have_text(solved)
    expect(screen.page.locator(".card .stage")).to_have_count(2)
    other = visitor(f"start?lang={lang}")
    expect(other.page.locator(".card .stage")).to_have_count(0)
    screen.page.get_by_role("button", name=forget).click()
    expect(screen.page.locator(".card .stage")).to_have_count(0)
    come_to(screen, f"start?lang={lang}")
    expect(screen.page.locator(".card .stage")).to_have_count(0)


TICK = "(drawer) => getComputedStyle(drawer.querySelector('summary'), '::after').content.includes('\u2713')"


def test_a_drawer_that_was_opened_has_a_tick_in_this_browser_until_it_is_forgotten(visitor):
    screen = visitor("qkv")
    drawers = screen.page.get_by_test_id("stExpander")
    drawers.nth(1).locator("summary").click()
    screen.page.wait_for_function("() => JSON.parse(localStorage.getItem('attention-drawers'))?.length === 1")
    come_to(screen, "qkv")
    screen.page.wait_for_function(TICK, arg=drawers.nth(1).element_handle())
    ticked = [drawers.nth(number).evaluate(TICK) for number in range(drawers.count())]
    assert ticked.count(True) == 1 and ticked[1]
    come_to(screen, "start")
    screen.page.get_by_role("button", name="Forget this").click()
    come_to(screen, "qkv")
    assert not any(drawers.nth(number).evaluate(TICK) for number in range(drawers.count()))


def test_what_is_kept_is_never_sent(visitor):
    screen = visitor(None)
    sent = []
    screen.page.on("request", lambda request: sent.append(request.url + str(request.post_data)))
    screen.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    screen.page.evaluate(
        "localStorage.setItem('attention-progress', JSON.stringify({ qkv: 'solved', heads: 'opened' }))"
    )
    come_to(screen, "start")
    expect(screen.page.locator(".card .stage")).to_have_count(2)
    assert sent and not any("solved" in each or "attention-progress" in each for each in sent)


def test_what_somebody_else_wrote_there_counts_as_nothing(visitor):
    screen = visitor(None)  # what else may stand there: tests/components/test_kept_progress.py
    screen.page.evaluate("""localStorage.setItem('attention-progress', '{"qkv": "<b>", "masks": 3}')""")
    come_to(screen, "start")
    expect(screen.page.locator(".card .stage")).to_have_count(0)


def test_the_cards_use_the_width_and_nothing_stands_out(visitor):
    screen = visitor(viewport={"width": 390, "height": 800})
    for width, columns in ((390, 1), (1280, 4), (1920, 6)):
        screen.page.set_viewport_size({"width": width, "height": 800})
        screen.settled()
        rows = screen.page.locator(".card").evaluate_all("all => all.map(each => each.getBoundingClientRect().top)")
        assert rows.count(rows[0]) == columns
        assert screen.page.evaluate("document.documentElement.scrollWidth") <= width


SENTENCE_HEIGHT = """(root) => {
    const caption = root.querySelector(".caption");
    const words = caption.textContent;
    caption.style.display = "block";
    caption.textContent = root.flow.data.text.stops.match;
    const { height } = caption.getBoundingClientRect();
    caption.textContent = words;
    caption.style.display = "";
    return [height, parseFloat(getComputedStyle(caption).lineHeight)];
}"""


TOPS = "doors => doors.map((door) => Math.round(door.getBoundingClientRect().top))"
CUT = """links => links
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX !== "visible")
    .map((each) => each.textContent)"""


def cut_links(page) -> list[str]:
    """The names of the linked pages that are cut."""
    return page.locator("[data-testid=stMain] [data-testid=stPageLink] span").evaluate_all(CUT)


@pytest.mark.parametrize("width", [768, 1280])
def test_doors_hold_their_words_and_no_sentence_of_the_journey_moves_the_picture(visitor, width):
    opened = visitor("start?lang=en", viewport={"width": width, "height": 1024})
    assert cut_links(opened.page) == []
    doors = opened.page.locator("[class*=st-key-doorway_]").evaluate_all(TOPS)
    assert len(doors) == 4 and len(set(doors)) == (2 if width == 768 else 1)
    height, line = opened.page.locator(".flow").evaluate(SENTENCE_HEIGHT)
    assert height < 2 * line  # the longest sentence of this journey
    come_to(opened, "choice?lang=en")
    assert cut_links(opened.page) == []
