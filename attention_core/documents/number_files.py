"""A run's numbers as files: one step as CSV, all steps as NPZ or JSON, every number with all its digits.

Minus infinity, NaN and truth values survive in each: NPZ has them by itself, CSV writes -inf, NaN, True and False, and
JSON, which has no number for them, the texts "-Infinity", "Infinity" and "NaN" in a number's place.
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

MAX_NUMBERS_BY_KIND = {"CSV": 250_000, "JSON": 250_000, "NPZ": 2_500_000}  # numbers in a file of each kind
ABOUT_KEY = "about"  # the member of an NPZ file, and the part of a JSON one, that says what is in it
JSON_NOT_FINITE = ("-Infinity", "Infinity", "NaN")  # what JSON says in a number's place
FORMULA_SIGNS = tuple("=+-@＝＋－＠\t\r")  # a spreadsheet calculates a text that begins like this


def check_export_size(trace: Trace, kind: str, step: str | None = None) -> None:
    """Raises AttentionError (export_too_large) where a step, or all of them, have more numbers than a file may hold.

    kind: one of MOST. step: the one that is written, None for all.

    >>> trace = Trace({"x": Step("x", torch.zeros(600, 600), ("T", "D"))})
    >>> check_export_size(trace, "NPZ")
    >>> check_export_size(trace, "CSV", "x")
    Traceback (most recent call last):
    attention_core.record.errors.AttentionError: a CSV file may hold at most 250,000 numbers: these are 360,000
    """
    names = trace.steps if step is None else (step,)
    given = sum(trace[name].numel() for name in names)
    if given > MAX_NUMBERS_BY_KIND[kind]:
        raise AttentionError(
            "export_too_large", kind=kind, limit=format_grouped(MAX_NUMBERS_BY_KIND[kind]), given=format_grouped(given)
        )


def csv_text(trace: Trace, step: str, imprint: Provenance) -> str:
    """One step as CSV: the imprint in three lines that begin with #, then trace.frame, a line a number.

    step: any step's name. A word that a spreadsheet would calculate, such as =1+1, has an apostrophe before it.
    Read it by `pandas.read_csv(file, skiprows=3)`.

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
    if trace[step].dtype == torch.bool:
        table["value"] = table["value"].astype(bool)
    for column in table.columns[table.columns.str.endswith("_label")]:
        table[column] = table[column].map(escape_formula)
    title, link, *notes = imprint.lines
    before = "".join(f"# {line}".rstrip() + "\n" for line in (title, link, " ".join(notes)))
    return before + table.to_csv(index=False, na_rep="NaN", lineterminator="\n")


def escape_formula(word: str) -> str:
    """A word that no spreadsheet takes for a formula.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula("it")
    ("'=HYPERLINK(1)", 'it')
    """
    return f"'{word}" if word.startswith(FORMULA_SIGNS) else word


def npz_bytes(trace: Trace, imprint: Provenance) -> bytes:
    """All steps as an NPZ file: each under its name and in its own precision (bfloat16, which NumPy does not have, as
    float32), and `about`: the JSON text of imprint, axes and labels.

    Raises AttentionError: export_too_large.

    >>> trace = Trace({"x": Step("x", torch.eye(2), ("T", "D"))})
    >>> arrays = np.load(io.BytesIO(npz_bytes(trace, Provenance("Two words", "?ex=en_it"))))
    >>> arrays["x"].tolist(), json.loads(bytes(arrays["about"]))["dims"]
    ([[1.0, 0.0], [0.0, 1.0]], {'x': ['T', 'D']})
    """
    check_export_size(trace, "NPZ")
    dims = {name: list(step.dims) for name, step in trace.steps.items()}
    told = json.dumps(export_metadata(trace, imprint) | {"dims": dims}, ensure_ascii=False).encode()
    arrays = {name: tensor_to_numpy(step.value) for name, step in trace.steps.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **{ABOUT_KEY: np.frombuffer(told, dtype=np.uint8)}, **arrays)
    return file.getvalue()


def json_text(trace: Trace, imprint: Provenance) -> str:
    """All steps as JSON: `about`, the imprint and the labels, then `steps` in order with name, axes, shape and values.

    Raises AttentionError: export_too_large.

    >>> trace = Trace({"x": Step("x", torch.tensor([0.5, -torch.inf]), ("D",))})
    >>> json.loads(json_text(trace, Provenance("Two numbers", "?ex=en_it")))["steps"][0]["values"]
    [0.5, '-Infinity']
    """
    check_export_size(trace, "JSON")
    told = export_metadata(trace, imprint) | {"in_place_of_numbers": JSON_NOT_FINITE}
    whole = {ABOUT_KEY: told, "steps": [step_as_json(step) for step in trace.steps.values()]}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"


def export_metadata(trace: Trace, imprint: Provenance) -> dict[str, object]:
    """Where the numbers are from, their precision, and the words of the axes."""
    title, link, *notes = imprint.lines
    labels = {dim: list(words) for dim, words in trace.labels.items()}
    return {"title": title, "link": link, "notes": notes, "dtype": dtype_name(trace), "labels": labels}


def step_as_json(step: Step) -> dict[str, object]:
    """One step as plain values."""
    return {
        "name": step.name,
        "dims": step.dims,
        "shape": tuple(step.value.shape),
        "given": step.operation is None,
        "values": plain_values(tensor_to_numpy(step.value)),
    }


def plain_values(array: np.ndarray) -> list:
    """An array as nested lists of truth values, or of numbers, with texts in the place of what is no JSON number."""
    if array.dtype == bool:
        return array.tolist()
    values = array.astype(np.float64).astype(object)  # float64 holds every number of the smaller precisions
    for text, found in zip(JSON_NOT_FINITE, (np.isneginf(array), np.isposinf(array), np.isnan(array)), strict=True):
        values[found] = text
    return values.tolist()
