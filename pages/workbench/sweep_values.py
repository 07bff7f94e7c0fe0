"""Settings that the film strip can sweep: their values, the current value, and the Setup fields for another value.

`values(setup, trace, inputs)` returns the values; () or [] if the setting has no effect on this run. The parameters
that mechanisms declare can be swept, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attention_core import Trace
from attention_core.inputs.handmade_heads import MAX_HEAD_OFFSET
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.positions import POSITIONS
from pages.runs.run_inputs import RunInputs
from pages.runs.size_changes import make_size_changes
from pages.setup.choice_text import write_choice, write_position
from pages.setup.link_values import MAX_LINK_NUMBER
from pages.setup.resolve import config_of, most_heads, resolve_run, to_positions_field
from pages.setup.setup import DTYPES, Setup
from pages.site.words import say
from pages.workbench.layer_controls import MAX_CHOSEN_HEAD_WIDTH, offset_places, turn_head
from pages.workbench.mask_controls import write_masks
from pages.workbench.parameter_controls import write_modifiers

SweptValue = float | int | str
SetupChange = dict[str, object]  # field of a Setup -> its new value
MAX_SWEPT_VALUES = 9  # most values of a sweep, because this many small maps fit in a line
SWEPT_HEAD_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
MAX_SWEPT_OFFSET = 4  # largest swept offset, in tokens, of a head with a fixed offset, in both directions


# ---- any field, any axis ---------------------------------------------------------------------------------------------
def make_field_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """Returns a function of (setup, trace, inputs) that returns the value of a Setup's field."""
    return lambda setup, trace, inputs: setup.value_of(name)


def make_size_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """Returns a function of (setup, trace, inputs) that returns the size of an axis of the run."""
    return lambda setup, trace, inputs: trace.sizes()[name]


def make_field_change(name: str) -> Callable[[Setup, SweptValue], SetupChange]:
    """Returns a function of (setup, value) that returns {name: value}, the changed field of the Setup."""
    return lambda setup, value: {name: value}


# ---- temperature, width, seed, precision -----------------------------------------------------------------------------
def temperature_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the temperatures to sweep; () if uniform weights replace the softmax's weights."""
    if "even" in setup.run.wiring:
        return ()
    return (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def width_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the head widths to sweep; () if q and k are not projected."""
    if "w_q" not in inputs.matrices or "w_k" not in inputs.matrices:
        return ()
    return (1, 2, 3, 4, 8, 16, 32, 64, MAX_CHOSEN_HEAD_WIDTH)


def with_width(setup: Setup, value: SweptValue) -> SetupChange:
    """Returns {Setup field: new value} for another width of the heads."""
    return make_size_changes(setup.run, d_k=value)


def seed_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the block of nine seeds that contains the current seed; () if no number depends on the seed."""
    if not inputs.seeds and not inputs.random_words():
        return ()
    first = setup.run.seed - setup.run.seed % MAX_SWEPT_VALUES
    stop = min(first + MAX_SWEPT_VALUES, MAX_LINK_NUMBER + 1)
    return range(first, stop)


def precision_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the names of all precisions."""
    return DTYPES


# ---- heads -----------------------------------------------------------------------------------------------------------
def head_count_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the numbers of heads to sweep; () if the number cannot be chosen, or if only one is possible."""
    if resolve_run(setup.run).mode == "file" or "q" in inputs.drawn:
        return ()
    counts = head_choices(setup, inputs, trace.sizes()["H"])
    return counts if len(counts) > 1 else ()


def head_choices(setup: Setup, inputs: RunInputs, current: int) -> list[int]:
    """Returns the head counts that divide the number of query columns; all head counts if a head width is set."""
    if setup.run.d_k is not None or setup.run.d_v is not None:
        counts = {*range(1, most_heads(setup.run) + 1)}
    else:
        queries = next(name for name in ("w_q", "x", "q") if name in inputs.matrices)
        _, columns = inputs.matrices[queries].shape  # number of columns of all heads together
        counts = {count for count in SWEPT_HEAD_COUNTS if columns % count == 0}
    return sorted({*counts, current})


def with_heads(setup: Setup, value: SweptValue) -> SetupChange:
    """Returns {Setup field: new value} for another number of heads."""
    return make_size_changes(setup.run, heads=value, kv_heads=kv_heads_for(setup, value))


def kv_heads_for(setup: Setup, heads: int) -> int | None:
    """Returns the number of key/value heads that goes with another number of heads.

    As many heads share a key/value head as in the Setup. Returns None, which means one key/value head for each head, if
    the Setup does not set their number, or if the heads cannot be divided like this.
    """
    config = config_of(setup.run)
    if config.kv_heads is None:
        return None
    heads_per_kv_head = config.heads // config.kv_heads
    if heads % heads_per_kv_head:
        return None
    return heads // heads_per_kv_head


# ---- the window and the offset of masks ------------------------------------------------------------------------------
def find_window_mask(setup: Setup) -> str:
    """Returns the name of the mask whose window is swept: the first mask with a window, else "local"."""
    for name, _ in config_of(setup.run).masks:
        if "window" in MASKS[name].needs:
            return name
    return "local"


def window_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the windows from the smallest to the window that allows all pairs; () if there are at most 2 keys."""
    keys = trace.sizes()["S"]
    if keys <= 2:
        return ()
    if find_window_mask(setup) == "sliding":  # a sliding window includes the query's own position
        return range(1, keys + 1)
    return range(keys)


def get_window(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
    """Returns the window of the mask whose window is swept; None if that mask is off."""
    params = dict(config_of(setup.run).masks).get(find_window_mask(setup), {})
    return params.get("window")


def with_window(setup: Setup, value: SweptValue) -> SetupChange:
    """Returns the changed Setup field for another window of the swept mask; a mask that is off is switched on."""
    return with_mask_parameter(setup, find_window_mask(setup), "window", value)


def with_mask_parameter(setup: Setup, name: str, parameter: str, value: SweptValue) -> SetupChange:
    """Returns {Setup field: new value} for another value of one mask's parameter.

    name: the name of the mask.
    """
    masks = dict(config_of(setup.run).masks)
    params = masks.get(name, {})
    masks[name] = {**params, parameter: value}
    return {"masks": write_masks(masks)}


def offset_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the offsets of the causal mask to sweep; () without a causal mask."""
    if "causal" not in dict(config_of(setup.run).masks):
        return ()
    sizes = trace.sizes()
    return range(1 - sizes["T"], sizes["S"])


def get_causal_offset(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue:
    """Returns the offset of the causal mask: the position of the first query among the keys."""
    params = dict(config_of(setup.run).masks).get("causal", {})
    chosen = params.get("offset")
    if chosen is not None:
        return chosen
    sizes = trace.sizes()
    return sizes["S"] - sizes["T"]


def with_causal_offset(setup: Setup, value: SweptValue) -> SetupChange:
    """Returns {Setup field: new value} for another offset of the causal mask."""
    return with_mask_parameter(setup, "causal", "offset", value)


# ---- the offset of a head built by hand ------------------------------------------------------------------------------
def neighbour_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Returns the offsets to sweep for a head built with a fixed offset; () without such a head."""
    if not offset_places(setup):
        return ()
    reach = min(MAX_SWEPT_OFFSET, MAX_HEAD_OFFSET)
    return range(-reach, reach + 1)


def swept_place(setup: Setup) -> int:
    """Returns the index of the head whose fixed offset is swept: the selected head if it has a fixed offset, else the
    first that has.
    """
    places = offset_places(setup)
    return setup.view.head if setup.view.head in places else places[0]


def get_neighbour(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
    """Returns the offset of the head that is swept; None if no head has a fixed offset."""
    if not offset_places(setup):
        return None
    _, offset = resolve_run(setup.run).built[swept_place(setup)]
    return offset


def with_neighbour(setup: Setup, value: SweptValue) -> SetupChange:
    """Returns the changed Setup field for another offset of the swept head."""
    return {"built": turn_head(setup, swept_place(setup), value)}


# ---- parameters of mechanisms ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SweptParameter:
    """A parameter of a mechanism, as a setting that can be swept over several values.

    owner: the name of the mechanism. others: all parameters that the mechanism declares.
    """

    owner: str
    parameter: Parameter
    others: tuple[Parameter, ...]

    def chosen(self, setup: Setup) -> Mapping[str, object] | None:
        """Returns the mechanism's current parameters; None if the mechanism is not chosen."""
        config = config_of(setup.run)
        return dict((*config.positions, *config.modifiers, config.normaliser)).get(self.owner)

    def values(self, setup: Setup, trace: Trace, inputs: RunInputs) -> tuple[SweptValue, ...]:
        """Returns the values to sweep; () if the mechanism is not chosen, or if the parameter has no effect."""
        params = self.chosen(setup)
        usual = {parameter.name: parameter.usual for parameter in self.others}
        beside = self.parameter.beside
        if params is None or (beside and params[beside] == usual[beside]):
            return ()
        return self.parameter.words or self.parameter.swept

    def now(self, setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
        """Returns the current value; None if the mechanism is not chosen."""
        params = self.chosen(setup)
        return None if params is None else params[self.parameter.name]

    def change(self, setup: Setup, value: SweptValue) -> SetupChange:
        """Returns {Setup field: new value} for another value of this parameter."""
        config = config_of(setup.run)
        params = {**self.chosen(setup), self.parameter.name: value}
        if self.owner in NORMALISERS:
            return {"normaliser": write_choice(self.owner, params, NORMALISERS)}
        if self.owner in MODIFIERS:
            return {"modifiers": write_modifiers({**dict(config.modifiers), self.owner: params})}
        positions = {**dict(config.positions), self.owner: params}
        return {"positions": to_positions_field(setup.run, tuple(write_position(*each) for each in positions.items()))}

    def format_value(self, value: SweptValue) -> str:
        """Formats a value of the parameter: a value that is a word by its label, a number without trailing zeros."""
        return say(f"parameter_word.{value}") if self.parameter.words else f"{value:g}"


def list_swept_parameters() -> Iterator[tuple[str, SweptParameter]]:
    """Yields every parameter that can be swept, with its name."""
    for table in (POSITIONS, MODIFIERS, NORMALISERS):
        for owner, entry in table.items():
            for parameter in entry.parameters:
                if parameter.words or parameter.swept:
                    yield f"{owner}_{parameter.name}", SweptParameter(owner, parameter, entry.parameters)
