"""Every number of the layer is changed as a person changes it, and the maps follow.

The first example: x(Anna) = −x(dog) = (1, 0, 0, 0) and x(it) = (0, −1, 0, 0); in head 1 q(it) = (−3, 3),
k(dog) = −k(Anna) = (−1, 1) and v(dog) = −v(Anna) = (−1, 0), so that it · dog = 6 and it · Anna = −6 over √2:
e^4.2426 = 69.59, e^−4.2426 = .01437; 69.59 / (69.59 + .01437 + 5) = .9328.
"""

import io
import json

import numpy as np
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

EVEN = "0.142857142857"  # 1 / 7
ROWS = [[0, 0, 0, 0], [0, -3, 0, 0], [0, 0, 3, -3], [0, 0, 0, 0]]  # w_q with a 3 taken away
LOST = "0.619"  # then q(it) = (0, 3): e^2.1213 = 8.342, e^−2.1213 = .1199; 8.342 / (8.342 + 5 + .1199) = .6197


def saved(write, *arrays, **named) -> bytes:
    """What NumPy writes into a file."""
    file = io.BytesIO()
    write(file, *arrays, **named)
    return file.getvalue()


FILES = {
    "w.csv": "\n".join(",".join(map(str, row)) for row in ROWS).encode(),
    "w.npy": saved(np.save, np.array(ROWS)),
    "w.npz": saved(np.savez, wq=np.array(ROWS, dtype=np.float32)),
    "w.json": json.dumps(ROWS).encode(),
}


def test_two_cells_of_w_q_set_to_0_even_the_map_out(screen):
    opened = screen()
    opened.open_matrix("w_q")
    opened.edit(1, 0, "0", was="3")
    opened.wait_for_number("weights [head 1, it, dog]", LOST)
    opened.edit(1, 1, "0", was="-3")
    opened.wait_for_number("weights [head 1, it, dog]", EVEN)
    row = opened.numbers("weights [head 1, it,")
    assert len(row) == 7 and all(number.startswith(EVEN) for number in row.values())
    opened.wait_for_sentence("“it” attends evenly: 14 % to each of 7 tokens")


def test_the_matrix_and_the_picture_that_it_changes_are_seen_together(screen):
    opened = screen("?lang=en")
    opened.open_matrix("w_q")
    opened.page.get_by_test_id("stDataFrame").hover(trial=True)  # it stays where it is
    picture = opened.page.locator(".flow svg").first.bounding_box()
    grid = opened.page.get_by_test_id("stDataFrame").bounding_box()
    assert all(box["y"] >= 60 and box["y"] + box["height"] <= 720 for box in (picture, grid))
    assert picture["x"] + picture["width"] <= grid["x"] and grid["x"] + grid["width"] <= 1280
    opened.open_step_drawer()  # further down the matrix stays beside what is read
    opened.page.get_by_text("Sweep one setting").scroll_into_view_if_needed()
    grid = opened.page.get_by_test_id("stDataFrame").bounding_box()
    assert grid["y"] >= 60 and grid["y"] + grid["height"] <= 720


def test_the_headings_of_the_grid_cannot_be_typed_into(screen):
    opened = screen()
    opened.open_matrix("w_q")
    opened.go_to(1, -1)
    opened.page.keyboard.press("Enter")
    expect(opened.page.locator(".gdg-input")).to_be_disabled()
    opened.page.keyboard.type("7")
    opened.page.keyboard.press("Enter")
    opened.edit(1, 0, "0", was="3")  # the numbers can
    opened.wait_for_number("weights [head 1, it, dog]", LOST)
    expect(opened.page.get_by_test_id("stException")).to_have_count(0)


def test_cells_of_a_spreadsheet_are_pasted_into_the_grid(screen):
    opened = screen(permissions=["clipboard-read", "clipboard-write"])
    opened.open_matrix("w_q")
    opened.page.evaluate("() => navigator.clipboard.writeText('0\\t0')")
    opened.go_to(1, 0)
    opened.page.keyboard.press("Control+V")
    opened.wait_for_number("weights [head 1, it, dog]", EVEN)
    assert opened.query()["w_q"] == "~1.0=0;1.1=0"


def test_cells_of_a_spreadsheet_are_pasted_as_text(screen):
    opened = screen(permissions=["clipboard-read", "clipboard-write"])
    opened.open_matrix("w_q")
    table = "\n".join("\t".join(map(str, row)) for row in ROWS)
    opened.page.evaluate("(text) => navigator.clipboard.writeText(text)", table)
    opened.page.get_by_role("textbox", name="w_q as text").click()  # selects the text, which the paste replaces
    opened.page.keyboard.press("Control+V")
    opened.wait_for_number("weights [head 1, it, dog]", LOST)


def test_a_matrix_of_several_lines_pasted_into_the_sentence_becomes_x(screen):
    opened = screen(permissions=["clipboard-read", "clipboard-write"])
    opened.page.evaluate("() => navigator.clipboard.writeText('1\\t2\\n3\\t4\\n5\\t6')")
    opened.page.get_by_label("Sentence", exact=True).click()
    opened.page.keyboard.press("Control+V")
    with opened.answered():
        opened.page.get_by_role("button", name="Use as X, 3 × 2").click()
    assert opened.query()["x"] == "1,2;3,4;5,6"


def test_a_matrix_comes_from_a_file(screen):
    opened = screen()
    opened.open_matrix("w_q")
    for name, content in FILES.items():
        opened.upload(name, content)
        opened.wait_for_number("weights [head 1, it, dog]", LOST)
        assert opened.query()["w_q"] == "~1.0=0"
        opened.page.get_by_role("button", name="Reset").click()
        opened.wait_for_number("weights [head 1, it, dog]", "0.932")


def test_a_score_is_chosen_and_all_that_follows_is_computed_from_it(screen):
    opened = screen("?step=head_outputs")
    opened.wait_for_number("head_outputs [head 1, it, 1]", "−0.932")  # .0002 · 1 − .9328
    opened.open_matrix("what if: scores")
    opened.edit(5, 0, "6", was="-6")
    opened.wait_for_number("weights [head 1, it, Anna]", "0.4826")  # 69.59 / (2 · 69.59 + 5)
    row = opened.numbers("weights [head 1, it,")
    assert row["weights [head 1, it, dog]"] == row["weights [head 1, it, Anna]"]
    assert opened.numbers("head_outputs [head 1, it,")["head_outputs [head 1, it, 1]"] == "0"  # the two cancel
    opened.wait_for_sentence("“it” gives 48 % each to “Anna” and “dog”")
    assert opened.numbers("weights [head 2, fed, A")["weights [head 2, fed, Anna]"].startswith("0.932")


def test_a_weight_is_chosen_and_the_output_moves(screen):
    opened = screen("?step=output")
    opened.wait_for_number("output [it, noun]", "−0.932")
    opened.open_matrix("what if: weights")
    opened.edit(5, 3, "0", was="0.9328")  # with four decimals, as in the cells
    opened.wait_for_number("output [it, noun]", "0.00019")  # .01437 / 74.60 of v(Anna) is left
    assert opened.numbers("weights [head 1, it, dog")["weights [head 1, it, dog]"] == "0"
    opened.page.get_by_role("button", name="Reset").click()
    opened.wait_for_number("output [it, noun]", "−0.932")


def test_a_mask_is_painted_and_what_is_blocked_is_hatched(screen):
    opened = screen()
    opened.open_map()
    shut = opened.page.locator(".flow .shut")
    expect(shut).to_have_count(0)
    opened.open_matrix("mask")
    stage = opened.page.locator(".map .stage")
    stage.scroll_into_view_if_needed()
    opened.settled()
    box, (first, last) = stage.bounding_box(), (opened.place(5, 0), opened.place(5, 3))
    opened.page.mouse.move(box["x"] + first["x"], box["y"] + first["y"])
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + last["x"], box["y"] + last["y"])
    opened.page.mouse.up()
    opened.wait_for_number("weights [head 1, it, barked]", "0.3333")  # and, it and barked are left: alike
    row = opened.numbers("weights [head 1, it,")
    assert [row[f"weights [head 1, it, {key}]"] for key in ("Anna", "fed", "the", "dog")] == ["0"] * 4
    expect(shut).to_have_count(4)
    assert opened.query()["allowed"] == "~5.0=0;5.1=0;5.2=0;5.3=0"


def test_a_bias_is_made_of_zeros_and_at_random(screen):
    opened = screen("?step=q_projected")
    opened.open_matrix("b_q")
    expect(opened.page.get_by_text("There is no b_q, so nothing is added.")).to_be_visible()
    opened.settled()  # the buttons of the matrix before are leaving
    opened.page.get_by_role("button", name="Zeros", exact=True).click()
    expect(opened.page.get_by_text("Nothing moved: every number is as it was before.")).to_be_visible()
    opened.page.get_by_role("button", name="Random", exact=True).click()
    expect(opened.page.get_by_text("b_q (seed 0), 1 × 4, random")).to_be_visible()
    box = opened.page.get_by_role("textbox", name="b_q as text")
    expect(box).not_to_have_value("0  0  0  0")
    drawn = [float(cell) for cell in box.input_value().split()]
    assert len(drawn) == 4 and all(drawn)
    row = opened.numbers("q_projected [Anna,")  # x(Anna) W_q = 0: the bias alone
    shown = [float(row[f"q_projected [Anna, {n}]"].replace("−", "-")) for n in range(1, 5)]
    assert shown == pytest.approx(drawn, abs=1e-9)


WIRING = "Wiring: tied, swapped, residual"
PILLS = [
    # (it, dog) and (dog, it) change places: row dog has 69.59 / (69.59 + 6)
    ("swap Q and K", "weights [head 1, dog, it]", "0.9206"),
    # k(it) = q(it) = (−3, 3), all other k are 0: e^(18/√2) = 336,700 of 336,706
    ("W_q = W_k = W_v", "weights [head 1, it, it]", "0.99998"),
    # W_o leads head 2's first column to the first; without it it stays in the third
    ("no Wₒ", "output [fed, 3]", "0.932"),
]


def test_a_pill_changes_the_layer_and_changes_it_back(screen):
    opened = screen("?step=output")
    opened.open_row(WIRING)
    for pill, cell, number in PILLS:
        choice = opened.page.get_by_role("button", name=pill, exact=True)
        with opened.answered():
            choice.click()
        opened.wait_for_number(cell, number)
        with opened.answered():
            choice.click()
        opened.wait_for_number("weights [head 1, it, dog]", "0.932")
        opened.wait_for_number("output [fed, noun]", "0.932")


def test_the_sum_with_x_is_a_new_step(screen):
    opened = screen()
    opened.open_row(WIRING)
    opened.page.get_by_role("button", name="residual", exact=True).click()
    expect(opened.page.get_by_text("New: residual. All other numbers are as they were.")).to_be_visible()
    opened.settled()
    opened.open_step_drawer()
    opened.choose("Step", "residual")
    opened.wait_for_number("residual [it, noun]", "−0.932")  # x(it) = (0, −1, 0, 0)
    opened.wait_for_number("residual [it, pronoun]", "−1")


def test_a_head_that_knows_positions_alone_evens_out_without_them(screen):
    opened = screen("?ex=zh_colour")
    opened.wait_for_number("weights [head 1, 追, 猫]", "0.83")
    opened.open_row(WIRING)
    opened.page.get_by_role("button", name="no positions", exact=True).click()
    opened.wait_for_number("weights [head 1, 追, 猫]", "0.2")
    numbers = opened.numbers("weights [head 1,").values()
    assert len(numbers) == 25
    assert [float(number) for number in numbers] == pytest.approx([0.2] * 25, abs=1e-12)


def test_the_offset_dial_moves_the_dark_diagonal(screen):
    opened = screen("?ex=built_heads&head=1")
    opened.wait_for_number("weights [head 2, dog, the #3]", "0.96")
    opened.open_row("Set what each head does")
    dial = opened.page.get_by_role("slider", name="Offset")
    dial.focus()
    for place in ("dog, dog", "dog, and"):  # 0, then +1
        opened.page.keyboard.press("ArrowRight")
        opened.wait_for_number(f"weights [head 2, {place}]", "0.96")
    expect(opened.page.get_by_text("head 2: the token at +1")).to_be_visible()


def test_sizes_come_and_go_and_the_edited_numbers_that_fit_stay(screen):
    opened = screen("?w_q=~1.0%3D5")
    opened.open_matrix("w_q")
    box = opened.page.get_by_role("textbox", name="w_q as text")
    expect(box).not_to_have_value("")
    first = box.input_value()
    assert first.split("\n")[1].split() == ["5", "-3", "0", "0"]
    for heads in ("1", "2"):
        opened.press("Heads", heads)
        expect(box).to_have_value(first)  # one head of 4 columns or two of 2: the same numbers
    opened.open_row("Key/value heads, widths")
    width = opened.page.get_by_role("spinbutton", name="Width dₖ")
    width.fill("3")
    width.press("Enter")
    wide = "0  0  0  0  0  0\n5  -3  0  0  0  0\n0  0  0  3  -3  0\n0  0  0  0  0  0"  # a column for each head
    opened.open_matrix("w_q")
    expect(box).to_have_value(wide)
    opened.open_row("Key/value heads, widths")
    width.fill("2")
    width.press("Enter")
    opened.open_matrix("w_q")
    expect(box).to_have_value(first)


def type_in_picture(opened, text: str) -> None:
    """Types into the field that stands over a cell of the picture."""
    field = opened.page.locator(".flow .editor input")
    expect(field).to_be_focused()
    field.fill(text)
    with opened.answered():
        field.press("Enter")


def test_a_weight_is_typed_where_it_acts(screen):
    opened = screen()
    opened.page.locator(".flow .name.q").click()
    opened.strip().first.wait_for()
    opened.page.wait_for_function("flow => flow.flow.opened === 1", arg=opened.page.locator(".flow").element_handle())
    box = opened.drawn("cells above 1 0").bounding_box()  # the product is beside it
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    type_in_picture(opened, "nought")
    refusal = opened.page.locator(".flow .editor [role=alert]")
    expect(refusal).to_have_text("w_q, row 2, column 1, must be a number: got “nought”")
    opened.wait_for_number("weights [head 1, it, dog]", "0.932")
    type_in_picture(opened, "0")
    opened.wait_for_number("weights [head 1, it, dog]", LOST)
    expect(refusal).to_be_hidden()
    assert opened.drawn("texts result 5 0").text_content() == "0.00"  # q(it) = (0, 3)
    assert opened.query()["w_q"] == "~1.0=0"


@pytest.mark.parametrize(("name", "matrix"), [("sign k", "w_k"), ("sign v", "w_v"), ("lane output", "w_o")])
def test_the_other_matrices_are_typed_into_where_they_act(screen, name, matrix):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    opened.click_drawn(f"texts {name}")
    opened.page.wait_for_function("flow => flow.flow.opened === 1", arg=flow.element_handle())
    box = opened.drawn("cells above 0 1").bounding_box()
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    type_in_picture(opened, "0.5")
    assert opened.query()[matrix] == "~0.1=0.5"
    assert opened.drawn("texts above 0 1").text_content() == "0.50"


FOCUSED = "flow => flow.getRootNode().activeElement?.getAttribute('aria-label') ?? ''"


def test_the_cells_of_the_map_are_walked_by_keyboard(screen):
    opened = screen("?step=q_projected&t=5")
    page, flow = opened.page, opened.page.locator(".flow")
    page.locator(".flow .stage").focus()

    def walk(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return flow.evaluate(FOCUSED)

    assert walk("ArrowDown").startswith("X W_q, it, 1: −3.00")
    assert walk("ArrowLeft").startswith("X, it, other: 0.00")
    assert walk("ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp").startswith(
        "w_q, other, 1:"
    )
    assert walk("ArrowUp", "ArrowUp").startswith("w_q, pronoun, 1: 3.00")
    page.keyboard.press("Enter")
    type_in_picture(opened, "0")
    opened.wait_for_number("weights [head 1, it, dog]", LOST)
    assert flow.evaluate(FOCUSED).startswith("w_q, pronoun, 1")
    walk("ArrowDown", "ArrowDown", "ArrowDown")
    with opened.answered():
        page.keyboard.press("Enter")  # a computed cell opens its sum
    opened.sums().wait_for()
    walk("Escape")
    expect(opened.sums().first).to_be_hidden()
    walk("Escape", "Escape")
    expect(page.locator(".flow .views button").first).to_have_attribute("aria-pressed", "true")
