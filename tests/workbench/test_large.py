"""More than 64 tokens: maps on a canvas, a part of a large step in cells around what is looked at, limits that hold."""

import random

import numpy as np
import pytest
import torch

from pages.runs import cache
from tests.screen.driver import Screen

VOCABULARY = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "looked", "at", "another", "dog"]
WORDS = random.Random(0).choices(VOCABULARY, k=100)
SENTENCE = " ".join(WORDS)


def large(**link):
    return Screen(ex="eight_heads", text=SENTENCE, **link)


def trace(screen):
    return cache.trace_for(screen.setup())


def test_a_head_is_drawn_on_a_canvas_with_its_own_numbers():
    screen = large().open_map()
    head = screen.look()["head"]
    told, data = screen.packed("large_map")
    expected = trace(screen)["weights"][0, head].float().numpy()
    assert np.array_equal(np.frombuffer(data["numbers"], np.float32).reshape(100, 100), expected)
    assert told["rows"] == told["columns"] == WORDS
    assert told["note"] == "down: Query, across: Key"  # and every cell of it is drawn


@pytest.mark.parametrize("link, is_random", [({"ex": "eight_heads"}, True), ({}, False)])
def test_a_canvas_of_random_matrices_is_grey_and_another_is_not(link, is_random):
    screen = Screen(**link, text=SENTENCE).open_map()
    told, _ = screen.packed("large_map")
    colours = [bytes.fromhex(told["palette"][name][1:]) for name in ("high", "share", "plus", "minus")]
    assert all(max(rgb) - min(rgb) <= 14 for rgb in colours) == is_random


def test_narrow_small_maps_have_no_more_cells_than_pixels():
    told, _ = Screen(text=" ".join(["dog"] * 41), mask="causal,local:1").set("pin", True).packed("strip")
    assert told["side"] == 34
    assert {max(each["map"][:2]) for each in told["maps"]} <= set(range(35))


def test_all_heads_are_small_and_one_is_chosen():
    screen = large()
    told, data = screen.packed("flow")
    assert len(screen.heads()) == 8
    assert told["rail_shape"] == [34, 34]  # 1 : 3 of 100
    assert len(data["rail"]) == 8 * 34 * 34
    screen.look_at(head=6)
    assert screen.fact().startswith("Head 7:")
    assert screen.flow()["cut"]["head"] == 6
    screen.look_at(head=99)
    assert screen.fact().startswith("Head 7:")


def test_a_click_opens_the_arithmetic_of_its_cell():
    screen = large(head="2")
    screen.click_part("look", "opened", {"step": "weights", "index": [0, 2, 70, 90]})
    assert screen.link()["cell"] == "0,2,70,90"
    number = trace(screen)["weights"][0, 2, 70, 90].item()
    assert str(number)[:12] in screen.look()["sum"]["title"]
    assert sum("step" in piece for piece in screen.pieces()) == 13  # the cell and the twelve largest of its row
    screen.click_part("look", "opened", {"step": "weights", "index": [0, 2, 700, 90]})
    assert screen.link()["cell"] == "0,2,70,90"


def test_any_step_of_a_large_run_is_drawn_on_a_canvas():
    screen = large(head="2", step="weights")
    assert screen.packed("large_map")[0]["step"] == "weights"
    assert screen.look_at(step="scores").packed("large_map")[0]["step"] == "scores"


def test_of_a_large_run_the_picture_has_the_keys_that_get_the_most_and_the_query():
    screen = large(head="2", t="70")
    weights = trace(screen)["weights"][0, 2, 70]
    cut = screen.flow()["cut"]
    others = weights[[key for key in range(100) if key not in cut["keys"]]]
    drawn = weights[[key for key in cut["keys"] if key != 70]]
    assert 70 in cut["keys"] and drawn.numel() in (11, 12)
    assert drawn.min() >= others.max()
    numbers = screen.numbers("weights")
    assert numbers.shape == (1, 1, 1, len(cut["keys"]))
    assert numbers.ravel().tolist() == weights[cut["keys"]].tolist()
    q, k = trace(screen)["q"][0, 2, 70], trace(screen)["k"][0, 2][cut["keys"]]
    assert screen.numbers("q").ravel().tolist() == q.tolist()
    assert screen.numbers("k").reshape(k.shape).tolist() == k.tolist()
    moved = screen.look_at(query=3)
    assert moved.flow()["cut"]["query"] == 3 and 3 in moved.flow()["cut"]["keys"]


def test_the_part_in_cells_lies_around_the_chosen_cell():
    screen = large(step="scores", cell="0,2,70,90")
    cells = screen.table("large")
    shown = cells[(cells["step"] == "scores") & (cells["kind"] == "cell")]
    rows = sorted({int(index.split(",")[2]) for index in shown["index"]})
    columns = sorted({int(index.split(",")[3]) for index in shown["index"]})
    assert (rows[0], rows[-1], columns[0], columns[-1]) == (65, 74, 85, 94)
    labels = cells[cells["align"] == "right"]["text"].tolist()
    assert labels[-10:] == WORDS[65:75] or labels[:10] == WORDS[65:75]


def test_long_rows_are_coloured_in_even_shares_by_themselves():
    screen = large()
    assert screen.widget("ramp").value is True
    assert "ramp" not in screen.link()
    assert screen.set("ramp", False).link()["ramp"] == "shares"
    assert "ramp" not in screen.set("ramp", True).link()


def test_many_equal_keys_are_counted_not_listed():
    screen = large(w_q="zeros~")
    assert screen.fact().endswith("attends evenly: 1 % to each of 100 tokens.")
    screen = Screen(text=" ".join(["it", "dog"] * 50))
    assert "splits its attention evenly over 50 of 100 tokens: 2 % each" in screen.fact()


def test_five_hundred_and_twelve_tokens_in_eight_heads():
    screen = Screen(ex="eight_heads", text=" ".join(WORDS * 5 + WORDS[:12]), mask="causal")
    weights = trace(screen)["weights"]
    assert weights.shape == (1, 8, 512, 512)
    assert torch.allclose(weights.sum(-1), torch.ones(()).double(), rtol=0, atol=1e-12)
    told, data = screen.packed("flow")
    assert told["rail_shape"] == [40, 40]  # 1 : 13 of 512
    assert len(data["rail"]) == 8 * 40 * 40
    assert sum(map(len, data.values())) < 100_000


@pytest.mark.parametrize(
    ("link", "code"),
    [({"heads": "16"}, "sentences x heads x queries x keys"), ({"more": "word " * 512}, "sentences x heads")],
)
def test_more_pairs_than_can_be_kept_are_refused(link, code):
    screen = Screen(ex="eight_heads", text=" ".join(WORDS * 5 + WORDS[:12]), **link)
    assert code in " ".join(screen.errors())
