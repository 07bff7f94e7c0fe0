"""Matrices as text: every form people paste, every refusal with its place, exact round trips."""

import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_core.inputs.matrix_cells import MAX_CHARACTERS
from attention_core.inputs.matrix_text import from_text, parse_matrix, to_text
from attention_core.record.errors import AttentionError

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=NUMBERS)
TWO_BY_TWO = [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "text, rows",
    [
        # spreadsheets
        ("1\t2\n3\t4", TWO_BY_TWO),
        ("1\t2\r\n3\t4\r\n", TWO_BY_TWO),
        ("\ufeff1\t2\n\n 3 \t 4\n\n", TWO_BY_TWO),
        ("1,5\t2,0\n-0,25\t1e-3", [[1.5, 2], [-0.25, 0.001]]),
        ("1,234\t0,5", [[1.234, 0.5]]),  # the second comma settles the first
        ("0,125\t1", [[0.125, 1]]),  # no thousand begins with 0
        ("1,5;2,0\n3,25;4", [[1.5, 2], [3.25, 4]]),
        ("1;2\n3;4", TWO_BY_TWO),
        # typed
        ("1 2\n3 4", TWO_BY_TWO),
        ("1 2; 3 4", TWO_BY_TWO),
        ("1 2;\n3 4;", TWO_BY_TWO),
        ("1,2\n3,4", TWO_BY_TWO),
        ("1, 2\n 3 ,4", TWO_BY_TWO),
        ("1,2;3,4", TWO_BY_TWO),
        ("1,5;2,0", [[1, 5], [2, 0]]),
        ("1,2", [[1, 2]]),
        ("1\n2\n3", [[1], [2], [3]]),
        ("1;2;3", [[1], [2], [3]]),
        ("7", [[7]]),
        ("1/3 −2 +.5 5. 1E2 -1/4", [[1 / 3, -2, 0.5, 5, 100, -0.25]]),
        ("1 / 2, 3", [[0.5, 3]]),
        # programs
        ("[[1, 2], [3, 4]]", TWO_BY_TWO),
        ("[[1, 2],\n [3, 4],\n]", TWO_BY_TWO),
        ("[[1,\n2],\n\t[3,\n4,]]", TWO_BY_TWO),
        ("[1, 2],\n[3, 4]", TWO_BY_TWO),
        ("[1 2; 3 4]", TWO_BY_TWO),
        ("[1, 2; 3, 4];", TWO_BY_TWO),
        ("[1 2\n 3 4]", TWO_BY_TWO),
        ("[1, 2,\n 3, 4]", [[1, 2, 3, 4]]),
        ("[1]", [[1]]),
        ("array([[1., 2.],\n       [3., 4.]], dtype=float32)", TWO_BY_TWO),
        ("tensor([[1., 2.],\n        [3., 4.]], device='cuda:0', dtype=torch.float64)", TWO_BY_TWO),
    ],
)
def test_every_form_is_read(text, rows):
    matrix = parse_matrix(text)
    assert matrix.dtype == np.float64
    assert matrix.tolist() == rows


def test_what_numpy_and_torch_print_is_read_back():
    numbers = np.arange(120).reshape(2, 60) / 8 - 3  # rows so long that both wrap them
    assert np.array_equal(parse_matrix(str(numbers)), numbers)
    assert np.array_equal(parse_matrix(repr(numbers)), numbers)
    assert np.array_equal(parse_matrix(str(numbers.tolist())), numbers)
    assert np.array_equal(parse_matrix(str(torch.from_numpy(numbers))), numbers)


@pytest.mark.parametrize(
    "text, code, values",
    [
        ("", "matrix_empty", {}),
        (" \n\t\n", "matrix_empty", {}),
        ("[]", "matrix_empty", {}),
        ("[[]]", "matrix_empty", {}),
        ("1 2\n3 x", "not_a_number", {"row": 2, "column": 2, "given": "x"}),
        ("Anna fed", "not_a_number", {"row": 1, "column": 1, "given": "Anna"}),
        ("1\t\t3", "not_a_number", {"row": 1, "column": 2, "given": ""}),
        ("\t1\n2\t3", "not_a_number", {"row": 1, "column": 1, "given": ""}),
        ("1,2\n3 4", "not_a_number", {"row": 2, "column": 1, "given": "3 4"}),
        ("1 2 ... 9", "numbers_left_out", {"line": 1, "given": "..."}),
        ("1_000", "not_a_number", {"given": "1_000"}),
        ("0x10", "not_a_number", {}),
        ("1e", "not_a_number", {}),
        ("1/2/3", "not_a_number", {"given": "1/2/3"}),
        ("1/", "not_a_number", {}),
        ("- 1, 2", "not_a_number", {"given": "- 1"}),
        ("1 2#DIV/0!", "not_a_number", {"column": 2}),
        ("__import__('os')", "not_a_number", {"given": "__import__('os')"}),
        ("<script>alert(1)</script>", "not_a_number", {"given": "<script>alert(1)</sc…"}),
        ("1 \u202e2", "not_a_number", {"given": "⟨U+202E⟩2"}),
        ("1\t\ud800", "not_a_number", {"given": "⟨U+D800⟩"}),
        ("1,2,3\t4", "not_a_number", {"given": "1,2,3"}),
        ("1 nan", "cell_not_finite", {"row": 1, "column": 2, "given": "nan"}),
        ("-Inf", "cell_not_finite", {"given": "-Inf"}),
        ("−∞", "not_a_number", {"given": "−∞"}),
        ("1e999", "cell_not_finite", {"given": "1e999"}),
        ("1/0", "cell_not_finite", {}),
        ("1/1e999", "cell_not_finite", {}),
        ("1e300/1e-300", "cell_not_finite", {}),
        ("1\n1000001", "too_large", {"row": 2, "column": 1, "given": "1000001", "limit": 1_000_000}),
        ("-1e7", "too_large", {}),
        ("1 2\n3\n4 5", "ragged", {"lengths": "2, 1, 2"}),
        ("[[1, 2], []]", "ragged", {"lengths": "2, 0"}),
        ("1\n" * 513, "too_many_rows", {"given": 513, "limit": 512}),
        ("1 " * 513, "too_many_columns", {"given": 513, "limit": 512}),
        ("1" * 200_001, "matrix_text_too_long", {"given": 200_001, "limit": 200_000}),
        ("1,234\t5", "ambiguous_comma", {"row": 1, "column": 1, "given": "1,234"}),
        ("1\t2\n3.5\t2,5", "ambiguous_comma", {"row": 2, "column": 2, "given": "2,5"}),
        ("[[1, 2], [3, 4]", "brackets", {"given": "[[1, 2], [3, 4]"}),
        ("1, 2], [3, 4", "brackets", {}),
        ("][", "brackets", {}),
        ("[[[1, 2]], [[3, 4]]]", "several_matrices", {"given": "[0], [1]"}),
        ("[1, [2, 3]]", "brackets", {}),
        ("[[1, 2]] [[3, 4]]", "brackets", {}),
        ("array([[1, 2]]", "brackets", {}),
        ("array([1] 2)", "brackets", {}),
    ],
)
def test_refusals_name_the_place_and_what_was_given(text, code, values):
    with pytest.raises(AttentionError) as caught:
        parse_matrix(text, name="W_q")
    assert caught.value.code == code
    assert caught.value.values.items() >= values.items()
    assert "W_q" in str(caught.value)


def test_a_refusal_is_a_sentence():
    with pytest.raises(AttentionError) as caught:
        parse_matrix("1 2\n3 four", name="W_q")
    assert str(caught.value) == "W_q, row 2, column 2, must be a number: got “four”"


def test_the_limits_are_met():
    assert parse_matrix("1e6 -1000000").tolist() == [[1e6, -1e6]]
    assert parse_matrix(("1 " * 512 + "\n") * 64).shape == (64, 512)
    assert parse_matrix("1" + " " * (MAX_CHARACTERS - 1)).tolist() == [[1]]


@pytest.mark.parametrize(
    "piece", ["9", "[", "]", "[]", "[1", "1,", ",", ";", "\n", "\t", " ", "e", "1/", "-", ",\n", "1;\n"]
)
@pytest.mark.parametrize("end", ["", "x"])
def test_a_hostile_text_is_refused_in_time_that_grows_with_its_length(piece, end):
    begun = time.process_time()
    with pytest.raises(AttentionError) as caught:
        parse_matrix(piece * (MAX_CHARACTERS // len(piece) - 1) + end)
    assert time.process_time() - begun < 10  # a square of the length would take hours
    assert len(str(caught.value)) < 300


@given(st.text(st.sampled_from("0123456789.,;-−+eE/[]()\t\n naif\u202e")))
def test_any_text_gives_a_matrix_or_a_refusal(text):
    for read in (parse_matrix, from_text):
        try:
            matrix = read(text)
        except AttentionError:
            continue
        assert matrix.ndim == 2
        assert np.isfinite(matrix).all()


def same_bits(left, right):
    """Equal, also in the sign of a zero."""
    return left.shape == right.shape and left.tobytes() == right.tobytes()


@given(MATRICES)
def test_a_matrix_in_a_link_is_read_back_exactly(matrix):
    text = to_text(matrix)
    assert same_bits(from_text(text), matrix)
    assert set(text) <= set("0123456789.,;e-")  # nothing that a link would have to spell out


def test_few_digits():
    matrix = np.array([[1.0, -0.5], [0.1, -0.0]])
    assert to_text(matrix) == "1,-0.5;0.1,-0"
    assert to_text(torch.eye(2)) == "1,0;0,1"


@pytest.mark.parametrize("text", ["1 2", "1, 2", "−1", "1/3", "[1]", "1\t2", "1;", ";1", "1,", "nan", "1\n2", "x"])
def test_the_link_form_is_strict(text):
    with pytest.raises(AttentionError) as caught:
        from_text(text)
    assert caught.value.code == "not_a_number"


@pytest.mark.parametrize(
    "text, code",
    [
        ("", "matrix_empty"),
        ("1e999", "cell_not_finite"),
        ("1e7", "too_large"),
        ("1,2;3", "ragged"),
        ("1" * 200_001, "matrix_text_too_long"),
    ],
)
def test_the_link_form_is_bounded(text, code):
    with pytest.raises(AttentionError) as caught:
        from_text(text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "array, code",
    [
        (np.zeros(3), "rank"),
        (np.zeros((1, 2, 3)), "rank"),
        (np.zeros((2, 0)), "empty"),
        (np.zeros((513, 1)), "too_many_rows"),
        (np.array([[2e6]]), "too_large"),
        (np.array([[np.nan]]), "not_a_number"),
    ],
)
def test_no_link_is_made_that_cannot_be_opened(array, code):
    with pytest.raises(AttentionError) as caught:
        to_text(array)
    assert caught.value.code == code
