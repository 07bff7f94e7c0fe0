"""A matrix that is pasted into cells is read as any that is pasted."""

import pytest

from attention_core.record.errors import AttentionError
from pages.components import number_grid
from pages.components.messages import UnfitMessage, read
from pages.session.cell_clicks import read_typed_cells
from tests.screen.driver import Screen


def pasted(text, row=1, column=0):
    return [{"row": row, "column": column, "text": text, "pasted": True}]


@pytest.mark.parametrize(
    "text",
    ["1\t2\n3\t4", "[[1, 2], [3, 4]]", "tensor([[1, 2],\n        [3, 4]])", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"],
)
def test_a_matrix_fills_the_cells_from_its_corner_on(text):
    cells = read_typed_cells(pasted(text), 3, 2, "w_k")
    assert [(row, column, number.strip()) for row, column, number in cells] == [
        (1, 0, "1"),
        (1, 1, "2"),
        (2, 0, "3"),
        (2, 1, "4"),
    ]


@pytest.mark.parametrize(
    "text, row, column, code",
    [
        ("1\t2", 0, 1, "too_many_columns"),
        ("1\n2", 2, 0, "too_many_rows"),
        ("[[1, 2]", 0, 0, "brackets"),
        ("1 2 ... 3", 0, 0, "numbers_left_out"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_dropped(text, row, column, code):
    with pytest.raises(AttentionError) as caught:
        read_typed_cells(pasted(text, row, column), 3, 2, "w_k")
    assert caught.value.code == code


@pytest.mark.parametrize(
    "sent", [None, 7, "x", {}, [None], [{"row": 0}], pasted(None), pasted("1", 9), pasted("1", "a")]
)
def test_a_forged_paste_is_left_out(sent):
    try:
        message = {"version": "", "serial": 1, "cells": sent}
        cells = read(number_grid.sends["typed"], message, {"rows": 3, "columns": 2})["cells"]
    except UnfitMessage:
        cells = ()
    assert read_typed_cells(cells, 3, 2, "w_k") == []


def test_what_is_pasted_where_the_matrix_has_no_cell_any_more_is_left_out():
    assert read_typed_cells([*pasted("1", 9), *pasted("1", 0, 2)], 3, 2, "w_k") == []


def test_what_can_be_read_in_two_ways_is_asked_and_a_button_takes_one():
    screen = Screen(x="~")
    screen.set("x", "1,234\t5")
    (error,) = screen.errors()
    assert "1.234" in error and "1234" in error
    (button,) = (button for button in screen.at.button if button.label.endswith(": 1234 5"))
    screen.press(button.key)
    assert not screen.errors()
    assert screen.link()["x"] == "1234,5"
