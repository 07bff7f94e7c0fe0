"""What is said, written and shown at the stops of a query's way."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

AT = "(root, progress) => root.flow.journey.scrub(progress)"
COLOURED = """math => [...math.querySelectorAll("[class]")].map(
    element => [element.textContent, getComputedStyle(element).color])"""


def to_rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))


@pytest.mark.parametrize(
    ("progress", "formula", "families"),
    [
        (1, "Q=split2(XWq)K=split2(XWk)", "qxqkxk"),
        (2, "scores=QK⊤", "xqk"),
        (5, "weights=softmaxS(scaled)", ["share", "x"]),
        (5.99, "V=split2(XWv)heads=weightsV", ["v", "x", "v", "v", "share", "v"]),
    ],
)
def test_a_stop_ends_with_its_formula_in_the_colours_of_the_picture(screen, progress, formula, families):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    flow.evaluate(AT, progress)
    written = flow.locator(".formulas")
    expect(written).to_be_visible()
    assert "".join(written.locator("math").all_text_contents()) == formula
    palette = flow.evaluate("root => root.flow.data.palette")
    colours = [colour for math in written.locator("math").all() for _, colour in math.evaluate(COLOURED)]
    assert colours == [to_rgb(palette[family]) for family in families]
    flow.evaluate(AT, int(progress - 0.01) + 0.3)  # the formula comes last
    expect(written).to_be_hidden()


@pytest.mark.parametrize(
    ("lang", "progress", "says"),
    [
        ("en", 1, "query of it: −3.00, 3.00."),
        ("en", 2, "scores of it and dog: 6.00."),
        ("en", 3, "scaled of it and dog: 4.24."),  # 6 / √2
        ("en", 5, "dog gets 93 %."),
        ("zh", 2, "it 对 dog 的得分：6.00。"),
        ("en", 5.99, "heads of it: −0.93, 0.00."),
    ],
)
def test_a_screen_reader_hears_at_each_stop_what_comes_of_it_in_numbers(screen, lang, progress, says):
    opened = screen(f"?ex=en_it&lang={lang}")
    opened.page.locator(".flow").evaluate(AT, progress)
    expect(opened.page.locator(".flow .heard")).to_contain_text(says)


def test_the_stop_at_which_a_hand_rests_is_in_the_link_and_undo_leads_back(screen):
    opened = screen("?ex=en_it&lang=en")
    stage = opened.page.locator(".flow .stage")
    with opened.answered():
        stage.press("Home")
    with opened.answered():
        for _ in range(2):
            stage.press("ArrowRight")
    opened.page.wait_for_url("**stop=scores**")  # the query has met the keys
    again = screen("?" + opened.page.url.split("?", 1)[1])
    at = "root => [root.flow.progress, root.flow.journey.told.stop.motion]"
    assert again.page.locator(".flow").evaluate(at) == [2, "match"]
    with opened.answered():
        opened.page.keyboard.press("Control+z")
    assert "stop" not in opened.query()
    assert opened.page.locator(".flow").evaluate("root => root.flow.journey.told.stop") is None


def test_the_plane_is_in_the_link(screen):
    opened = screen("?ex=en_it&lang=en")
    with opened.answered():
        opened.page.locator(".flow .views button").nth(2).click()
    assert opened.query()["stop"] == "plane"
    again = screen("?" + opened.page.url.split("?", 1)[1])
    assert again.page.locator(".plane svg").is_visible()
