"""Runs the cells of a notebook of docs in one namespace, and writes its outputs anew:

python -m tests.notebook.run_notebook docs/first_steps.ipynb
"""

import ast
import contextlib
import io
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_output


def run_cells(book):
    """Return the notebook with the outputs of its code cells, as a kernel would give them."""
    names = {"__name__": "__main__"}
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = list(outputs_of(cell.source, names))
            cell.execution_count = None
    return book


def outputs_of(source, names):
    """Yield what a cell prints, then what its last line shows if that is an expression."""
    body = ast.parse(source).body
    if isinstance(body[-1], ast.Expr):
        body[-1] = ast.Assign([ast.Name("_", ast.Store())], body[-1].value)  # as in Jupyter, _ is what was shown
    names["_"] = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.fix_missing_locations(ast.Module(body, [])), "a cell of the notebook", "exec"), names)
    shown = names["_"]
    if printed.getvalue():
        yield new_output("stream", name="stdout", text=printed.getvalue())
    if shown is not None:
        data = {"text/html": shown._repr_html_()} if hasattr(shown, "_repr_html_") else {"text/plain": repr(shown)}
        yield new_output("execute_result", data, execution_count=None)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    nbformat.write(run_cells(nbformat.read(path, as_version=4)), path)
