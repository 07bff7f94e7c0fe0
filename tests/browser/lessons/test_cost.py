"""The lesson on cost in a real browser: a reader changes an input and sees what is stated."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import process_of

pytestmark = pytest.mark.slow

RACE = "Race: all pairs in float32 against"


def texts(opened, part):
    """Texts in the pictures that contain a part."""
    return opened.page.locator("[data-testid=stVegaLiteChart] text", has_text=part)


def test_length_decides_what_is_counted(screen):
    opened = screen("?lang=en", lesson="cost")
    assert opened.sentence().startswith("1,024 tokens of width 64: 134 million multiply-adds for all pairs")
    opened.slide("Tokens", "End")
    opened.wait_for_sentence("2,048 tokens of width 64: 537 million multiply-adds for all pairs")
    opened.slide("Tokens", "Home")
    opened.wait_for_sentence("128 tokens of width 64: 2.1 million multiply-adds")
    assert opened.query() == {"length": "128", "lang": "en"}


SIZES = "areas => areas.map((each) => [each.width, each.height].map((side) => side.baseVal.value))"


def drawn_areas(opened, kind):
    """Width and height of each area of a kind, the largest length last: the whole, and what half the length has."""
    areas = opened.page.locator(f".areas rect.{kind}")
    areas.first.wait_for()
    sizes = areas.evaluate_all(SIZES)
    return sizes[::2], sizes[1::2]


def test_the_square_and_the_stripe_follow_the_slider_before_the_server_hears_of_it(screen):
    opened = screen("?length=2048&lang=en", lesson="cost")
    squares, smaller = drawn_areas(opened, "pairs")
    stripes, shorter = drawn_areas(opened, "tokens")
    (wide, high), (thin, long) = squares[-1], stripes[-1]
    assert wide == high == long == 16 * thin  # 2 T² 64 beside 4 T 64²: at 2,048 tokens 16 times as much
    assert squares[-2] == smaller[-1] == [wide / 2, high / 2] and stripes[-2] == shorter[-1] == [thin, long / 2]
    knob = opened.page.locator("label.live input")
    knob.evaluate("input => { input.value = 3; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    squares, _ = drawn_areas(opened, "pairs")
    stripes, _ = drawn_areas(opened, "tokens")
    assert len(squares) == 4 and squares[-1] == [wide, high] and stripes[-1] == [2 * thin, long]  # again as high
    assert "134 million multiply-adds" in opened.sentence() and opened.query()["length"] == "2048"


def test_measured_on_this_machine_point_by_point_and_who_is_faster(screen):
    opened = screen("?length=128&lang=en", lesson="cost")
    expect(texts(opened, "milliseconds")).to_have_count(0)
    opened.press("Predict: which is faster at this length?", "all pairs")
    opened.page.get_by_role("button", name="Measure on this machine").click()
    opened.wait_for_text("128 tokens, measured here: all pairs")
    opened.wait_for_text("redicted")
    expect(texts(opened, "milliseconds, measured")).to_have_count(1)
    expect(texts(opened, "65 nearest: ")).to_have_count(1)
    expect(opened.page.get_by_test_id("stVegaLiteChart")).to_have_count(2)  # none that the last one left behind
    expect(texts(opened, "both: ")).to_have_count(1)  # counted: equally many, in a picture of their own
    opened.press(RACE, "every 16th key")
    expect(texts(opened, "milliseconds")).to_have_count(0)  # another race, of which nothing is measured
    opened.press(RACE, "the 65 nearest keys")
    opened.wait_for_text("128 tokens, measured here")  # kept for the session


@pytest.fixture(scope="module")
def long_one():
    """The address of a page that measures for minutes."""
    with process_of("tests/browser/measuring_page.py") as (address, _):
        yield address


def found(page):
    """How many were measured, as the page says."""
    expect(page.get_by_text("found ")).to_have_count(1)  # the one that goes is still there for a moment
    return int(page.get_by_text("found ").inner_text().split(" ")[1])


def begin(page):
    """Presses the button and waits until something is measured."""
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Stop").wait_for()


@pytest.mark.parametrize("button", ["Stop", "Another control"])
def test_a_measurement_is_stopped_and_what_was_measured_stays(profile, long_one, button):
    with profile.new_page() as page:
        page.goto(long_one)
        begin(page)
        page.wait_for_function("() => parseInt(document.body.innerText.split('found ')[1]) >= 3")
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")
        stopped = found(page)
        assert 3 <= stopped < 2000
        page.get_by_role("button", name="Another control").click()
        page.get_by_text("pressed").wait_for()
        assert stopped <= found(page) <= stopped + 1  # nothing goes on; the piece that it was at may have ended


def test_one_visitor_measures_at_a_time(profile, find_profile, long_one):
    with profile.new_page() as first, find_profile(1).new_page() as second:
        first.goto(long_one)
        second.goto(long_one)
        begin(first)
        second.get_by_role("button", name="Begin").click()
        second.get_by_text("Another visitor is measuring on this machine").wait_for()
        first.get_by_role("button", name="Stop").click()
        expect(first.get_by_role("button", name="Stop")).to_have_count(0)
        begin(second)
        second.get_by_role("button", name="Stop").click()
        expect(second.get_by_role("button", name="Stop")).to_have_count(0)


def test_batching_one_batch_against_one_by_one(screen):
    opened = screen("?open=batch", lesson="cost")
    drawer = opened.page.get_by_test_id("stExpander").filter(has_text="Does a batch save time?")
    drawer.get_by_role("button", name="Measure on this machine").click()
    drawer.get_by_text("Measured at 16 tokens each: together").wait_for()
    drawer.get_by_text("Measured at 512 tokens each: together").wait_for()


def test_sparse_attention_kept_pairs_time_and_error(screen):
    opened = screen("?open=skip", lesson="cost")
    opened.wait_for_text("The pattern keeps 15,584 of 65,536 pairs. Computed in whole blocks, these become 40,960")
    opened.wait_for_text("relative error against full attention is 2 %")
    opened.press("Pattern", "strided: every 16th")
    opened.wait_for_text("The pattern keeps 4,096 of 65,536 pairs.")
    opened.wait_for_text("Computed in whole blocks, these become 4,096 pairs (6 %): 524,288")
    opened.press("Inputs", "random")
    opened.wait_for_text("With random inputs (any pair may have a high score)")
    opened.page.get_by_role("button", name="Measure at this length").click()
    opened.wait_for_text("Measured here at 256 tokens: all pairs")
    opened.page.locator(".map canvas").first.wait_for()
