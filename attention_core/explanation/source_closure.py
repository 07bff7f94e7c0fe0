"""The definitions that a script needs: functions and constants copied from their modules, without annotations."""

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

SCRIPT_WIDTH = 100  # columns of a script's line, where there is a choice
PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Definition:
    """A function, constant or import as text; `module` is where it was found, `title` the comment over its section."""

    name: str
    text: str
    module: str = ""
    title: str = ""

    @property
    def is_import(self) -> bool:
        return not self.module


def collect_definitions(functions: Iterable[Callable], imports: dict[str, str]) -> list[Definition]:
    """Every definition that the functions need, each once and behind all that it reads itself."""
    found = {name: Definition(name, text) for name, text in imports.items()}
    for function in dict.fromkeys(functions):  # each once
        module = sys.modules.get(function.__module__)
        if not inspect.isfunction(function) or getattr(module, function.__name__, None) is not function:
            raise ValueError(f"a face must be a function of a module, under its own name: got {function!r}")
        add_definition(function.__name__, module, found)
    return list(found.values())


def add_definition(name: str, module: ModuleType, found: dict[str, Definition]) -> None:
    """What `name` means in the module, and all that this needs, into `found`."""
    definition = locate_definition(name, module)
    if definition is None:  # a builtin
        return
    if hasattr(builtins, name):
        raise ValueError(f"a function must not hide a builtin from the others: {name} of {module.__name__} does")
    if name in found:
        if found[name] != definition:
            places = f"{found[name].module or 'an import'} and {definition.module or 'an import'}"
            raise ValueError(f"a name must mean one thing in a script: {name} is defined in {places}")
        return
    found[name] = definition
    if not definition.is_import:
        for needed in names_read(definition.text):
            add_definition(needed, sys.modules[definition.module], found)
    found[name] = found.pop(name)  # behind everything that it needs


def locate_definition(name: str, module: ModuleType) -> Definition | None:
    """The statement that gives `name` its meaning in the module, followed through this package's imports."""
    text = inspect.getsource(module)
    for node in read_statements(text):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return resolve_import(node, alias)
        elif name in names_bound(node):
            return Definition(
                name, without_annotations(statement_lines(node, text)), module.__name__, section_title(node, text)
            )
    if hasattr(builtins, name):
        return None
    raise ValueError(f"{name} must be a function, constant or import at the top level of {module.__name__}")


@lru_cache(maxsize=32)  # by the text, so never out of date; parsed anew for every name, a script would take 0.6 s
def read_statements(text: str) -> tuple[ast.stmt, ...]:
    """A module's top-level statements, the last first: the last one that binds a name is the one that counts."""
    return tuple(reversed(ast.parse(text).body))


def names_bound(node: ast.stmt) -> list[str]:
    """The names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def resolve_import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Definition | None:
    """What an import brings: a library's name stays an import, this package's is copied from its own module."""
    name = alias.asname or alias.name
    as_name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    if isinstance(node, ast.Import):
        return Definition(name, f"import {as_name}")
    if node.module.partition(".")[0] != PACKAGE:
        return Definition(name, f"from {node.module} import {as_name}")
    if alias.asname:
        raise ValueError(f"{alias.name} must be imported under its own name: got {alias.asname}")
    return locate_definition(name, sys.modules[node.module])


def names_read(text: str) -> list[str]:
    """The global names that a definition reads, in the order of the text; local ones do not count."""
    tables, names = [symtable.symtable(text, "<definition>", "exec")], set()
    for table in tables:  # grows while it is read: the scopes within
        tables.extend(table.get_children())
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return sorted(names, key=lambda name: re.search(rf"\b{name}\b", text).start())


def statement_lines(node: ast.stmt, text: str) -> str:
    """A statement's whole lines, so that a comment behind it stays."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def section_title(node: ast.stmt, text: str) -> str:
    """The last section comment above a statement; it says what the operation does, and names the paper."""
    above = [line for line in text.splitlines()[: node.lineno - 1] if line.startswith("# ----")]
    return above[-1].strip("# -") if above else ""


# ---- annotations -----------------------------------------------------------------------------------------------------
def without_annotations(text: str) -> str:
    """A definition without its annotations: comments and layout stay, a wrapped signature is joined where it fits."""
    raw = text.encode()
    cuts = find_annotations(text, raw)
    for first, last, between in sorted(cuts, reverse=True):
        raw = raw[:first] + between + raw[last:]
    return join_signature(raw.decode()) if cuts else text


def find_annotations(text: str, raw: bytes) -> list[tuple[int, int, bytes]]:
    """Where the annotations stand, as (from, to, what takes their place), in bytes, because ast counts in bytes."""
    starts = [0, *accumulate(len(line) for line in raw.splitlines(keepends=True))]

    def begin(node: ast.AST) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.AST) -> int:
        return starts[node.end_lineno - 1] + node.end_col_offset

    cuts = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg) and node.annotation:
            last, default = end(node.annotation), b" = "
            has_default = raw.startswith(default, last)  # `b: Tensor = None` becomes `b=None`
            last, between = (last + len(default), b"=") if has_default else (last, b"")
            cuts.append((begin(node) + len(node.arg.encode()), last, between))
        elif isinstance(node, ast.AnnAssign) and node.value:
            cuts.append((end(node.target), end(node.annotation), b""))
        elif isinstance(node, ast.FunctionDef) and node.returns:
            arrow = raw.rindex(b"->", 0, begin(node.returns))
            cuts.append((len(raw[:arrow].rstrip()), end(node.returns), b""))
    return cuts


def join_signature(text: str) -> str:
    """A function whose signature was wrapped, with the signature in one line where that is at most WIDTH wide."""
    depth, tokens = 0, tokenize.generate_tokens(io.StringIO(text).readline)
    for token in tokens:
        depth += (token.string in tuple("([{")) - (token.string in tuple(")]}"))
        if token.type == tokenize.COMMENT:  # a comment needs its line
            return text
        if token.string == ":" and depth == 0:
            break
    lines = text.split("\n")
    signature, body = "\n".join(lines[: token.end[0]]), lines[token.end[0] :]
    signature = re.sub(r"\(\n\s*", "(", signature)
    signature = re.sub(r",?\n\s*\)", ")", signature)
    signature = re.sub(r"\n\s*", " ", signature)
    return "\n".join([signature, *body]) if len(signature) <= SCRIPT_WIDTH else text
