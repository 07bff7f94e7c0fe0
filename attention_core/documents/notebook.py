"""Writes a run as a Jupyter notebook: a link that opens the run in the app, then formula and code of every step.

The notebook needs only torch, and contains the same functions as the Python script that the app exports.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from attention_core.documents.provenance import Provenance
from attention_core.explanation.code_comments import translate_comments
from attention_core.explanation.formula import code_formula, symbol
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
ASCII_SIGN_PATTERN = re.compile(r"[!-/:-@\[-`{-~]")
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def notebook(
    trace: Trace,
    provenance: Provenance,
    sentence: str = "",
    comments: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a run as the text of an .ipynb file, whose code cells compute each step and assign it to a variable of its
    name.

    sentence: the text under the title. comments: {comment of the code, without its #: translation}. A run with more
    than scripts.MAX_LITERAL_NUMBERS input numbers reads them from scripts.INPUTS_FILE beside the notebook.

    Raises ValueError if the run cannot be written as one script.

    >>> import json, torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> cells = json.loads(notebook(trace, Provenance("Two words", "?ex=en_it")))["cells"]
    >>> cells[0]["source"], cells[-1]["source"][-1]
    (['# [Two words](?ex=en_it)'], 'output')
    """
    from nbformat import v4, writes  # imported late, because the import takes as long as drawing a page

    book = v4.new_notebook(metadata=KERNEL)
    for place, (is_code, text) in enumerate(notebook_cells(trace, provenance, sentence)):
        cell_id = f"cell-{place}"  # not random, so that a run always gives the same notebook
        if is_code:
            cell = v4.new_code_cell(translate_comments(text, comments), id=cell_id)
        else:
            cell = v4.new_markdown_cell(text, id=cell_id)
        book.cells.append(cell)
    return writes(book) + "\n"


def notebook_cells(trace: Trace, provenance: Provenance, sentence: str) -> Iterator[tuple[bool, str]]:
    """Yield every cell of the notebook as (whether the cell is code, its text)."""
    from_file = needs_file(trace)
    imports = needed_imports(NOTEBOOK_LANGUAGE, from_file)
    functions = {}
    for name, step in trace.computed().items():
        functions[name] = face_function(step.operation, NOTEBOOK_LANGUAGE)
    definitions = collect_definitions(list(functions.values()), imports)
    check_names(trace, definitions)
    import_lines = {}
    for definition in definitions:
        if definition.is_import:
            import_lines[definition.name] = definition.text
    yield False, title_text(provenance, sentence)
    yield False, ", ".join(f"${symbol(name)}$" for name in trace.inputs())
    yield True, inputs_code(trace, from_file, sorted(import_lines.values()))
    known = set(import_lines)
    for name, function in functions.items():
        paragraphs = []
        for definition in collect_definitions([function], imports):
            if definition.name not in known:
                known.add(definition.name)
                paragraphs.append(definition.text)
        paragraphs.append(step_code(trace, name))
        yield False, f"## {name}\n\n$$\n{code_formula(trace, name)}\n$$"
        yield True, "\n\n\n".join(paragraphs)


def step_code(trace: Trace, name: str) -> str:
    """Return the code that computes a step. A comment names the step's axes, and the last line is the step's name.

    Because of the last line, the notebook shows the step's value.
    """
    step = trace.step(name)
    call = call_line(step.operation, NOTEBOOK_LANGUAGE)
    return f"{call}  # {format_axes(step)}\n{name}"


def title_text(provenance: Provenance, sentence: str) -> str:
    """Return the first cell as Markdown: the title, which links to the app, the sentence and the notes."""
    title, link, *notes = provenance.lines
    paragraphs = [f"# [{escape_notebook_text(title)}]({link})"]
    for text in (sentence, *notes):
        if text:
            paragraphs.append(escape_notebook_text(text))
    return "\n\n".join(paragraphs)


def inputs_code(trace: Trace, from_file: bool, imports: list[str]) -> str:
    """Return the first code cell: a description of the notebook as comment, the imports and the inputs."""
    write_inputs = inputs_from_file if from_file else input_literals
    lines = [
        *header_lines(trace, NOTEBOOK_LANGUAGE, from_file),
        "",
        *imports,
        "",
        *write_inputs(trace, NOTEBOOK_LANGUAGE),
    ]
    return "\n".join(lines)


def escape_notebook_text(text: str) -> str:
    """Escape a text as Markdown that shows exactly this text, so that nothing in it is HTML or a formula.

    >>> escape_notebook_text("it <b> $x$")
    'it &#60;b&#62; &#36;x&#36;'
    """
    line = " ".join(text.split())
    return ASCII_SIGN_PATTERN.sub(lambda sign: f"&#{ord(sign[0])};", line)
