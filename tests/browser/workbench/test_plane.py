"""Vectors dragged in the plane: the browser follows in the same frame, the server computes when the hand lets go."""

import math
import re

import pytest
from playwright.sync_api import expect

from pages.runs import cache
from pages.setup.codec import setup_from_link

pytestmark = pytest.mark.slow

STEPS = "root => Object.fromEntries(['shares', 'best'].map(name => [name, [].concat(root.flow.plane[name])]))"
AT = """(root, [role, place]) => {
    const { plane } = root.flow, box = plane.svg.getBoundingClientRect();
    const [x, y] = role === "q" ? plane.tip() : role === "temperature" ? plane.hands.knob()
        : plane.toScreen(role, plane.points(role)[place]);
    return [box.left + x, box.top + y];
}"""
GOES = """(root, [panel, point]) => {
    const { plane } = root.flow, box = plane.svg.getBoundingClientRect(), [x, y] = plane.toScreen(panel, point);
    return [box.left + x, box.top + y];
}"""
IT, ANNA, DOG = 5, 0, 3
GLIDES = 4  # moves of the pointer between two points


class Plane:
    """The plane of a page, and a hand in it."""

    def __init__(self, screen):
        self.screen, self.page = screen, screen.page
        self.flow = self.page.locator(".flow")

    def open(self):
        self.page.locator(".flow .views [data-kind=plane]").click()
        self.page.locator(".plane .grip").first.wait_for(state="attached")
        return self

    def shares(self) -> list[float]:
        return self.flow.evaluate("root => [...root.flow.plane.shares]")

    def vector(self, role: str, place: int) -> list[float]:
        return self.flow.evaluate("(root, at) => root.flow.plane.vectors.vector(...at)", [role, place])

    def is_dragged(self) -> bool:
        return self.flow.evaluate("root => root.flow.isDragged")

    def goals(self) -> list[str]:
        return self.page.locator(".plane .goal").all_inner_texts()

    def drawn(self) -> None:
        """Gives way when what was done is drawn."""
        self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def grab(self, role: str, place: int = 0) -> None:
        self.page.mouse.move(*self.flow.evaluate(AT, [role, place]))
        self.page.mouse.down()

    def move(self, role: str, point: tuple[float, float]) -> None:
        self.page.mouse.move(*self.flow.evaluate(GOES, ["v" if role == "v" else "k", point]), steps=GLIDES)
        self.drawn()

    def let_go(self) -> None:
        with self.screen.answered():
            self.page.mouse.up()

    def drag(self, role: str, place: int, point: tuple[float, float]) -> None:
        self.grab(role, place)
        self.move(role, point)
        self.let_go()

    def server_shares(self, query: int = IT) -> list[float]:
        """What the core computes of the link in the address bar."""
        setup, refused = setup_from_link({key: text for key, text in self.screen.query().items() if key != "lang"})
        assert not refused
        return cache.trace_for(setup)["weights"][0, 0, query].tolist()


@pytest.fixture
def plane(screen):
    return lambda query="?ex=en_plane", **options: Plane(screen(query, **options))


def test_a_dragged_query_moves_shares_in_the_same_frame_and_the_server_gives_the_same(plane):
    one = plane()
    before = one.shares()
    assert before[DOG] == pytest.approx(0.922, abs=0.001)  # from paper: exp of (-2, -6, -2, 6, -2, 2, 0) over sqrt(2)
    one.grab("q")
    one.move("q", (0, 3.5))
    dragged = one.shares()
    assert one.is_dragged() and one.screen.query() == {"ex": "en_plane"}  # the server has heard nothing
    assert dragged[ANNA] == pytest.approx(dragged[DOG], abs=0.03) and dragged[ANNA] > 0.4
    assert one.vector("q", IT) == pytest.approx([0, 3.5], abs=0.02)
    one.let_go()
    assert not one.is_dragged()
    assert one.shares() == pytest.approx(dragged, abs=1e-6)
    assert one.server_shares() == pytest.approx(dragged, abs=1e-6)
    assert set(one.screen.query()) == {"ex", "w_q"}
    assert one.page.get_by_test_id("stPopover").filter(has_text="checked").count() == 1


@pytest.mark.parametrize(("role", "matrix"), [("k", "w_k"), ("v", "w_v")])
def test_a_dragged_key_or_value_is_undone_and_its_link_brings_it_back(plane, role, matrix):
    one = plane()
    before = one.vector(role, ANNA)
    one.grab(role, ANNA)
    one.move(role, (-1.5, 2))
    shares, vector = one.shares(), one.vector(role, ANNA)
    assert vector != before
    values = [one.vector("v", key) for key in range(len(shares))]
    mixed = [sum(share * value[m] for share, value in zip(shares, values, strict=True)) for m in range(2)]
    assert one.flow.evaluate("root => root.flow.plane.output") == pytest.approx(mixed, abs=1e-6)  # it follows at once
    one.let_go()
    link = one.screen.query()
    assert set(link) == {"ex", matrix}
    assert one.vector(role, ANNA) == pytest.approx(vector, abs=1e-6)
    again = plane(f"?ex=en_plane&{matrix}={link[matrix]}")
    assert again.vector(role, ANNA) == pytest.approx(vector, abs=1e-6)
    assert again.shares() == pytest.approx(shares, abs=1e-6)
    with one.screen.answered():
        one.page.keyboard.press("Control+z")
    assert one.vector(role, ANNA) == before
    assert one.screen.query() == {"ex": "en_plane"}


def test_words_with_a_common_part_move_along(plane):
    one = plane()
    one.grab("k", DOG)
    one.move("k", (-1, 2))
    moved = [now - was for now, was in zip(one.vector("k", DOG), (-2, 1), strict=True)]
    it = [now - was for now, was in zip(one.vector("k", IT), (-1, 0), strict=True)]
    assert it == pytest.approx(moved) and moved[0] > 0.5  # both have the x of an animal in them
    assert one.vector("k", ANNA) == [2, 1]
    one.let_go()


def test_the_circle_and_the_slider_of_the_temperature_agree(plane):
    one = plane()
    slider = one.page.locator(".live output")
    one.grab("temperature")
    x, y = one.flow.evaluate(AT, ["temperature", 0])
    one.page.mouse.move(x + 12, y + 12, steps=GLIDES)
    one.drawn()
    tip, knob = (one.flow.evaluate(AT, [role, 0]) for role in ("q", "temperature"))
    assert math.dist(knob, tip) == pytest.approx(math.dist((x + 12, y + 12), tip), abs=2)  # as far out as the hand
    temperature = one.flow.evaluate("root => root.flow.plane.temperature")
    assert temperature > 1.2 and slider.inner_text() == str(temperature)
    dragged = one.shares()
    one.let_go()
    assert float(one.screen.query()["temp"]) == temperature
    assert slider.inner_text() == str(temperature)
    assert one.server_shares() == pytest.approx(dragged, abs=1e-6)


DRAWN = """({ flow: { plane } }) => ({
    tip: plane.tip(), arrow: plane.svg.querySelector(".querytip").getAttribute("d").match(/-?[\\d.]+/g).map(Number),
    unit: plane.unit, name: plane.queryName().x,
    shown: plane.svg.getBoundingClientRect().height, drawn: plane.svg.viewBox.baseVal.height,
})"""


def test_the_query_has_its_arrowhead_behind_its_tip_and_its_word_beyond_it(plane):
    drawn = plane().flow.evaluate(DRAWN)  # it points to the left, upwards
    tip, left, right = zip(drawn["arrow"][::2], drawn["arrow"][1::2], strict=True)
    middle = [sum(each) / 2 for each in zip(left, right, strict=True)]
    assert tip == pytest.approx(drawn["tip"]) and math.dist(middle, tip) == pytest.approx(15 * drawn["unit"], rel=0.01)
    assert drawn["name"] < tip[0] < middle[0]
    assert drawn["shown"] == pytest.approx(drawn["drawn"], abs=1)  # a pixel is a pixel


def test_a_task_is_reached_while_it_is_dragged_and_the_server_says_so_too(plane):
    one = plane()
    assert [goal[0] for goal in one.goals()] == ["○", "○"]
    one.grab("q")
    one.move("q", (0, 3.9))
    assert one.goals()[0].startswith("✓") and "Reached" in one.goals()[0]
    assert one.goals()[1].startswith("○")  # the query has moved, and the shares are even
    one.let_go()
    assert not one.is_dragged() and one.goals()[0].startswith("✓")


def test_the_second_task_is_reached_with_keys_alone(plane):
    one = plane()
    one.drag("k", DOG, (-1, -1))
    one.drag("k", ANNA, (-2.5, 2.5))
    assert one.goals()[1].startswith("✓"), one.goals()
    assert one.goals()[0].startswith("○")


def test_arrow_keys_move_a_handle_and_the_server_hears_when_they_rest(plane):
    one = plane()
    grip = one.page.locator(".plane .grip[aria-label='q of it']")
    before = one.vector("q", IT)
    with one.screen.answered():
        grip.focus()
        for _ in range(3):
            grip.press("ArrowRight")
        one.drawn()
        now = one.vector("q", IT)
        assert now[0] > before[0] and now[1] == before[1]
        assert "it attends to" in grip.get_attribute("aria-valuetext")
    assert one.vector("q", IT) == pytest.approx(now)
    assert set(one.screen.query()) == {"ex", "w_q"}


HANDLES = [("q of it", "ArrowRight"), ("Temperature τ", "ArrowUp")]
PRESS = """const press = (handle, key) => root.querySelector(`.plane [role=slider][aria-label='${handle}']`)
    .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const { flow } = root, { plane } = flow;
const reached = () => {
    flow.drawNow();
    return [...plane.vectors.vector("q", 5), plane.temperature];
};"""
ONE_FRAME = f"""(root, [handle, key]) => {{
    {PRESS}
    for (let i = 0; i < 3; i++) press(handle, key);
    const found = [reached()];
    press(handle, "Escape");
    for (let i = 0; i < 3; i++) {{
        press(handle, key);
        found.push(reached());
    }}
    return found;
}}"""
OVERTAKEN = f"""(root, [handle, key]) => new Promise(done => {{
    {PRESS}
    const found = [];
    const letGo = () => {{
        press(handle, key);
        plane.hands.release();
        found.push(reached());
    }};
    letGo();
    flow.show = (data) => {{
        delete flow.show;
        letGo();
        flow.show(data);
        found.push(reached());
        letGo();
        done(found);
    }};
}})"""


def test_presses_within_one_frame_add_up(plane):
    opened = plane()
    for handle in HANDLES:
        at_once, one, two, three = opened.flow.evaluate(ONE_FRAME, handle)
        assert at_once == three and three != two != one, handle


def test_an_answer_that_comes_late_takes_nothing_back(plane):
    """Let go twice, before the server has answered the first: what was let go last stays on the screen."""
    opened = plane()
    for handle in HANDLES:
        with opened.screen.answered():
            one, two, late, three = opened.flow.evaluate(OVERTAKEN, handle)
        assert late == two != one, handle
        steps = [sum(after) - sum(before) for before, after in ((one, two), (late, three))]
        assert steps[0] == pytest.approx(steps[1], abs=0.02) and steps[0] > 0.09, handle
        opened.page.wait_for_function("root => !root.flow.isDragged", arg=opened.flow.element_handle())
        reached = [*opened.vector("q", IT), opened.flow.evaluate("root => root.flow.plane.temperature")]
        assert reached == pytest.approx(three, abs=1e-6), handle


def test_escape_puts_a_vector_back(plane):
    one = plane()
    before = one.shares()
    one.grab("q")
    one.move("q", (1, 1))
    assert one.shares() != before
    one.page.keyboard.press("Escape")
    one.page.mouse.up()
    one.drawn()
    assert one.shares() == before and one.screen.query() == {"ex": "en_plane"}


def test_wide_heads_say_what_the_plane_leaves_out(plane):
    one = plane("?ex=cross_en_zh").open()
    left = one.page.locator(".leftout").first
    assert left.inner_text().startswith("Outside this plane: 0 %")  # the plane of the query and its key
    one.page.locator(".panelaxes select").first.select_option(label="1")
    one.page.locator(".panelaxes select").nth(1).select_option(label="3")
    left.filter(has_text="Outside this plane: 100 %").wait_for()  # "yesterday" is (0, 6, 0, 3, 0, 0)
    whole = re.compile(r"Outside this plane: 18\.00 of q · k\(.+\) = 18\.00")  # its product with (0, 3, 0, 0, 0, 0)
    left.filter(has_text=whole).wait_for()


def test_the_chosen_directions_stay_when_a_vector_is_let_go(plane):
    one = plane("?ex=cross_en_zh").open()
    for select, number in enumerate("14"):
        one.page.locator(".panelaxes select").nth(select).select_option(label=number)
    one.page.locator(".leftout").first.filter(has_text="Outside this plane: 80 %").wait_for()  # 36 of 45
    one.drag("q", 4, (2, 4))
    assert one.vector("q", 4) == pytest.approx([2, 6, 0, 4, 0, 0], abs=0.1)  # what is not seen stays
    assert [one.page.locator(".panelaxes select").nth(place).input_value() for place in (0, 1)] == ["0", "3"]


def test_what_cannot_be_dragged_says_why(plane):
    unknown = plane("?ex=en_plane&score=additive&lang=en").open()
    expect(unknown.page.locator(".follows")).to_contain_text("the browser cannot compute this mechanism")
    one = plane("?ex=en_plane&pos=rope&lang=en").open()
    assert "the positions turn it after its matrix" in one.page.locator(".follows").inner_text()
    assert one.page.locator(".grip[aria-label^='q of']:visible, .grip[aria-label^='k of']:visible").count() == 0
    one.grab("v", ANNA)
    one.move("v", (1, 2))
    moved = one.vector("v", ANNA)
    one.let_go()
    assert one.vector("v", ANNA) == pytest.approx(moved, abs=1e-6)
