"""How large the maps of all heads are, against the sizes that the drawn answer has for 1216 x 510 px."""

import pytest

from tests.components.in_node import call_in_node

WIDTH, HEIGHT = 1216, 510  # px: the picture on a screen of 1280 x 720


def place(count: int, in_layer: int | None = None, width: int = WIDTH, height: int = HEIGHT) -> dict:
    room = {"counts": [count], "inLayer": in_layer, "width": width, "height": height}
    return call_in_node("flow/heads_layout", "placeHeads", room)


@pytest.mark.parametrize(
    ("heads", "columns", "wide", "tall"),
    [(2, 2, 399, 399), (4, 2, 379, 211), (8, 4, 188, 188), (16, 6, 118, 118)],
)
def test_maps_are_as_large_as_the_room_lets_them(heads, columns, wide, tall):
    placed = place(heads)
    assert (placed["columns"], placed["wide"], placed["tall"], placed["height"]) == (columns, wide, tall, None)
    assert placed["large"] >= 300


@pytest.mark.parametrize(("width", "height"), [(WIDTH, HEIGHT), (1824, 866)])  # 1280 x 720 and 1920 x 1080
@pytest.mark.parametrize("heads", [2, 4, 8, 16])
def test_tiles_and_large_map_fill_the_width(heads, width, height):
    placed = place(heads, width=width, height=height)
    tiles = placed["columns"] * (placed["wide"] + 12) + (placed["columns"] - 1) * 10
    assert 0.95 * width <= tiles + 28 + placed["large"] <= width


def test_without_a_large_map_the_tiles_fill_the_width():
    room = {"counts": [2], "inLayer": None, "width": 1280, "height": 680, "hasLarge": False}
    placed = call_in_node("flow/heads_layout", "placeHeads", room)
    assert (placed["columns"], placed["wide"]) == (2, (1280 - 10) // 2 - 12)


@pytest.mark.parametrize("heads", [2, 4, 8, 16])
def test_a_line_of_text_above_changes_no_arrangement(heads):
    assert place(heads, height=HEIGHT - 30)["columns"] == place(heads)["columns"]


def test_a_single_head_is_drawn_once():
    placed = place(1)
    assert (placed["wide"], placed["tall"]) == (0, 0) and 0.7 * WIDTH <= placed["large"] <= WIDTH - 278


def test_in_a_high_room_two_maps_stand_below_each_other():
    placed = place(2, width=700, height=900)  # 700 - 252 - 28 wide: 420 - 12; (900 - 2 * 32) / 2 - 12 high
    assert (placed["columns"], placed["wide"], placed["tall"]) == (1, 408, 406)


def test_layers_stand_below_each_other_with_their_heads_beside():
    placed = place(12, in_layer=4)
    assert (placed["columns"], placed["wide"], placed["tall"]) == (4, 170, 126)


@pytest.mark.parametrize(("heads", "in_layer", "side"), [(40, None, 100), (144, 12, 72)])
def test_maps_that_would_become_too_small_are_reached_by_scrolling(heads, in_layer, side):
    placed = place(heads, in_layer)
    assert (placed["wide"], placed["tall"], placed["height"]) == (side, side, HEIGHT)


@pytest.mark.parametrize(("heads", "columns", "side"), [(4, 2, 162), (8, 3, 100)])
def test_on_a_phone_two_or_three_stand_in_a_line_and_the_large_map_below_them(heads, columns, side):
    placed = place(heads, width=358)
    assert (placed["isWide"], placed["columns"], placed["wide"], placed["large"]) == (False, columns, side, 358)


def test_a_cell_is_wider_than_high_where_there_is_room():
    assert call_in_node("flow/heads_layout", "cellSize", {"rows": 7, "columns": 7}, 400, 210) == {
        "wide": 54,
        "tall": 30,
    }
    assert call_in_node("flow/heads_layout", "cellSize", {"rows": 7, "columns": 7}, 210, 400) == {
        "wide": 30,
        "tall": 30,
    }


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 16])
def test_two_runs_and_their_difference_have_most_of_the_width_beside_the_tiles(heads):
    room = {"counts": [heads], "inLayer": None, "width": WIDTH, "height": HEIGHT, "beside": 3}
    placed = call_in_node("flow/heads_layout", "placeHeads", room)
    tiles = placed["columns"] * (placed["wide"] + 22) + 18 if heads > 1 else 0
    assert 0.6 * WIDTH <= placed["large"] <= WIDTH - tiles


def test_tiles_of_two_runs_are_large_enough_to_read_and_their_large_maps_have_half_of_the_width():
    room = {"counts": [2, 4], "inLayer": None, "width": WIDTH, "height": 482, "beside": 2}
    placed = call_in_node("flow/heads_layout", "placeHeads", room)
    assert placed["columns"] == 4 and placed["height"] is None  # three in a line would be too low, and scroll
    assert placed["wide"] == placed["tall"] == 125  # (1216 - 608 - 28 - 30) / 4 - 12
    assert 0.5 * WIDTH <= placed["large"] <= WIDTH - 4 * 137 - 30 - 28
