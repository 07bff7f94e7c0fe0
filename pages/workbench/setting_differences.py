"""The settings in which two Setups differ, in the page's words: nothing that is alike, nothing that only follows."""

from dataclasses import fields

import numpy as np

from attention_core import Trace
from attention_core.record.number_text import fixed, term
from pages.runs.run_inputs import Material
from pages.runs.token_vectors import spelled
from pages.setup.mask_spec import write_mask
from pages.setup.setup import Setup, config_of, mode, network_of, positions_of, written
from pages.site.words import has, say

Run = tuple[Setup, Trace, Material]
CHOSEN = ("scores", "weights")  # numbers in the place of computed ones
SIZES = {"kv_heads": "H_kv", "d_k": "d_k", "d_v": "d_v"}  # which follow from others, where nobody chose them
OTHERS = ("network", "file", "roles", "axes", "part", "polarity")
LONGEST = 48  # characters of a value


def differences(one: Run, other: Run) -> list[tuple[str, str, str]]:
    """What differs from one to the other: its name, its value there, and its value here. Each a Setup with its run."""
    were, are = settings(*one), settings(*other)
    chosen = [name for name in were if name not in SIZES or getattr(one[0], name) != getattr(other[0], name)]
    found = [(called(name), were[name], are[name]) for name in chosen if were[name] != are[name]]
    for name in changed_matrices(one, other):
        found += matrix_difference(name, one[2].matrices.get(name), other[2].matrices.get(name))
    return [(name, cut(was), cut(now)) for name, was, now in found]


def changed_matrices(one: Run, other: Run) -> list[str]:
    """The matrices of either run that the two Setups say otherwise, in the order of a Setup."""
    (setup, _, inputs), (second, _, others) = one, other
    parts = [field.name for field in fields(setup)]
    matrices = [name for name in parts if name in inputs.matrices or name in others.matrices]
    return [name for name in matrices if getattr(setup, name) != getattr(second, name)]


def settings(setup: Setup, trace: Trace, material: Material) -> dict[str, str]:
    """Every setting that is no matrix, in words; what a Setup leaves open as its example has it."""
    config, sizes, none = config_of(setup), trace.sizes(), say("control.none")

    def several(field: str, names: tuple[str, ...]) -> str:
        parts = [name.split(":") for name in names]  # "local:1" is a name and its number
        return say("fact.comma").join(" ".join([say(f"{field}.{name}"), *numbers]) for name, *numbers in parts) or none

    found = {
        "example": say(f"example.{setup.example}"),
        "input": say(f"mode.{mode(setup)}"),
        "text": spelled(material.queries, setup) if mode(setup) == "sentence" else none,
        "context_text": spelled(material.keys, setup) if material.crossed else none,
        "more": str(len(material.batch) or 1),
        "masks": several("masks", tuple(write_mask(*mask) for mask in config.masks)),
        "score": say(f"score.{config.score}"),
        "scale": {None: say("scale.default"), 1.0: say("scale.off")}.get(setup.scale) or term(setup.scale),
        "temperature": f"{setup.temperature:g}",
        "positions": say("fact.comma").join(map(position, positions_of(setup))) or none,
        "dtype": say(f"dtype.{setup.dtype}"),
        "device": say(f"device.{setup.device}"),
        "wiring": several("wiring", setup.wiring),
        "built": several("built", setup.built or ()),
        "seed": str(setup.seed),
        "heads": str(sizes["H"]),
    }
    found |= {name: str(sizes.get(dim, none)) for name, dim in SIZES.items()}
    found |= {name: written(value) if (value := getattr(setup, name)) else none for name in OTHERS}
    found |= {name: str((getattr(setup, name) or "").count("=")) for name in CHOSEN}
    return found | {"network": network_of(setup) or none}


def position(name: str) -> str:
    """A way to tell positions."""
    return say(f"positions.{name}") if has(f"positions.{name}") else say("compare.rope_half")


def called(name: str) -> str:
    """A setting's name on the page."""
    keys = (f"compare.setting.{name}", f"edited.{name}", f"control.{name}")
    return next((say(key) for key in keys if has(key)), name)


def matrix_difference(name: str, was: np.ndarray | None, now: np.ndarray | None) -> list[tuple[str, str, str]]:
    """One number with both values, or how many differ; shapes where these do."""
    if was is None or now is None or was.shape != now.shape:
        shapes = (say("control.none") if each is None else " × ".join(map(str, each.shape)) for each in (was, now))
        return [(called(name), *shapes)]
    places = np.argwhere(was != now)
    if len(places) == 1:
        ((row, column),) = places.tolist()
        return [(f"{called(name)} [{row + 1}, {column + 1}]", *(plain(each[row, column]) for each in (was, now)))]
    return [(called(name), "", say("compare.numbers", count=len(places)))] if len(places) else []


def plain(value: float) -> str:
    """A number of a matrix: as it was typed where it is a short one."""
    text = term(float(value))
    return text if len(text) <= 8 else fixed(float(value))


def cut(text: str) -> str:
    """A value that fits into a line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
