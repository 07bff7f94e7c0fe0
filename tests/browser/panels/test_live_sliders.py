"""Sliders in a real browser: while one is dragged, knob, headline and picture say the same."""

import math

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

TEMPERATURE = "Temperature τ"
READ = """([label, selectors]) => {
    const roots = [document, ...[...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean)];
    const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
    const slider = all("label.live").find((each) => each.textContent.includes(label));
    const say = (each) => each.getAttribute("aria-label") ?? each.textContent;
    return [slider.querySelector("output").textContent, ...selectors.map((selector) => all(selector).map(say))];
}"""


def read(opened, label, *selectors):
    """What a slider shows, and what stands in other places, all in one frame."""
    return opened.page.evaluate(READ, [label, list(selectors)])


def drag(opened, label: str, share: float) -> None:
    """Takes the knob to a share of the slider's way, and holds it there."""
    opened.settled()
    slider = (
        opened.page.locator("label.live")
        .filter(has=opened.page.get_by_text(label, exact=True))
        .locator("input[type=range]")
    )
    slider.scroll_into_view_if_needed()
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    at = float(slider.evaluate("input => (input.value - input.min) / (input.max - input.min)"))
    knob = 8  # px from the end of the slider to the middle of its knob
    places = [box["x"] + knob + (box["width"] - 2 * knob) * each for each in (at, share)]
    middle = box["y"] + box["height"] / 2
    opened.page.mouse.move(places[0], middle)
    opened.page.mouse.down()
    opened.page.mouse.move(places[1], middle, steps=4)


def let_go(opened) -> None:
    """Lets the knob go, and waits for the server."""
    with opened.answered():
        opened.page.mouse.up()


def shares(opened) -> list[float]:
    """The shares that the picture of the flow shows."""
    return opened.page.locator(".flow").evaluate("root => [...root.flow.snapshot.shares]")


def test_the_keyboard_and_the_hand_move_the_temperature_of_softmax_and_the_server_hears_of_it(screen):
    opened = screen("?lang=en", lesson="softmax")
    opened.slide(TEMPERATURE, "ArrowLeft", 3)
    assert read(opened, TEMPERATURE)[0] == "0.25"
    assert "At τ = 0.25 the largest of 4 numbers gets 98 %" in opened.sentence()
    assert opened.query()["temperature"] == "0.25"
    drag(opened, TEMPERATURE, 2 / 11)
    knob, headline, bars = read(opened, TEMPERATURE, "h5", ".columns [data-place='weights 0']")
    total = sum(math.exp(each / 0.5) for each in (2, 1, 0, -1))
    share = math.exp(2 / 0.5) / total
    assert knob == "0.5" and f"At τ = 0.5 the largest of 4 numbers gets {100 * share:.0f} %" in headline[0]
    assert bars == [f"share 1: {100 * share:.0f} %"]
    assert shares(opened)[0] == pytest.approx(share, abs=1e-6)
    assert "temperature=0.25" in opened.page.url  # nobody asked the server
    let_go(opened)
    assert opened.query()["temperature"] == "0.5" and "At τ = 0.5" in opened.sentence()


def test_a_slider_that_is_dragged_to_its_end_keeps_a_setting_of_three_digits(screen):
    opened = screen("?lang=en&temp=12.6")
    drag(opened, TEMPERATURE, 0.5)
    assert float(read(opened, TEMPERATURE)[0]) < 12
    box = opened.page.locator("label.live input[type=range]").bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] + 20, box["y"] + box["height"] / 2, steps=4)
    assert read(opened, TEMPERATURE)[0] == "12.6"  # two digits, 13, are beyond what the control takes
    opened.page.mouse.up()
    opened.settled()
    assert opened.query()["temp"] == "12.6"


def test_an_arrow_key_moves_the_temperature_by_what_its_digits_show(screen):
    opened = screen("?lang=en")
    for key, shown in (("ArrowRight", "1.1"), ("ArrowRight", "1.2"), ("ArrowLeft", "1.1"), ("ArrowLeft", "1")):
        opened.slide(TEMPERATURE, key)
        assert opened.page.locator(".live output").inner_text() == shown


def test_the_width_of_a_head(screen):
    label = "Width dₖ of query and key"
    opened = screen("?guess=1&lang=en", lesson="scale")
    drag(opened, label, 1)
    bar = ".frames path[aria-label*='weights [head 1, q, 4]']"
    knob, headline, bars = read(opened, label, "h5", bar)
    dragged = shares(opened)
    assert knob == "1024" and headline[0].startswith(
        "dₖ = 1024: without the division the largest of 8 weights averages 0.97 and"
    )
    assert dragged[3] == pytest.approx(float(bars[-1].rpartition(": ")[2]), abs=1e-4)
    assert "d_k" not in opened.page.url
    let_go(opened)
    assert opened.query()["d_k"] == "1024"
    assert shares(opened) == pytest.approx(dragged, abs=1e-6)


def test_how_far_a_head_looks_by_its_dial(screen):
    label = "How far the head looks, in words"
    opened = screen("?positions=with&lang=en", lesson="positions")
    drag(opened, label, 6 / 8)
    after = ".threads [aria-label^='chased → white']"
    knob, (fact,), (goal,), (entry,), (share,) = read(opened, label, "h5", ".goal", ".caption", after)
    assert knob == "+1" and entry == "In the matrix: W_q[one, 0] = 8"
    assert goal == "Every word looks at the word after it, if there is one."
    assert int(share.rpartition(": ")[2].removesuffix(" %")) > 80 and "dial" not in opened.page.url
    let_go(opened)
    assert opened.query()["dial"] == "8" and opened.sentence() == fact


def test_which_pairs_masks_keep(screen):
    opened = screen("?open=pairs&lang=en", lesson="masks")
    drag(opened, "Window: reach in words", 1 / 7)
    knob, titles, cells = read(opened, "Window: reach in words", ".frames text", "td")
    assert knob == "2" and "local: 29 of 49" in titles and f"{5 * 64 - 6}" in cells
    assert "window" not in opened.page.url
    let_go(opened)
    drag(opened, "Longer sequences: tokens", 1)
    knob, titles, head, cells = read(opened, "Longer sequences: tokens", ".frames text", "th", "td")
    assert knob == "512" and "local: 29 of 49" in titles and head[0] == "512 tokens" and f"{5 * 512 - 6:,}" in cells
    assert opened.query()["window"] == "2" and "length" not in opened.page.url


def test_what_takes_too_long_waits_and_says_so(screen):
    label, waits = "Keys", "The numbers appear when you let go"
    opened = screen("?lang=en", lesson="scale")
    drag(opened, label, 1)
    knob, fact, flow, pale = read(opened, label, "h5", ".flow .headline", ".frames.waits")
    assert knob == "64" and fact == flow == [waits] and len(pale) == 3  # the bars, those for a phone, the curves
    assert opened.page.locator(".flow .headline").is_visible() and "keys" not in opened.page.url
    told = opened.page.get_by_text("draws of a query and 64 keys")
    assert told.count() == 1  # of what it will be drawn is known
    let_go(opened)
    assert opened.query()["keys"] == "64" and "of 64 weights" in opened.sentence()
    assert read(opened, label, ".frames.waits")[1] == [] and not opened.page.locator(".flow .headline").is_visible()


def test_the_temperature_of_the_cosine(screen):
    label = "Temperature τ"
    opened = screen("?open=ceiling&lang=en", lesson="scores")
    drag(opened, label, 0)
    knob, told, bars, curve = read(opened, label, ".told p", ".frames path[aria-label*='it, dog]']", ".frames text")
    assert knob == "0.05" and "At temperature 0.05 the cosine gives “dog” 1" in told[0]
    assert float(bars[-1].rpartition(": ")[2]) == pytest.approx(1, abs=1e-6) and "at most, τ = 0.05" in curve
    assert "temperature" not in opened.page.url
    let_go(opened)
    assert opened.query()["temperature"] == "0.05"


def test_the_distance_to_a_word_and_what_is_measured_waits_for_the_encoders(screen):
    label = "Distance to the word, in words"
    opened = screen("?words=en_it&lang=en", lesson="distance")
    drag(opened, label, 0.7)
    knob, headline, goal = read(opened, label, "h5", ".goal")
    assert knob == "14" and "that comes from “dog”, 14 back" in headline[0] and "at 14:" in goal[0]
    line = opened.page.locator(".frames .rule").evaluate("line => Number(line.getAttribute('x1'))")
    point = opened.page.locator(".frames path[aria-label^='attention: 14 ']").evaluate(
        "point => { const { x, width } = point.getBBox(); return x + width / 2; }"
    )
    assert line == pytest.approx(point, abs=1)
    let_go(opened)
    assert opened.query()["distance"] == "14" and "“dog”, 14 back" in opened.sentence()
    waits = "The numbers appear when you let go"
    drag(opened, "RNN: gain of Wₕ", 1)
    knob, fact, goal, pale = read(opened, "RNN: gain of Wₕ", "h5", ".goal", ".frames.waits")
    assert knob == "1.5" and fact == goal == [waits] and len(pale) == 1 and "gain" not in opened.page.url
    let_go(opened)
    assert opened.query()["gain"] == "1.5" and opened.sentence() != waits


def it_gives_dog(factor: float, others: int = 5) -> float:
    """The share of "dog", whose score is 6, beside others at 0 and "Anna" at -6, if she is there."""
    anna = math.exp(-6 * factor) if others == 5 else 0
    return math.exp(6 * factor) / (math.exp(6 * factor) + others + anna)


MASKS = "Masks: window, padding, custom"  # the row of them
WORKBENCH = [
    ("scale=0.5", "Scale factor", 1.5 / 3, "0.32", it_gives_dog(0.32)),  # by equal ratios from 0.01 to 10
    ("mask=local:1", "Local window: reach to each side, in tokens", 2 / 6, "2", it_gives_dog(2**-0.5, 3)),
    ("mask=causal,sliding:2", "Sliding window: keys, the query's own included", 2 / 6, "3", it_gives_dog(2**-0.5, 2)),
]


@pytest.mark.parametrize("query, label, place, number, share", WORKBENCH)
def test_a_number_of_the_workbench(screen, query, label, place, number, share):
    opened = screen(f"?{query}&lang=en")
    opened.open_row("Scale factor" if query.startswith("scale") else MASKS)
    before, url = opened.query(), opened.page.url
    drag(opened, label, place)
    knob, headline = read(opened, label, ".flow .headline")
    assert knob == number and f"{100 * share:.0f} %" in headline[0]
    assert opened.page.get_by_role("spinbutton", name=label).input_value() == number
    assert shares(opened)[3] == pytest.approx(share, abs=1e-6)
    assert opened.page.url == url
    let_go(opened)
    assert number in opened.page.url and shares(opened)[3] == pytest.approx(share, abs=1e-6)
    with opened.answered():
        opened.page.get_by_role("button", name="Undo", exact=True).click()
    assert opened.query() == before


def test_how_far_a_head_built_by_hand_looks(screen):
    opened = screen("?built=offset:-1&score=dot&t=3&lang=en")
    label = "Offset: neighbour the head looks at"
    opened.open_row("Set what each head does")
    drag(opened, label, 0.7)
    knob, headline = read(opened, label, ".flow .headline")
    share = 1 / sum(math.exp(-4 * away**2) for away in (5, 4, 3, 2, 1, 0, 1))  # of -4 times the distance's square
    assert knob == "2" and headline[0].startswith("dog attends to it")
    assert shares(opened)[5] == pytest.approx(share, abs=1e-6)
    assert opened.query()["built"] == "offset:-1"
    let_go(opened)
    assert opened.query()["built"] == "offset:2" and shares(opened)[5] == pytest.approx(share, abs=1e-6)


def test_a_number_is_typed_that_no_knob_reaches_and_a_refused_one_stays(screen):
    opened = screen("?mask=local:1&lang=en")
    opened.open_row(MASKS)
    label = "Local window: reach to each side, in tokens"
    box = opened.page.get_by_role("spinbutton", name=label)
    for typed in ("30", "-1"):
        box.fill(typed)
        with opened.answered():
            box.press("Enter")
    assert opened.query()["mask"] == "local:30" and box.input_value() == "-1"
    opened.wait_for_text("window must be a whole number, 0 or more: got -1")


@pytest.mark.parametrize("lesson, late", [("bottleneck", 1), ("induction", 0)])
def test_the_step_of_a_training(screen, lesson, late):
    least = "After 0 steps"
    label = "Steps of training"
    opened = screen("?lang=en", lesson=lesson)
    before = read(opened, label, ".frames path[aria-label]")[1]
    drag(opened, label, 0)
    knob, headline, points, waiting = read(opened, label, "h5", ".frames path[aria-label]", ".waits")
    assert knob == "0" and headline[0].startswith(least)
    assert points != before and len(waiting) == late  # the curves and the arcs are there, the neck waits
    assert "step_of" not in opened.page.url
    let_go(opened)
    assert opened.query()["step_of"] == "0" and opened.sentence().startswith(least)
    assert read(opened, label, ".waits")[1] == []


def test_the_window_of_a_mask(screen):
    label = "Reach to each side"
    opened = screen("?mask=local&lang=en", lesson="masks")
    drag(opened, label, 2 / 7)
    knob, headline, (thread,) = read(opened, label, "h5", ".threads [aria-label^='it → dog']")
    e424 = math.exp(6 / math.sqrt(2))
    percent = f"{100 * e424 / (e424 + 3):.0f} %"  # "it" sees "dog", "and", itself, "barked"
    assert knob == "2" and f"“it” gives {percent} of its attention to “dog”" in headline[0]
    assert thread == f"it → dog: {percent}" and opened.page.locator("[aria-label^='it → the']").count() == 0
    assert "near" not in opened.page.url
    expect(opened.page.locator(".map")).to_have_css("opacity", "0.35")  # the mask that is painted waits for the server
    let_go(opened)
    expect(opened.page.locator(".map")).to_have_css("opacity", "1")
    assert opened.query()["near"] == "2" and opened.sentence() == headline[0]
    opened.wait_for_text("29 of 49 pairs are kept")


def test_a_lessons_picture_follows_its_word_and_leaves_the_workbench_alone(screen):
    opened = screen("?words=with&lang=en", lesson="qkv")
    assert opened.page.locator(".flow").evaluate("root => root.flow.look.query") == 5
    opened.choose("Query word", "dog")
    assert opened.page.locator(".flow").evaluate("root => root.flow.look.query") == 3
    opened.page.locator(".flow").evaluate("root => root.flow.lookAt({ query: 1 })")
    opened.page.evaluate("() => new Promise((done) => setTimeout(done, 400))")  # the time after which a hand rests
    opened.settled()
    assert opened.query()["token"] == "3"


DRAWERS = [
    ("masks", "", "Can a word find out what comes after it?"),
    ("softmax", "", "Why is the largest number subtracted first?"),
]


@pytest.mark.parametrize("lesson, query, question", DRAWERS)
def test_a_drawer_comes_into_view_when_it_is_opened(screen, lesson, query, question):
    opened = screen(f"?lang=en{query}", lesson=lesson)
    title = opened.page.get_by_text(question, exact=True)
    heights = "title => { const { top } = title.getBoundingClientRect(); return top > 0 && top < 0.4 * innerHeight; }"
    title.scroll_into_view_if_needed()
    assert not title.evaluate(heights)  # at the lower edge
    title.click()
    opened.page.wait_for_function(f"title => ({heights})(title)", arg=title.element_handle())


def test_a_drawer_that_a_link_opens_leaves_the_page_where_it_is(screen):
    opened = screen("?lang=en&open=future", lesson="masks")
    opened.wait_for_text("get another output without a mask")
    assert opened.page.locator("h4").first.evaluate("title => title.getBoundingClientRect().top > 0")
