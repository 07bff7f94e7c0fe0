"""One setting at many values: which settings can be swept here, what each changes, and the figure of merit of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from attention_core import Trace
from attention_core.comparison.distances import total_variation
from attention_core.comparison.measures import heads_apart, largest_error, mean_offset, spread
from attention_core.explanation.facts import kept_pairs
from attention_core.inputs.handmade_heads import FARTHEST
from attention_core.mechanism.masks import MASKS
from attention_core.record.number_text import fixed, grouped, signed, small, term
from pages.runs.cache import trace_of
from pages.runs.compute import resized
from pages.runs.run_inputs import Material
from pages.session.labels import Look
from pages.setup.mask_spec import write_mask
from pages.setup.setup import DTYPES, Setup, built_of, config_of, mode
from pages.setup.setup import MOST as MOST_SEED
from pages.site.words import say
from pages.workbench.layer_controls import WIDEST, head_choices, offset_places, turn_head

Value = float | int | str
MOST = 9  # values of a sweep: as many small maps as stand in a line


@dataclass(frozen=True)
class Sweep:
    """A setting that can be swept.

    values: those that are worth a run; none where the setting does nothing here. now: the present one. change: what
    becomes of the Setup. figure: of a run, beside that of the Setup on the screen. told, written: how a value and a
    figure are shown.
    """

    values: Callable[[Setup, Trace, Material], Sequence[Value]]
    now: Callable[[Setup, Trace, Material], Value | None]
    change: Callable[[Setup, Value], dict[str, object]]
    figure: Callable[[Setup, Trace, Look], float]
    written: Callable[[float], str] = fixed
    told: Callable[[Value], str] = str


def swept(sweep: Sweep, setup: Setup, trace: Trace, material: Material, most: int) -> list[Value]:
    """The values of a sweep, at most so many, the present one among them."""
    values, now = list(sweep.values(setup, trace, material)), sweep.now(setup, trace, material)
    if now is not None and now not in values and values:
        values = sorted([*values, now])
    return thinned(values, now, most)


def thinned(values: Sequence[Value], kept: Value | None, most: int) -> list[Value]:
    """Some of many values, evenly far apart, with the first, the last and the one that is kept.

    >>> thinned(range(13), 5, 5), thinned("ab", None, 5)
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


def make_change(sweep: Sweep, setup: Setup, trace: Trace, material: Material, value: Value) -> dict[str, object]:
    """What becomes of a Setup when its setting takes a value: nothing for the value that it has.

    A width that nobody chose follows from the matrices; chosen, the same width may cut them in another way.
    """
    return {} if value == sweep.now(setup, trace, material) else sweep.change(setup, value)


def weights_of(trace: Trace, look: Look):
    """The weights of the head that is looked at, or of the last where there are fewer: (T, S)."""
    heads = trace["weights"][look.batch]
    return heads[min(look.head, len(heads) - 1)]


# ---- temperature and widths: how sharp the chosen query's row is -----------------------------------------------------
def temperatures(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """None where even weights stand in the place of the softmax's."""
    return () if "even" in setup.wiring else (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def widths(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """None where no projection makes q."""
    return (1, 2, 3, 4, 8, 16, 32, 64, WIDEST) if {"w_q", "w_k"} <= {*material.matrices} else ()


def row_spread(setup: Setup, trace: Trace, look: Look) -> float:
    """Over how many keys the chosen query spreads its attention."""
    return spread(weights_of(trace, look)[look.query])


def largest(setup: Setup, trace: Trace, look: Look) -> float:
    """The largest weight of the chosen query."""
    return weights_of(trace, look)[look.query].max().item()


# ---- heads -----------------------------------------------------------------------------------------------------------
def head_counts(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """Counts into which the projections can be cut."""
    found = () if mode(setup) == "file" else head_choices(setup, material, trace.sizes()["H"])
    return found if len(found) > 1 else ()


def with_heads(setup: Setup, value: Value) -> dict[str, object]:
    """Another count of heads."""
    return resized(setup, heads=value, kv_heads=kv_heads_for(setup, value))


def kv_heads_for(setup: Setup, heads: int) -> int | None:
    """How many key/value heads go with a count of heads: each serves as many heads as now.

    None, which is one for each head, where nobody chose it, and where the heads cannot be shared out like that.
    """
    config = config_of(setup)
    if config.kv_heads is None:
        return None
    served = config.heads // config.kv_heads
    return None if heads % served else heads // served


def apart(setup: Setup, trace: Trace, look: Look) -> float:
    """How far two heads' weights lie apart on average."""
    return heads_apart(trace["weights"][look.batch])


# ---- window and offset: which pairs are left -------------------------------------------------------------------------
def windowed(setup: Setup) -> str:
    """The mask whose window is swept: the first that has one, else a local one."""
    return next((name for name, _ in config_of(setup).masks if "window" in MASKS[name].needs), "local")


def windows(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """From the smallest to the one that leaves all pairs."""
    keys, name = trace.sizes()["S"], windowed(setup)
    return range(name == "sliding", keys + (name == "sliding")) if keys > 2 else ()


def window_now(setup: Setup, trace: Trace, material: Material) -> Value | None:
    """The window, where there is one."""
    return dict(config_of(setup).masks).get(windowed(setup), {}).get("window")


def with_window(setup: Setup, value: Value) -> dict[str, object]:
    """That mask with another window; it is put on where it is not."""
    return with_mask(setup, windowed(setup), {"window": value})


def with_mask(setup: Setup, name: str, params: dict[str, object]) -> dict[str, object]:
    """The masks, one of them with other numbers."""
    masks = dict(config_of(setup).masks)
    masks[name] = {**masks.get(name, {}), **params}
    return {"masks": tuple(write_mask(*mask) for mask in masks.items())}


def kept(setup: Setup, trace: Trace, look: Look) -> float:
    """How many pairs the masks keep."""
    return kept_pairs(trace, min(look.head, trace.sizes()["H"] - 1), look.batch).kept


def causal(setup: Setup) -> bool:
    """Whether there is a causal mask, whose offset can be set."""
    return "causal" in dict(config_of(setup).masks)


def offsets(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """Where the first query of a causal mask may stand."""
    return range(1 - trace.sizes()["T"], trace.sizes()["S"]) if causal(setup) else ()


def offset_now(setup: Setup, trace: Trace, material: Material) -> Value:
    """Where the first query stands among the keys."""
    sizes, set_to = trace.sizes(), dict(config_of(setup).masks).get("causal", {}).get("offset")
    return sizes["S"] - sizes["T"] if set_to is None else set_to


# ---- a head built by hand that looks at a neighbour ------------------------------------------------------------------
def neighbours(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """How far the offset head may look."""
    reach = min(4, FARTHEST)
    return range(-reach, reach + 1) if offset_places(setup) else ()


def swept_place(setup: Setup) -> int:
    """Which head is turned: the one that is looked at where it is an offset head, else the first offset head."""
    places = offset_places(setup)
    return setup.head if setup.head in places else places[0]


def neighbour_now(setup: Setup, trace: Trace, material: Material) -> Value | None:
    """How far that head looks, where there is one."""
    if not offset_places(setup):
        return None
    _, offset = built_of(setup)[swept_place(setup)]
    return offset


def with_neighbour(setup: Setup, value: Value) -> dict[str, object]:
    """The heads built by hand, that head looking there."""
    return {"built": turn_head(setup, swept_place(setup), value)}


def looked_on(setup: Setup, trace: Trace, look: Look) -> float:
    """How far on from a query its keys stand on average."""
    return mean_offset(weights_of(trace, look))


# ---- seed and precision: how far the weights move --------------------------------------------------------------------
def seeds(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """The seeds around the present one, where something was drawn from it; always the same nine in nine."""
    first = setup.seed - setup.seed % MOST
    last = min(first + MOST, MOST_SEED + 1)
    return range(first, last) if material.seeds or material.random_words() else ()


def moved(setup: Setup, trace: Trace, look: Look) -> float:
    """How much of a row of the chosen head's weights moves on average, from the run on the screen."""
    return total_variation(*(weights_of(run, look).double() for run in (trace, trace_of(setup)))).mean().item()


def precisions(setup: Setup, trace: Trace, material: Material) -> Sequence[Value]:
    """All of them."""
    return DTYPES


def error(setup: Setup, trace: Trace, look: Look) -> float:
    """How far a weight of any head lies from what it is in float64, at most."""
    exact = trace_of(replace(setup, dtype="float64"))
    return largest_error(trace["weights"], exact["weights"])


# ---- all of them -----------------------------------------------------------------------------------------------------
def field(name: str) -> Callable[[Setup, Trace, Material], Value]:
    """What a Setup says of a setting."""
    return lambda setup, trace, material: getattr(setup, name)


def size(name: str) -> Callable[[Setup, Trace, Material], Value]:
    """What a run has of an axis."""
    return lambda setup, trace, material: trace.sizes()[name]


def as_said(name: str) -> Callable[[Setup, Value], dict[str, object]]:
    """The setting alone."""
    return lambda setup, value: {name: value}


def one_decimal(value: float) -> str:
    """A count of keys that need not be whole."""
    return fixed(value, 1)


SWEEPS = {
    "temperature": Sweep(
        temperatures, field("temperature"), as_said("temperature"), row_spread, one_decimal, lambda t: f"{t:g}"
    ),
    "d_k": Sweep(widths, size("d_k"), lambda setup, value: resized(setup, d_k=value), largest),
    "heads": Sweep(head_counts, size("H"), with_heads, apart, fixed),
    "window": Sweep(windows, window_now, with_window, kept, grouped),
    "offset": Sweep(
        offsets, offset_now, lambda setup, value: with_mask(setup, "causal", {"offset": value}), kept, grouped, term
    ),
    "neighbour": Sweep(neighbours, neighbour_now, with_neighbour, looked_on, partial(signed, digits=1), term),
    "seed": Sweep(seeds, field("seed"), as_said("seed"), moved),
    "dtype": Sweep(precisions, field("dtype"), as_said("dtype"), error, small, lambda name: say(f"dtype.{name}")),
}
