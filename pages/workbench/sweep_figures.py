"""The figures under the runs of a sweep: functions `figure(setup, trace, selection)` that return one number.

`trace` is the swept run; `setup` is the Setup on the screen, with whose run some figures compare `trace`.
"""

from torch import Tensor

from attention_core import Trace
from attention_core.comparison.distances import total_variation
from attention_core.comparison.measures import (
    attention_perplexity,
    largest_precision_error,
    mean_offset,
    mean_pairwise_head_distance,
)
from attention_core.explanation.facts import count_allowed_pairs
from pages.runs.cache import trace_for
from pages.session.labels import Selection
from pages.setup.setup import Setup


def get_head_weights(trace: Trace, selection: Selection) -> Tensor:
    """Returns the weights (T, S) of the selected head, or of the last head if the run has fewer."""
    heads = trace["weights"][selection.batch]  # (H, T, S)
    last_head = len(heads) - 1
    return heads[min(selection.head, last_head)]


# ---- the row of the selected query -----------------------------------------------------------------------------------
def row_perplexity(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the perplexity of the selected query's weights: over how many keys its attention is spread."""
    row = get_head_weights(trace, selection)[selection.query]  # (S,)
    return attention_perplexity(row)


def largest_query_weight(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the largest weight of the selected query."""
    row = get_head_weights(trace, selection)[selection.query]  # (S,)
    return row.max().item()


# ---- heads and pairs -------------------------------------------------------------------------------------------------
def distance_between_heads(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the mean distance between the weights of two heads."""
    return mean_pairwise_head_distance(trace["weights"][selection.batch])


def count_kept_pairs_of_head(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns how many pairs of query and key the masks keep in the selected head."""
    last_head = trace.sizes()["H"] - 1
    pairs = count_allowed_pairs(trace, min(selection.head, last_head), selection.batch)
    return pairs.kept


def mean_key_offset(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the mean offset of the attended keys from their query, in positions after the query."""
    return mean_offset(get_head_weights(trace, selection))


# ---- differences of weights ------------------------------------------------------------------------------------------
def mean_row_distance(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the mean total variation between the rows of the selected head's weights and those on the screen."""
    weights = get_head_weights(trace, selection).double()
    weights_on_screen = get_head_weights(trace_for(setup), selection).double()
    distances = total_variation(weights, weights_on_screen)  # (T,)
    return distances.mean().item()


def weight_rounding_error(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the largest difference between a weight of any head and its value in float64."""
    exact = trace_for(setup.with_fields(dtype="float64"))
    return largest_precision_error(trace["weights"], exact["weights"])
