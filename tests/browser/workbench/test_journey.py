"""What is said, written and shown at the stops of a query's way."""

import math

import pytest
from playwright.sync_api import expect

from tests.pictures.journey import DRAWN

pytestmark = pytest.mark.slow

AT = "(root, progress) => root.flow.journey.scrub(progress)"
COLOURED = """math => [...math.querySelectorAll("[class]")].map(
    element => [element.textContent, getComputedStyle(element).color])"""


def to_rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))


FORMULAS = {  # at a stop's end, with what each symbol belongs to
    1: ("Q=split2(XWq)K=split2(XWk)", "qxqkxk"),
    2: ("scores=QK⊤", "xqk"),
    5: ("weights=softmaxS(scaled)", ["share", "x"]),
    5.99: ("V=split2(XWv)heads=weightsV", ["v", "x", "v", "v", "share", "v"]),
}


def test_a_stop_ends_with_its_formula_in_the_colours_of_the_picture(screen):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    written = flow.locator(".formulas")
    palette = flow.evaluate("root => root.flow.data.palette")
    for progress, (formula, families) in FORMULAS.items():
        flow.evaluate(AT, progress)
        expect(written).to_be_visible()
        expect(written.locator("math").first).to_be_visible()
        assert "".join(written.locator("math").all_text_contents()) == formula
        colours = [colour for math in written.locator("math").all() for _, colour in math.evaluate(COLOURED)]
        assert colours == [to_rgb(palette[family]) for family in families]
        flow.evaluate(AT, int(progress - 0.01) + 0.3)  # the formula comes last
        expect(written).to_be_hidden()


HEARD = {
    "en": {
        1: "query of it: −3.00, 3.00.",
        2: "scores of it and dog: 6.00.",
        3: "scaled of it and dog: 4.24.",  # 6 / √2
        5: "dog gets 93 %.",
        6: "sum of it: −0.93, 0.00.",
        7: "all heads of it: −0.93, 0.00, ",
        8: "output of it: −0.93, 0.00, ",
    },
    "zh": {2: "“it”对“dog”的得分：6.00。"},
}


@pytest.mark.parametrize("lang", HEARD)
def test_a_screen_reader_hears_at_each_stop_what_comes_of_it_in_numbers(screen, lang):
    opened = screen(f"?ex=en_it&lang={lang}")
    for progress, says in HEARD[lang].items():
        opened.page.locator(".flow").evaluate(AT, progress - 0.01)
        expect(opened.page.locator(".flow .heard")).to_contain_text(says)


PROGRESS = "root => root.flow.progress"


def test_a_name_under_the_bar_leads_to_the_end_of_its_stop(screen):
    opened = screen("?ex=en_it&lang=en")  # with reduced motion
    flow = opened.page.locator(".flow")
    for name, end in (("exp", 4), ("divide", 3), ("Wₒ", 8)):
        flow.locator(".bar .label", has_text=name).click()
        assert flow.evaluate(PROGRESS) == end
    flow.locator(".bar .label", has_text="exp").click()
    expect(flow.locator(".caption")).to_contain_text("positive")
    expect(flow.locator(".motive")).to_contain_text("Attention lets “it” look at the other words")
    shrinks = [opened.drawn(f"texts number {step} 3").text_content() for step in ("scores", "scaled_scores")]
    assert shrinks == ["6.00", "4.24"]  # each bar has its number
    assert [opened.drawn(f"texts legend {sign}").text_content() for sign in ("plus", "minus", "zero")] == [
        "positive", "negative", "zero",
    ]  # fmt: skip


def test_play_runs_through_the_stops_and_pause_holds_it_where_it_is(screen):
    opened = screen("?ex=en_it&lang=en", reduced_motion="no-preference")
    flow, play = opened.page.locator(".flow"), opened.page.locator(".flow .play")
    play.click()
    opened.page.wait_for_function("root => root.flow.progress > 0.3", arg=flow.element_handle())
    play.click()
    held = flow.evaluate(PROGRESS)
    assert 0.3 < held < 8
    for _ in range(5):
        opened.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert flow.evaluate(PROGRESS) == held
    flow.locator(".bar .track").press(" ")
    opened.page.wait_for_function("([root, held]) => root.flow.progress > held", arg=[flow.element_handle(), held])


STICK = """root => {
    const { picture } = root.flow, boxes = [...root.flow.data.words.S.keys()].map((key) =>
        picture.shapes.made.get(`shares share ${key}`).attributes);
    return { widths: boxes.map(({ width }) => width), sides: new Set(boxes.map(({ y }) => Math.round(y))).size };
}"""


def test_products_drop_into_their_cells_and_the_powers_shrink_until_they_are_one_stick(screen):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    flow.evaluate(DRAWN, 1.5)  # the fourth key is met
    drop = opened.drawn("marks drop").bounding_box()
    cell = opened.drawn("hits word 3").bounding_box()
    assert cell["y"] <= drop["y"] + drop["height"] / 2 <= cell["y"] + cell["height"]
    flow.evaluate(DRAWN, 4)  # exp of each score, in the row of its key
    powers = flow.evaluate(STICK)
    flow.evaluate(DRAWN, 4.55)
    stick = flow.evaluate(STICK)
    assert powers["sides"] == 7 and stick["sides"] == 1
    room = opened.drawn("marks ruler").bounding_box()["width"]
    assert sum(stick["widths"]) == pytest.approx(room, abs=7)  # each is at least as wide as it can be seen
    share = math.exp(6 / 2**0.5) / (math.exp(6 / 2**0.5) + math.exp(-6 / 2**0.5) + 5)
    assert stick["widths"][3] == pytest.approx(share * room, rel=0.02)  # the ruler has ends
    assert sum(powers["widths"]) > sum(stick["widths"])  # they shrink


def test_the_stop_at_which_a_hand_rests_is_in_the_link_and_is_no_step_of_undo(screen):
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
    expect(opened.page.get_by_role("button", name="Undo", exact=False).first).to_be_disabled()


def test_the_plane_is_in_the_link(screen):
    opened = screen("?ex=en_it&lang=en")
    with opened.answered():
        opened.page.locator(".flow .views [data-kind=plane]").click()
    assert opened.query()["stop"] == "plane"
    again = screen("?" + opened.page.url.split("?", 1)[1])
    assert again.page.locator(".plane svg").is_visible()
