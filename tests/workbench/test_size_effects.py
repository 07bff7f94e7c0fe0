"""Other heads or widths: a line at the control says what became of the matrices, and it is true."""

import numpy as np
import pytest

from pages.site.words import strip_markup
from tests.screen.driver import Screen

START = "The numbers of W_q, W_k, W_v stay; "


def told(screen):
    """The line, where there is one."""
    marks = ("The numbers of ", "the old numbers stay", "what fits stays", "W_a:", "new numbers", "的数值不变")
    captions = map(strip_markup, screen.captions())
    return [caption for caption in captions if any(mark in caption for mark in marks)]


def matrix(screen, name):
    return np.array(screen.numbers(name)).squeeze()


@pytest.mark.parametrize(
    "link, heads, expected",
    [
        ({}, 4, START + "each head now reads 1 of the 4 columns, previously 2."),  # built by hand
        ({}, 1, START + "each head now reads 4 of the 4 columns, previously 2."),
        (
            {"text": "hello there", "x": "1,2,3;4,5,6"},
            4,
            START + "each head now reads 1 of the 4 columns, previously 2.",
        ),
        ({"ex": "learned_copy"}, 4, START + "each head now reads 8 of the 32 columns, previously 16."),
        ({"w_q": "~0.0=9"}, 4, START + "each head now reads 1 of the 4 columns, previously 2."),  # edited
        ({"ex": "one_query"}, 2, "The numbers of q, k stay; each head now reads 4 of the 8 columns, previously 8."),
    ],
)
def test_the_same_numbers_are_cut_for_other_heads(link, heads, expected):
    screen = Screen(**link, lang="en")
    names = [name for name in ("w_q", "w_k", "q", "k") if name in screen.flow()["steps"] and not link.get("ex")]
    before = {name: matrix(screen, name) for name in names if name.startswith("w_")}
    (line,) = told(screen.set("heads", heads))
    assert line.startswith(expected)
    for name, numbers in before.items():
        assert np.array_equal(matrix(screen, name), numbers)


def test_rows_of_w_o_are_told_as_rows():
    (line,) = told(Screen(lang="en").set("heads", 4))
    assert line.endswith("The numbers of W_o stay; each head now has 1 of the 4 rows, previously 2.")


@pytest.mark.parametrize(
    "link, expected",
    [
        ({}, "W_q, W_k, W_v, W_o: the old numbers stay; the new ones are zero."),
        ({"w_q": "~0.0=9"}, "W_q, W_k, W_v, W_o: the old numbers stay; the new ones are zero."),
        ({"x": "1,2,3;4,5,6", "seed": "7"}, "W_q, W_k, W_v, W_o: new numbers, drawn with seed 7."),
        ({"ex": "eight_heads", "heads": "2"}, "W_q: the old numbers stay; the new ones were drawn with seed 1."),
    ],
)
def test_heads_of_a_chosen_width_keep_theirs_and_new_ones_are_told(link, expected):
    screen = Screen(**link, d_k="2", d_v="2", lang="en")
    (line,) = told(screen.set("heads", 4))
    assert line.startswith(expected)


def test_shared_keys_leave_the_other_heads_out_and_come_back():
    screen = Screen(lang="en").set("kv_heads", 1)
    assert told(screen) == ["W_k, W_v: what fits stays (heads 1, 2 numbers wide); the rest is left out."]
    assert told(screen.set("kv_heads", 2)) == ["W_k, W_v: the new numbers are those of the example."]


@pytest.mark.parametrize(
    "score, expected",
    [
        ("additive", "W_aq, W_ak, v_a: new numbers, drawn with seed 0."),
        ("general", "W_a: the identity, in its new size."),
    ],
)
def test_the_scores_own_matrices_are_told(score, expected):
    (line,) = told(Screen(score=score, lang="en").set("heads", 1))
    assert line.endswith(expected)


def test_an_edited_matrix_keeps_its_numbers_at_their_heads():
    screen = Screen(d_k="2", d_v="2", lang="en", w_q="~0.0=9;0.2=8").set("heads", 4)
    assert told(screen) == ["W_q, W_k, W_v, W_o: the old numbers stay; the new ones are zero."]
    assert screen.link()["w_q"] == "~0.0=9;0.2=8"


def test_the_line_goes_with_the_next_change_and_stands_in_chinese_too():
    screen = Screen(ex="en_it", lang="zh").set("heads", 4)
    assert told(screen)[0].startswith("W_q、W_k、W_v 的数值不变；每个头现在读取 4 列中的 1 列，之前是 2 列。")
    assert not told(screen.set("scale", "off"))
    assert not told(Screen(heads="4", lang="en"))


def test_undo_and_redo_say_nothing_of_sizes_that_they_bring_back():
    screen = Screen().set("heads", 4)
    assert told(screen)
    assert not told(screen.press("undo")) and not told(screen.press("redo"))
