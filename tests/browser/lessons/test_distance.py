"""The lesson on distance in a real browser: a reader changes an input and sees what is stated."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

pytestmark = pytest.mark.slow

DISTANCE = "Distance to the word, in words"


def told(opened):
    """The numbers of the computed sentence, by kind; in percent, or as ratios."""
    text = opened.sentence().rpartition(": ")[2].rstrip(".")
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    found = {}
    for part in text.split(", "):
        kind, number = part.removesuffix(" %").split(" ", 1)
        digits, _, power = number.translate(raised).partition(" × 10")
        found[kind] = float(digits) * 10 ** int(power or 0)
    return found


def points(opened, kind):
    """A curve's points in the first picture, as they are said: {x: y}."""
    opened.settled()
    drawn = opened.page.locator(".frames").first.locator(f'path[aria-label^="{kind}: "]')
    labels = drawn.evaluate_all("paths => paths.map(path => path.getAttribute('aria-label'))")
    pairs = (label.removeprefix(f"{kind}: ").replace("−", "-").split(" → ") for label in labels)
    return {float(x): float(y) for x, y in pairs}


def test_rnn_influence_against_distance_fades_or_explodes(screen):
    """RNN, h_t = f(h_{t-1}, x_t): influence of x_s on h_t against distance."""
    opened = screen("?words=en_it&kinds=rnn,attention&lang=en", lesson="distance")
    opened.wait_for_sentence("“Anna”, 20 back")
    faded = told(opened)
    assert faded["RNN"] < 1 < faded["attention"]
    opened.slide("RNN: gain of Wₕ", "End")
    opened.wait_for_sentence("20 back: RNN")  # who has most is named first
    assert told(opened)["RNN"] > 10 * faded["RNN"]
    shown = points(opened, "RNN")
    assert shown[20] > shown[0]
    opened.slide(DISTANCE, "ArrowLeft")
    opened.wait_for_sentence("19 back")
    assert opened.query()["distance"] == "19"


def test_the_readers_own_sentence(screen):
    opened = screen("?words=en_it&lang=en", lesson="distance")
    opened.type("Your sentence", "the cat that slept purred")
    opened.wait_for_sentence("Influence on “purred” that comes from “the”, 4 back")
    assert len(points(opened, "LSTM")) == 5
    opened.press("Words", "random")
    opened.wait_for_sentence("Influence on “x₃₂” that comes from “x₁”, 31 back")
    opened.slide("How many words", "End")
    opened.wait_for_sentence("“x₁”, 127 back")
    assert told(opened)["LSTM"] < 0.1 < told(opened)["attention"] < 2


def test_a_far_word_is_a_click_for_each_word_between(screen):
    opened = screen("?words=en_it&text=Anna+fed+the+dog&open=states&t=3&cell=step,,h_4,0,0&lang=en", lesson="distance")
    opened.wait_for_text("h_4 [1]")
    for state in ("h_3", "h_2", "h_1"):
        opened.follow(8, f"{state} [1] =")  # after four pairs x w: the first number of the state before
    opened.follow(0, "This number is given")


def test_bidirectional_lstm_hears_from_both_sides(screen):
    """bidirectional LSTM: two passes, influence from both sides."""
    opened = screen("?words=en_it&kinds=lstm&at=10&lang=en", lesson="distance")
    opened.wait_for_sentence("Influence on “train”")
    assert min(points(opened, "LSTM")) == 0
    opened.press("Looks to", "both sides")
    opened.wait_for_text("minus: after it")
    shown = points(opened, "LSTM")
    assert (min(shown), max(shown)) == (-10, 10) and all(share > 0 for share in shown.values())
    opened.slide(DISTANCE, "Home")
    opened.wait_for_sentence("“smiled”, 10 ahead: LSTM")
    assert told(opened)["LSTM"] > 0


def test_cnn_receptive_field(screen):
    """CNN, kernel w: receptive field 1 + L(w-1) after L layers."""
    opened = screen("?words=en_it&kinds=cnn&open=cost&deep=1&lang=en", lesson="distance")
    assert {x for x, y in points(opened, "CNN").items() if y} == {*range(9)}  # 1 + 4 (3 - 1)
    opened.wait_for_text("= 3 words")
    opened.wait_for_number("reached [fed, who]", "1")
    assert "reached [fed, Anna]" in opened.numbers("reached [fed")
    opened.slide("Layers", "ArrowRight")
    opened.wait_for_text("= 5 words")
    opened.wait_for_number("reached [fed, Anna]", "1")
    opened.slide("CNN: window", "ArrowRight")
    opened.wait_for_text("= 9 words")
    assert {x for x, y in points(opened, "CNN").items() if y} == {*range(17)}  # 1 + 4 (5 - 1)


def test_attention_reaches_everything_in_one_step(screen):
    """attention: path length 1 against D and ceil(D/half-window); sequential steps and multiply-adds counted."""
    opened = screen("?words=random&length=64&direction=both&open=cost&lang=en", lesson="distance")

    def rows():
        opened.settled()
        cells = [row.get_by_role("cell").all_inner_texts() for row in opened.page.get_by_role("row").all()]
        return {kind.strip(): [*map(str.strip, numbers)] for kind, *numbers in filter(None, cells)}

    opened.page.get_by_role("table").first.wait_for()
    assert {kind: row[:2] for kind, row in rows().items()} == {
        "RNN": ["32", "64"],
        "LSTM": ["32", "64"],
        "CNN": ["32", "4"],
        "attention": ["1", "1"],
    }
    opened.slide(DISTANCE, "ArrowLeft")
    opened.page.get_by_role("columnheader", name="Steps at distance 31").wait_for()
    opened.slide("CNN: window", "End")
    opened.page.get_by_role("cell", name="11", exact=True).wait_for()  # ⌈31/3⌉
    assert [row[0] for row in rows().values()] == ["31", "31", "11", "1"]
    before = rows()["attention"][2]
    assert before == f"{3 * 64 * 32 * 32 + 2 * 64 * 64 * 32:,}"
    opened.slide("How many words", "ArrowLeft")
    opened.page.get_by_role("columnheader", name="32 words").wait_for()
    assert rows()["attention"][2] == f"{3 * 32 * 32 * 32 + 2 * 32 * 32 * 32:,}"


def test_on_a_phone_the_costs_do_not_move_the_page_sideways(screen):
    look = {"viewport": {"width": 390, "height": 844}}
    opened = screen("?words=random&length=128&direction=both&open=cost&lang=en", lesson="distance", **look)
    opened.page.get_by_role("table").first.wait_for()
    assert opened.page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


def test_time_is_measured_when_it_is_asked_for(screen):
    opened = screen("?words=en_it&kinds=attention&open=time&lang=en", lesson="distance")
    assert opened.page.get_by_text("words take: ").count() == 0
    opened.page.get_by_role("button", name="Measure on this machine").click()
    # what is measured is the machine, which may be slow or busy, and takes ten times as long for an RNN
    opened.page.get_by_text("On this machine, 1,024 words take").wait_for(timeout=3 * PATIENCE)
    opened.settled()
    assert re.search(r"attention [\d.]+ (ms|s) \(slope", opened.page.get_by_text("words take: ").inner_text())
    assert opened.page.get_by_role("button", name="Stop").count() == 0
    expect(opened.page.locator('path[aria-label^="attention, slope"]')).to_have_count(5)


def test_the_race(screen):
    opened = screen("?words=en_it&lang=en", lesson="distance")
    opened.wait_for_text("Race: one of the two encoders leads at short distance")
    one, other = points(opened, "LSTM"), points(opened, "attention")
    turn = next(int(distance) for distance in sorted(one) if other[distance] > one[distance])
    opened.open_lesson("distance", f"?words=en_it&distance={turn + 1}&lang=en")
    opened.wait_for_text("Race: one of the two encoders leads at short distance")
    opened.slide(DISTANCE, "ArrowLeft")
    opened.wait_for_text(f"Overtaken: at distance {turn}, attention")
    opened.press("Race", "RNN")
    opened.wait_for_text("Race: one of the two encoders leads at short distance")
    again = screen("?" + opened.page.url.partition("?")[2], lesson="distance")
    assert again.sentence() == opened.sentence()


def test_on_a_phone_the_texts_of_the_curves_are_as_large_and_none_touches_the_next(screen):
    opened = screen("?lang=en", lesson="distance", viewport={"width": 390, "height": 844})
    chart = opened.page.locator(".frames svg")
    chart.wait_for()
    assert chart.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width") == 1
    assert chart.evaluate("svg => svg.parentElement.scrollWidth - svg.parentElement.clientWidth") == 0
    boxes = chart.evaluate(
        "svg => [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect().toJSON())"
    )
    below = max(box["top"] for box in boxes if box["width"] < 30)  # the numbers under the field
    row = sorted((box["left"], box["right"]) for box in boxes if abs(box["top"] - below) < 2)
    assert len(row) > 4 and all(right < left for (_, right), (left, _) in pairwise(row))
