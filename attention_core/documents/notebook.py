"""A run as a Jupyter notebook: the link that opens it in the app, then of every step its formula and its code.

It needs torch alone, as the exported script does, and is made of the same functions.
"""

import re
from collections.abc import Iterator

from attention_core.documents.provenance import Provenance
from attention_core.explanation.formula import formula, symbol
from attention_core.explanation.scripts import (
    call_line,
    check_names,
    face_function,
    format_axes,
    header_lines,
    input_literals,
    inputs_from_file,
    needed_imports,
    needs_file,
)
from attention_core.explanation.source_closure import collect_definitions
from attention_core.record.trace import Trace

NOTEBOOK_LANGUAGE = "torch"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def notebook(trace: Trace, imprint: Provenance, sentence: str = "") -> str:
    """The text of an .ipynb file whose code cells, run in order, compute every step under its name.

    sentence: what stands under the title. A run with more than export.LIMIT input numbers reads them from
    export.INPUTS_FILE beside the notebook.

    Raises ValueError where the run cannot be one script, as export.code.

    >>> import json, torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> cells = json.loads(notebook(trace, Provenance("Two words", "?ex=en_it")))["cells"]
    >>> cells[0]["source"], cells[-1]["source"][-1]
    (['# [Two words](?ex=en_it)'], 'output')
    """
    from nbformat import v4, writes  # as long to load as a page takes to be drawn

    book = v4.new_notebook(metadata=KERNEL)
    for place, (is_code, text) in enumerate(notebook_cells(trace, imprint, sentence)):
        make = v4.new_code_cell if is_code else v4.new_markdown_cell
        book.cells.append(make(text, id=f"cell-{place}"))  # none at random: the same notebook for the same run
    return writes(book) + "\n"


def notebook_cells(trace: Trace, imprint: Provenance, sentence: str) -> Iterator[tuple[bool, str]]:
    """Every cell, as whether it is code and its text."""
    from_file = needs_file(trace)
    operations = [step.operation for step in trace.computed().values()]
    imports = needed_imports(NOTEBOOK_LANGUAGE, from_file)
    whole = collect_definitions((face_function(operation, NOTEBOOK_LANGUAGE) for operation in operations), imports)
    check_names(trace, whole)
    title, link, *notes = imprint.lines
    yield (
        False,
        "\n\n".join(
            [f"# [{escape_notebook_text(title)}]({link})", *map(escape_notebook_text, filter(None, (sentence, *notes)))]
        ),
    )
    inputs = inputs_from_file(trace, NOTEBOOK_LANGUAGE) if from_file else input_literals(trace, NOTEBOOK_LANGUAGE)
    needed = sorted(definition.text for definition in whole if definition.is_import)
    yield False, ", ".join(f"${symbol(name)}$" for name in trace.inputs())
    yield True, "\n".join([*header_lines(trace, NOTEBOOK_LANGUAGE, from_file), "", *needed, "", *inputs])
    known = {definition.name for definition in whole if definition.is_import}
    for operation in operations:
        new = [
            each
            for each in collect_definitions([face_function(operation, NOTEBOOK_LANGUAGE)], imports)
            if each.name not in known
        ]
        known |= {definition.name for definition in new}
        yield False, f"## {operation.output}\n\n$$\n{formula(trace, operation.output)}\n$$"
        ran = f"{call_line(operation, NOTEBOOK_LANGUAGE)}  # {format_axes(trace.step(operation.output))}"
        yield True, "\n\n\n".join([*(definition.text for definition in new), f"{ran}\n{operation.output}"])


def escape_notebook_text(text: str) -> str:
    """A text as Markdown that shows exactly this text, with nothing in it for HTML or MathJax to run.

    >>> escape_notebook_text("it <b> $x$")
    'it &#60;b&#62; &#36;x&#36;'
    """
    return re.sub(r"[!-/:-@\[-`{-~]", lambda sign: f"&#{ord(sign[0])};", " ".join(text.split()))
