"""The lesson on the worked example in a real browser: a reader changes an input and sees what is stated."""

import re

import pytest
from playwright.sync_api import expect

from tests.lessons.test_printed import BY_HAND, PRINTED, WORDS

pytestmark = pytest.mark.slow

RIGHT = {  # by hand, in test_marking.py
    "Q": "1 1 1 2 2 2 2 2 2",
    "K": "0 2 1 4 0 2 2 2 2",
    "V": "0 1 1 4 2 2 2 2 2",
    "scores": "3 6 6 6 12 12 6 12 12",
    "weights": ".08 .46 .46 .02 .49 .49 .02 .49 .49",
    "Z": "2.8 1.9 1.9 3.0 2.0 2.0 3.0 2.0 2.0",
}
NAMES = {"Q": "q_projected", "K": "k_projected", "V": "v_projected", "Z": "head_outputs"}
KEYS = {"Q": "q", "K": "k", "V": "v", "Z": "output"}


def told(opened, shown):
    """What a screen reader is told of the cells of a step: first the printed ones, then the right ones."""
    opened.settled()
    cells = opened.page.locator(f'path[aria-label^="{NAMES.get(shown, shown)} ["]')
    cells.nth(17).wait_for(state="attached")
    return [label.rpartition("]: ")[2] for label in cells.evaluate_all("all => all.map(each => each.ariaLabel)")]


def number(label):
    return float(re.sub(",.*", "", label))


def click(opened, cell):
    opened.settled()
    opened.page.locator(f'path[aria-label="{cell}"]').first.click()


def test_worked_example_3_by_4_right_numbers_at_every_step_and_each_printed_cell_marked(screen):
    """Mechanism: right numbers at every step; the numbers printed in source 004 beside them, each wrong cell marked."""
    opened = screen("?lang=en", lesson="printed")
    opened.page.get_by_text("Reveal all").click()
    opened.wait_for_text("All new slips of this step are marked: 5.")
    for shown, right in RIGHT.items():
        opened.press("Step", shown)
        stage = KEYS.get(shown, shown)
        marks = BY_HAND[stage].replace(" ", "")
        opened.wait_for_sentence(f"{marks.count('R')} of 9 right; new slips: {marks.count('S')}; followed from")
        labels = told(opened, shown)
        assert [label.partition(", ")[2] for label in labels[:9]] == [WORDS[mark] for mark in marks]
        printed = PRINTED[stage].split() if "." in PRINTED[stage] else PRINTED[stage].replace(" ", "")
        assert [number(label) for label in labels[:9]] == [float(each) for each in printed]
        digits = 1 if shown == "Z" else 2
        assert [round(number(label), digits) for label in labels[9:18]] == [float(each) for each in right.split()]


def test_another_x_gives_other_right_numbers_and_other_marks(screen):
    """Mechanism: worked example 3 x 4, on the reader's own input."""
    opened = screen("?stage=q&lang=en", lesson="printed")
    opened.page.get_by_role("button", name="Show the right numbers").click()
    opened.wait_for_sentence("Printed Q: 7 of 9 right; new slips: 2")
    opened.type("X", "2 0 0 0; 0 2 0 2; 1 1 1 1")
    opened.wait_for_sentence("Printed Q: 6 of 9 right; new slips: 3")  # Q of x1 is 2 0 2
    assert told(opened, "Q")[9:12] == ["2", "0", "2"]
    opened.type("X", "2 0 zero 0")
    opened.wait_for_text("x, row 1, column 3, must be a number")
    assert told(opened, "Q")[9:12] == ["2", "0", "2"]  # the last that could be read


def test_another_printed_number_is_marked_anew_there_and_further_on(screen):
    opened = screen("?lang=en", lesson="printed")
    opened.page.get_by_role("button", name="Show the right numbers").click()
    opened.wait_for_sentence("Printed scores: 0 of 9 right; new slips: 5; followed from earlier slips: 4.")
    opened.type("Printed scores", "1 6 3; 4 12 10; 3 12 8")  # what follows from the printed Q and K
    opened.wait_for_sentence("Printed scores: 3 of 9 right; new slips: 0; followed from earlier slips: 6.")
    opened.press("Step", "scaled")  # printed .58 1.15 1.73: 6/√3 is 3.46
    opened.page.get_by_role("button", name="Show the right numbers").click()
    opened.wait_for_sentence("Printed scaled scores: 0 of 9 right; new slips: 5; followed from earlier slips: 4.")


def test_find_the_error_and_the_link_keeps_what_was_found(screen):
    opened = screen("?lang=en", lesson="printed")
    opened.wait_for_text("Found: 0 of 5.")
    click(opened, "scores [head 1, x1, x2]: 2")
    opened.wait_for_text("A new slip: the written numbers before it give 6.")
    opened.wait_for_text("Found: 1 of 5.")
    opened.page.locator('path[aria-label="scores [head 1, x1, x2]: 2, new slip"]').wait_for(state="attached")
    assert opened.arithmetic().replace("\xa0", " ").endswith("= 6.00")
    click(opened, "scores [head 1, x1, x1]: 1")
    opened.wait_for_text("Followed: the written numbers before it give 1")
    assert opened.query() == {
        "guess": "scores.0.0.0.1,scores.0.0.0.0",
        "cell": "hero,printed,scores,0,0,0,0",
        "lang": "en",
    }
    opened.follow(0, "q [head 1, x1, 1]")  # their Q


def test_a_cold_link_restores_what_was_found_and_what_was_typed(screen):
    link = "?stage=q&q=1 1 1;2 2 2;2 1 2&guess=q_projected.0.2.1&cell=hero,printed,q_projected,0,2,1&lang=en"
    opened = screen(link, lesson="printed")
    opened.wait_for_sentence("Printed Q: 8 of 9 right; new slips: 1")
    opened.wait_for_text("All new slips of this step are marked: 1.")
    opened.wait_for_text("A new slip: the written numbers before it give 2.")
    assert opened.outside == [] and opened.errors == []


def test_where_it_began(screen):
    opened = screen("?open=begin&lang=en", lesson="printed")
    opened.wait_for_text("makes later numbers wrong (outlined): scores 2, scaled 2, weights 3, Z 1.")
    opened.choose("Slip", "V [x2, 1]: 2 instead of 4")
    opened.wait_for_text("makes later numbers wrong (outlined): Z 3.")


def test_the_example_is_worked_out_by_oneself(screen):
    """A door leads to where one's own numbers are judged: 1 1 1 is right for x1, and 2 1 2 was printed for x3."""
    opened = screen("?open=own&lang=en", lesson="printed")
    opened.page.get_by_role("button", name="Work it out yourself").click()
    opened.wait_for_text("Can you calculate attention by hand?")
    opened.page.get_by_role("textbox", name="X W_q, x1, 1").click()
    opened.page.keyboard.type("1")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("Of 9 numbers: 1 right, 8 still empty.")
    opened.page.get_by_role("textbox", name="X W_q, x3, 2").fill("1")
    opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_title("new slip")).to_have_count(1)


def test_what_rounding_did(screen):
    opened = screen("?open=rounding&lang=en", lesson="printed")
    opened.wait_for_text("it can never move by more than 0.0300.")
    opened.slide("Decimals of the weights", "ArrowLeft")
    opened.wait_for_text("it can never move by more than 0.3000. A row of these weights adds up to 1.1.")
    opened.wait_for_number("rounded_weights [head 1, x1, x2]", "0.5")


def test_what_follows_from_their_own_q_k_and_v(screen):
    opened = screen("?open=onward&lang=en", lesson="printed")
    opened.wait_for_text("Printed scores: 4 of 9 agree.")
    opened.wait_for_number("scores [head 1, 1, 2]", "6")
    opened.press("Step", "Q")
    opened.type("Printed Q", "1 1 1; 2 2 2; 2 2 2")
    opened.wait_for_text("Printed scores: 1 of 9 agree.")  # 2 6 5/4 12 10/4 12 10 against 1 2 3/4 8 8/3 6 7
    opened.wait_for_number("scores [head 1, 1, 1]", "2")
