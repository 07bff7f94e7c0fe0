"""The canvas of large maps in a real browser, on a page of its own (canvas_page.py)."""

import re

import pytest
from playwright.sync_api import expect

from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from tests.browser.conftest import LOOK, process_of, set_look

pytestmark = pytest.mark.slow

T, S = 257, 263


@pytest.fixture(scope="module")
def address():
    with process_of("tests/browser/canvas_page.py") as (place, _):
        yield place


@pytest.fixture
def large(profile, find_profile, address):
    """A function that opens the page and gives its Map; a second one, and one with options that a page cannot take, has
    another browser profile."""
    opened = []

    def open_page(query: str = "", **options) -> Map:
        look = {"viewport": {"width": 1280, "height": 900}}
        look |= {name: options.pop(name) for name in LOOK & options.keys()}
        page = (find_profile(len(opened), **options) if opened or options else profile).new_page()
        set_look(page, **look)
        opened.append(page)
        return Map(page, address, query)

    yield open_page
    for page in opened:
        page.close()


class Map:
    """The large map, and what a person does with it."""

    def __init__(self, page, address: str, query: str):
        self.page, self.errors = page, []
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(f"{address}/{query}")
        self.stage, self.read, self.canvas = (
            page.locator(".stage"),
            page.locator(".read"),
            page.locator(".stage canvas"),
        )
        self.stage.wait_for()
        self.settled()

    def settled(self) -> None:
        self.page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")

    def view(self) -> dict:
        """Where the cells are: device pixels a cell, what of them is scrolled away, and the margins."""
        take = "({ map }) => (({ unit, x, y, left, top, ratio }) => ({ unit, x, y, left, top, ratio }))(map)"
        return self.page.locator(".map").evaluate(take)

    def place(self, row: int, column: int) -> dict:
        """The middle of a cell, in CSS pixels of the stage."""
        view = self.view()
        return {
            "x": view["left"] + ((column + 0.5) * view["unit"] - view["x"]) / view["ratio"],
            "y": view["top"] + ((row + 0.5) * view["unit"] - view["y"]) / view["ratio"],
        }

    def pixel(self, row: int, column: int, layer: int = 0) -> list[int]:
        """The colour in a cell, a little above its middle: red, green, blue, opacity."""
        view, place = self.view(), self.place(row, column)
        at = [int(place["x"] * view["ratio"]), int(place["y"] * view["ratio"] - view["unit"] * 0.3)]
        return self.canvas.nth(layer).evaluate(
            "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]", at
        )

    def hover(self, row: int, column: int) -> None:
        self.stage.hover(position=self.place(row, column))

    def drag(self, *cells: tuple[int, int]) -> None:
        """Presses on the first cell, moves over the others, lets go."""
        box = self.stage.bounding_box()
        for n, cell in enumerate(cells):
            place = self.place(*cell)
            self.page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
            if n == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    def said(self, text: str) -> None:
        """Waits until the page has been told this."""
        expect(self.page.get_by_text(f"said {text}", exact=True)).to_be_visible()

    def runs(self) -> int:
        self.settled()
        return int(self.page.get_by_text(re.compile(r"^run \d+$")).inner_text().removeprefix("run "))


def weight(row: int, column: int) -> float:
    return (7 * row + 13 * column) % 101 / 128


def shade(palette, share: float) -> list[int]:
    """The colour between the ramp's ends, by hand."""
    ends = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (palette.low, palette.high)]
    return [round(low + (high - low) * share) for low, high in zip(*ends, strict=True)]


KNOWN = [(0, 0), (256, 0), (256, 262), (131, 137), (131, 0), (200, 77), (1, 7), (101, 45)]  # the last: 0.625, halfway


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT_PALETTE), ("dark", DARK_PALETTE)])
def test_every_cell_has_the_colour_of_its_number(large, scheme, palette):
    opened = large(color_scheme=scheme)
    assert opened.view()["unit"] == 1 or opened.view()["unit"] == 2
    for row, column in KNOWN:
        *colour, opacity = opened.pixel(row, column)
        assert opacity == 255
        assert colour == pytest.approx(shade(palette, weight(row, column)), abs=2), (row, column)
    assert opened.errors == []


def test_blocked_cells_are_hatched_and_have_no_colour_of_the_scale(large):
    opened = large()
    place = opened.place(60, 150)
    strip = opened.canvas.first.evaluate(
        "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 12, 1).data]",
        [int(place["x"]), int(place["y"])],
    )
    seen = {tuple(strip[n : n + 3]) for n in range(0, len(strip), 4)}
    assert len(seen) > 1  # lines and the ground between them
    assert tuple(int(LIGHT_PALETTE.ground[at : at + 2], 16) for at in (1, 3, 5)) in seen
    assert all(max(colour) - min(colour) < 12 for colour in seen)  # grey: no purple


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_hovering_names_the_tokens_and_the_number_without_a_rerun(large, ratio):
    opened = large(device_scale_factor=ratio)
    runs = opened.runs()
    for row, column in [*KNOWN, (130, 131)]:
        opened.hover(row, column)
        number = weight(row, column)
        more = f" = {number:.7g}" if number != round(number, 2) else ""
        expect(opened.read).to_have_text(f"r{row} ({row + 1}), c{column} ({column + 1}): {number:.2f}{more}")
    opened.hover(0, 262)
    expect(opened.read).to_have_text("r0 (1), c262 (263): 0 blocked")
    opened.page.mouse.move(2, 2)
    expect(opened.read).to_have_text("hover")
    assert opened.runs() == runs


def test_hovering_outlines_row_and_column(large):
    opened = large()
    for _ in range(4):
        opened.page.locator(".tools button").first.click()
    row, column = 128, 131  # in the middle, where zooming leads
    before = opened.pixel(row, column + 2, layer=1)
    opened.hover(row, column)
    place, unit = opened.place(row, column + 2), opened.view()["unit"]
    outline = opened.canvas.nth(1).evaluate(
        "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]",
        [int(place["x"]), int(place["y"] - unit / 2)],  # the upper edge of the row, two columns on
    )
    assert before[3] == opened.pixel(row, column + 2, layer=1)[3] == 0
    assert outline[:3] == pytest.approx([0xD9, 0x77, 0x06], abs=3)


def test_a_click_opens_the_cell_and_outlines_it(large):
    opened = large()
    for row, column in ((0, 0), (256, 262), (131, 137), (0, 262), (256, 0)):
        opened.stage.click(position=opened.place(row, column))
        opened.said(f"{{'step': 'weights', 'index': [0, 1, {row}, {column}]}}")
    opened.settled()
    opened.page.mouse.move(2, 2)
    expect(opened.read).to_have_text("r256 (257), c0 (1): 0.59 = 0.5859375")  # 7 · 256 mod 101 = 75


def test_the_keyboard_walks_reads_and_opens(large):
    opened = large()
    opened.stage.focus()
    for key in ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp"]:
        opened.page.keyboard.press(key)
    expect(opened.read).to_have_text("r2 (3), c0 (1): 0.11 = 0.109375")  # the first key shows the first cell; 14 / 128
    opened.page.keyboard.press("Enter")
    opened.said("{'step': 'weights', 'index': [0, 1, 2, 0]}")
    opened.settled()
    opened.page.keyboard.press("ArrowUp")  # the focus and the cursor have stayed
    expect(opened.read).to_have_text("r1 (2), c0 (1): 0.05 = 0.0546875")
    opened.page.keyboard.press("+")
    assert opened.view()["unit"] > 2
    opened.page.keyboard.press("-")
    opened.page.keyboard.press("-")
    assert opened.view()["unit"] == 2


def test_the_keyboards_cell_is_brought_into_view(large):
    opened = large()
    opened.stage.focus()
    for _ in range(8):
        opened.page.keyboard.press("+")
    for key in ["ArrowRight"] * 60 + ["ArrowDown"] * 30:
        opened.page.keyboard.press(key)
    seen = opened.page.locator(".seen").inner_text()
    rows = re.match(r"rows (\d+)-(\d+) of 257, columns (\d+)-(\d+) of 263", seen)
    cell = re.match(r"r\d+ \((\d+)\), c\d+ \((\d+)\)", opened.read.inner_text())
    assert int(rows[1]) <= int(cell[1]) <= int(rows[2])
    assert int(rows[3]) <= int(cell[2]) <= int(rows[4])


def written(opened) -> list[str]:
    """The texts that the next drawing writes on the canvas."""
    return opened.page.locator(".map").evaluate(
        """(root) => {
            const pen = root.map.pen, texts = [], write = pen.fillText;
            pen.fillText = function (text, ...more) { texts.push(text); return write.call(this, text, ...more); };
            root.map.draw();
            delete pen.fillText;
            return texts;
        }"""
    )


def test_near_cells_carry_their_numbers(large):
    opened = large()
    assert not any("." in text for text in written(opened) if text != "1/263")
    opened.hover(2, 1)
    for _ in range(7):
        opened.page.mouse.wheel(0, -100)  # the page's: nothing happens
    assert opened.view()["unit"] == 2
    opened.page.keyboard.down("Control")
    for _ in range(7):
        opened.page.mouse.wheel(0, -100)
    opened.page.keyboard.up("Control")
    expect(opened.page.locator(".seen")).to_contain_text("of 257")
    assert opened.view()["unit"] >= 26
    texts = written(opened)
    row, column = (opened.view()[name] // opened.view()["unit"] for name in ("y", "x"))
    assert f"{weight(row + 1, column + 1):.2f}" in texts
    assert f"r{row + 1}" in texts
    assert f"c{column + 1}" in texts


def test_other_numbers_keep_view_cursor_and_canvas_and_move_nothing(large):
    opened = large()
    for _ in range(4):
        opened.page.locator(".tools button").first.click()
    opened.drag((120, 120), (110, 110))  # looked further down to the right
    opened.hover(128, 121)  # (7 · 128 + 13 · 121) mod 101 = 45
    expect(opened.read).to_have_text("r128 (129), c121 (122): 0.35 = 0.3515625")
    before, box, colour = opened.view(), opened.stage.bounding_box(), opened.pixel(130, 125)
    assert before["x"] > 0
    opened.page.locator(".map").evaluate(
        """(root) => {
            window.resized = 0;
            root.map.base.dataset.mark = "same";
            new MutationObserver(() => window.resized++).observe(root, {
                subtree: true, attributes: true, attributeFilter: ["width", "height"]});
        }"""
    )
    opened.stage.focus()
    opened.page.get_by_role("button", name="other numbers").evaluate("(button) => button.click()")
    expect(opened.read).to_have_text("r128 (129), c121 (122): 0.74 = 0.7421875")  # (45 + 50) / 128
    assert opened.view() == before
    assert opened.stage.bounding_box() == box
    assert opened.canvas.first.get_attribute("data-mark") == "same"
    assert opened.page.evaluate("() => window.resized") == 0
    assert opened.pixel(130, 125) != colour


def test_two_browsers_keep_their_own_views(large):
    one, two = large(), large()
    one.page.locator(".tools button").first.click()
    assert (one.view()["unit"], two.view()["unit"]) == (3, 2)


def test_painting_reports_the_cells_on_the_way(large):
    opened = large("?paint=7x11")
    opened.drag((2, 1), (2, 5))  # the mouse is seen at both ends only
    opened.said("{'cells': [[2, 1], [2, 2], [2, 3], [2, 4], [2, 5]], 'to': 0}")
    opened.drag((1, 3), (5, 3))  # begins on an allowed cell: takes away, and (2, 3) is away already
    opened.said("{'cells': [[1, 3], [3, 3], [4, 3], [5, 3]], 'to': 0}")
    opened.drag((2, 2), (1, 2), (1, 3))  # begins on a blocked one: gives
    opened.said("{'cells': [[2, 2], [1, 3]], 'to': 1}")
    opened.settled()
    opened.hover(2, 2)
    expect(opened.read).to_have_text("r2 (3), c2 (3): allowed")
    opened.hover(2, 1)
    expect(opened.read).to_have_text("r2 (3), c1 (2): blocked")


def test_paint_is_seen_at_once_and_by_the_keyboard(large):
    opened = large("?paint=31x37")
    box, place = opened.stage.bounding_box(), opened.place(4, 6)
    given = opened.pixel(4, 6)
    opened.page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    opened.page.mouse.down()
    assert opened.pixel(4, 6) != given  # before the button is let go
    opened.page.mouse.up()
    opened.said("{'cells': [[4, 6]], 'to': 0}")
    opened.settled()
    taken = opened.pixel(4, 6)
    opened.stage.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Space")
    opened.said("{'cells': [[4, 7]], 'to': 0}")
    opened.settled()
    assert opened.pixel(4, 7) == taken
    assert taken != given


def test_no_stroke_is_lost_though_all_come_at_once(large):
    opened = large("?paint=7x11")
    opened.stage.evaluate(
        """(stage) => ["ArrowDown", "ArrowDown", " ", "ArrowRight", " ", "ArrowRight", " ", "ArrowDown", " "].forEach(
            (key) => stage.dispatchEvent(new KeyboardEvent("keydown", { key })))"""
    )
    expect(opened.page.get_by_text("blocked 4", exact=True)).to_be_visible()
    opened.said("{'cells': [[2, 2]], 'to': 0}")


def test_a_refused_stroke_is_taken_back(large):
    opened = large("?paint=7x11")
    given = opened.pixel(0, 2)
    opened.drag((0, 2), (0, 4))
    opened.said("{'cells': [[0, 2], [0, 3], [0, 4]], 'to': 0}")
    opened.settled()
    opened.hover(0, 3)
    expect(opened.read).to_have_text("r0 (1), c3 (4): allowed")
    assert opened.pixel(0, 2) == given


def test_a_small_map_opens_its_head(large):
    opened = large()
    opened.page.locator(".thumbnails button").first.click()
    opened.said("0")
    expect(opened.page.locator(".thumbnails button").nth(1)).to_have_class("chosen")


def test_hostile_tokens_are_text(large):
    opened = large("?hostile")
    opened.hover(0, 0)
    expect(opened.read).to_have_text("r0 (1), <b>c</b> {row}0 (1): 0.00")
    assert opened.page.locator(".read b").count() == 0


@pytest.mark.parametrize("query", ["", "?paint=31x37", "?paint=97x109"])
@pytest.mark.parametrize("ratio", [2, 3])
def test_a_phone_shows_the_whole_map_and_needs_no_sideways_scrolling(large, query, ratio):
    opened = large(query, viewport={"width": 390, "height": 844}, device_scale_factor=ratio)
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert opened.stage.bounding_box()["width"] <= 390
    expect(opened.page.locator(".seen")).to_have_text("")  # all rows and columns are seen


def test_a_finger_pinches_and_taps(large):
    opened = large(viewport={"width": 390, "height": 844}, device_scale_factor=2, has_touch=True)
    box, place = opened.stage.bounding_box(), opened.place(100, 50)
    x, y, wire = box["x"] + place["x"], box["y"] + place["y"], opened.page.context.new_cdp_session(opened.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]})

    opened.page.touchscreen.tap(x, y)
    opened.said("{'step': 'weights', 'index': [0, 1, 100, 50]}")
    opened.settled()
    before = opened.view()["unit"]
    touch("touchStart", (x - 20, y), (x + 20, y))
    for apart in (30, 50, 70, 90):
        touch("touchMove", (x - apart, y), (x + apart, y))
    touch("touchEnd")
    assert opened.view()["unit"] >= 3 * before
    opened.hover(100, 50)
    expect(opened.read).to_contain_text("r100 (101), c50 (51)")  # what was between the fingers is still seen
