"""A visitor who tries everything: whatever is typed, chosen and clicked, in whatever order, the screen stands.

After every move there is no traceback (`Screen` sees to that), and the address opens the very same screen.
"""

import random
import string

import pytest

from attention_core.masks import MASKS
from pages.shared.setup import from_link, to_link
from pages.shared.words import LANGUAGES
from tests.screen.driver import KINDS, Screen
from tests.screen.test_hostile_words import HOSTILE

TEXTS = [
    "",
    "it",
    "小红喂了那只狗",
    "the cat the dog the end",
    "he|she and|it",
    " ".join(string.ascii_lowercase),
    "it " * 513,
    "3",
    "-1 0.5",
    "1, 2\n3, 4",
    "1 0 0 0\n0 1 0 0\n0 0 1 0",
    "1e5\t-2\n3\t4",
    "1 1 0\n0 0 0",
    "1 2\n3",
    "nan",
    "1e400",
    *HOSTILE,
]
NUMBERS = (-3, 0, 1, 2, 7, 1e3)
CHOICES = {  # what the labels of a choice stand for
    "c_lang": list(LANGUAGES),
    "c_mode": ["sentence", "matrix", "qkv"],
    "c_scale": ["default", "off", "number"],
    "c_rope": ["rope", "rope_half"],
    "c_masks": [*MASKS, "custom"],
    "c_positions": ["sinusoidal", "rope", "alibi"],
}


def use_a_control(screen, dice):
    """Any control, set to anything that it offers, or to a text that it may refuse."""
    widget = dice.choice([widget for kind in KINDS for widget in screen.at.get(kind)])
    if widget.type in ("text_input", "text_area"):
        return screen.ran(widget.set_value(dice.choice(TEXTS)).run)
    if widget.type == "number_input":
        return screen.ran(widget.set_value(dice.choice(NUMBERS)).run)
    if widget.type == "toggle":
        return screen.ran(widget.set_value(not widget.value).run)
    if widget.type == "selectbox":
        return screen.ran(widget.select_index(dice.randrange(len(widget.options))).run)
    if widget.type == "select_slider":
        return screen.ran(widget.set_value(float(dice.choice(widget.options))).run)
    choices = CHOICES.get(widget.key, widget.options)[-len(widget.options) :]
    chosen = dice.choice(choices) if widget.type == "button_group" else dice.sample(choices, dice.randint(0, 2))
    return screen.ran(widget.set_value(chosen).run)


def press_a_button(screen, dice):
    """Undo, an exchanged word, a matrix made or taken away."""
    return screen.ran(dice.choice([button for button in screen.at.button if not button.disabled]).click().run)


def click_a_picture(screen, dice):
    """Any cell of any picture."""
    name = dice.choice([*screen.charts()])
    cells = screen.table(name)
    cell = cells[cells["step"] != ""].sample(random_state=dice.randrange(99)).iloc[0]
    return screen.click_cell(name, cell["step"], cell["index"])


def follow_a_number(screen, dice):
    """Any operand of the arithmetic, where one is open."""
    links = [piece for piece in screen.pieces() if "step" in piece] if screen.parts("arithmetic") else []
    if links:
        link = dice.choice(links)
        screen.follow(link["step"], link["index"])
    return screen


def edit_a_cell(screen, dice):
    """A number of a weight matrix, or a cell emptied."""
    if any(frame.proto.id for frame in screen.at.get("dataframe")):
        screen.edit_cells({0: {0: dice.choice([*NUMBERS, 1e9, None])}})
    return screen


MOVES = {use_a_control: 6, press_a_button: 1, click_a_picture: 2, follow_a_number: 2, edit_a_cell: 1}


@pytest.mark.parametrize("seed", range(4))
def test_the_screen_stands_whatever_is_done(seed):
    dice, screen = random.Random(seed), Screen()
    for _ in range(50):
        (move,) = dice.choices([*MOVES], weights=[*MOVES.values()])
        move(screen, dice)
        assert screen.fact()
        assert from_link(to_link(screen.setup())) == (screen.setup(), [])
    again = Screen(**screen.link())
    assert again.fact() == screen.fact()
    assert again.errors() == []
