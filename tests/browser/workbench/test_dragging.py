"""What a drag shows before the server answers, and what the screen says where the server then has other numbers."""

import math

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import wait_for_flow

# The twin's e is a little too small for every power but that of 0: the server's is not.
PLANT = "() => { const exp = Math.exp; Math.exp = (x) => exp(x) * (x < 0 ? 1.001 : 1); }"


# Takes the knob of the temperature to a number, and holds it there.
HOLD = """(input, temperature) => {
    const { min, max } = input, ends = [0.1, 10].map(Math.log);
    const at = (Math.log(temperature) - ends[0]) / (ends[1] - ends[0]);
    input.value = Number(min) + at * (max - min);
    input.dispatchEvent(new Event("input", { bubbles: true }));
}"""

# The query that the hand drags is shown half as far again as it is: the server hears where it is.
PLANT_VECTOR = """root => {
    const vectors = Object.getPrototypeOf(root.flow.plane.proven), { moved } = vectors;
    vectors.moved = function (role, place, [x, y]) { return moved.call(this, role, place, [1.5 * x, 1.5 * y]); };
}"""
PLANT_SENT = """() => {
    const shared = window[Symbol.for("attention")], { tellServer } = shared;
    shared.tellServer = (name, value) => tellServer(name, name === "released" ? { ...value, value: 3 } : value);
}"""
DRAG_QUERY = """(root, [x, y]) => {
    const { hands } = root.flow.plane;
    hands.begin({ role: "q", place: root.flow.look.query });
    hands.move([x, y]);
}"""
LET_GO = "root => root.flow.plane.hands.release()"
HEAT = """(root, temperature) => {
    const { hands } = root.flow.plane;
    hands.begin({ role: "temperature" });
    hands.heat(temperature);
}"""
TEXT = "(root, key) => root.flow.map.shapes.made.get(key)?.element.textContent"
SHADES = """root => Object.fromEntries(["rail", "strip"].map((name) =>
    [name, [...root.querySelectorAll(`.${name} button`)].map((each) => each.classList.contains("waits"))]))"""
PIXELS = """(root, rail) => {
    const canvas = root.querySelector(rail);
    return [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data];
}"""
OUTSIDE = """root => {
    const { picture } = root.flow, { x, w, parts } = picture.layout, found = [];
    for (const { name, role, is_share } of parts) {
        if (role !== "pair" || is_share) continue;
        for (const [key, { attributes }] of picture.shapes.made) {
            if (!key.startsWith(`cells ${name} `) || attributes.width === undefined) continue;
            const over = Math.max(x[name] - attributes.x, attributes.x + attributes.width - x[name] - w[name]);
            if (over > 0.5) found.push([key, over]);
        }
    }
    return found;
}"""
WAITS = "The numbers appear when you let go"


def share_of_dog(temperature: float) -> float:
    """What "it" gives to "dog" in the first example: of its scores two are not 0, that of "Anna" the negative."""
    score = 6 / math.sqrt(2) / temperature
    return math.exp(score) / (math.exp(score) + math.exp(-score) + 5)


def hold(opened, temperature: float):
    """Takes the knob of the temperature to a number; the picture, a frame later."""
    opened.page.locator(".live input").evaluate(HOLD, temperature)
    opened.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return opened.page.locator(".flow")


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
    share = share_of_dog(2)
    assert round(share, 2) == 0.62
    assert flow.evaluate("root => root.flow.snapshot.shares[3]") == pytest.approx(share, abs=1e-6)
    assert "temperature" not in opened.page.url and flow.evaluate("root => root.flow.isDragged")


def test_while_the_knob_is_held_map_small_maps_and_strip_say_the_same_or_wait(screen):
    opened = screen("?ex=en_it&lang=en")
    opened.open_map()
    flow = opened.page.locator(".flow")
    wait_for_flow(opened.page, "(flow) => flow.opened === 1")
    own, other = [f".rail button:nth-child({place}) canvas" for place in (1, 2)]
    before = [flow.evaluate(PIXELS, each) for each in (own, other)]
    flow.evaluate("root => root.flow.lookAt({ query: 0 })")  # of the row of "it" only the map is seen
    opened.settled()
    hold(opened, 2)
    assert flow.evaluate(TEXT, "texts result 5 3") == "62 %"
    assert flow.evaluate(PIXELS, own) != before[0] and flow.evaluate(PIXELS, other) == before[1]
    assert flow.evaluate(SHADES)["rail"] == [False, True]  # the twin follows one head
    assert "temperature" not in opened.page.url
    hold(opened, 1)  # where it was
    assert flow.evaluate(TEXT, "texts result 5 3") == "93 %"
    assert [flow.evaluate(PIXELS, each) for each in (own, other)] == before
    assert flow.evaluate(SHADES)["rail"] == [False, False] and True not in flow.evaluate(SHADES)["strip"]


@pytest.mark.slow
def test_a_step_of_all_heads_follows_on_the_map(screen):
    opened = screen("?ex=en_it&lang=en&step=output")
    wait_for_flow(opened.page, "(flow) => flow.opened === 1")
    made = "root => [...root.flow.model.step('output').value]"
    flow = hold(opened, 2)
    dragged = flow.evaluate(made)
    shown = flow.evaluate(TEXT, "texts result 5 0")
    with opened.answered():
        opened.page.locator(".live input").evaluate("input => input.dispatchEvent(new Event('change'))")
    assert flow.evaluate(made) == pytest.approx(dragged, abs=1e-6)
    assert flow.evaluate(TEXT, "texts result 5 0") == shown


@pytest.mark.slow
def test_an_open_sum_follows_the_knob_and_pales_what_only_the_server_writes(screen):
    opened = screen("?ex=en_it&lang=en&step=weights&cell=0,0,5,3")
    opened.sums().wait_for()
    panel = opened.page.locator(".flow .panel")
    before = opened.arithmetic()
    assert before.startswith("exp(4.24) / (exp(−4.24) + ") and before.endswith(") = 69.59 / 74.61 = 0.93")
    hold(opened, 2)
    assert panel.locator(".sum").inner_text().startswith("exp(2.12) / (exp(−2.12) + ")
    assert panel.locator(".sum").inner_text().endswith(" = 0.62")
    expect(panel.locator(".sum .waits")).to_have_text(") = 69.59 / 74.61")
    assert float(panel.locator("strong").inner_text().split(" = ")[1]) == pytest.approx(share_of_dog(2), abs=1e-5)
    expect(panel.locator(".note")).to_have_text(WAITS)
    with opened.answered():
        opened.page.locator(".live input").evaluate("input => input.dispatchEvent(new Event('change'))")
    expect(panel.locator(".sum")).to_contain_text(") = 8.34 / 13.46 = 0.62")
    expect(panel.locator(".waits")).to_have_count(0)


@pytest.mark.slow
def test_a_look_leaves_what_is_dragged_as_it_is_an_even_row_is_told_as_one_and_bars_keep_to_their_column(screen):
    opened = screen("?ex=en_it&lang=en")
    headline, knob = opened.page.locator(".flow .headline"), opened.page.locator("label.live output")
    flow = hold(opened, 2)
    opened.look_at(0)
    expect(headline).to_have_text("Anna attends evenly")
    opened.look_at(5)
    expect(headline).to_have_text("it attends to dog, 62 %")
    assert knob.inner_text() == "2"
    hold(opened, 0.1)  # however far they are dragged
    assert flow.evaluate("root => Math.abs(root.flow.snapshot.numbers.scaled_scores[3])") == pytest.approx(60 / 2**0.5)
    assert flow.evaluate(OUTSIDE) == []


@pytest.mark.slow
def test_in_a_large_run_a_knob_that_is_put_back_brings_the_numbers_back(screen):
    opened = screen("?lang=en&step=weights&text=" + "+".join(["Anna", "fed", "the", "dog", "and", "it", "barked"] * 10))
    headline = opened.page.locator(".flow .headline")
    before = headline.text_content()
    box = opened.page.locator(".live input").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.mouse.move(*middle)
    opened.page.mouse.down()
    opened.page.mouse.move(middle[0] + 40, middle[1], steps=2)
    expect(headline).to_have_text(WAITS)
    expect(opened.page.locator(".map")).to_have_css("opacity", "0.35")
    opened.page.mouse.move(*middle, steps=2)
    opened.page.mouse.up()
    expect(headline).to_have_text(before)
    expect(opened.page.locator(".map")).to_have_css("opacity", "1")
    assert opened.page.locator("label.live output").inner_text() == "1"


@pytest.mark.slow
def test_what_a_drag_does_not_move_is_pale_until_the_server_has_answered(screen):
    opened = screen("?ex=en_it&lang=en&temp=2&against=&pinned=values")
    maps = opened.page.get_by_test_id("stVegaLiteChart").first
    expect(maps).to_have_css("opacity", "1")
    hold(opened, 4)
    expect(maps).to_have_css("opacity", "0.35")
    press_temperature(opened)
    expect(maps).to_have_css("opacity", "1")


@pytest.mark.slow
def test_a_drag_claims_nothing_of_random_words(screen):
    opened = screen("?ex=source_004&lang=en&text=moon+x1+x3&t=0")
    flow, headline = opened.page.locator(".flow"), opened.page.locator(".flow .headline")
    opened.page.locator(".live input").evaluate(HOLD, 0.2)
    expect(headline).to_contain_text("Head 1: “moon” has a random vector, which carries no meaning.")
    assert flow.evaluate("root => root.flow.isDragged")
    flow.evaluate("root => root.flow.lookAt({ query: 1 })")
    said = "Head 1: “x1” is compared with the random vector of “moon”, which carries no meaning."
    expect(headline).to_contain_text(said)
    assert flow.evaluate("root => root.flow.isDragged")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "says"),
    [
        ("en", "Mismatch: at weights the drag showed other numbers than those that the server has now computed"),
        ("zh", "不一致：拖动时“权重”一步的数，与服务器现在算出的不同"),
    ],
)
def test_where_the_drag_and_the_server_differ_the_screen_says_so(screen, lang, says):
    opened = screen(f"?lang={lang}&ex=en_it")
    headline = opened.page.locator(".flow .headline")
    before = headline.text_content()
    opened.page.evaluate(PLANT)
    press_temperature(opened)
    expect(headline).to_have_text(says)
    opened.look_at(1)  # another look is the server's alone
    expect(headline).not_to_have_text(says)
    opened.look_at(5)
    expect(headline).not_to_have_text(before)


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["vector", "sent"])
def test_what_a_hand_saw_is_compared_with_the_run_that_answers_it(screen, planted):
    opened = screen("?ex=en_plane&lang=en")
    opened.page.locator(".flow .views [data-kind=plane]").click()
    flow = opened.page.locator(".flow")
    opened.page.locator(".plane .grip").first.wait_for(state="attached")
    opened.settled()
    flow.evaluate(PLANT_VECTOR) if planted == "vector" else opened.page.evaluate(PLANT_SENT)
    flow.evaluate(DRAG_QUERY, [0.3, 1]) if planted == "vector" else flow.evaluate(HEAT, 2)
    with opened.answered():
        flow.evaluate(LET_GO)
    expect(flow.locator(".differs")).to_have_text(
        "Mismatch: at weights the drag showed other numbers than those that the server has now computed"
    )


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_vector_that_the_server_takes_as_it_was_dragged_says_nothing(screen, dtype):
    opened = screen(f"?ex=en_plane&lang=en&dtype={dtype}")
    opened.page.locator(".flow .views [data-kind=plane]").click()
    flow = opened.page.locator(".flow")
    opened.page.locator(".plane .grip").first.wait_for(state="attached")
    opened.settled()
    flow.evaluate(DRAG_QUERY, [0.37, 3.3])
    expect(flow.locator(".headline")).not_to_have_text(WAITS)
    with opened.answered():
        flow.evaluate(LET_GO)
    assert flow.evaluate("root => [root.flow.isDragged, root.flow.differs]") == [False, None]
    with opened.answered():
        opened.page.locator(".live input").press("PageUp")
    assert flow.evaluate("root => [root.flow.isDragged, root.flow.differs]") == [False, None]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_drag_that_the_server_confirms_says_nothing(screen, dtype):
    opened = screen(f"?dtype={dtype}&ex=zh_colour&lang=en")
    press_temperature(opened)
    flow = opened.page.locator(".flow")
    assert flow.evaluate("root => [root.flow.isDragged, root.flow.moved.includes('weights')]") == [False, True]
    assert flow.evaluate("root => root.flow.differs") is None
    expect(flow.locator(".differs")).to_have_count(0)
