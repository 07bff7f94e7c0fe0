"""A visitor who tries everything: whatever is typed, chosen and clicked, in whatever order, the screen stands.

After every move there is no traceback, and no part that a browser would keep wrongly (`KeptPartsScreen` sees to that);
the address opens the very same screen.
"""

import io
import string

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from attention_core.inputs.handmade_heads import HEAD_KINDS as KINDS_OF_HEADS
from attention_core.mechanism.normalisers import NORMALISERS
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import make_setup
from pages.setup.setup_file import setup_to_file
from pages.workbench.layer_controls import USUAL_HEAD_COUNTS, WIRING_OPTIONS
from pages.workbench.mask_controls import RARE_MASKS, list_usual_masks
from pages.workbench.parameter_controls import NORMS, RARE_POSITIONS, list_modifiers, list_usual_positions
from pages.workbench.ways_in import WAYS
from tests.often import often
from tests.screen.driver import DRAWERS, KINDS, PANELS, Screen
from tests.screen.kept_parts import KeptPartsScreen
from tests.session.test_hostile_words import HOSTILE

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
    "c_mode": ["sentence", "matrix", "qkv", "file"],
    "c_wiring": list(WIRING_OPTIONS),
    "c_built": list(KINDS_OF_HEADS),
    "c_sentence": list(range(9)),
    "c_scale": ["default", "off", "number"],
    "c_rope": ["rope", "rope_half"],
    "c_way": list(WAYS),
    "c_heads": list(USUAL_HEAD_COUNTS),
    "c_masks": list_usual_masks(),
    "c_rare_masks": list(RARE_MASKS),
    "c_positions": list_usual_positions(),
    "c_rare_positions": list(RARE_POSITIONS),
    "c_norms": list(NORMS),
    "c_modifiers": list_modifiers(),
    "c_normaliser": list(NORMALISERS),
}
# Choices of which any number may be chosen.
SEVERAL = ("c_masks", "c_rare_masks", "c_positions", "c_rare_positions", "c_norms", "c_modifiers")
SEVERAL += ("c_wiring", "c_built")


EDITED = {"what if: scores": "scores", "what if: weights": "weights", "mask": "allowed"}
EDITED |= {"手动修改得分": "scores", "手动修改权重": "weights", "掩码": "allowed"}


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


NUMBERS_OF = np.random.default_rng(0).normal
FILES = [
    ("t.npz", npz(**{name: NUMBERS_OF(size=(2, 2, 5, 3)) for name in "qkv"}, weights=np.ones((2, 2, 5, 5)) / 5), ""),
    ("w.csv", b"1,2,3,4\n" * 4, ""),
    ("w.json", b'{"w_q": [[1, 2], [3, 4]], "k": [[1]]}', ""),
    ("screen.json", setup_to_file(make_setup(temperature=2.0, built=("even",))).encode(), ""),
    ("nonsense.npz", b"PK\3\4nonsense", ""),
]


def use_a_control(screen, dice):
    """Any control, set to anything that it offers, or to a text that it may refuse."""
    offered = [widget for kind in KINDS for widget in screen.at.get(kind)]
    return set_to_anything(screen, dice.choice([widget for widget in offered if not widget.disabled]), dice)


def set_to_anything(screen, widget, dice):
    """One control, to anything that it offers, or to a text that it may refuse."""
    if widget.type in ("text_input", "text_area"):
        return screen.ran(widget.set_value(dice.choice(TEXTS)).run)
    if widget.type == "number_input":
        return screen.ran(widget.set_value(dice.choice(NUMBERS)).run)
    if widget.type == "toggle":
        return screen.ran(widget.set_value(not widget.value).run)
    if widget.type == "selectbox":
        return screen.ran(widget.select_index(dice.randrange(len(widget.options))).run)
    if widget.type == "slider":
        return screen.ran(widget.set_value(dice.randint(widget.min, widget.max)).run)
    if widget.type == "select_slider":
        return screen.ran(widget.set_value(float(dice.choice(widget.options))).run)
    choices = CHOICES.get(widget.key, widget.options)[-len(widget.options) :]
    if widget.key == "c_edited":
        choices = [EDITED.get(choice, choice) for choice in choices]
    several = widget.type != "button_group" or widget.key in SEVERAL
    chosen = dice.sample(choices, min(len(choices), dice.randint(0, 2))) if several else dice.choice(choices)
    return screen.ran(widget.set_value(chosen).run)


def open_any_panel(screen, dice):
    """Another panel beside the picture, with all its rows open."""
    return screen.open_panel(dice.choice(PANELS))


def bring_a_file(screen, dice):
    """Into any box for files: tensors, a matrix, a screen, or nonsense."""
    boxes = list(screen.at.file_uploader)
    if boxes:
        box = dice.choice(boxes)
        fitting = [file for file in FILES if file[0].endswith(tuple(box.proto.type))]  # as the browser offers them
        file = dice.choice(fitting)
        screen.ran(box.set_value([file] if box.multiple_files else file).run)
    return screen


def paint_a_mask(screen, dice):
    """A stroke over some cells, there or not."""
    if screen.parts("mask"):
        cells = [[dice.randint(0, 8), dice.randint(0, 8)] for _ in range(dice.randint(0, 4))]
        screen.click_part("mask", "painted", {"cells": cells, "to": dice.randint(0, 1)})
    return screen


def press_a_button(screen, dice):
    """Undo, an exchanged word, a matrix made or taken away."""
    lead_away = ("exercise_", "to_maps.", "desk_", "present")  # to another page, where the walk would end
    there = [button for button in screen.at.button if not button.disabled and not button.key.startswith(lead_away)]
    return screen.ran(dice.choice(there).click().run)


def click_a_picture(screen, dice):
    """Any cell of any picture."""
    name = dice.choice([*screen.charts(), "flow"])
    if name == "flow":
        return click_the_flow(screen, dice)
    cells = screen.table(name)
    cell = cells[cells["step"] != ""].sample(random_state=dice.randrange(99)).iloc[0]
    return screen.click_cell(name, cell["step"], cell["index"])


def click_the_flow(screen, dice):
    """Any cell of the picture of the flow, another step of it, another query or head."""
    step = dice.choice([*screen.flow()["steps"]])
    if dice.random() < 0.5:
        sizes = screen.flow()["steps"]["weights"]["shape"]
        return screen.look_at(step=step, head=dice.randrange(sizes[1]), query=dice.randrange(sizes[2]))
    index = [dice.randrange(size) for size in screen.flow()["steps"][step]["shape"]]
    return screen.click_part("look", "opened", {"step": step, "index": index})


def follow_a_number(screen, dice):
    """Any operand of the arithmetic, where one is open."""
    links = [piece for piece in screen.pieces() if "step" in piece] if screen.look()["sum"] else []
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
MOVES |= {bring_a_file: 1, paint_a_mask: 1, open_any_panel: 2}


@pytest.mark.slow
@often(4, by_hand=400, phases=[Phase.generate])  # a walk takes too long to be made shorter
@given(st.randoms(use_true_random=False))
def test_the_screen_stands_whatever_is_done(dice):
    screen = KeptPartsScreen(*DRAWERS)
    for _ in range(50):
        (move,) = dice.choices([*MOVES], weights=[*MOVES.values()])
        move(screen, dice)
        assert screen.fact()
        assert setup_from_link(setup_to_link(screen.setup())) == (screen.setup(), [])
    again = Screen(**screen.link())
    if screen.setup().run.file is None:  # tensors are their session's own
        assert again.fact() == screen.fact()
        assert again.errors() == []
    else:
        again.click_part("kept_file", "read", None)  # this browser tab has kept none
        assert "file that is no longer here" in " ".join(again.errors()) or "文件已不在这里" in " ".join(again.errors())
