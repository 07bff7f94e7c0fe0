"""The notebook of docs: its cells run, its saved outputs are what they give, and it is small."""

import json
import re

import nbformat
import pytest

from tests.house.test_readme import ROOT
from tests.notebook.run_notebook import run_cells

PATH = ROOT / "docs" / "first_steps.ipynb"
MAX_BYTES = 300_000
ROUNDING = re.compile(r"\d(\.\d)? × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\b0\b")  # another processor rounds in another way


def shown(book):
    """The outputs of each code cell as texts, without the sizes of rounding errors."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    return [ROUNDING.sub("…", json.dumps(cell.outputs, sort_keys=True, ensure_ascii=False)) for cell in cells]


@pytest.fixture(scope="module")
def ran():
    return run_cells(nbformat.read(PATH, as_version=4))


def test_the_saved_outputs_are_what_the_cells_give(ran):
    saved = nbformat.read(PATH, as_version=4)
    nbformat.validate(saved)
    assert shown(saved) == shown(ran), f"python -m tests.notebook.run_notebook {PATH.relative_to(ROOT)}"
    assert PATH.stat().st_size <= MAX_BYTES


def test_it_shows_what_its_sentences_say(ran):
    outputs = ["".join(map(str, cell.outputs)) for cell in ran.cells if cell.cell_type == "code"]
    trace, score, proof, softmax, transpose, failure, layer, weight, _ = outputs
    assert trace.count("<table") == 3
    assert "−6.00" in score and "Proven." in proof
    assert "the softmax runs over the queries" in softmax
    assert "without the transpose" in transpose and "without the transpose" in failure
    assert "head 3" in layer and "= 0.96" in weight
