"""A triangle of what each step does: which cell has which state, what it names, what the colours mean."""

import pytest

from attention_core.drawing.cache_pictures import STATE_MARKS, CacheTriangle, state_colours, triangle_picture
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, colour_channels, luminance
from attention_core.variants.decoding_work import (
    STATE_ABSENT,
    STATE_AGAIN,
    STATE_COMPUTED,
    STATE_KEPT,
    STATE_UNNEEDED,
    cache_states,
)

NAMES = ("Anna", "fed", "the", "dog", "barked")
LEGEND = {
    STATE_COMPUTED: "computed now",
    STATE_KEPT: "kept",
    STATE_AGAIN: "computed again",
    STATE_ABSENT: "not there yet",
}


def drawn(step, palette=LIGHT_PALETTE, **choices):
    """The cells of a triangle as (row, column) -> row of the table, and all other rows."""
    one = CacheTriangle("title", cache_states(len(NAMES), **choices))
    picture = triangle_picture(one, NAMES, step, lambda t, s, state: f"{t} {s} {state}", LEGEND, palette)
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    cells = {(row["row"], row["column"]): row for row in rows if row["kind"] == "cell"}
    return cells, [row for row in rows if row["kind"] != "cell"]


def test_every_cell_says_its_state_and_names_its_step_and_token():
    (with_cache, _), (without, _) = drawn(4), drawn(4, cached=False)
    assert len(with_cache) == len(without) == 25
    for t in range(5):
        for s in range(5):
            cached, bare = with_cache[t, s], without[t, s]
            state = STATE_COMPUTED if s == t else STATE_KEPT if s < t else STATE_ABSENT
            assert (cached["what"], cached["index"]) == (f"{t} {s} {state}", f"{t},{s}")
            assert bare["what"] == f"{t} {s} {STATE_AGAIN if s < t else state}"
            assert cached["value"] == LEGEND[state]
            assert cached["fill"] == state_colours(LIGHT_PALETTE)[state]
            assert cached["text"] == STATE_MARKS[state]


def test_a_plus_stands_for_each_key_that_is_computed():
    plus = [[cell["text"] for cell in drawn(4, cached=cached)[0].values()].count("+") for cached in (True, False)]
    assert plus == [5, 15]


def test_later_steps_are_not_there_yet_and_the_steps_row_is_outlined():
    cells, others = drawn(1, cached=False)
    assert [where for where, cell in cells.items() if cell["value"] != "not there yet"] == [(0, 0), (1, 0), (1, 1)]
    (frame,) = (row for row in others if row["kind"] == "chosen")
    assert (frame["x"], frame["x2"]) == (cells[1, 0]["x"], cells[1, 4]["x2"])
    assert (frame["y"], frame["y2"]) == (cells[1, 0]["y"], cells[1, 0]["y2"])


def test_a_key_that_left_the_window_is_not_read():
    cells, _ = drawn(4, window=2)
    assert cells[4, 1]["what"] == f"4 1 {STATE_UNNEEDED}"
    assert cells[4, 3]["what"] == f"4 3 {STATE_KEPT}"


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
def test_states_are_told_apart_and_their_marks_can_be_read(palette):
    (cells, others), (without, _) = drawn(4, palette), drawn(4, palette, cached=False)
    fills = state_colours(palette)
    assert len({*fills.values()}) == len(fills)
    for cell in (*cells.values(), *without.values()):
        one, other = sorted(luminance(colour_channels(cell[name])[None])[0] for name in ("fill", "ink"))
        assert (other + 0.05) / (one + 0.05) >= 4.5
    assert {row["text"] for row in others if row["kind"] == "label"} >= {*LEGEND.values(), *NAMES, "title"}


def test_two_of_many_long_words_fit_the_page_beside_each_other():
    picture = triangle_picture(
        CacheTriangle("a", cache_states(15)), ["extraordinarily"] * 15, 0, lambda *_: "", LEGEND, LIGHT_PALETTE
    )
    assert 2 * picture.spec["width"] + 34 <= 824
    assert min(row for row in picture.table["size"] if row) >= 11
