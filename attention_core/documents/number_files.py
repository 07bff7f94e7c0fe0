"""Writes a run's numbers to files: one step as CSV, or all steps as NPZ or JSON, with all digits of every number.

Infinities, NaN and truth values can be read back from each file. NPZ stores them. CSV has -inf, NaN, True and False. In
JSON, which has no such numbers, they are the texts "-Infinity", "Infinity" and "NaN".
"""

import io
import json

import numpy as np
import torch

from attention_core.documents.provenance import Provenance
from attention_core.explanation.scripts import dtype_name, tensor_to_numpy
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_grouped
from attention_core.record.trace import Step, Trace

MAX_NUMBERS_BY_KIND = {"CSV": 250_000, "JSON": 250_000, "NPZ": 2_500_000}  # file format -> the most numbers in a file
ABOUT_KEY = "about"  # the entry of an NPZ or JSON file for the provenance, axes and labels
JSON_NOT_FINITE = ("-Infinity", "Infinity", "NaN")  # texts for the numbers that JSON lacks: -inf, inf, NaN
FORMULA_SIGNS = tuple("=+-@＝＋－＠\t\r")  # spreadsheets read a text that begins with one of these as a formula


def check_export_size(trace: Trace, kind: str, step: str | None = None) -> None:
    """Raise AttentionError (export_too_large) if a step, or all steps together, have too many numbers for a file.

    kind: a key of MAX_NUMBERS_BY_KIND. step: the name of the exported step; None for all steps.

    >>> trace = Trace({"x": Step("x", torch.zeros(600, 600), ("T", "D"))})
    >>> check_export_size(trace, "NPZ")
    >>> check_export_size(trace, "CSV", "x")
    Traceback (most recent call last):
    attention_core.record.errors.AttentionError: a CSV file may hold at most 250,000 numbers: these are 360,000
    """
    names = trace.steps if step is None else (step,)
    given = sum(trace[name].numel() for name in names)
    limit = MAX_NUMBERS_BY_KIND[kind]
    if given > limit:
        raise AttentionError(
            "export_too_large",
            kind=kind,
            limit=format_grouped(limit),
            given=format_grouped(given),
        )


def csv_text(trace: Trace, step: str, provenance: Provenance) -> str:
    """Return one step as CSV: its provenance in three lines that begin with #, then a table with one number per line.

    Each line of the table has the index on every axis, the labels of labelled axes, and the number. step: the name of
    any step. A label that a spreadsheet would calculate, such as =1+1, gets an apostrophe before it. Read the file with
    `pandas.read_csv(file, skiprows=3)`.

    Raises KeyError for an unknown step, AttentionError: export_too_large.

    >>> trace = Trace({"x": Step("x", torch.tensor([[0.1], [-torch.inf]]), ("T", "D"))}).labelled(T=("a", "=b"))
    >>> print(csv_text(trace, "x", Provenance("Two words", "?ex=en_it")))
    # Two words
    # ?ex=en_it
    #
    T,D,T_label,value
    0,0,a,0.10000000149011612
    1,0,'=b,-inf
    <BLANKLINE>
    """
    check_export_size(trace, "CSV", step)
    table = trace.frame(step)
    if trace.step(step).dtype == torch.bool:
        table["value"] = table["value"].astype(bool)
    for column in table.columns:
        if column.endswith("_label"):
            table[column] = table[column].map(escape_formula)
    title, link, *notes = provenance.lines
    lines = []
    for text in (title, link, " ".join(notes)):
        lines.append(f"# {text}".rstrip())
    lines.append(table.to_csv(index=False, na_rep="NaN", lineterminator="\n"))
    return "\n".join(lines)


def escape_formula(word: str) -> str:
    """Return a word with an apostrophe before it if a spreadsheet would take it for a formula, else unchanged.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula("it")
    ("'=HYPERLINK(1)", 'it')
    """
    return f"'{word}" if word.startswith(FORMULA_SIGNS) else word


def npz_bytes(trace: Trace, provenance: Provenance) -> bytes:
    """Return all steps as the bytes of an NPZ file, with their provenance, axes and labels as JSON in `about`.

    Each step is stored under its name in its precision; bfloat16, which NumPy lacks, becomes float32.

    Raises AttentionError: export_too_large.

    >>> trace = Trace({"x": Step("x", torch.eye(2), ("T", "D"))})
    >>> arrays = np.load(io.BytesIO(npz_bytes(trace, Provenance("Two words", "?ex=en_it"))))
    >>> arrays["x"].tolist(), json.loads(bytes(arrays["about"]))["dims"]
    ([[1.0, 0.0], [0.0, 1.0]], {'x': ['T', 'D']})
    """
    check_export_size(trace, "NPZ")
    about = export_metadata(trace, provenance)
    about["dims"] = {name: list(step.dims) for name, step in trace.steps.items()}
    about_text = json.dumps(about, ensure_ascii=False).encode()
    arrays = {ABOUT_KEY: np.frombuffer(about_text, dtype=np.uint8)}
    for name, step in trace.steps.items():
        arrays[name] = tensor_to_numpy(step.value)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def json_text(trace: Trace, provenance: Provenance) -> str:
    """Return all steps as JSON: `about`, their provenance and labels, then `steps` in order with axes and values.

    Raises AttentionError: export_too_large.

    >>> trace = Trace({"x": Step("x", torch.tensor([0.5, -torch.inf]), ("D",))})
    >>> json.loads(json_text(trace, Provenance("Two numbers", "?ex=en_it")))["steps"][0]["values"]
    [0.5, '-Infinity']
    """
    check_export_size(trace, "JSON")
    document = {
        ABOUT_KEY: export_metadata(trace, provenance) | {"in_place_of_numbers": JSON_NOT_FINITE},
        "steps": [step_as_json(step) for step in trace.steps.values()],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def export_metadata(trace: Trace, provenance: Provenance) -> dict[str, object]:
    """Return the description of the exported numbers: title, link, notes, precision, and the words along the axes."""
    title, link, *notes = provenance.lines
    return {
        "title": title,
        "link": link,
        "notes": notes,
        "dtype": dtype_name(trace),
        "labels": {dim: list(words) for dim, words in trace.labels.items()},
    }


def step_as_json(step: Step) -> dict[str, object]:
    """Return one step as a dictionary that JSON can express: name, axes, shape, whether it is an input, and its
    numbers.
    """
    return {
        "name": step.name,
        "dims": step.dims,
        "shape": step.shape,
        "given": step.operation is None,
        "values": plain_values(tensor_to_numpy(step.value)),
    }


def plain_values(array: np.ndarray) -> list:
    """Return an array as nested lists of truth values or numbers. Texts replace infinities and NaN, which JSON
    lacks.
    """
    if array.dtype == bool:
        return array.tolist()
    values = array.astype(np.float64).astype(object)  # via float64, which represents every number of smaller dtypes
    minus_infinity, infinity, not_a_number = JSON_NOT_FINITE
    values[np.isneginf(array)] = minus_infinity
    values[np.isposinf(array)] = infinity
    values[np.isnan(array)] = not_a_number
    return values.tolist()
