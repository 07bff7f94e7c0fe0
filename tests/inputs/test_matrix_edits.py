"""The value of a matrix and its text: exact there and back, short, and no other text is a matrix."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_core.inputs.matrix_edits import (
    changed_cells,
    drop_outside_cells,
    edited_matrix,
    pack_matrix,
    random_rows,
    scale_matrix,
    shorten_matrix,
)
from attention_core.inputs.matrix_link import from_short_text, read_matrix, write_matrix
from attention_core.inputs.matrix_text import from_text, to_text
from attention_core.record.errors import AttentionError

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-5, 5).map(float)
SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=7)


def to_short_text(matrix, base):
    """The text of the shortest value of a matrix."""
    return write_matrix(shorten_matrix(matrix, base))


def matrices(shape):
    return arrays(np.float64, shape, elements=NUMBERS)


@st.composite
def pairs(draw):
    """A matrix and a base of the same shape that agree in some cells."""
    base = draw(matrices(draw(SHAPES)))
    mine, kept = draw(matrices(base.shape)), draw(arrays(bool, base.shape))
    return np.where(kept, base, mine), base


@given(pairs())
@example((np.array([[0.1, -2.2250738585072014e-308]]), np.zeros((1, 2))))
def test_what_was_shortened_comes_back_exactly(pair):
    matrix, base = pair
    text = to_short_text(matrix, base)
    np.testing.assert_array_equal(from_short_text(text, base), matrix, strict=True)
    assert len(text) <= len(to_text(matrix))


@pytest.mark.parametrize("text", ["1.0,2;3,4", "01,2", "1e2", "~0.1=2.50", "~1.0=1;0.0=2", "random.007~", "+1,2"])
def test_a_link_that_is_spelled_otherwise_stays_as_it_is(text):
    base = np.full((2, 2), 7.0)
    value = read_matrix(text)
    plain = replace(value, spelling="")
    assert write_matrix(value) == text
    np.testing.assert_array_equal(edited_matrix(value, base), from_short_text(text, base))
    np.testing.assert_array_equal(edited_matrix(plain, base), from_short_text(text, base))


def test_equal_numbers_are_equal_values():
    assert pack_matrix(torch.eye(2)) == pack_matrix([[1, 0], [0, 1]]) == read_matrix("1,0;0,1")
    assert len({pack_matrix([[0.0, 1]]), read_matrix("0,1"), pack_matrix([[-0.0, 1]]), pack_matrix([[0.0], [1]])}) == 3
    assert read_matrix("~0.0=0") != read_matrix("~0.0=-0")
    with pytest.raises(ValueError, match="read-only"):
        pack_matrix([[1.0]]).packed.array()[0, 0] = 2


def test_a_mask_of_fewer_tokens_keeps_the_cells_that_fit():
    for text, kept in [
        ("~0.1=0;2.0=0;0.2=0;1.1=0", "~0.1=0;1.1=0"),
        ("~2.0=nothing;0.1=0", "~0.1=0"),  # a number that is none, outside
        ("~2.0=0;0.1=nothing", "~0.1=nothing"),
        ("1,0;0,1", "1,0;0,1"),
    ]:
        assert write_matrix(drop_outside_cells(read_matrix(text), (2, 2))) == kept


@pytest.mark.parametrize("shape", [(1, 512), (512, 15), (16, 512)])
def test_what_is_packed_is_what_its_text_says(shape):
    matrix = np.random.default_rng(0).standard_normal(shape) * 1e5
    value = pack_matrix(matrix)
    np.testing.assert_array_equal(value.packed.array(), from_text(write_matrix(value)), strict=True)


@pytest.mark.parametrize(
    "array", [np.ones(3), np.ones((1, 0)), np.ones((513, 1)), [[np.nan]], [[2e6]], np.full((512, 512), 0.5), 3.0]
)
def test_what_no_text_can_hold_is_refused_alike(array):
    with pytest.raises(AttentionError) as by_text:
        to_text(np.asarray(array), "w_q")
    with pytest.raises(AttentionError) as by_value:
        pack_matrix(array, "w_q")
    assert (by_value.value.code, by_value.value.values) == (by_text.value.code, by_text.value.values)


@given(matrices(SHAPES), matrices(SHAPES))
def test_another_shape_or_no_base_is_written_whole(matrix, base):
    assert to_short_text(matrix, None) == to_text(matrix)
    assume(matrix.shape != base.shape)
    assert to_short_text(matrix, base) == to_text(matrix)
    np.testing.assert_array_equal(from_short_text(to_text(matrix), base), matrix, strict=True)


def test_one_changed_cell_is_one_short_text():
    base = np.linspace(-1, 1, 30).reshape(5, 6)
    matrix = base.copy()
    matrix[4, 2] = 7.5
    assert to_short_text(matrix, base) == "~4.2=7.5"
    assert changed_cells(matrix, base) == [(4, 2)]
    assert to_short_text(base, base) == "~"
    assert changed_cells(base, base) == []


def test_a_matrix_with_two_digit_indices():
    base = np.zeros((64, 512))
    matrix = base.copy()
    matrix[63, 511] = -0.25
    matrix[0, 100] = 1e-7
    assert to_short_text(matrix, base) == "~0.100=1e-07;63.511=-0.25"
    assert np.array_equal(from_short_text("~0.100=1e-07;63.511=-0.25", base), matrix)


def test_the_base_is_left_as_it_was():
    base = np.ones((2, 2))
    result = edited_matrix(read_matrix("~0.0=5"), base)
    assert result[0, 0] == 5 and base[0, 0] == 1
    same = edited_matrix(read_matrix("~"), base)
    same[0, 0] = 9
    assert base[0, 0] == 1


@pytest.mark.parametrize(
    "text, code",
    [
        ("~;", "edit_form"),
        ("~0.0", "edit_form"),
        ("~0.0=", "edit_form"),
        ("~0.0=1;", "edit_form"),
        ("~=1", "edit_form"),
        ("~0,0=1", "edit_form"),
        ("~-1.0=1", "edit_form"),
        ("~2.0=1", "edit_form"),
        ("~0.3=1", "edit_form"),
        ("~9999.0=1", "edit_form"),
        ("~0.0=1=2", "not_a_number"),
        ("~0.0=1,2", "edit_form"),
        ("~0.0= 1", "not_a_number"),
        ("~0.0=nan", "not_a_number"),
        ("~0.0=inf", "not_a_number"),
        ("~0.0=1e999", "cell_not_finite"),
        ("~0.0=1e7", "too_large"),
        ("~0.0=1/2", "not_a_number"),
        ("~0.0=" + "1" * 31, "edit_form"),
        ("~０.0=1", "edit_form"),
        ("~0.0=١", "not_a_number"),
        ("", "matrix_empty"),
        ("1,2;3", "ragged"),
        ("1 2", "not_a_number"),
        ("1," * 600, "too_many_columns"),
    ],
)
def test_other_texts_are_refused(text, code):
    with pytest.raises(AttentionError) as refused:
        edited_matrix(read_matrix(text), np.zeros((2, 3)), "w_q")
    assert refused.value.code == code
    assert refused.value.values["name"] == "w_q"


def test_changed_cells_need_a_matrix_to_change():
    with pytest.raises(AttentionError) as refused:
        edited_matrix(read_matrix("~0.0=1"), None)
    assert refused.value.code == "edit_form"


@given(st.text(max_size=40) | st.text("~.=;,-+0123456789eE", max_size=40), matrices((2, 3)))
def test_any_text_is_a_matrix_or_a_refusal(text, base):
    for given_text in (text, "~" + text):
        value = read_matrix(given_text)
        assert write_matrix(value) == given_text
        try:
            matrix = from_short_text(given_text, base)
        except AttentionError as error:
            with pytest.raises(AttentionError) as again:
                edited_matrix(value, base)
            assert (again.value.code, again.value.values) == (error.code, error.values)
            continue
        np.testing.assert_array_equal(edited_matrix(value, base), matrix, strict=True)
        assert matrix.dtype == np.float64 and np.isfinite(matrix).all() and (np.abs(matrix) <= 1e6).all()
        if given_text.startswith("~"):
            assert matrix.shape == base.shape
        else:
            assert np.array_equal(matrix, from_text(given_text))


def test_a_number_that_no_link_can_hold_is_refused_when_it_is_written():
    for number in (np.nan, np.inf, 1e308, -1e7):
        with pytest.raises(AttentionError):
            to_short_text(np.array([[number, 0.0]]), np.zeros((1, 2)))


def test_a_base_beyond_the_limits_stays_out_of_links():
    with pytest.raises(AttentionError) as refused:
        edited_matrix(read_matrix("~0.0=1"), np.array([[0.0, 1e300]]))
    assert refused.value.code == "edit_form"


def test_a_matrix_times_a_factor_is_read_back_exactly():
    matrix = np.array([[0.1, -3.0], [0.0, 1e4]])
    assert np.array_equal(edited_matrix(scale_matrix(matrix, 5), None), 5 * matrix)
    larger = scale_matrix(np.array([[3.0, -3], [0, 0.25]]), 12_000, "w_q")
    assert write_matrix(larger) == "36000,-36000;0,3000"
    with pytest.raises(AttentionError) as caught:
        scale_matrix(matrix, 1000)
    assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    ("text", "drawn", "width", "left"),
    [
        ("~", (), None, ()),
        ("~", (0, 2), None, (0, 2)),
        ("~0.0=9;0.1=9", (0, 2), None, (0, 2)),  # a third number is left
        ("~0.0=9;0.1=9;0.2=9", (0, 2), None, (2,)),
        ("~0.0=9;0.1=9", (0, 2), 2, (2,)),  # the third was no random one
        ("random.7~", (), None, (0, 1, 2)),
        ("random.7~1.0=9;1.1=9;1.2=9", (0,), None, (0, 2)),
        ("identity~", (0, 1, 2), None, ()),
        ("zeros~0.0=1", (0, 1, 2), None, ()),
        ("0.5,0.25,0.75;7,8,9;1,2,3", (0, 1, 2), None, (0,)),  # one row as it was, and a number of another
        ("0.5,0.25;7,8;1,2", (0, 1, 2), None, ()),
    ],
)
def test_in_which_rows_random_numbers_are_left(text, drawn, width, left):
    base = np.array([[0.5, 0.25, 0.75], [7.0, 1.5, 2.5], [3.5, 4.5, 5.5]])
    value = read_matrix(text)
    matrix = edited_matrix(value, base, "w_q")
    assert random_rows(matrix, value, base, drawn, "w_q", width) == {*left}
    assert random_rows(matrix, value, None, drawn, "w_q", width) == frozenset()
