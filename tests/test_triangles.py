"""Triangles of what each step does: which cell has which state, what it names, what the colours mean."""

import pytest

from attention_core.decoding import ABSENT, AGAIN, COMPUTED, KEPT, UNNEEDED, states
from attention_core.palette import DARK, LIGHT, channels, luminance
from attention_core.triangles import MARKS, Triangle, colours, triangles

NAMES = ("Anna", "fed", "the", "dog", "barked")
LEGEND = {COMPUTED: "computed now", KEPT: "kept", AGAIN: "computed again", ABSENT: "not there yet"}


def drawn(step, palette=LIGHT, **choices):
    """The cells of both triangles as (triangle, row, column) -> row of the table, and all other rows."""
    pair = [Triangle("with", states(len(NAMES), **choices)), Triangle("without", states(len(NAMES), cached=False))]
    picture = triangles(pair, NAMES, step, lambda t, s, state: f"{t} {s} {state}", LEGEND, palette)
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    cells = {(row["panel"], row["row"], row["column"]): row for row in rows if row["kind"] == "cell"}
    return cells, [row for row in rows if row["kind"] != "cell"]


def test_every_cell_says_its_state_and_names_its_step_and_token():
    cells, _ = drawn(4)
    assert len(cells) == 2 * 25
    for t in range(5):
        for s in range(5):
            cached, bare = cells["triangle0", t, s], cells["triangle1", t, s]
            state = COMPUTED if s == t else KEPT if s < t else ABSENT
            assert (cached["what"], cached["index"]) == (f"{t} {s} {state}", f"{t},{s}")
            assert bare["what"] == f"{t} {s} {AGAIN if s < t else state}"
            assert cached["value"] == LEGEND[state]
            assert cached["fill"] == colours(LIGHT)[state]
            assert cached["text"] == MARKS[state]


def test_a_plus_stands_for_each_key_that_is_computed():
    cells, _ = drawn(4)
    plus = [sum(cell["text"] == "+" for key, cell in cells.items() if key[0] == f"triangle{n}") for n in (0, 1)]
    assert plus == [5, 15]


def test_later_steps_are_not_there_yet_and_the_steps_row_is_outlined():
    cells, others = drawn(1)
    now = {key[1:]: cell["value"] for key, cell in cells.items() if key[0] == "triangle1"}
    assert [where for where, value in now.items() if value != "not there yet"] == [(0, 0), (1, 0), (1, 1)]
    frames = [row for row in others if row["kind"] == "chosen"]
    assert len(frames) == 2
    for number, frame in enumerate(frames):
        first, last = cells[f"triangle{number}", 1, 0], cells[f"triangle{number}", 1, 4]
        assert (frame["x"], frame["x2"]) == (first["x"], last["x2"])
        assert (frame["y"], frame["y2"]) == (first["y"], first["y2"])


def test_a_key_that_left_the_window_is_not_read():
    cells, _ = drawn(4, window=2)
    assert cells["triangle0", 4, 1]["what"] == f"4 1 {UNNEEDED}"
    assert cells["triangle0", 4, 3]["what"] == f"4 3 {KEPT}"


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_states_are_told_apart_and_their_marks_can_be_read(palette):
    cells, others = drawn(4, palette)
    fills = colours(palette)
    assert len({*fills.values()}) == len(fills)
    for cell in cells.values():
        one, other = sorted(luminance(channels(cell[name])[None])[0] for name in ("fill", "ink"))
        assert (other + 0.05) / (one + 0.05) >= 4.5
    assert {row["text"] for row in others if row["kind"] == "label"} >= {*LEGEND.values(), *NAMES, "with", "without"}


def test_many_long_words_fit_the_page():
    names = ["extraordinarily"] * 16
    picture = triangles([Triangle("a", states(16)), Triangle("b", states(16))], names, 0, lambda *_: "", LEGEND, LIGHT)
    assert picture.spec["width"] <= 824
    assert min(row for row in picture.table["size"] if row) >= 11
