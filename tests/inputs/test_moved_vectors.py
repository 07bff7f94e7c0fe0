"""Another vector for a word: the least change of a matrix, by hand and against torch."""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.inputs.moved_vectors import find_vector_source, least_change
from attention_core.record.errors import AttentionError


def random_numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).numpy()


def test_by_hand():
    moved = least_change(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([3.0, 1.0]), np.array([10.0, -20.0]))
    assert moved.tolist() == [[4.0, -4.0], [4.0, 2.0]]  # W + (3, 1) (10, -20) / 10
    assert (np.array([3.0, 1.0]) @ moved).tolist() == [16.0, -10.0]  # (6, 10) + (10, -20)


def test_it_is_the_least_change_that_torch_finds():
    matrix, x, change = random_numbers(5, 3), random_numbers(5, seed=1), random_numbers(3, seed=2)
    row = torch.from_numpy(x)[None]
    least = torch.linalg.lstsq(row, torch.from_numpy(change)[None], driver="gelsd").solution  # of least norm
    assert np.allclose(least_change(matrix, x, change) - matrix, least.numpy(), atol=1e-9)
    assert np.allclose(torch.linalg.pinv(row).numpy() @ change[None], least.numpy(), atol=1e-12)


def test_another_word_moves_by_what_it_has_in_common():
    x, other, change = np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 5.0]), np.array([4.0, -2.0])
    moved = least_change(np.zeros((3, 2)), x, change)
    assert (other @ moved).tolist() == [2.0, -1.0]  # x . other / x . x = 1/2


def test_the_columns_of_other_heads_stay():
    matrix = random_numbers(5, 6)
    moved = least_change(matrix, random_numbers(5, seed=1), np.array([1.0, 2.0]), first=2)
    stay = [0, 1, 4, 5]
    assert np.array_equal(moved[:, stay], matrix[:, stay]) and not np.allclose(moved, matrix)


def test_nothing_given_is_written_into():
    matrix, x = random_numbers(3, 2), random_numbers(3, seed=1)
    kept = matrix.copy()
    least_change(matrix, x, np.ones(2))
    assert np.array_equal(matrix, kept)


def test_an_x_of_zeros_is_refused():
    with pytest.raises(AttentionError) as refused:
        least_change(np.ones((3, 2)), np.zeros(3), np.ones(2))
    assert refused.value.code == "zero_vector"


@pytest.mark.parametrize(
    ("config", "role", "kind"),
    [
        (AttentionConfig(heads=2), "q", "product"),
        (AttentionConfig(heads=2), "v", "same"),
        (AttentionConfig(heads=2, positions=(("rope", {}),)), "q", "turned"),
        (AttentionConfig(heads=2, positions=(("sinusoidal", {}),)), "k", "product"),
    ],
)
def test_where_vectors_come_from(config, role, kind):
    weights = Weights(w_q=torch.eye(4), w_k=torch.eye(4), b_q=torch.ones(4))
    trace = attend(torch.eye(4), weights=weights, config=config)
    source = find_vector_source(trace, role)
    assert source.kind == kind
    if kind == "product":
        assert source.weight == f"w_{role}" and trace.step(source.source).value.shape == (1, 4, 4)


def test_given_vectors_are_their_own_source():
    trace = attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3))
    assert {find_vector_source(trace, role).kind for role in "qkv"} == {"given"}
