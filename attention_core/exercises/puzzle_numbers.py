"""The numbers of a run in goals and bounds of puzzles; some compare it with the starting run."""

from collections.abc import Mapping
from functools import cache

import torch
from torch import Tensor

from attention_core.analysis.head_contributions import with_contributions
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import RunNumber
from attention_core.record.trace import Trace


# ---- attention -------------------------------------------------------------------------------------------------------
def share_of_key(head: int, query: int, key: int) -> RunNumber:
    """Return a function for the weight that a query gives to a key."""
    return lambda trace, start: trace["weights"][0, head, query, key]


def largest_share(head: int) -> RunNumber:
    """Return a function for the largest of all weights of a head."""
    return lambda trace, start: trace["weights"][0, head].amax()


def typical_share(head: int, pairs: Mapping[int, int]) -> RunNumber:
    """Return a function for the geometric mean of weights, each of a query and its key."""
    queries = [*pairs]
    keys = [*pairs.values()]
    return lambda trace, start: geometric_mean(trace["weights"][0, head, queries, keys])


def typical_share_of_same(trace: Trace, start: Trace) -> Tensor:
    """Compute the geometric mean of the weights that words give to themselves, at all places of the same word."""
    words = trace.labels["T"]
    rows = []
    for query_word in words:
        rows.append([float(query_word == key_word) for key_word in words])
    is_same = torch.tensor(rows, dtype=torch.float64)  # (T, S)
    weights = trace["weights"][0, 0]  # (T, S)
    shares = (weights * is_same).sum(-1)  # (T, S) -> (T,)
    return geometric_mean(shares)


def geometric_mean(shares: Tensor) -> Tensor:
    """Compute the geometric mean: one share near 0 brings it near 0."""
    return shares.log().mean().exp()


# ---- outputs ---------------------------------------------------------------------------------------------------------
def distance_from_word(query: int, word: int) -> RunNumber:
    """Return a function for the distance between the output of a query and the vector of a word."""
    return lambda trace, start: euclidean_distance(trace["output"][0, query], trace["x"][0, word])


def distance_from_zero(trace: Trace, start: Trace) -> Tensor:
    """Measure the distance of the output of all words from 0."""
    output = trace["output"]
    return euclidean_distance(output, torch.zeros_like(output))


def distance_from_full_width(trace: Trace, start: Trace) -> Tensor:
    """Measure the distance between the output of all words and their output at full width."""
    return euclidean_distance(trace["output"], full_width_output())


@cache
def full_width_output() -> Tensor:
    """Compute the output of the sentence with both numbers of each query."""
    return EXAMPLES["en_it"].run()["output"]


def euclidean_distance(one: Tensor, other: Tensor) -> Tensor:
    """Compute the root of the sum of squared differences: it falls with each of them, not only with the largest."""
    differences = one - other
    return differences.pow(2).sum().sqrt()


def largest_contribution(head: int) -> RunNumber:
    """Return a function for the largest magnitude that a head adds to the output."""
    return lambda trace, start: with_contributions(trace)["contributions"][0, head].abs().amax()


# ---- counts of changes -----------------------------------------------------------------------------------------------
def query_width(trace: Trace, start: Trace) -> Tensor:
    """Return the width of a head's query."""
    return torch.tensor(trace.step("q").shape[-1])


def count_changed_numbers(*names: str) -> RunNumber:
    """Return a function for the count of numbers in some matrices that differ from the start."""

    def count(trace: Trace, start: Trace) -> Tensor:
        return sum((trace[name] != start[name]).sum() for name in names)

    return count


def count_changed_sizes(*names: str) -> RunNumber:
    """Return a function for the count of numbers whose magnitude differs from the start, not only their sign."""

    def count(trace: Trace, start: Trace) -> Tensor:
        return sum((trace[name].abs() != start[name].abs()).sum() for name in names)

    return count


def count_changed_rows(name: str) -> RunNumber:
    """Return a function for the count of rows of a matrix that differ from the start."""
    return lambda trace, start: (trace[name] != start[name]).any(-1).sum()


def largest_number(name: str, columns: slice) -> RunNumber:
    """Return a function for the largest magnitude in some columns of a matrix."""
    return lambda trace, start: trace[name][:, columns].abs().amax()
