"""How large the maps of all heads are, against the sizes that the drawn answer has for 1216 x 510 px."""

import pytest

from tests.components.in_node import call_in_node

WIDTH, HEIGHT = 1216, 510  # px: the picture on a screen of 1280 x 720


def place(count: int, in_layer: int | None = None, width: int = WIDTH, height: int = HEIGHT) -> dict:
    room = {"count": count, "inLayer": in_layer, "width": width, "height": height}
    return call_in_node("flow/heads_layout", "placeHeads", room)


@pytest.mark.parametrize(
    ("heads", "columns", "side"),
    [(2, 2, 399), (4, 2, 211), (8, 4, 188), (16, 6, 118)],
)
def test_maps_are_as_large_as_the_room_lets_them(heads, columns, side):
    placed = place(heads)
    assert (placed["columns"], placed["side"], placed["height"]) == (columns, side, None)
    assert placed["large"] >= 300


def test_layers_stand_below_each_other_with_their_heads_beside():
    placed = place(12, in_layer=4)
    assert (placed["columns"], placed["side"]) == (4, 126)


@pytest.mark.parametrize(("heads", "in_layer", "side"), [(40, None, 100), (144, 12, 72)])
def test_maps_that_would_become_too_small_are_reached_by_scrolling(heads, in_layer, side):
    placed = place(heads, in_layer)
    assert (placed["side"], placed["height"]) == (side, HEIGHT)


def test_on_a_phone_two_stand_in_a_line_and_the_large_map_below_them():
    placed = place(8, width=358)
    assert (placed["isWide"], placed["columns"], placed["side"], placed["large"]) == (False, 2, 162, 358)
