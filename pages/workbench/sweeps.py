"""The settings that can be swept over several values, the figures under their runs, and the formats of both.

A figure is a function `figure(setup, trace, selection)` that returns one number. `trace` is the swept run; `setup` is
the Setup on the screen, with whose run some figures compare `trace`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
from attention_core.record.number_text import format_fixed, format_grouped, format_signed, format_small, format_term
from pages.runs.cache import trace_for
from pages.runs.run_inputs import RunInputs
from pages.session.labels import Selection
from pages.setup.setup import Setup
from pages.site.words import has, say
from pages.workbench import sweep_values
from pages.workbench.sweep_values import (
    SetupChange,
    SweptValue,
    list_swept_parameters,
    make_field_change,
    make_field_getter,
    make_size_getter,
)


# ---- figures ---------------------------------------------------------------------------------------------------------
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


# ---- the settings ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sweep:
    """A setting that can be swept.

    values: returns the values to sweep, () if the setting has no effect here. now: returns the current value. change:
    returns the changed fields of a Setup. figure: returns a number of a run, which may be a comparison with the run on
    the screen. format_figure, format_value: format a figure and a value.
    """

    values: Callable[[Setup, Trace, RunInputs], Sequence[SweptValue]]
    now: Callable[[Setup, Trace, RunInputs], SweptValue | None]
    change: Callable[[Setup, SweptValue], SetupChange]
    figure: Callable[[Setup, Trace, Selection], float]
    format_figure: Callable[[float], str] = format_fixed
    format_value: Callable[[SweptValue], str] = str


def list_swept_values(sweep: Sweep, setup: Setup, trace: Trace, inputs: RunInputs, most: int) -> list[SweptValue]:
    """Returns at most `most` values of a sweep, the current one included."""
    values = list(sweep.values(setup, trace, inputs))
    now = sweep.now(setup, trace, inputs)
    if values and now is not None and now not in values:
        values.append(now)
        values.sort()
    return thin_values(values, now, most)


def thin_values(values: Sequence[SweptValue], kept: SweptValue | None, most: int) -> list[SweptValue]:
    """Returns at most `most` of the values, evenly spaced, with the first, the last and `kept`.

    >>> thin_values(range(13), 5, 5), thin_values("ab", None, 5)
    ([0, 3, 5, 9, 12], ['a', 'b'])
    """
    if len(values) <= most:
        return list(values)
    last = len(values) - 1
    places = [round(number * last / (most - 1)) for number in range(most)]
    kept_place = values.index(kept) if kept in values else places[0]
    if kept_place not in places:
        between = range(1, most - 1)
        nearest = min(between, key=lambda number: abs(places[number] - kept_place))
        places[nearest] = kept_place
    return [values[place] for place in places]


def make_change(sweep: Sweep, setup: Setup, trace: Trace, inputs: RunInputs, value: SweptValue) -> SetupChange:
    """Returns the changed fields of a Setup for a value of its setting; {} for the current value.

    The current value is not set explicitly: a width that follows from the matrices would then be fixed, and would cut
    other matrices.
    """
    if value == sweep.now(setup, trace, inputs):
        return {}
    return sweep.change(setup, value)


# ---- formats ---------------------------------------------------------------------------------------------------------
def format_plainly(value: float) -> str:
    """Formats a number without trailing zeros."""
    return f"{value:g}"


def format_one_decimal(value: float) -> str:
    """Formats a number with one decimal, because a count of keys may be a mean."""
    return format_fixed(value, 1)


def format_signed_decimal(value: float) -> str:
    """Formats a number with its sign and one decimal; the sign of an offset is its direction."""
    return format_signed(value, digits=1)


def name_precision(name: str) -> str:
    """Returns the name of a number format on the page."""
    return say(f"dtype.{name}")


SWEEPS = {
    "temperature": Sweep(
        sweep_values.temperature_values,
        make_field_getter("temperature"),
        make_field_change("temperature"),
        row_perplexity,
        format_one_decimal,
        format_plainly,
    ),
    "d_k": Sweep(
        sweep_values.width_values,
        make_size_getter("d_k"),
        sweep_values.with_width,
        largest_query_weight,
    ),
    "heads": Sweep(
        sweep_values.head_count_values,
        make_size_getter("H"),
        sweep_values.with_heads,
        distance_between_heads,
    ),
    "window": Sweep(
        sweep_values.window_values,
        sweep_values.get_window,
        sweep_values.with_window,
        count_kept_pairs_of_head,
        format_grouped,
    ),
    "offset": Sweep(
        sweep_values.offset_values,
        sweep_values.get_causal_offset,
        sweep_values.with_causal_offset,
        count_kept_pairs_of_head,
        format_grouped,
        format_term,
    ),
    "neighbour": Sweep(
        sweep_values.neighbour_values,
        sweep_values.get_neighbour,
        sweep_values.with_neighbour,
        mean_key_offset,
        format_signed_decimal,
        format_term,
    ),
    "seed": Sweep(
        sweep_values.seed_values,
        make_field_getter("seed"),
        make_field_change("seed"),
        mean_row_distance,
    ),
    "dtype": Sweep(
        sweep_values.precision_values,
        make_field_getter("dtype"),
        make_field_change("dtype"),
        weight_rounding_error,
        format_small,
        name_precision,
    ),
    **{
        name: Sweep(
            swept.values,
            swept.now,
            swept.change,
            largest_query_weight,
            format_value=swept.format_value,
        )
        for name, swept in list_swept_parameters()
    },
}


def name_sweep(name: str) -> str:
    """Returns the display name of a swept setting; that of a mechanism's parameter is the name of its control."""
    key = f"film.name.{name}"
    return say(key) if has(key) else say(f"parameter.{name}")


def describe_figure(name: str, query: str) -> str:
    """Returns the caption of a sweep's figures. query: the selected word."""
    key = f"film.figure.{name}"
    return say(key if has(key) else "film.figure.d_k", query=query)
