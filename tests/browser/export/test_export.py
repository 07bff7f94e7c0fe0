"""Exported pages in the browser, from a file and without a network: what is told and asked for, what paper cuts."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

from attention_core.documents.handout import PAPERS, run_handout
from attention_core.documents.phone_page import SceneTexts, scene_page
from attention_core.documents.picture_files import png_bytes
from attention_core.documents.provenance import Provenance
from attention_core.drawing.palette import DARK_PALETTE
from attention_core.explanation.arithmetic import explain
from pages.export.flow_files import list_drawings, make_moving_flow
from pages.runs.compute import compute_run
from pages.session.view import make_screen_state
from pages.setup.setup import make_setup
from pages.site.words import use_language
from tests.documents.test_phone_page import telling

SVG = "{http://www.w3.org/2000/svg}"
IMPRINT = Provenance(
    "Anna fed the dog and it barked", "https://attention.example.edu/?ex=en_it", ("Built by hand: x.",)
)
TEXTS = SceneTexts("Tap a number.", "All steps", "Open it", "Without arithmetic:")
TRACE = compute_run(make_setup(masks=("causal",)).run)[0]
LARGE = compute_run(make_setup(example="eight_heads", text="extraordinarily " * 40, scale=1e5).run)[0]


@contextmanager
def opened(chromium, tmp_path, text: str, **options) -> Iterator[tuple]:
    """A page from a file in a browser that is offline; everything that it asks for or complains of is noted."""
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    context = chromium.new_context(offline=True, **options)
    page, noted = context.new_page(), []
    address = (tmp_path / "page.html").as_uri()
    page.on("request", lambda request: noted.append(request.url))
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert noted == [address]


def cell(page, what: str):
    """A cell by its step and place; of the two of a weight the one in the maps."""
    return page.locator(f'td[data-what="{what}"]').first


@pytest.mark.parametrize(
    "how, options",
    [
        ("hover", {"viewport": {"width": 1280, "height": 720}}),
        ("tap", {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}),
    ],
)
def test_a_number_tells_its_arithmetic_without_server_and_network(chromium, tmp_path, how, options):
    scene = scene_page(TRACE, {"T": 5}, IMPRINT, telling(), TEXTS)
    with opened(chromium, tmp_path, scene, **options) as page:
        told = page.locator("#told")
        assert told.inner_text() == "Tap a number."
        getattr(cell(page, "weights|0,0,5,3"), how)()
        number, arithmetic = told.locator("p").all_inner_texts()
        assert number == f"weights|0,0,5,3 = {TRACE['weights'][0, 0, 5, 3].item()!r}"
        assert arithmetic == explain(TRACE, "weights", (0, 0, 5, 3)).text
        page.locator("#scores summary").click()
        getattr(cell(page, "scores|0,0,5,3"), how)()
        assert told.locator("p").last.inner_text() == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
        assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]


LINES = """() => [...document.querySelectorAll(".maps th")].map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return [each.textContent, range.getClientRects().length];
})"""


def test_the_page_has_the_journey_and_every_name_stands_on_one_line_on_a_phone(chromium, tmp_path):
    with use_language("en"):
        moving = make_moving_flow(make_screen_state(make_setup(masks=("causal",)), None))
    drawings = {moving.name: list_drawings()[moving.name]}
    words = ("Anna", "fed", "the", "dog", "and", "it", "barked")
    scene = scene_page(TRACE, {"T": 5}, IMPRINT, telling(words), TEXTS, "", (moving,), drawings)
    dark = {"color_scheme": "dark", "viewport": {"width": 360, "height": 800}}
    with opened(chromium, tmp_path, scene, reduced_motion="no-preference", **dark) as page:
        flow = page.locator("#journey .flow")
        for width in (360, 390, 430):
            page.set_viewport_size({"width": width, "height": 800})
            lines = page.evaluate(LINES)
            assert ["barked", 1] in lines and {count for _, count in lines} == {1}
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert flow.locator("svg .word.asking").first.text_content() == "it"
        word = flow.locator("svg .word").first
        assert word.evaluate("(each) => getComputedStyle(each).fill") == "rgb(236, 239, 243)"  # light on dark
        flow.locator(".play").click()
        page.wait_for_function(
            "(root) => root.flow.journey.progress > 0 && root.flow.journey.playing", arg=flow.element_handle()
        )


def test_arrow_keys_go_from_number_to_number(chromium, tmp_path):
    scene = scene_page(TRACE, {"T": 5}, IMPRINT, telling(), TEXTS)
    with opened(chromium, tmp_path, scene) as page:
        cell(page, "weights|0,0,0,0").focus()
        for key in (
            "ArrowDown",
            "ArrowRight",
            "ArrowRight",
            "ArrowLeft",
            "ArrowUp",
            "ArrowUp",
        ):  # the last leads nowhere
            page.keyboard.press(key)
        assert page.locator("#told p").first.inner_text() == "weights|0,0,0,1 = 0"
        assert page.evaluate("document.activeElement.dataset.what") == "weights|0,0,0,1"


def test_what_a_lecturer_typed_runs_nowhere(chromium, tmp_path):
    word = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    scene = scene_page(TRACE, {}, Provenance(word, IMPRINT.link, (word,)), telling((word,), word), TEXTS, note=word)
    with opened(chromium, tmp_path, scene) as page:
        assert page.locator("h1").inner_text() == word
        cell(page, "weights|0,0,0,0").hover()
        assert page.locator("img").count() == 0


SIZES = {"A4": (595, 842), "Letter": (612, 792)}  # points
WIDTHS = {"A4": 182, "Letter": 187.9}  # millimetres between the margins
BEYOND = """width => [...document.querySelectorAll("td, th, svg, figcaption, p, h1")]
    .filter(each => each.getBoundingClientRect().right > width + 1).length"""
BLACK = "() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("trace", [TRACE, LARGE], ids=["small", "large"])
def test_nothing_is_cut_at_the_edge_of_the_paper_and_it_is_black_on_white(chromium, tmp_path, paper, trace):
    text = run_handout(trace, {}, IMPRINT, telling(("extraordinarily", "它", "the")), paper, ("Maps", "Steps"))
    width = int(WIDTHS[paper] / 25.4 * 96)
    with opened(chromium, tmp_path, text, color_scheme="dark", viewport={"width": width, "height": 900}) as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(BLACK) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
        assert page.evaluate(BEYOND, width) == 0
        sheets = page.pdf(prefer_css_page_size=True)
        boxes = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", sheets)}
        assert [tuple(map(round, box)) for box in boxes] == [(0, 0, *SIZES[paper])]


# ---- the flow picture, which the browser writes ----------------------------------------------------------------------
def saved(page, kind: str, name: str = "query") -> bytes:
    """The file that a button of the flow picture saves."""
    with page.expect_download() as download:
        page.locator(f".flowfiles .{name} button.{kind}").click()
    assert download.value.suggested_filename == f"attention_en_it_{name}.{kind}"
    return Path(download.value.path()).read_bytes()


EVERY_FORMULA = ["Q", "K", "V", "scores", "scaled", "weights", "heads", "concat", "output"]  # of the whole way


def formulas_in(root: ElementTree.Element) -> list[str]:
    """What each formula in a file computes, in order."""
    labels = [group.get("aria-label") for group in root.iter(f"{SVG}g") if group.get("aria-label")]
    return [re.sub(r"\\\w+{(?:#\w+}{)?|}", "", label.partition(" = ")[0]) for label in labels]


def formula_place(root: ElementTree.Element) -> float:
    """The height at which the first line of formulas stands in a file."""
    *_, below = root.findall(f"{SVG}g")
    return sum(float(group.get("transform").split(",")[1].split(")")[0]) for group in (below, below[0]))


@pytest.mark.slow
def test_the_flow_picture_is_saved_wider_than_high_with_its_styles_and_without_an_address(screen):
    """On a phone, too, where the picture on the screen is high; as another program draws it."""
    opened = screen("?ex=en_it", viewport={"width": 390, "height": 844})
    page = opened.page
    page.locator(".st-key-export button").click()
    svg = saved(page, "svg").decode()
    root = ElementTree.fromstring(svg)
    width, height = (int(root.get(side)) for side in ("width", "height"))
    assert width > 1.9 * height and width > 1200
    place = formula_place(root)
    assert formulas_in(root) == EVERY_FORMULA and 0.75 * height < place < height
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"Anna", "barked", "it", "it′", "93 %"} <= {*texts} and texts[-2].startswith("Made with Attention Explorer")
    assert "127.0.0.1" not in svg and "var(" not in svg and "class=" not in svg and "color(" not in svg
    drawn = Image.open(BytesIO(png_bytes(svg, 1))).convert("RGB")
    ribbon = {colour for count, colour in drawn.getcolors(10**6) if count > 3000} - {(255, 255, 255)}
    assert any(blue > 150 > green and 100 < red < 160 for red, green, blue in ribbon)  # violet, as thick as a ribbon
    with Image.open(BytesIO(saved(page, "png"))) as picture:
        assert picture.size == (2 * width, 2 * height) and picture.convert("RGBA").getpixel((0, 0))[3] == 255
        word = next(text for text in root.iter(f"{SVG}text") if text.text == "barked")
        left, middle = 2 * float(word.get("x")) + 32, 2 * float(word.get("y")) + 32  # 16 pixels of margin
        ink = picture.convert("L").crop((int(left), int(middle) - 30, int(left) + 150, int(middle) + 30))
        assert ink.getextrema()[0] < 80  # the word stands there, in dark letters
        line = picture.convert("L").crop((32, int(2 * place) - 30, 400, int(2 * place)))
        assert line.getextrema()[0] < 80  # and so does the first formula
    page.get_by_text("Transparent background").click()
    opened.settled()
    with Image.open(BytesIO(saved(page, "png"))) as picture:
        assert picture.convert("RGBA").getpixel((0, 0))[3] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "computed"),
    [
        ("?ex=en_it&stop=start", []),
        ("?ex=en_it&stop=k", ["Q", "K"]),
        ("?ex=en_it&stop=weights", []),  # all exponentials; the weights are computed at the next keyframe
        ("?ex=en_it&stop=scaled_scores", ["scaled"]),
        ("?ex=en_it&stop=scaled_scores&lang=zh", ["缩放后的得分"]),
    ],
)
def test_a_keyframe_is_saved_with_the_formulas_of_what_it_computes_in_the_colours_of_the_theme(screen, query, computed):
    opened = screen(query, color_scheme="dark")
    opened.page.locator(".st-key-export button").click()
    svg = saved(opened.page, "svg").decode()
    root = ElementTree.fromstring(svg)
    assert formulas_in(root) == computed
    shapes = [shape for group in root.iter(f"{SVG}g") if group.get("aria-label") for shape in group]
    colours = {DARK_PALETTE.ink, DARK_PALETTE.q, DARK_PALETTE.k, DARK_PALETTE.x}
    assert {shape.get("fill") for shape in shapes} <= colours


PLACED = "g[aria-label], svg > text:first-of-type, svg > g:first-of-type"  # the formulas, the first note, the picture
BOXES = """(placed) => [...document.querySelectorAll(placed)].map((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return [left, top, right, bottom];
})"""


@pytest.mark.slow
@pytest.mark.parametrize("query", ["?score=additive&mask=causal&position=rope&lang=en", "?mask=causal&lang=zh"])
def test_the_formulas_of_the_whole_way_stand_in_lines_that_cover_nothing(screen, query):
    opened = screen(query)
    page = opened.page
    page.locator(".st-key-export button").click()
    with page.expect_download() as download:
        page.locator(".flowfiles .query button.svg").click()
    page.set_content(Path(download.value.path()).read_text(encoding="utf-8"))
    width = page.locator("svg").bounding_box()["width"]
    boxes = page.evaluate(BOXES, PLACED)
    assert len(boxes) > 10
    for left, _, right, _ in boxes:
        assert left >= 8 and right <= width + 8  # the margins of a page
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


@pytest.mark.slow
def test_two_runs_of_other_sizes_are_saved_with_what_differs_and_why_there_is_no_difference(screen):
    page = screen("?ex=en_it&heads=4&against=&pinned=values&stop=heads&lang=en").page
    expect(page.locator(".headsview .tile")).to_have_count(6)
    page.locator(".st-key-export button").click()
    svg = saved(page, "svg", "all_heads").decode()
    for told in ("No B − A: A has 2 heads, B has 4.", "A → B: Heads 2 → 4", "A · head 1: which noun is meant?"):
        assert told in svg


@pytest.mark.slow
def test_all_heads_are_saved_once_each_without_the_frame_of_the_selected_one(screen):
    page = screen("?ex=en_it&stop=heads&lang=en").page
    expect(page.locator(".headsview .tile[aria-pressed=true]")).to_have_count(1)
    page.locator(".st-key-export button").click()
    root = ElementTree.fromstring(saved(page, "svg", "all_heads").decode())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("head 1: which noun is meant?") == texts.count("head 2: who does it?") == 1
    assert texts.count("Anna") == 4  # in each of two maps as a row and as a column
    assert "#7b3fb5" not in {shape.get("stroke") for shape in root.iter()}  # the frame's colour


@pytest.mark.slow
def test_all_heads_are_saved_from_every_view_as_from_their_own(screen):
    """With the options of that view; on a phone, where all that the panel offers has room, in Chinese."""
    opened = screen("?ex=en_it&lang=zh&maps=times&stop=heads", viewport={"width": 390, "height": 844})
    page, files = opened.page, []
    for view in ("stop=heads", "stop=start", "step=weights", "stop=plane"):
        if files:
            opened.open(f"?ex=en_it&lang=zh&maps=times&{view}")
        page.locator(".st-key-export button").click()
        files.append(saved(page, "svg", "all_heads"))
    assert files[0].decode().count(">Anna<") == 6 and len({*files}) == 1  # of two heads, and of one in large
    places = [each.bounding_box() for each in page.locator(".flowfiles :is(legend, button)").all()]
    assert len(places) == 6
    assert all(place["x"] >= 0 and place["x"] + place["width"] <= 390 for place in places)


@pytest.mark.slow
def test_all_heads_are_saved_as_the_view_reads_them_with_the_cells_of_the_screen(screen):
    """Without the first token, in multiples of the even share, at a size of its own on a phone."""
    opened = screen("?ex=en_it&stop=heads&maps=without_first,times", viewport={"width": 390, "height": 844})
    page = opened.page
    page.locator(".st-key-export button").click()
    svg = saved(page, "svg", "all_heads").decode()
    root = ElementTree.fromstring(svg)
    width, height = (int(root.get(side)) for side in ("width", "height"))
    assert width > 1200 and width > height
    texts = [text.text for text in root.iter(f"{SVG}text")]
    names = {"head 1: which noun is meant?", "head 2: who does it?"}
    assert names <= {*texts} and "less than the even share, which is 1.0" in texts
    assert (texts.count("Anna"), texts.count("dog")) == (3, 6)  # Anna asks in three maps, and is left out as a key
    weights = compute_run(make_setup().run)[0]["weights"][0, 0, 5]  # of "it" in head 1
    assert f"{float(weights[3] / (1 - weights[0]) * 6):.1f}" in texts
    assert "127.0.0.1" not in svg and "var(" not in svg and "class=" not in svg and "color(" not in svg
    drawn = Image.open(BytesIO(png_bytes(svg, 1))).convert("RGB")
    counts = {colour: count for count, colour in drawn.getcolors(10**6)}
    strong = sum(count for (red, green, blue), count in counts.items() if 100 < red < 150 and green < 90 and blue > 150)
    cell = 51 * 56  # px: a cell of a tile is larger
    assert strong > 3 * cell  # "it" to "dog" in head 1, "fed" to "Anna" is left out, "barked" to "dog" in head 2
    with Image.open(BytesIO(saved(page, "png", "all_heads"))) as picture:
        assert picture.size == (2 * width, 2 * height)


# ---- a page of the app on paper --------------------------------------------------------------------------------------
@pytest.mark.parametrize("lesson", ["", "masks"])
def test_a_printed_page_has_its_texts_and_pictures_whole_and_no_buttons(screen, lesson):
    opened = screen(lesson=lesson) if lesson else screen("?ex=en_it")
    page = opened.page
    if not lesson:
        page.locator(".flow .play").click()
        page.wait_for_function("root => root.flow.journey.isMoving", arg=page.locator(".flow").element_handle())
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # emulated paper sends none
        assert page.locator(".flow").evaluate("({ flow }) => [flow.journey.isMoving, flow.journey.told.stop]") == [
            False,
            None,
        ]
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1032, "height": 700})  # a sheet in landscape, between its margins
    for hidden in ("stPopover", "stButton", "stTopNav", "stExpander"):
        expect(page.get_by_test_id(hidden).locator("visible=true")).to_have_count(0)
    brand = page.get_by_test_id("stHeader").bounding_box()
    first = page.locator("[data-testid=stMarkdown], .flow .headline").locator("visible=true").first
    assert brand["y"] + brand["height"] <= first.bounding_box()["y"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1032
    if not lesson:
        expect(page.locator(".flow > .bar")).to_be_hidden()
        expect(page.locator(".flow rect.bar.plus").first).to_be_visible()
        hidden = page.locator(".flow > .rail").evaluate("rail => rail.scrollHeight - rail.clientHeight")
        assert hidden <= 1  # px: of the heads beside the picture
    sheets = page.pdf(prefer_css_page_size=True)
    boxes = [tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", sheets)]
    assert boxes and all(width > height for _, _, width, height in boxes)
