"""The settings that can be swept: which values are worth a run here, which one is the present one, and what becomes of
a Setup that takes another one.

Values are asked for as `values(setup, trace, inputs)`; there are none where the setting does nothing here.
"""

from collections.abc import Callable, Sequence

from attention_core import Trace
from attention_core.inputs.handmade_heads import MAX_HEAD_OFFSET
from attention_core.mechanism.masks import MASKS
from pages.runs.run_inputs import RunInputs
from pages.runs.size_changes import make_size_changes
from pages.setup.link_values import MAX_LINK_NUMBER
from pages.setup.setup import DTYPES, Setup, built_heads_of, config_of, input_mode_of
from pages.workbench.layer_controls import MAX_CHOSEN_HEAD_WIDTH, head_choices, offset_places, turn_head
from pages.workbench.mask_controls import write_masks

SweptValue = float | int | str
SetupChange = dict[str, object]  # what becomes of a Setup: its fields with their new values
MAX_SWEPT_VALUES = 9  # values of a sweep: as many small maps as stand in a line
MAX_SWEPT_OFFSET = 4  # tokens that the offset head looks away, at most


# ---- any field, any axis ---------------------------------------------------------------------------------------------
def make_field_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """What a Setup says of a setting."""
    return lambda setup, trace, inputs: getattr(setup, name)


def make_size_getter(name: str) -> Callable[[Setup, Trace, RunInputs], SweptValue]:
    """What a run has of an axis."""
    return lambda setup, trace, inputs: trace.sizes()[name]


def make_field_change(name: str) -> Callable[[Setup, SweptValue], SetupChange]:
    """The setting alone."""
    return lambda setup, value: {name: value}


# ---- temperature, width, seed, precision -----------------------------------------------------------------------------
def temperature_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """None where even weights stand in the place of the softmax's."""
    if "even" in setup.wiring:
        return ()
    return (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def width_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """None where no projection makes q and k."""
    if "w_q" not in inputs.matrices or "w_k" not in inputs.matrices:
        return ()
    return (1, 2, 3, 4, 8, 16, 32, 64, MAX_CHOSEN_HEAD_WIDTH)


def with_width(setup: Setup, value: SweptValue) -> SetupChange:
    """Another width of each head."""
    return make_size_changes(setup, d_k=value)


def seed_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """The seeds around the present one, where something was drawn from it; always the same nine in nine."""
    if not inputs.seeds and not inputs.random_words():
        return ()
    first = setup.seed - setup.seed % MAX_SWEPT_VALUES
    stop = min(first + MAX_SWEPT_VALUES, MAX_LINK_NUMBER + 1)
    return range(first, stop)


def precision_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """All of them."""
    return DTYPES


# ---- heads -----------------------------------------------------------------------------------------------------------
def head_count_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Counts into which the projections can be cut."""
    if input_mode_of(setup) == "file" or "q" in inputs.drawn:
        return ()
    counts = head_choices(setup, inputs, trace.sizes()["H"])
    return counts if len(counts) > 1 else ()


def with_heads(setup: Setup, value: SweptValue) -> SetupChange:
    """Another count of heads."""
    return make_size_changes(setup, heads=value, kv_heads=kv_heads_for(setup, value))


def kv_heads_for(setup: Setup, heads: int) -> int | None:
    """How many key/value heads go with a count of heads: each serves as many heads as now.

    None, which is one for each head, where nobody chose it, and where the heads cannot be shared out like that.
    """
    config = config_of(setup)
    if config.kv_heads is None:
        return None
    heads_per_kv_head = config.heads // config.kv_heads
    if heads % heads_per_kv_head:
        return None
    return heads // heads_per_kv_head


# ---- window and offset: which pairs are left -------------------------------------------------------------------------
def find_window_mask(setup: Setup) -> str:
    """The mask whose window is swept: the first that has one, else a local one."""
    for name, _ in config_of(setup).masks:
        if "window" in MASKS[name].needs:
            return name
    return "local"


def window_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """From the smallest to the one that leaves all pairs."""
    keys = trace.sizes()["S"]
    if keys <= 2:
        return ()
    if find_window_mask(setup) == "sliding":  # its window counts the query's own place
        return range(1, keys + 1)
    return range(keys)


def get_window(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
    """The window, where there is one."""
    params = dict(config_of(setup).masks).get(find_window_mask(setup), {})
    return params.get("window")


def with_window(setup: Setup, value: SweptValue) -> SetupChange:
    """That mask with another window; it is put on where it is not."""
    return with_mask_parameter(setup, find_window_mask(setup), "window", value)


def with_mask_parameter(setup: Setup, name: str, parameter: str, value: SweptValue) -> SetupChange:
    """The masks, one of them with another number."""
    masks = dict(config_of(setup).masks)
    params = masks.get(name, {})
    masks[name] = {**params, parameter: value}
    return {"masks": write_masks(masks)}


def offset_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """Where the first query of a causal mask may stand; nowhere without such a mask."""
    if "causal" not in dict(config_of(setup).masks):
        return ()
    sizes = trace.sizes()
    return range(1 - sizes["T"], sizes["S"])


def get_causal_offset(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue:
    """Where the first query stands among the keys."""
    params = dict(config_of(setup).masks).get("causal", {})
    chosen = params.get("offset")
    if chosen is not None:
        return chosen
    sizes = trace.sizes()
    return sizes["S"] - sizes["T"]


def with_causal_offset(setup: Setup, value: SweptValue) -> SetupChange:
    """The causal mask with another offset."""
    return with_mask_parameter(setup, "causal", "offset", value)


# ---- a head built by hand that looks at a neighbour ------------------------------------------------------------------
def neighbour_values(setup: Setup, trace: Trace, inputs: RunInputs) -> Sequence[SweptValue]:
    """How far the offset head may look."""
    if not offset_places(setup):
        return ()
    reach = min(MAX_SWEPT_OFFSET, MAX_HEAD_OFFSET)
    return range(-reach, reach + 1)


def swept_place(setup: Setup) -> int:
    """Which head is turned: the one that is looked at where it is an offset head, else the first offset head."""
    places = offset_places(setup)
    return setup.head if setup.head in places else places[0]


def get_neighbour(setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
    """How far that head looks, where there is one."""
    if not offset_places(setup):
        return None
    _, offset = built_heads_of(setup)[swept_place(setup)]
    return offset


def with_neighbour(setup: Setup, value: SweptValue) -> SetupChange:
    """The heads built by hand, that head looking there."""
    return {"built": turn_head(setup, swept_place(setup), value)}
