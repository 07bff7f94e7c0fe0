"""One setting at many values: which settings can be swept here, what each changes, and the figure of merit of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from attention_core import Trace
from attention_core.comparison.distances import total_variation
from attention_core.comparison.measures import (
    attention_perplexity,
    largest_precision_error,
    mean_offset,
    mean_pairwise_head_distance,
)
from attention_core.explanation.facts import count_allowed_pairs
from attention_core.inputs.handmade_heads import MAX_HEAD_OFFSET
from attention_core.mechanism.masks import MASKS
from attention_core.record.number_text import format_fixed, format_grouped, format_signed, format_small, format_term
from pages.runs.cache import trace_for
from pages.runs.run_inputs import RunInputs
from pages.runs.size_changes import make_size_changes
from pages.session.labels import Selection
from pages.setup.link_values import MAX_LINK_NUMBER as MOST_SEED
from pages.setup.mask_spec import write_mask
from pages.setup.setup import DTYPES, Setup, built_heads_of, config_of, input_mode_of
from pages.site.words import say
from pages.workbench.layer_controls import MAX_CHOSEN_HEAD_WIDTH, head_choices, offset_places, turn_head

SweptValue = float | int | str
MAX_SWEPT_VALUES = 9  # values of a sweep: as many small maps as stand in a line


@dataclass(frozen=True)
class Sweep:
    """A setting that can be swept.

    values: those that are worth a run; none where the setting does nothing here. now: the present one. change: what
    becomes of the Setup. figure: of a run, beside that of the Setup on the screen. told, written: how a value and a
    figure are shown.
    """

    values: Callable[[Setup, Trace, RunInputs], Sequence[SweptValue]]
    now: Callable[[Setup, Trace, RunInputs], SweptValue | None]
    change: Callable[[Setup, SweptValue], dict[str, object]]
    figure: Callable[[Setup, Trace, Selection], float]
    written: Callable[[float], str] = format_fixed
    told: Callable[[SweptValue], str] = str


def list_swept_values(sweep: Sweep, setup: Setup, trace: Trace, material: RunInputs, most: int) -> list[SweptValue]:
    """The values of a sweep, at most so many, the present one among them."""
    values, now = list(sweep.values(setup, trace, material)), sweep.now(setup, trace, material)
    if now is not None and now not in values and values:
        values = sorted([*values, now])
    return thin_values(values, now, most)


def thin_values(values: Sequence[SweptValue], kept: SweptValue | None, most: int) -> list[SweptValue]:
    """Some of many values, evenly far apart, with the first, the last and the one that is kept.

    >>> thin_values(range(13), 5, 5), thin_values("ab", None, 5)
    ([0, 3, 5, 9, 12], ['a', 'b'])
    """
    if len(values) <= most:
        return list(values)
    places = [round(n * (len(values) - 1) / (most - 1)) for n in range(most)]
    if kept in values and values.index(kept) not in places:
        at = values.index(kept)
        nearest = min(range(1, most - 1), key=lambda n: abs(places[n] - at))
        places[nearest] = at
    return [values[place] for place in places]


def make_change(sweep: Sweep, setup: Setup, trace: Trace, material: RunInputs, value: SweptValue) -> dict[str, object]:
    """What becomes of a Setup when its setting takes a value: nothing for the value that it has.

    A width that nobody chose follows from the matrices; chosen, the same width may cut them in another way.
    """
    return {} if value == sweep.now(setup, trace, material) else sweep.change(setup, value)


def get_head_weights(trace: Trace, look: Selection):
    """The weights of the head that is looked at, or of the last where there are fewer: (T, S)."""
    heads = trace["weights"][look.batch]
    return heads[min(look.head, len(heads) - 1)]


# ---- temperature and widths: how sharp the chosen query's row is -----------------------------------------------------
def temperature_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """None where even weights stand in the place of the softmax's."""
    return () if "even" in setup.wiring else (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def width_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """None where no projection makes q."""
    return (1, 2, 3, 4, 8, 16, 32, 64, MAX_CHOSEN_HEAD_WIDTH) if {"w_q", "w_k"} <= {*material.matrices} else ()


def row_perplexity(setup: Setup, trace: Trace, look: Selection) -> float:
    """Over how many keys the chosen query spreads its attention."""
    return attention_perplexity(get_head_weights(trace, look)[look.query])


def largest_query_weight(setup: Setup, trace: Trace, look: Selection) -> float:
    """The largest weight of the chosen query."""
    return get_head_weights(trace, look)[look.query].max().item()


# ---- heads -----------------------------------------------------------------------------------------------------------
def head_count_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """Counts into which the projections can be cut."""
    found = () if input_mode_of(setup) == "file" else head_choices(setup, material, trace.sizes()["H"])
    return found if len(found) > 1 else ()


def with_heads(setup: Setup, value: SweptValue) -> dict[str, object]:
    """Another count of heads."""
    return make_size_changes(setup, heads=value, kv_heads=kv_heads_for(setup, value))


def kv_heads_for(setup: Setup, heads: int) -> int | None:
    """How many key/value heads go with a count of heads: each serves as many heads as now.

    None, which is one for each head, where nobody chose it, and where the heads cannot be shared out like that.
    """
    config = config_of(setup)
    if config.kv_heads is None:
        return None
    served = config.heads // config.kv_heads
    return None if heads % served else heads // served


def distance_between_heads(setup: Setup, trace: Trace, look: Selection) -> float:
    """How far two heads' weights lie apart on average."""
    return mean_pairwise_head_distance(trace["weights"][look.batch])


# ---- window and offset: which pairs are left -------------------------------------------------------------------------
def find_window_mask(setup: Setup) -> str:
    """The mask whose window is swept: the first that has one, else a local one."""
    return next((name for name, _ in config_of(setup).masks if "window" in MASKS[name].needs), "local")


def window_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """From the smallest to the one that leaves all pairs."""
    keys, name = trace.sizes()["S"], find_window_mask(setup)
    return range(name == "sliding", keys + (name == "sliding")) if keys > 2 else ()


def get_window(setup: Setup, trace: Trace, material: RunInputs) -> SweptValue | None:
    """The window, where there is one."""
    return dict(config_of(setup).masks).get(find_window_mask(setup), {}).get("window")


def with_window(setup: Setup, value: SweptValue) -> dict[str, object]:
    """That mask with another window; it is put on where it is not."""
    return with_mask(setup, find_window_mask(setup), {"window": value})


def with_mask(setup: Setup, name: str, params: dict[str, object]) -> dict[str, object]:
    """The masks, one of them with other numbers."""
    masks = dict(config_of(setup).masks)
    masks[name] = {**masks.get(name, {}), **params}
    return {"masks": tuple(write_mask(*mask) for mask in masks.items())}


def count_kept_pairs_of_head(setup: Setup, trace: Trace, look: Selection) -> float:
    """How many pairs the masks keep."""
    return count_allowed_pairs(trace, min(look.head, trace.sizes()["H"] - 1), look.batch).kept


def has_causal_mask(setup: Setup) -> bool:
    """Whether there is a causal mask, whose offset can be set."""
    return "causal" in dict(config_of(setup).masks)


def offset_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """Where the first query of a causal mask may stand."""
    return range(1 - trace.sizes()["T"], trace.sizes()["S"]) if has_causal_mask(setup) else ()


def get_causal_offset(setup: Setup, trace: Trace, material: RunInputs) -> SweptValue:
    """Where the first query stands among the keys."""
    sizes, set_to = trace.sizes(), dict(config_of(setup).masks).get("causal", {}).get("offset")
    return sizes["S"] - sizes["T"] if set_to is None else set_to


# ---- a head built by hand that looks at a neighbour ------------------------------------------------------------------
def neighbour_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """How far the offset head may look."""
    reach = min(4, MAX_HEAD_OFFSET)
    return range(-reach, reach + 1) if offset_places(setup) else ()


def swept_place(setup: Setup) -> int:
    """Which head is turned: the one that is looked at where it is an offset head, else the first offset head."""
    places = offset_places(setup)
    return setup.head if setup.head in places else places[0]


def neighbour_now(setup: Setup, trace: Trace, material: RunInputs) -> SweptValue | None:
    """How far that head looks, where there is one."""
    if not offset_places(setup):
        return None
    _, offset = built_heads_of(setup)[swept_place(setup)]
    return offset


def with_neighbour(setup: Setup, value: SweptValue) -> dict[str, object]:
    """The heads built by hand, that head looking there."""
    return {"built": turn_head(setup, swept_place(setup), value)}


def mean_key_offset(setup: Setup, trace: Trace, look: Selection) -> float:
    """How far on from a query its keys stand on average."""
    return mean_offset(get_head_weights(trace, look))


# ---- seed and precision: how far the weights move --------------------------------------------------------------------
def seed_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """The seeds around the present one, where something was drawn from it; always the same nine in nine."""
    first = setup.seed - setup.seed % MAX_SWEPT_VALUES
    last = min(first + MAX_SWEPT_VALUES, MOST_SEED + 1)
    return range(first, last) if material.seeds or material.random_words() else ()


def mean_row_distance(setup: Setup, trace: Trace, look: Selection) -> float:
    """How much of a row of the chosen head's weights moves on average, from the run on the screen."""
    return total_variation(*(get_head_weights(run, look).double() for run in (trace, trace_for(setup)))).mean().item()


def precision_values(setup: Setup, trace: Trace, material: RunInputs) -> Sequence[SweptValue]:
    """All of them."""
    return DTYPES


def weight_rounding_error(setup: Setup, trace: Trace, look: Selection) -> float:
    """How far a weight of any head lies from what it is in float64, at most."""
    exact = trace_for(replace(setup, dtype="float64"))
    return largest_precision_error(trace["weights"], exact["weights"])


# ---- all of them -----------------------------------------------------------------------------------------------------
def make_field_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """What a Setup says of a setting."""
    return lambda setup, trace, material: getattr(setup, name)


def make_size_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """What a run has of an axis."""
    return lambda setup, trace, material: trace.sizes()[name]


def make_field_change(name: str) -> Callable[[Setup, SweptValue], dict[str, object]]:
    """The setting alone."""
    return lambda setup, value: {name: value}


def format_one_decimal(value: float) -> str:
    """A count of keys that need not be whole."""
    return format_fixed(value, 1)


SWEEPS = {
    "temperature": Sweep(
        temperature_values,
        make_field_getter("temperature"),
        make_field_change("temperature"),
        row_perplexity,
        format_one_decimal,
        lambda t: f"{t:g}",
    ),
    "d_k": Sweep(
        width_values,
        make_size_getter("d_k"),
        lambda setup, value: make_size_changes(setup, d_k=value),
        largest_query_weight,
    ),
    "heads": Sweep(head_count_values, make_size_getter("H"), with_heads, distance_between_heads, format_fixed),
    "window": Sweep(window_values, get_window, with_window, count_kept_pairs_of_head, format_grouped),
    "offset": Sweep(
        offset_values,
        get_causal_offset,
        lambda setup, value: with_mask(setup, "causal", {"offset": value}),
        count_kept_pairs_of_head,
        format_grouped,
        format_term,
    ),
    "neighbour": Sweep(
        neighbour_values, neighbour_now, with_neighbour, mean_key_offset, partial(format_signed, digits=1), format_term
    ),
    "seed": Sweep(seed_values, make_field_getter("seed"), make_field_change("seed"), mean_row_distance),
    "dtype": Sweep(
        precision_values,
        make_field_getter("dtype"),
        make_field_change("dtype"),
        weight_rounding_error,
        format_small,
        lambda name: say(f"dtype.{name}"),
    ),
}
