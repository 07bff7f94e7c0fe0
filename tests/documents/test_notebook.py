"""The notebook: a real one, which computes every step of the run when its cells are run in order."""

import json
import re

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

from attention_core.documents.notebook import escape_notebook_text, notebook
from attention_core.documents.provenance import Provenance
from attention_core.explanation.scripts import INPUTS_FILE, inputs_npz
from tests.explanation.test_scripts import ONE_AFTER_THE_OTHER, RUNS, largest, run, torch_tolerance, trace_of
from tests.session.test_hostile_words import HOSTILE

IMPRINT = Provenance("Anna fed the dog", "https://attention.example.edu/?ex=en_it&t=5", ("Random: x, from seed 3.",))


def book_of(name, imprint=IMPRINT):
    return nbformat.reads(notebook(trace_of(name), imprint, "“it” gives 93 % to “dog”."), as_version=4)


def code_of(name):
    """The code cells in order, and behind them one that writes down what they have made."""
    cells = [cell.source for cell in book_of(name).cells if cell.cell_type == "code"]
    names = list(trace_of(name).steps)
    values = "{name: globals()[name].detach() for name in " + repr(names) + "}"
    return "\n".join([*cells, "import torch", f'torch.save({values}, "steps.pt")'])


def same(found, expected, tolerance, name):
    """Equal up to a tolerance of the largest number, infinities and truth values exactly."""
    assert (found.dtype, tuple(found.shape)) == (expected.dtype, tuple(expected.shape)), name
    found, expected = (value.detach().double().numpy() for value in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * largest(expected), err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_run_cell_by_cell_every_step_has_the_runs_numbers(half, tmp_path):
    """In a process of its own with nothing of this repository; a kernel, which is slow to start, runs one below."""
    names, scripts = list(RUNS)[half::2], []
    for place, name in enumerate(names):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "cells.py").write_text(code_of(name), encoding="utf-8")
        (folder / INPUTS_FILE).write_bytes(inputs_npz(trace_of(name)))
        scripts.append(folder / "cells.py")
    (tmp_path / "runner.py").write_text(ONE_AFTER_THE_OTHER)
    process = run(tmp_path, "runner.py", *scripts)
    assert process.returncode == 0 and "Traceback" not in process.stdout, process.stdout[-2000:] + process.stderr
    for name, script in zip(names, scripts, strict=True):
        found = torch.load(script.parent / "steps.pt", weights_only=True)
        assert [*found] == [*trace_of(name).steps]
        for step, value in found.items():
            same(value, trace_of(name)[step], torch_tolerance(name), f"{name}: {step}")


def test_jupyter_runs_it(tmp_path):
    book = book_of("small")
    book.cells.append(nbformat.v4.new_code_cell("print(weights.tolist())"))
    client = NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    done = client.execute()
    printed = done.cells[-1].outputs[0].text
    assert torch.equal(torch.tensor(json.loads(printed), dtype=torch.float64), trace_of("small")["weights"])
    shown = [
        cell.outputs[0].data["text/plain"] for cell in done.cells[:-1] if cell.cell_type == "code" and cell.outputs
    ]
    assert len(shown) == len(trace_of("small").computed())  # every step is seen


@pytest.mark.parametrize("name", ["small", "everything float64", "block by block", "large float32"])
def test_it_is_valid_and_every_step_has_its_formula_and_its_code(name):
    book = book_of(name)
    nbformat.validate(book)
    headings = [cell.source.split("\n")[0] for cell in book.cells if cell.source.startswith("## ")]
    assert headings == [f"## {step}" for step in trace_of(name).computed()]
    formulas = [cell.source for cell in book.cells if "$$" in cell.source]
    assert len(formulas) == len(headings)
    assert book == book_of(name)  # nothing at random
    assert {cell.id for cell in book.cells} == {f"cell-{place}" for place in range(len(book.cells))}


def test_its_first_cell_opens_the_state_in_the_app():
    first = book_of("small").cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith(f"# [Anna fed the dog]({IMPRINT.link})")
    assert "Random&#58; x&#44; from seed 3&#46;" in first.source


def test_it_needs_torch_alone_and_numpy_where_it_reads_a_file():
    for name, wanted in (("small", {"torch"}), ("large float64", {"numpy", "torch"})):
        imported = set(re.findall(r"^(?:import|from) (\w+)", code_of(name), re.MULTILINE))
        assert imported - {"math", "collections"} == wanted
    assert "from attention_core" not in code_of("everything float64")


@pytest.mark.parametrize("word", [*HOSTILE, "</script>", "$\\href{javascript:x}{y}$", "www.evil.example", "1. a\n# b"])
def test_no_word_is_markup(word):
    text = escape_notebook_text(word)
    assert not set(re.sub(r"&#\d+;", "", text)) & set("<>&$*_`[]()#!~|\\:./'\"-+=")
    shown = re.sub(r"&#(\d+);", lambda code: chr(int(code[1])), text)
    assert shown == " ".join(word.split())
    book = book_of("small", Provenance(word, IMPRINT.link, (word,)))
    assert text in book.cells[0].source or not word.strip()
