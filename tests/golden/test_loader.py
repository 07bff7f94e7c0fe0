"""The adapter reads where the queries stand from what a file says; the expected offsets are counted by hand."""

import pytest

from tests.golden import loader

UPPER_LEFT = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
LOWER_RIGHT = [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
WIDE = [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
PADDED = [[[1, 0, 0, 0, 0]] * 4, [[1, 1, 0, 0, 0]] * 4]  # of 5 keys 1 and 2 are real: no row reaches its query


def offset(mask, T, S, **given):
    return loader.causal_offset({"mask": mask, "mask_kind": "causal"} | given, T, S)


@pytest.mark.parametrize(
    ("mask", "T", "S", "given", "expected"),
    [
        (UPPER_LEFT, 5, 3, {}, 0),
        (LOWER_RIGHT, 5, 3, {}, None),
        (WIDE, 3, 5, {}, 2),
        (WIDE, 3, 5, {"offset": 1}, 1),
        ([[1, 0], [1, 1]], 2, 2, {}, None),
        (PADDED, 4, 5, {"mask_kind": "causal+padding", "lengths": [1, 2]}, None),
        ([WIDE, WIDE], 3, 5, {"mask_kind": "causal+padding", "lengths": [5, 4]}, 2),
        (None, 3, 5, {}, None),
    ],
)
def test_the_offset_is_read_off_the_first_row(mask, T, S, given, expected):
    assert offset(mask, T, S, **given) == expected


@pytest.mark.parametrize(
    ("queries", "keys", "T", "S", "expected"),
    [
        ([0, 1, 2, 3, 4], [0, 1, 2], 5, 3, 0),
        ([2, 3, 4], [0, 1, 2, 3, 4], 3, 5, 2),
        ([0, 1, 2], [0, 1, 2], 3, 3, None),
        ([7, 8, 9], [7, 8, 9], 3, 3, None),
        (None, None, 3, 3, None),
    ],
)
def test_positions_that_are_given_say_where_the_queries_stand(queries, keys, T, S, expected):
    given = {"q_positions": queries, "k_positions": keys, "mask_kind": "causal"}
    assert loader.query_start("case", given, T, S) == expected
