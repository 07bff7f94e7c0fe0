"""What the picture draws, read off its shapes: widths, what is pale, what is left out."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

LOOKED = """([root, query, head]) => {
    const { flow } = root;
    flow.lookAt({ query, head });
    const numbers = flow.model.matrix(flow.share, flow.look).row(query);
    return [Array.from(flow.snapshot.shares), Array.from(numbers), flow.look.head];
}"""
WIDTHS = """root => Array.from(root.flow.snapshot.shares, (_, row) => {
    const path = root.flow.picture.shapes.made.get(`ribbons ribbon ${row}`).attributes.d;
    const [, top] = path.match(/^M[^,]+,([^H]+)H/).map(Number);
    const [, bottom] = path.match(/ [^ ]+,([^ ,H]+)H[^H]*Z$/).map(Number);
    return (bottom - top) / root.flow.layout.stick;
})"""
COLOURS = "root => ['leaving', 'arriving'].map((name) => getComputedStyle(root.querySelector(`.${name}`)).stopColor)"
STOPS = "root => root.flow.snapshot.stops.map(({ motion }) => motion)"


def test_a_ribbon_is_as_wide_as_its_share(screen):
    opened = screen("?ex=en_it&temp=3&lang=en")
    flow = opened.page.locator(".flow")
    shares = flow.evaluate("root => [...root.flow.snapshot.shares]")
    assert min(shares) < 0.1 < max(shares)
    widths = flow.evaluate(WIDTHS)
    assert widths == pytest.approx(shares, abs=1e-3)
    colours = flow.evaluate(COLOURS)
    assert len(set(colours)) == 2  # a share becomes a value on its way


@pytest.mark.slow
def test_rows_that_are_even_are_pale_and_carry_no_numbers(screen):
    opened = screen("?ex=en_it&lang=en")
    opened.open_map()
    opened.page.wait_for_function("root => root.flow.opened === 1", arg=opened.page.locator(".flow").element_handle())
    told = opened.page.locator(".flow .mapnumber:visible").all_text_contents()
    assert told == ["93 %"]  # of 49 cells: six rows are even, and the rest of this one is below 5 %


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "absent", "present"),
    [
        ("?ex=en_it&lang=en", {"distance", "mask"}, {"scale"}),
        ("?ex=en_it&scale=1.0&lang=en", {"scale"}, {"match", "share"}),
        ("?ex=en_it&mask=causal&t=5&lang=en", set(), {"scale", "mask"}),
        ("?ex=en_it&mask=causal&t=6&lang=en", {"mask"}, {"scale"}),  # the last word sees all
    ],
)
def test_a_stop_that_changes_nothing_in_this_row_is_left_out(screen, link, absent, present):
    opened = screen(link)
    stops = set(opened.page.locator(".flow").evaluate(STOPS))
    assert not absent & stops and present <= stops


@pytest.mark.slow
def test_words_and_heads_of_wide_vectors_are_looked_at_without_the_server(screen):
    opened = screen("?ex=eight_heads&lang=en")
    root = opened.page.locator(".flow").element_handle()
    before = opened.page.url
    shares, row, head = opened.page.evaluate(LOOKED, [root, 4, 3])
    assert shares == pytest.approx(row) and sum(shares) == pytest.approx(1) and head == 3
    other, _, _ = opened.page.evaluate(LOOKED, [root, 4, 6])
    assert other != pytest.approx(shares, abs=0.01) and opened.page.url == before
    strips = opened.page.locator(".flow .frame.k:visible")
    expect(strips).to_have_count(10)  # one frame around 64 stripes
    opened.page.wait_for_url("**head=6**")


CONTROLS = "button, input, select, textarea, [role=slider], [role=combobox], a[href]"
COUNT_IN_SIGHT = """(controls) => controls.filter((control) => {
    const { width, height, top, bottom } = control.getBoundingClientRect();
    const isShown = control.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    return isShown && width > 3 && height > 3 && top < innerHeight && bottom > 0;
}).length"""


@pytest.mark.slow
def test_first_sight_has_few_controls_and_all_else_is_under_more_in_the_order_of_use(screen):
    opened = screen("?lang=en")
    lines = opened.page.locator(".st-key-first_line, .st-key-settings")
    assert [line.bounding_box()["height"] for line in lines.all()] == [40, 40]
    shown = " ".join(lines.all_inner_texts())
    order = ["Sentence", "Matrices", "Model", "File", "Examples", "Heads", "Causal", "Scale", "CPU", "More"]
    assert [shown.index(word) for word in order] == sorted(shown.index(word) for word in order)
    assert opened.page.locator(CONTROLS).evaluate_all(COUNT_IN_SIGHT) <= 36
    bar = opened.page.locator(".flow > .bar").bounding_box()
    assert bar["y"] + bar["height"] <= 720  # all of the picture is in sight
    opened.open_more()
    rows = opened.page.locator(".st-key-side [data-testid=stExpander] summary")
    names = [text.split("\n")[0] for text in rows.all_inner_texts()]
    assert names[2:6] == ["Positions", "Score", "Scale factor", "Masks: window, padding, custom"]
    assert rows.last.bounding_box()["y"] < 720


@pytest.mark.slow
@pytest.mark.parametrize(
    "link",
    [
        "?text=My very own sentence about a small red house",  # a line with the categories of unknown words
        "?ex=model_en&text=Anna fed the dog and it barked",
        "?heads=4",
        "?heads=16",
        "?ex=eight_heads",
    ],
)
def test_title_picture_and_bar_are_in_sight_together_below_any_line_of_controls(screen, link):
    opened = screen(f"{link}&lang=en")
    seen = [opened.page.locator(f".flow {each}").first for each in ("> .top", ".stage > svg", "> .rail", "> .bar")]
    for each in seen:
        expect(each).to_be_in_viewport(ratio=1)
    if "model" in link:
        return  # beside the panel, the maps of all layers take two lines
    opened.open_way("Matrices")
    opened.page.get_by_test_id("stDataFrame").wait_for()  # the panel is there, and the picture narrower
    opened.settled()
    for each in (seen[0], seen[1], seen[3]):
        expect(each).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_the_panels_for_dragging_stand_under_the_title_and_are_in_sight(screen):
    opened = screen("?ex=en_it&lang=en")
    opened.page.locator(".flow .views [data-kind=plane]").click()
    panels = opened.page.locator(".flow .plane > svg")
    expect(panels).to_be_in_viewport(ratio=1)
    title = opened.page.locator(".flow > .top").bounding_box()
    assert 0 <= panels.bounding_box()["y"] - title["y"] - title["height"] < 12
    maps = opened.page.locator(".flow > .rail").bounding_box()
    assert panels.bounding_box()["x"] + panels.bounding_box()["width"] <= maps["x"]


@pytest.mark.slow
def test_a_long_text_says_which_view_it_lacks_and_draws_its_other_words_as_a_whole_bundle(screen):
    opened = screen(f"?ex=en_it&lang=en&text={' '.join(['Anna', 'fed', 'the', 'dog'] * 20)}")
    flow = opened.page.locator(".flow")
    expect(flow.locator(".below .missing")).to_be_in_viewport(ratio=1)
    expect(flow.locator(".below .missing")).to_have_text("Drag: up to 64 tokens; here 80")
    assert opened.drawn("texts word 13").text_content() == "67 other words"  # 12 keys and the query have own rows
    assert opened.drawn("texts together").text_content() == "together 42 %"  # 1 − 12 e^4.24 / (20 e^4.24 + 60)
    strands, ribbon = opened.drawn("ribbons strands"), opened.drawn("ribbons ribbon 13")
    upper, lower = re.search(r",([\d.]+)V([\d.]+)", ribbon.get_attribute("d")).groups()  # at its right end
    thickness = float(lower) - float(upper)
    assert (
        thickness / 4 < strands.get_attribute("d").count("M") + 1 <= thickness / 3
    )  # each 3 to 4 px: of 67, 8 are drawn
    inner, outer = strands.bounding_box(), ribbon.bounding_box()
    assert outer["y"] < inner["y"] < inner["y"] + inner["height"] < outer["y"] + outer["height"]
    assert "÷ √d" in flow.locator(".stage > svg text.sign").all_text_contents()  # all scores are 0, and 0 ÷ √2 is 0
    bottoms = flow.evaluate(
        """root => {
            const { shapes, rows } = root.flow.picture;
            const rect = root.querySelector("clipPath rect");
            const last = shapes.made.get(`ribbons ribbon ${rows - 1}`).element.getBBox();
            return [last.y + last.height, Number(rect.getAttribute("y")) + Number(rect.getAttribute("height"))];
        }"""
    )
    assert bottoms[0] <= bottoms[1] + 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "names"), [("en", ["sum", "heads", "output"]), ("zh", ["求和", "各头", "输出"])])
def test_a_vector_of_the_output_has_a_word_even_where_it_is_narrow(screen, lang, names):
    opened = screen(f"?ex=en_it&mask=causal&heads=4&lang={lang}")
    found = opened.page.locator(".flow .stage > svg text.name.v")
    expect(found.filter(has_text=names[1])).to_be_visible()
    drawn = [each for each in found.all() if each.is_visible() and each.text_content() in names]
    assert [each.text_content() for each in drawn] == names
    ends = [each.bounding_box() for each in drawn]
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(ends))
    assert found.filter(has_text="∥").count() == 0
