"""Rows as the products that they are."""

import math

import pytest

from attention_core.explanation.projections import find_row_product
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup


def number(trace, ref):
    return trace[ref.step][ref.index].item()


@pytest.mark.parametrize("step, matrix", [("q", "w_q"), ("k", "w_k"), ("v", "w_v"), ("output", "w_o")])
@pytest.mark.parametrize("example", ["en_it", "en_colour", "eight_heads"])
def test_the_row_times_the_matrix_is_the_result(example, step, matrix):
    trace = trace_for(make_setup(example=example))
    at = (0, 2) if step == "output" else (0, 1, 2)
    product = find_row_product(trace, step, at)
    assert len(product.result) == trace.step(step).shape[-1]
    assert {ref.step for line in product.matrix for ref in line} == {matrix}
    row = [number(trace, ref) for ref in product.row]
    for column, ref in enumerate(product.result):
        weights = [number(trace, line[column]) for line in product.matrix]
        assert number(trace, ref) == pytest.approx(math.fsum(map(math.prod, zip(row, weights, strict=True))), abs=1e-9)


def test_the_second_head_reads_its_own_columns():
    product = find_row_product(trace_for(make_setup(example="en_it")), "q", (0, 1, 5))
    assert [ref.index for ref in product.matrix[0]] == [(0, 2), (0, 3)]
    assert [ref.index for ref in product.row] == [(0, 5, feature) for feature in range(4)]
