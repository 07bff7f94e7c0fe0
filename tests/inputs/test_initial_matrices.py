"""Random matrices to start from: the same on any machine, of the variance that keeps numbers readable; cut anew."""

import math
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.inputs.initial_matrices import random_matrix, recut_heads
from attention_core.record.errors import AttentionError


@pytest.mark.parametrize(
    "name, shape, seed, rows",
    [
        ("w_q", (4, 3), 1, [[0.12, -0.04, 0.25], [0.55, 0.5, 0.41], [-0.03, 0.77, -0.1], [0.08, 0.4, -0.15]]),
        ("w_k", (2, 5), 0, [[0.56, -1.7, 0.83, 0.69, -1.88], [-0.3, -1.01, -1.06, 0.13, -0.17]]),
        ("v_a", (1, 2), 999_999_999, [[-0.03, -0.4]]),
    ],
)
def test_the_same_numbers_on_every_machine(name, shape, seed, rows):
    assert random_matrix(name, shape, seed).tolist() == rows


def by_definition(name, shape, seed):
    """The same numbers worked out in whole numbers and fractions from the published bytes of BLAKE2b, without NumPy."""
    rows, columns = shape
    matrix = []
    for row in range(rows):
        line = []
        for column in range(columns):
            block, first = column // 5, column % 5 * 12
            drawn = blake2b(f"{seed}:{block}:{name}[{row}]".encode(), digest_size=60).digest()
            hundredths = math.floor(Fraction(100 * (sum(drawn[first : first + 12]) - 1530), 256) + Fraction(1, 2))
            line.append(round(hundredths / 100 / math.sqrt(rows) * 100) / 100)
        matrix.append(line)
    return matrix


@pytest.mark.parametrize("name, shape, seed", [("w_v", (4, 7), 3), ("w_o", (9, 5), 12), ("w_aq", (16, 11), 0)])
def test_the_numbers_are_what_the_definition_says(name, shape, seed):
    assert random_matrix(name, shape, seed).tolist() == by_definition(name, shape, seed)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**9))
def test_shape_and_two_decimals(rows, columns, seed):
    matrix = random_matrix("w_q", (rows, columns), seed)
    assert matrix.shape == (rows, columns) and matrix.dtype == np.float64
    assert all(number == round(number, 2) for number in matrix.flatten().tolist())


@pytest.mark.parametrize("rows", [1, 4, 16, 64, 256])
def test_the_variance_is_one_over_the_rows(rows):
    columns = 512
    numbers = np.concatenate([random_matrix(name, (rows, columns)).flatten() for name in ("w_q", "w_k", "w_v", "w_o")])
    count = numbers.size  # of n draws, mean and variance stray by about 1/sqrt(n) and sqrt(2/n) of the spread
    assert abs(numbers.mean()) * rows**0.5 < 5 / count**0.5
    assert numbers.var() * rows == pytest.approx(1, abs=5 * (2 / count) ** 0.5 + 1e-3)


def test_name_seed_and_row_each_make_other_numbers():
    matrices = [random_matrix(name, (3, 6), seed) for name in ("w_q", "w_k") for seed in (0, 1)]
    rows = [tuple(row) for matrix in matrices for row in matrix.tolist()]
    assert len(set(rows)) == len(rows) == 12
    assert np.array_equal(random_matrix("w_q", (3, 6), 0), matrices[0])


def test_a_narrower_matrix_is_the_beginning_of_a_wider_one():
    assert np.array_equal(random_matrix("w_q", (4, 9))[:, :4], random_matrix("w_q", (4, 4)))


@pytest.mark.parametrize("shape", [(2, 0), (2, 513)])
def test_an_impossible_width_is_refused(shape):
    with pytest.raises(AttentionError):
        random_matrix("w_q", shape)


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_each_head_that_stays_keeps_what_fits(rows, heads, width, count, wide, filled):
    """Every number says which head and column it stood in; what is new is 0, or the number of the fill."""
    matrix = np.array([[100.0 * h + d + 1 for h in range(heads) for d in range(width)]] * rows)
    fill = np.full((rows, count * wide), -7.0) if filled else None
    expected = [
        100.0 * h + d + 1 if h < heads and d < width else (-7.0 if filled else 0.0)
        for h in range(count)
        for d in range(wide)
    ]
    assert recut_heads(matrix, heads, (count, wide), fill).tolist() == [expected] * rows
    assert (fill is None) or (fill == -7.0).all()
