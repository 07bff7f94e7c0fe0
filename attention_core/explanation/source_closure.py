"""Collects the functions and constants that an exported script needs, and copies their source without annotations."""

import ast
import builtins
import inspect
import io
import re
import symtable
import sys
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import ModuleType
from typing import NamedTuple

from attention_core.record.python_source import parse_source

SCRIPT_WIDTH = 100  # lines that this module joins or pads are at most this wide
PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Definition:
    """The source text of a function, constant or import.

    module: the name of the defining module; "" for an import. title: the comment above the section of the definition.
    """

    name: str
    text: str
    module: str = ""
    title: str = ""

    @property
    def is_import(self) -> bool:
        """Return whether the definition is an import statement of a library."""
        return not self.module


def collect_definitions(functions: Iterable[Callable], imports: dict[str, str]) -> list[Definition]:
    """Collect every definition that the functions need, each once and after all definitions that it uses.

    imports: further import statements that are needed, keyed by the name that each defines. Raises ValueError for a
    function that its module does not have under its own name, and for a name with two definitions.
    """
    found = {name: Definition(name, text) for name, text in imports.items()}
    for function in dict.fromkeys(functions):
        if not is_found_by_name(function):
            raise ValueError(f"a face must be a function of a module, under its own name: got {function!r}")
        module = sys.modules[function.__module__]
        add_definition(function.__name__, module, found)
    return list(found.values())


def is_found_by_name(function: Callable) -> bool:
    """Return whether a module-level name refers to a function, so that a script can define it under that name."""
    if not inspect.isfunction(function):
        return False
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__name__, None) is function


def add_definition(name: str, module: ModuleType, found: dict[str, Definition]) -> None:
    """Add the definition of `name` in a module to `found`, followed by all definitions that this definition uses."""
    definition = locate_definition(name, module)
    if definition is None:  # a builtin, such as len
        return
    if hasattr(builtins, name):
        raise ValueError(f"a function must not hide a builtin from the others: {name} of {module.__name__} does")
    if name in found:
        check_same_meaning(found[name], definition)
        return
    found[name] = definition
    if not definition.is_import:
        for needed in names_read(definition.text):
            add_definition(needed, sys.modules[definition.module], found)
    found[name] = found.pop(name)  # moved to the end, after its dependencies


def check_same_meaning(known: Definition, other: Definition) -> None:
    """Raise ValueError if two definitions of one name differ.

    known: the definition found first. other: the one found later.
    """
    if known == other:
        return
    places = [definition.module or "an import" for definition in (known, other)]
    modules = " and ".join(places)
    raise ValueError(f"a name must mean one thing in a script: {known.name} is defined in {modules}")


def locate_definition(name: str, module: ModuleType) -> Definition | None:
    """Find the statement that defines `name` in the module, following this package's imports.

    Returns None for a builtin.
    """
    text = inspect.getsource(module)
    for node in read_statements(text):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return resolve_import(node, alias)
        elif name in names_bound(node):
            statement = without_annotations(statement_lines(node, text))
            return Definition(name, statement, module.__name__, section_title(node, text))
    if hasattr(builtins, name):
        return None
    raise ValueError(f"{name} must be a function, constant or import at the top level of {module.__name__}")


@lru_cache(maxsize=32)  # keyed by the source text, so never outdated
def read_statements(text: str) -> tuple[ast.stmt, ...]:
    """Parse a module's source and return its top-level statements in reverse order.

    In this order, the first statement that defines a name is the definition that is valid in the end.
    """
    return tuple(reversed(parse_source(text).body))


def names_bound(node: ast.stmt) -> list[str]:
    """List the names that a top-level statement binds: a function's, a class's, or assigned variables."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def resolve_import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Definition | None:
    """Find the definition of an imported name: an import from this package is followed, one from a library is kept."""
    name = alias.asname or alias.name
    imported = ast.unparse(alias)  # with its `as` name, if it has one
    if isinstance(node, ast.Import):
        return Definition(name, f"import {imported}")
    package, _, _ = node.module.partition(".")
    if package != PACKAGE:
        return Definition(name, f"from {node.module} import {imported}")
    if alias.asname:
        raise ValueError(f"{alias.name} must be imported under its own name: got {alias.asname}")
    return locate_definition(name, sys.modules[node.module])


def names_read(text: str) -> list[str]:
    """List the global names that a definition reads, in the order of its text."""
    names = set()
    scopes = [symtable.symtable(text, "<definition>", "exec")]
    for scope in scopes:  # nested scopes are appended during the loop
        scopes.extend(scope.get_children())
        for symbol in scope.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                names.add(symbol.get_name())
    return sorted(names, key=lambda name: re.search(rf"\b{name}\b", text).start())


def statement_lines(node: ast.stmt, text: str) -> str:
    """Return the whole lines of a statement, including a comment at the end of a line."""
    first = node.lineno
    for decorator in getattr(node, "decorator_list", []):
        first = min(first, decorator.lineno)
    lines = text.splitlines()
    return "\n".join(lines[first - 1 : node.end_lineno])


def section_title(node: ast.stmt, text: str) -> str:
    """Return the last section comment above a statement; it says what the operation does, and names its paper."""
    above = text.splitlines()[: node.lineno - 1]
    for line in reversed(above):
        if line.startswith("# ----"):
            return line.strip("# -")
    return ""


# ---- annotations -----------------------------------------------------------------------------------------------------
def without_annotations(text: str) -> str:
    """Return a definition's source without its annotations.

    Comments and layout stay. If a wrapped signature fits on one line, it is joined.
    """
    cuts = find_annotations(text)
    if not cuts:
        return text
    raw = text.encode()
    for cut in sorted(cuts, reverse=True):  # in reverse, so that positions of earlier cuts stay valid
        raw = raw[: cut.start] + cut.between + raw[cut.end :]
    return join_signature(raw.decode())


class Cut(NamedTuple):
    """A range of the source, in bytes (as ast counts columns), and the text that replaces it."""

    start: int
    end: int
    between: bytes = b""


def find_annotations(text: str) -> list[Cut]:
    """Find the annotations of arguments, variables and results in a definition; return the Cuts that remove them."""
    raw = text.encode()
    line_starts = [0, *accumulate(len(line) for line in raw.splitlines(keepends=True))]

    def begin(node: ast.AST) -> int:
        return line_starts[node.lineno - 1] + node.col_offset

    def end(node: ast.AST) -> int:
        return line_starts[node.end_lineno - 1] + node.end_col_offset

    cuts = []
    for node in ast.walk(parse_source(text)):
        if isinstance(node, ast.arg) and node.annotation:
            name_end = begin(node) + len(node.arg.encode())
            cuts.append(cut_argument(raw, name_end, end(node.annotation)))
        elif isinstance(node, ast.AnnAssign) and node.value:
            cuts.append(Cut(end(node.target), end(node.annotation)))
        elif isinstance(node, ast.FunctionDef) and node.returns:
            arrow = raw.rindex(b"->", 0, begin(node.returns))
            signature_end = len(raw[:arrow].rstrip())
            cuts.append(Cut(signature_end, end(node.returns)))
    return cuts


def cut_argument(raw: bytes, name_end: int, annotation_end: int) -> Cut:
    """Return the Cut that removes an argument's annotation.

    If the argument has a default, the spaces around `=` are removed, too, as in `b=None`.
    """
    default = b" = "
    if raw.startswith(default, annotation_end):
        return Cut(name_end, annotation_end + len(default), b"=")
    return Cut(name_end, annotation_end)


def join_signature(text: str) -> str:
    """Join a wrapped signature into one line, unless the line exceeds SCRIPT_WIDTH or the signature has a comment."""
    signature_end = find_signature_end(text)
    if signature_end is None:
        return text
    lines = text.split("\n")
    body = lines[signature_end:]
    signature = "\n".join(lines[:signature_end])
    signature = re.sub(r"\(\n\s*", "(", signature)
    signature = re.sub(r",?\n\s*\)", ")", signature)
    signature = re.sub(r"\n\s*", " ", signature)
    if len(signature) > SCRIPT_WIDTH:
        return text
    return "\n".join([signature, *body])


def find_signature_end(text: str) -> int | None:
    """Return the number of the line on which a signature ends, or None if the signature contains a comment."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            return None
        if token.string in ("(", "[", "{"):
            depth += 1
        elif token.string in (")", "]", "}"):
            depth -= 1
        elif token.string == ":" and depth == 0:
            break
    return token.end[0]
