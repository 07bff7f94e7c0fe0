"""The lesson on explanation in a real browser: a guess, then what other weights do; witnesses of any text."""

import pytest

pytestmark = pytest.mark.slow


def ends(opened):
    """What is said of the ends of the dumbbells: {"even, A": shift}."""
    opened.settled()
    drawn = opened.page.locator('path[aria-label*="A · look up: "], path[aria-label*="B · majority: "]')
    labels = drawn.evaluate_all("paths => paths.map(path => path.getAttribute('aria-label'))")
    pairs = (label.split(": ") for label in labels if "…" in label)
    return {name: float(told.split(" ")[0]) for name, told in pairs}


def test_uniform_weights_and_what_the_prediction_does(screen):
    """What a map of weights explains: replacing the weights by uniform ones and measuring what the prediction does."""
    opened = screen("?lang=en", lesson="explanation")
    opened.wait_for_sentence("A gives over 99 % of its weight to one place")
    assert ends(opened) == {}
    opened.press("Whose prediction moves by more than a tenth under even weights?", "only A's")
    opened.wait_for_text("As predicted")
    shown = ends(opened)
    assert len(shown) == 8
    assert shown["even, A · look up"] > 0.7 and shown["even, B · majority"] < 0.01
    again = screen("?" + opened.page.url.partition("?")[2], lesson="explanation")
    assert again.sentence() == opened.sentence()


def test_gradient_times_input_and_leaving_out_beside_the_weights(screen):
    """What a map of weights explains: gradient x input beside the weights; why a weight is not an explanation."""
    opened = screen("?open=witness&lang=en", lesson="explanation")
    opened.wait_for_text("A says 3, over 99 %")
    opened.type("A: a text with > before a digit", "a5>2b7")
    opened.wait_for_text("A says 2,")
    left_out = opened.numbers("left_out [")
    assert sum(float(number.replace("−", "-")) > 3 for number in left_out.values()) == 2
    opened.press("Classifier", "B · majority")
    opened.wait_for_text("B says +")
    opened.type("B: votes +, - and .", "--.+-")
    opened.wait_for_text("B says -")


def test_redundant_heads(screen):
    """What a map of weights explains: heads that are redundant."""
    opened = screen("?open=spare&guess=0&lang=en", lesson="explanation")
    opened.page.get_by_role("table").first.wait_for()
    rows = [row.get_by_role("cell").all_inner_texts() for row in opened.page.get_by_role("row").all()]
    assert [row[1].strip() for row in rows if row and row[0].strip().startswith("head ")] == ["100 %"] * 4
