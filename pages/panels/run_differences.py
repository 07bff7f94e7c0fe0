"""Describes how two compared runs, A and B, differ: in settings, matrices and sizes."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

import numpy as np

from attention_core import Trace
from attention_core.record.number_text import format_fixed, format_term
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.runs.upload_store import files_of, printable_file_name
from pages.session.labels import name_choice, name_position_choice
from pages.session.view import ScreenState, name_shown
from pages.setup.choice_text import write_mask
from pages.setup.codec import format_link_value
from pages.setup.resolve import config_of, modifiers_of, positions_of, resolve_run
from pages.setup.setup import CHOSEN_FIELDS, Setup
from pages.setup.word_roles import read_word_roles
from pages.site.words import escape_markdown, has, say

Run = tuple[Setup, Trace, RunInputs]
NamedDifference = tuple[str, str, str]  # (name of the setting, its value in one run, its value in the other)
SIZE_FIELDS = {"kv_heads": "H_kv", "d_k": "d_k", "d_v": "d_v"}  # size -> axis that has an unset size
OTHER_FIELDS = ("network", "model", "layer", "recorded", "roles", "axes", "part", "polarity", "mask_as")
MAX_VALUE_CHARS = 48  # most characters that are shown of a setting's value
DIGEST_DIGITS = 6  # digits of a file's digest that are shown
MAX_NUMBER_CHARS = 8  # most characters of a matrix's number; longer numbers are rounded


# ---- in words --------------------------------------------------------------------------------------------------------
def describe_setting_differences(screen: ScreenState) -> str:
    """Returns the sentence about the settings that differ between A and B, with both values; "" if A is missing."""
    if screen.a is None:
        return ""
    setup_a = replace(screen.setup, run=screen.setup.comparison.run_a)
    run_a = (setup_a, screen.a, inputs_of(setup_a))
    run_b = (screen.setup, screen.trace, screen.inputs)
    differences = find_setting_differences(run_a, run_b)
    if not differences:
        return say("compare.alike")
    sentences = [describe_setting_difference(*difference) for difference in differences]
    return say("compare.settings", settings=say("compare.between").join(sentences))


def describe_setting_difference(name: str, value_a: str, value_b: str) -> str:
    """Returns the phrase about one setting that differs between A and B, with both values.

    value_a: the value in A, or "" if value_b is a text that describes the difference and not a value.
    """
    return say(
        "compare.differs" if value_a else "compare.differ",
        name=escape_markdown(name),
        a=escape_markdown(value_a),
        b=escape_markdown(value_b),
    )


def describe_size_differences(sizes: Mapping[str, tuple[int, int]]) -> str:
    """Returns the sentence that says why the maps of A and B are not subtracted: it names the sizes in which they
    differ.

    sizes: {axis: (its size in A, its size in B)}, of which at least one differs.
    """
    differing = {axis: pair for axis, pair in sizes.items() if pair[0] != pair[1]}
    # if queries and keys differ in the same way, the number of words is named only once
    if differing.get("T") == differing.get("S") is not None:
        differing = {("tokens" if axis == "T" else axis): pair for axis, pair in differing.items() if axis != "S"}
    counted = [say(f"compare.count.{axis}", a=a, b=b) for axis, (a, b) in differing.items()]
    return say("compare.sizes", sizes=say("compare.and_also").join(counted))


# ---- the settings in which two Setups differ, without those that only follow from others -----------------------------
def find_setting_differences(one: Run, other: Run) -> list[NamedDifference]:
    """Returns the settings and matrices that differ between two runs, as (name, value in `one`, value in `other`)."""
    setup, _, inputs = one
    other_setup, _, other_inputs = other
    settings = describe_settings(*one)
    other_settings = describe_settings(*other)
    differences = []
    for name, value in settings.items():
        other_value = other_settings[name]
        only_follows = name in SIZE_FIELDS and getattr(setup.run, name) == getattr(other_setup.run, name)
        if value != other_value and not only_follows:
            differences.append((name_setting(name), value, other_value))
    for name in list_changed_matrices(one, other):
        matrix = inputs.matrices.get(name)
        other_matrix = other_inputs.matrices.get(name)
        differences += describe_matrix_difference(name, matrix, other_matrix)
    return [(name, shorten_value(value), shorten_value(other_value)) for name, value, other_value in differences]


def list_changed_matrices(one: Run, other: Run) -> list[str]:
    """Returns the names of the matrices that differ between two runs, in the order of the fields of a Setup."""
    setup, _, inputs = one
    other_setup, _, other_inputs = other
    changed = []
    for name in [field.name for field in fields(setup.run)]:
        is_matrix = name in inputs.matrices or name in other_inputs.matrices
        if is_matrix and getattr(setup.run, name) != getattr(other_setup.run, name):
            changed.append(name)
    return changed


# ---- the settings of one run -----------------------------------------------------------------------------------------
def describe_settings(setup: Setup, trace: Trace, inputs: RunInputs) -> dict[str, str]:
    """Returns {setting: its value in words} of all settings of a run except matrices.

    A setting that is not set has the example's value.
    """
    config, sizes, resolved = config_of(setup.run), trace.sizes(), resolve_run(setup.run)
    no_value = say("control.none")
    has_sentence = resolved.mode == "sentence"
    settings = {
        "example": name_shown(setup),
        "input": say(f"mode.{resolved.mode}"),
        "text": spell_tokens(inputs.queries, setup.run) if has_sentence else no_value,
        "context_text": spell_tokens(inputs.keys, setup.run) if inputs.crossed else no_value,
        "more": str(sizes["B"]),
        "word_roles": join_word_roles(setup.run.word_roles),
        "cut": say("control.cut") if setup.run.cut else no_value,
        "masks": join_choices("masks", [write_mask(*mask) for mask in config.masks]),
        "score": say(f"score.{config.score}"),
        "scale": describe_scale(setup),
        "temperature": f"{setup.run.temperature:g}",
        "positions": say("fact.comma").join(map(name_position_choice, positions_of(setup.run))) or no_value,
        "modifiers": join_choices("modifiers", modifiers_of(setup.run)),
        "normaliser": name_choice("normaliser", setup.run.normaliser),
        "dtype": say(f"dtype.{setup.run.dtype}"),
        "device": say(f"device.{setup.run.device}"),
        "wiring": join_choices("wiring", setup.run.wiring),
        "built": join_choices("built", setup.run.built or ()),
        "seed": str(setup.run.seed),
        "heads": str(sizes["H"]),
    }
    for name, dim in SIZE_FIELDS.items():
        settings[name] = str(sizes.get(dim, no_value))
    for name in OTHER_FIELDS:
        value = getattr(setup.run, name)
        settings[name] = format_link_value(value) if value else no_value
    for name in CHOSEN_FIELDS:
        chosen = getattr(setup.run, name)
        settings[name] = str(0 if chosen is None else chosen.cells.shape[0])
    settings["network"] = resolved.network or no_value
    settings["file"] = name_uploaded_files(setup.run.file) or no_value
    return settings


def name_uploaded_files(digest: str | None) -> str:
    """Returns the names of the uploaded files with a digest, and its first digits, since files may have equal names.

    Returns "" without a digest, and the digits alone if this session does not have the files.
    """
    if not digest:
        return ""
    names = [printable_file_name(file.name) for upload in files_of(digest) for file in upload]
    digits = digest[:DIGEST_DIGITS]
    return f"{say('fact.comma').join(names)} ({digits})" if names else digits


def join_choices(family: str, choices: Iterable[str]) -> str:
    """Returns the names of chosen options as the page shows them, separated by commas.

    An option such as "local:1" includes its parameter. family: the family of the text keys.
    """
    names = [name_choice(family, choice) for choice in choices]
    return say("fact.comma").join(names) or say("control.none")


def join_word_roles(word_roles: tuple[str, ...]) -> str:
    """Returns the words for which the visitor chose roles as text, each with its role."""
    told = [
        say("roles.counted", words=word, role=say(f"role_of_word.{role}"))
        for word, role in read_word_roles(word_roles).items()
    ]
    return say("fact.comma").join(told) or say("control.none")


def describe_scale(setup: Setup) -> str:
    """Returns the setting of the scale in words: on, which is the default of the score, off, or × a number."""
    scale = setup.run.scale
    if scale is None:
        return say("row.on")
    return say("row.off") if scale == 1.0 else f"× {format_term(scale)}"


def name_setting(name: str) -> str:
    """Returns the name of a setting as the page shows it."""
    keys = (f"compare.setting.{name}", f"edited.{name}", f"control.{name}")
    for key in keys:
        if has(key):
            return say(key)
    return name


# ---- matrices --------------------------------------------------------------------------------------------------------
def describe_matrix_difference(name: str, before: np.ndarray | None, now: np.ndarray | None) -> list[NamedDifference]:
    """Returns how a matrix differs: both shapes, the only number that differs, or how many differ.

    Returns [] if the matrix does not differ. before, now: the numbers in both runs; None for a missing matrix.
    """
    setting = name_setting(name)
    if before is None or now is None or before.shape != now.shape:
        return [(setting, format_matrix_shape(before), format_matrix_shape(now))]
    places = np.argwhere(before != now).tolist()
    if not places:
        return []
    if len(places) > 1:
        return [(setting, "", say("compare.numbers", count=len(places)))]
    row, column = places[0]
    cell_name = f"{setting} [{row + 1}, {column + 1}]"
    number_before = format_matrix_number(before[row, column])
    number_now = format_matrix_number(now[row, column])
    return [(cell_name, number_before, number_now)]


def format_matrix_shape(matrix: np.ndarray | None) -> str:
    """Returns the shape of a matrix as text; for a missing matrix (None) the page's word for "none"."""
    if matrix is None:
        return say("control.none")
    return " × ".join(map(str, matrix.shape))


def format_matrix_number(value: float) -> str:
    """Formats a number of a matrix: exactly if that takes at most MAX_NUMBER_CHARS characters, else rounded."""
    text = format_term(float(value))
    return text if len(text) <= MAX_NUMBER_CHARS else format_fixed(float(value))


def shorten_value(text: str) -> str:
    """Returns a text cut to MAX_VALUE_CHARS characters."""
    if len(text) <= MAX_VALUE_CHARS:
        return text
    return text[: MAX_VALUE_CHARS - 1] + "…"
