"""The settings in which two Setups differ, in the page's words: nothing that is alike, nothing that only follows."""

from dataclasses import fields

import numpy as np

from attention_core import Trace
from attention_core.record.number_text import format_fixed, format_term
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.setup.mask_spec import write_mask
from pages.setup.setup import Setup, config_of, format_link_value, input_mode_of, network_of, positions_of
from pages.site.words import has, say

Run = tuple[Setup, Trace, RunInputs]
CHOSEN_NUMBER_FIELDS = ("scores", "weights")  # numbers in the place of computed ones
SIZE_FIELDS = {"kv_heads": "H_kv", "d_k": "d_k", "d_v": "d_v"}  # which follow from others, where nobody chose them
OTHER_FIELDS = ("network", "file", "roles", "axes", "part", "polarity")
MAX_VALUE_CHARS = 48  # characters of a value


def find_setting_differences(one: Run, other: Run) -> list[tuple[str, str, str]]:
    """What differs from one to the other: its name, its value there, and its value here. Each a Setup with its run."""
    were, are = describe_settings(*one), describe_settings(*other)
    chosen = [name for name in were if name not in SIZE_FIELDS or getattr(one[0], name) != getattr(other[0], name)]
    found = [(name_setting(name), were[name], are[name]) for name in chosen if were[name] != are[name]]
    for name in changed_matrices(one, other):
        found += describe_matrix_difference(name, one[2].matrices.get(name), other[2].matrices.get(name))
    return [(name, shorten_value(was), shorten_value(now)) for name, was, now in found]


def changed_matrices(one: Run, other: Run) -> list[str]:
    """The matrices of either run that the two Setups say otherwise, in the order of a Setup."""
    (setup, _, inputs), (second, _, others) = one, other
    parts = [field.name for field in fields(setup)]
    matrices = [name for name in parts if name in inputs.matrices or name in others.matrices]
    return [name for name in matrices if getattr(setup, name) != getattr(second, name)]


def describe_settings(setup: Setup, trace: Trace, material: RunInputs) -> dict[str, str]:
    """Every setting that is no matrix, in words; what a Setup leaves open as its example has it."""
    config, sizes, none = config_of(setup), trace.sizes(), say("control.none")

    def several(field: str, names: tuple[str, ...]) -> str:
        parts = [name.split(":") for name in names]  # "local:1" is a name and its number
        return say("fact.comma").join(" ".join([say(f"{field}.{name}"), *numbers]) for name, *numbers in parts) or none

    found = {
        "example": say(f"example.{setup.example}"),
        "input": say(f"mode.{input_mode_of(setup)}"),
        "text": spell_tokens(material.queries, setup) if input_mode_of(setup) == "sentence" else none,
        "context_text": spell_tokens(material.keys, setup) if material.crossed else none,
        "more": str(len(material.batch) or 1),
        "masks": several("masks", tuple(write_mask(*mask) for mask in config.masks)),
        "score": say(f"score.{config.score}"),
        "scale": {None: say("scale.default"), 1.0: say("scale.off")}.get(setup.scale) or format_term(setup.scale),
        "temperature": f"{setup.temperature:g}",
        "positions": say("fact.comma").join(map(name_position_choice, positions_of(setup))) or none,
        "dtype": say(f"dtype.{setup.dtype}"),
        "device": say(f"device.{setup.device}"),
        "wiring": several("wiring", setup.wiring),
        "built": several("built", setup.built or ()),
        "seed": str(setup.seed),
        "heads": str(sizes["H"]),
    }
    found |= {name: str(sizes.get(dim, none)) for name, dim in SIZE_FIELDS.items()}
    found |= {name: format_link_value(value) if (value := getattr(setup, name)) else none for name in OTHER_FIELDS}
    found |= {name: str((getattr(setup, name) or "").count("=")) for name in CHOSEN_NUMBER_FIELDS}
    return found | {"network": network_of(setup) or none}


def name_position_choice(name: str) -> str:
    """A way to tell positions."""
    return say(f"positions.{name}") if has(f"positions.{name}") else say("compare.rope_half")


def name_setting(name: str) -> str:
    """A setting's name on the page."""
    keys = (f"compare.setting.{name}", f"edited.{name}", f"control.{name}")
    return next((say(key) for key in keys if has(key)), name)


def describe_matrix_difference(name: str, was: np.ndarray | None, now: np.ndarray | None) -> list[tuple[str, str, str]]:
    """One number with both values, or how many differ; shapes where these do."""
    if was is None or now is None or was.shape != now.shape:
        shapes = (say("control.none") if each is None else " × ".join(map(str, each.shape)) for each in (was, now))
        return [(name_setting(name), *shapes)]
    places = np.argwhere(was != now)
    if len(places) == 1:
        ((row, column),) = places.tolist()
        return [
            (
                f"{name_setting(name)} [{row + 1}, {column + 1}]",
                *(format_matrix_number(each[row, column]) for each in (was, now)),
            )
        ]
    return [(name_setting(name), "", say("compare.numbers", count=len(places)))] if len(places) else []


def format_matrix_number(value: float) -> str:
    """A number of a matrix: as it was typed where it is a short one."""
    text = format_term(float(value))
    return text if len(text) <= 8 else format_fixed(float(value))


def shorten_value(text: str) -> str:
    """A value that fits into a line."""
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 1] + "…"
