"""Cells too small for frames of their own are drawn together; each can still be pointed at, walked to and opened."""

import pytest

pytestmark = pytest.mark.slow

MODEL = "?ex=model_en&lang=en&t=9"

# Of each small cell its number, and how strongly the path is filled that has its box.
FILLS = """root => {
    const { picture } = root.flow;
    const { made, round } = picture.shapes;
    const shown = [...made].filter(([, shape]) => shape.round === round);
    const paths = shown.filter(([key]) => key.startsWith("cells look ")).map(([, { attributes }]) => attributes);
    const isNoted = ([key, { element, means }]) => key.startsWith("cells ") && !element && means.part === "x";
    return shown.filter(isNoted).map(([, { attributes: { x, y }, means }]) => {
        const box = `M${x.toFixed(2)},${y.toFixed(2)}h`;
        const [own, ...others] = paths.filter(({ d }) => d.includes(box));
        const number = picture.snapshot.numbers.x[means.row * 64 + means.m];
        return [number, others.length ? null : own["fill-opacity"], own.class.includes("minus")];
    });
}"""


# How many numbers a cell of a vector of 64 stands for, in the frame drawn last: a cell is at least 1.5 px wide.
EACH = """root => {
    const { made, round } = root.flow.picture.shapes;
    const cells = [...made].filter(([key, shape]) => shape.round === round && key.startsWith("cells x 3 "));
    return Math.ceil(64 / cells.length);
}"""


def test_each_small_cell_is_drawn_once_as_strong_as_its_number(screen):
    opened = screen(MODEL)
    cells = opened.page.locator(".flow").evaluate(FILLS)
    assert len(cells) > 200
    largest = max(abs(number) for number, *_ in cells)
    for number, fill, is_minus in cells:
        strength = abs(number) / largest
        assert fill == pytest.approx(0.03 if strength < 0.02 else 0.14 + 0.78 * strength, abs=0.03)
        assert is_minus == (number < 0)


def test_a_pointer_opens_the_small_cell_under_it(screen):
    opened = screen(MODEL)
    strip = opened.page.locator(".flow rect.strip").nth(3)
    box = strip.bounding_box()
    with opened.answered():
        strip.click(position={"x": box["width"] * 0.4, "y": box["height"] / 2})
    step, index = opened.page.locator(".flow").evaluate("({ flow: { open } }) => [open.step, open.index]")
    x = opened.page.locator(".flow").evaluate(
        "({ flow }) => [...flow.picture.snapshot.numbers.x.slice(3 * 64, 4 * 64)]"
    )
    each = opened.page.locator(".flow").evaluate(EACH)
    first = each * int(0.4 * -(-64 // each))
    assert step == "x" and index == [0, 3, max(range(first, first + each), key=lambda m: abs(x[m]))]


def test_keys_walk_along_small_cells_which_have_an_element_then(screen):
    opened = screen(MODEL)
    flow = opened.page.locator(".flow")
    flow.locator(".stage").focus()
    opened.page.keyboard.press("n")
    walked = []
    each = flow.evaluate(EACH)
    cells = -(-64 // each)
    for _ in range(cells + 1):
        opened.page.keyboard.press("ArrowLeft")
        walked.append(flow.evaluate("root => root.flow.hands.flowKeys.focused"))
    *values, beyond = walked
    assert {(place["part"], place["row"]) for place in values} == {("value", 2)}
    assert [place["m"] // each for place in values] == [*range(cells - 1, -1, -1)]  # each group of neighbours once
    assert beyond["part"] == "scaled_scores"
