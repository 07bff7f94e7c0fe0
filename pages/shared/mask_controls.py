"""Which masks, and their numbers; a custom one as a matrix of 0 and 1."""

import streamlit as st

from attention_core import AttentionConfig
from attention_core.masks import MASKS
from pages.shared.input_controls import matrix_box
from pages.shared.inputs import Material
from pages.shared.places import place_names
from pages.shared.runs import trace_of
from pages.shared.setup import FARTHEST, Setup
from pages.shared.widgets import mirror, show_refusal, try_change
from pages.shared.words import say


def mask_controls(setup: Setup, material: Material, config: AttentionConfig) -> None:
    """Which masks, and each one's number; a custom one as a matrix of 0 and 1."""
    spec = dict(config.masks)

    def chosen() -> None:
        names = st.session_state["c_masks"]
        custom = (setup.allowed or "~") if "custom" in names else None
        masks = tuple(written(name, spec.get(name) or defaults(name, setup)) for name in names if name != "custom")
        try_change("masks", masks=masks, allowed=custom)

    mirror("c_masks", "masks", [*spec, *(["custom"] if setup.allowed is not None else [])])
    st.multiselect(
        say("control.masks"),
        [*MASKS, "custom"],
        format_func=lambda name: say(f"mask.{name}"),
        key="c_masks",
        on_change=chosen,
        placeholder=say("control.none"),
        help=say("help.masks"),
    )
    show_refusal("masks")
    for name, params in spec.items():
        mask_numbers(setup, spec, name, params)
    if setup.allowed is not None:
        matrix_box("allowed", material)


def defaults(name: str, setup: Setup) -> dict:
    """A mask's parameters when it is switched on."""
    keys = trace_of(setup).sizes()["S"]
    return {
        "causal": {},
        "local": {"window": 1},
        "sliding": {"window": min(3, keys)},
        "padding": {"lengths": (max(keys - 1, 1),)},
        "local_global": {"window": 1, "global_tokens": (0,)},
    }[name]


def written(name: str, params: dict) -> str:
    """A mask and its numbers as the Setup has them: "local:1"."""
    numbers = [params.get("offset"), params.get("window"), *params.get("lengths", ()), *params.get("global_tokens", ())]
    return ":".join([name, *(str(number) for number in numbers if number is not None)])


def mask_numbers(setup: Setup, spec: dict, name: str, params: dict) -> None:
    """The numbers of one mask."""
    trace = trace_of(setup)
    sizes = trace.sizes()
    current = {"offset": sizes["S"] - sizes["T"], **params}
    words = dict(enumerate(place_names(trace, "S", sizes["S"])))

    def chosen(parameter: str) -> None:
        value = st.session_state[f"c_{name}_{parameter}"]
        value = (value,) if parameter == "lengths" else tuple(value) if parameter == "global_tokens" else value
        changed = {**spec, name: {**params, parameter: value}}
        try_change(f"{name}_{parameter}", masks=tuple(written(*mask) for mask in changed.items()))

    for parameter in ("offset",) if name == "causal" else MASKS[name].needs:
        label, control, value = say(f"parameter.{name}_{parameter}"), f"{name}_{parameter}", current[parameter]
        used = {"key": f"c_{control}", "on_change": chosen, "args": (parameter,)}
        shown = value[0] if parameter == "lengths" else list(value) if parameter == "global_tokens" else value
        mirror(f"c_{control}", control, shown)
        if parameter == "global_tokens":
            beyond = {place: f"+{place}" for place in value if place not in words}  # where only a query stands
            st.multiselect(label, [*words, *beyond], format_func=(words | beyond).__getitem__, **used)
        else:
            st.number_input(label, -FARTHEST, FARTHEST, step=1, **used)
        show_refusal(control)
