"""All heads at one sight: a view with the map of each head, one or two of which are read in large."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

SIDES = """root => [...root.querySelectorAll(".headsview .tile canvas")]
    .map((each) => each.getBoundingClientRect().width)"""

OUT_OF_SIGHT = """root => {
    const { right, bottom } = root.querySelector(".rail").getBoundingClientRect();
    const boxes = [...root.querySelectorAll(".rail canvas")].map((each) => each.getBoundingClientRect());
    return boxes.filter((box) => box.right > right || box.bottom > bottom).length;
}"""


def tile(opened, place):
    return opened.page.locator(".headsview .tile").nth(place)


def test_all_heads_are_seen_chosen_compared_and_kept_by_the_link(screen):
    opened = screen("?ex=en_it&heads=4&lang=en")
    page, flow = opened.page, opened.page.locator(".flow")
    with opened.answered():
        page.locator(".flow .views [data-kind=heads]").click()
    assert opened.query()["stop"] == "heads"
    expect(page.locator(".headsview .tile")).to_have_count(4)
    expect(page.locator(".flow .stage")).to_be_hidden()
    expect(page.locator(".flow .headline")).to_contain_text("4 heads at a glance")
    assert min(flow.evaluate(SIDES)) >= 100
    # a press chooses a head, in the browser and in the link
    with opened.answered():
        tile(opened, 2).click()
    expect(tile(opened, 2)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".headsview .told")).to_contain_text("Head 3: “it” attends evenly")
    assert opened.query()["head"] == "2" and opened.query()["stop"] == "heads"
    # a second press lays the other head over it, in the browser and in the link
    with opened.answered():
        tile(opened, 0).click()
    assert opened.query()["head"] == "2" and opened.query()["stop"] == "heads-0"
    expect(page.locator(".headsview .title")).to_have_text("A head 3 minus B head 1")
    expect(page.locator(".headsview .told")).to_have_text("it: dog gets 14 % in A, 80 % in B")
    page.keyboard.press("Escape")
    expect(page.locator(".headsview .title")).to_have_text("head 3")
    # the arrows move between the tiles, Shift compares
    tile(opened, 2).focus()
    page.keyboard.press("ArrowRight")
    expect(tile(opened, 3)).to_be_focused()
    page.keyboard.press("Shift+ArrowUp")
    expect(tile(opened, 1)).to_be_focused()
    expect(page.locator(".headsview .title")).to_have_text("A head 3 minus B head 2")
    page.wait_for_url("**stop=heads-1**")
    page.reload()
    expect(page.locator(".headsview .title")).to_have_text("A head 3 minus B head 2")
    tile(opened, 2).click()  # begins anew
    expect(page.locator(".headsview .title")).to_have_text("head 3")
    page.locator(".flow .views [data-kind=flow]").click()
    expect(page.locator(".flow .stage")).to_be_visible()


def test_heads_of_random_numbers_are_grey_and_their_difference_claims_nothing(screen):
    opened = screen("?ex=eight_heads&lang=en")
    page = opened.page
    expect(page.locator(".flow .rail button")).to_have_count(8)
    assert page.locator(".flow").evaluate(OUT_OF_SIGHT) == 0  # the small maps beside the flow are all seen, too
    page.locator(".flow .views [data-kind=heads]").click()
    expect(page.locator(".headsview .tile")).to_have_count(8)
    expect(page.locator(".flow .headline")).to_contain_text("8 heads of random numbers")
    tile(opened, 5).click()
    tile(opened, 1).click()
    expect(page.locator(".headsview .told")).to_have_text(
        "Both heads are random numbers: their difference means nothing."
    )
    palette = page.locator(".flow").evaluate("root => root.flow.data.palette")
    assert palette["share"] == palette["x"]


def test_a_long_run_shows_all_its_heads_and_keeps_the_view_while_the_server_opens_one(screen):
    opened = screen("?ex=eight_heads&lang=en&text=" + "+".join(["the cat sat on a mat"] * 12))
    page = opened.page
    with opened.answered():
        page.locator(".flow .views [data-kind=heads]").click()
    expect(page.locator(".headsview .tile")).to_have_count(8)
    with opened.answered():
        tile(opened, 6).click()
    expect(page.locator(".headsview .title")).to_have_text("head 7")
    expect(page.locator(".headsview .told")).to_contain_text("Head 7")
    assert opened.query()["head"] == "6" and opened.query()["stop"] == "heads"
    with opened.answered():
        page.locator(".flow .views [data-kind=flow]").click()
    assert "stop" not in opened.query()
    expect(page.locator(".flow .stage")).to_be_visible()


def test_maps_are_read_without_the_first_token_and_as_a_mean(screen):
    opened = screen("?ex=en_it&heads=4&stop=heads&lang=en")
    page, options = opened.page, opened.page.locator(".headsview .mapoptions")
    expect(options.locator(".choices")).to_be_hidden()
    options.locator(".fold").click()
    with opened.answered():
        options.get_by_label("without “Anna”").check()
    expect(page.locator(".headsview .told")).to_contain_text("Without “Anna”, the first token")
    assert opened.query()["maps"] == "without_first"
    columns = "root => root.querySelector('.headsview .reader canvas').width"
    assert page.locator(".flow").evaluate(columns) == 6
    with opened.answered():
        options.get_by_label("mean of heads").check()
    with opened.answered():
        tile(opened, 2).click()
    expect(page.locator(".headsview .title")).to_have_text("Mean of 2 heads: head 1, head 3")
    expect(tile(opened, 2)).to_have_attribute("aria-pressed", "true")
    assert opened.query()["maps"] == "without_first,mean:0:2"
    with opened.answered():
        tile(opened, 2).click()  # takes it out again
    expect(page.locator(".headsview .title")).to_have_text("Mean of 1 head: head 1")
    with opened.answered():
        options.get_by_label("Weights shown").select_option("largest of a row")
    assert opened.query()["maps"] == "without_first,largest:1,mean:0"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_change_and_one_press_show_a_beside_b(screen, width):
    opened = screen("?lang=en", viewport={"width": width, "height": 720 if width > 640 else 844})
    beside = opened.page.locator(".flow .beside")
    expect(beside).to_be_hidden()
    with opened.answered():
        opened.page.get_by_text("Causal", exact=True).click()
    expect(beside).to_be_in_viewport(ratio=1)
    with opened.answered():
        beside.click()
    expect(opened.page.locator(".headsview .sides")).to_be_in_viewport(ratio=1)
    expect(opened.page.locator(".headsview .sides [aria-pressed=true]")).to_have_text("B − A")
    expect(beside).to_be_hidden()
    maps = opened.page.locator(".headsview .runs .side")
    expect(maps.locator(".sidetitle")).to_have_text(["A", "B", "B − A"])
    a, b = (maps.nth(place).locator("canvas") for place in (0, 1))
    boxes = []
    for each in (a, b):
        expect(each).to_be_in_viewport(ratio=1)
        boxes.append(each.bounding_box())
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    if width < 640:  # a tap gives a map the whole width, and its cells their numbers
        assert maps.nth(1).locator(".mapnumber").count() == 0
        b.click(position={"x": 3, "y": 3})
        expect(maps.nth(1).locator(".mapnumber").first).to_have_text("100")
        assert b.bounding_box()["width"] > 1.8 * boxes[1]["width"]
    b.hover(position={"x": 3, "y": 3})
    told = opened.page.locator(".headsview .legend")
    expect(told).to_have_text("Anna → Anna: A 14 % · B 100 % · B − A 86 %")


def test_words_over_a_chinese_map_stand_upright_and_none_lies_across_another(screen):
    page = screen("?ex=model_zh&stop=heads&lang=zh").page
    words = page.locator(".headsview .large text.aside:visible, .headsview .large text.upright:visible")
    expect(words.first).to_have_text("<start>")
    boxes = [word.bounding_box() for word in words.all()]
    assert len(boxes) > 12
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] <= right["x"] + 1


WHY = "No B − A: A has 2 heads, B has 4. Only maps of the same shape are subtracted cell by cell."


@pytest.mark.parametrize("width", [1280, 390])
def test_after_a_change_of_the_number_of_heads_one_press_shows_the_heads_of_both_runs(screen, width):
    opened = screen("?ex=en_it&lang=en", viewport={"width": width, "height": 720 if width > 640 else 844})
    page = opened.page
    with opened.answered():
        page.locator(".st-key-settings").get_by_role("radio", name="4", exact=True).click()
    with opened.answered():
        page.locator(".flow .beside").click()
    expect(page.locator(".headsview .layer")).to_have_text(["A", "B"])
    expect(page.locator(".headsview .tile")).to_have_count(6)
    titles = page.locator(".headsview .sidetitle:visible")
    expect(titles).to_have_text(["A · head 1: which noun is meant?", "B · head 1"])
    why = page.locator(".headsview .missing")
    expect(why).to_have_text(WHY)
    expect(why).to_be_in_viewport(ratio=1)
    expect(page.locator(".headsview .differ")).to_have_text("A → B: Heads 2 → 4")
    boxes = [page.locator(f".headsview .side.{side} canvas").bounding_box() for side in "ab"]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    # a head of each run is chosen by itself, and the link keeps both
    with opened.answered():
        tile(opened, 1).click()
    with opened.answered():
        tile(opened, 5).click()
    chosen = ["A · head 2: who does it?", "B · head 4"]
    expect(titles).to_have_text(chosen)
    assert (opened.query()["head"], opened.query()["stop"]) == ("3", "heads-1")
    page.reload()
    expect(titles).to_have_text(chosen)
    page.locator(".headsview .side.a canvas").hover(position={"x": 3, "y": 3})
    expect(page.locator(".headsview .legend")).to_have_text("Anna → Anna: A 14 %")


def test_the_tiles_of_two_runs_of_a_model_lie_below_each_other_and_scroll(screen):
    opened = screen("?ex=model_en&lang=en&text=the+dog+barked&against=ex%3Dmodel_en&pinned=values&stop=heads")
    page = opened.page
    groups = [f"{letter} · layer {layer}" for letter in "AB" for layer in (1, 2, 3)]
    expect(page.locator(".headsview .layer")).to_have_text(groups)
    boxes = [tile.bounding_box() for tile in page.locator(".headsview .tile").all()]
    assert len(boxes) == 24
    for upper, lower in zip(boxes, boxes[4:], strict=False):
        assert upper["y"] + upper["height"] <= lower["y"]
    grid = page.locator(".headsview .grid")
    assert grid.evaluate("grid => grid.scrollHeight > grid.clientHeight")


@pytest.mark.slow
def test_a_difference_of_a_few_points_is_coloured_and_printed_in_its_cells(screen):
    opened = screen("?ex=en_it&lang=en&scale=1.0&stop=heads&against=&pinned=values")
    large = opened.page.locator(".headsview .large")
    # By hand: e^(6/√2) / (e^(6/√2) + 5 + e^(−6/√2)) = 93.3 %, e^6 / (e^6 + 5 + e^−6) = 98.8 %; score 0: 1.3, 0.2 %
    expect(large.locator(".told")).to_have_text("Changed most: it → dog, from 93.3 % in A to 98.8 % in B.")
    expect(large.locator(".side.difference .mapnumber")).to_have_text(["−1", "−1", "+5", "−1", "−1", "−1"])
    expect(large.locator(".legend")).to_contain_text("numbers: percentage points")
    expect(large.locator(".legend")).to_contain_text("full colour: ±5")


CUT = "texts => texts.filter((text) => text.scrollWidth > text.clientWidth + 1).map((text) => text.textContent)"
COVERED = """(root) => {
    const ribbons = [...root.querySelectorAll("rect.share")].map((share) => share.getBoundingClientRect().left);
    return [...root.querySelectorAll(".number.resting")].map((number) => number.getBoundingClientRect().right)
        .filter((end) => ribbons.every((left) => end > left));
}"""


def test_on_a_tablet_the_large_map_stands_beside_the_tiles_and_nothing_is_cut_or_covered(screen):
    page = screen("?stop=heads&lang=zh", viewport={"width": 768, "height": 1024}).page
    tiles = page.locator(".headsview .tile")
    large = page.locator(".headsview .large").bounding_box()
    first = tiles.first.bounding_box()
    assert large["x"] >= first["x"] + first["width"] and large["y"] < first["y"] + first["height"]
    assert page.locator(".headsview .tilename").evaluate_all(CUT) == []
    page.locator(".flow .views [data-kind=flow]").click()
    expect(page.locator(".flow .number.resting").first).to_be_visible()
    assert page.locator(".flow").evaluate(COVERED) == []
