"""The settings that can be swept over several values, and the formats of these values and of the runs' figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_core import Trace
from attention_core.record.number_text import format_fixed, format_grouped, format_signed, format_small, format_term
from pages.runs.run_inputs import RunInputs
from pages.session.labels import Selection
from pages.setup.setup import Setup
from pages.site.words import has, say
from pages.workbench import sweep_figures, sweep_values
from pages.workbench.parameter_sweeps import list_swept_parameters
from pages.workbench.sweep_values import SetupChange, SweptValue, make_field_change, make_field_getter, make_size_getter


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
        sweep_figures.row_perplexity,
        format_one_decimal,
        format_plainly,
    ),
    "d_k": Sweep(
        sweep_values.width_values,
        make_size_getter("d_k"),
        sweep_values.with_width,
        sweep_figures.largest_query_weight,
    ),
    "heads": Sweep(
        sweep_values.head_count_values,
        make_size_getter("H"),
        sweep_values.with_heads,
        sweep_figures.distance_between_heads,
    ),
    "window": Sweep(
        sweep_values.window_values,
        sweep_values.get_window,
        sweep_values.with_window,
        sweep_figures.count_kept_pairs_of_head,
        format_grouped,
    ),
    "offset": Sweep(
        sweep_values.offset_values,
        sweep_values.get_causal_offset,
        sweep_values.with_causal_offset,
        sweep_figures.count_kept_pairs_of_head,
        format_grouped,
        format_term,
    ),
    "neighbour": Sweep(
        sweep_values.neighbour_values,
        sweep_values.get_neighbour,
        sweep_values.with_neighbour,
        sweep_figures.mean_key_offset,
        format_signed_decimal,
        format_term,
    ),
    "seed": Sweep(
        sweep_values.seed_values,
        make_field_getter("seed"),
        make_field_change("seed"),
        sweep_figures.mean_row_distance,
    ),
    "dtype": Sweep(
        sweep_values.precision_values,
        make_field_getter("dtype"),
        make_field_change("dtype"),
        sweep_figures.weight_rounding_error,
        format_small,
        name_precision,
    ),
    **{
        name: Sweep(
            swept.values,
            swept.now,
            swept.change,
            sweep_figures.largest_query_weight,
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
