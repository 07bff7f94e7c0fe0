"""JavaScript modules of this folder joined into one, along their imports.

A component, a lecture as a file and a test need one text. Each module becomes a function that returns what it exports,
so that its own names stay its own; what a module imports stands before it.

The lines of a module tell what it imports and exports: `import { a, b } from "./other.js";`, `export const`,
`export function`, `export class`, and `export default function`. No module imports, over others, itself.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

COMPONENTS_FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function\*?|class) (\[[^\]]*\]|\w+))", re.MULTILINE)
DEFAULT = "export default "
COMMENT_LINE = re.compile(r"^\s*//.*\n|^\s*/\*\*(?s:.*?)\*/\n|^[ \t]+|^\n", re.MULTILINE)


def join_modules(name: str) -> str:
    """A module and all that it imports as one module, which exports what it exports by default."""
    return f"{write_constants(name)}{DEFAULT}{variable_of(name)}.draw;\n"


def write_constants(name: str) -> str:
    """A module and all that it imports as constants, each with what one of them exports."""
    return "".join(map(wrap_module, list_modules(name)))


def list_modules(name: str) -> list[str]:
    """The names of a module and of all that it imports, each after those that it imports itself.

    Raises ValueError where a module imports itself, over others.
    """
    found: dict[str, None] = {}
    add_module(name, (), found)
    return list(found)


def add_module(name: str, importers: tuple[str, ...], found: dict[str, None]) -> None:
    """Adds to those that are found what a module imports, and then the module."""
    if name in importers:
        raise ValueError(f"modules import each other: {' -> '.join([*importers, name])}")
    if name in found:
        return
    for other, _ in list_imports(name):
        add_module(other, (*importers, name), found)
    found[name] = None


def list_imports(name: str) -> Iterator[tuple[str, str]]:
    """The modules that a module imports, each with the names in the braces."""
    for names, address in IMPORT.findall(read_part(f"{name}.js")):
        yield resolve_address(name, address), names


def resolve_address(name: str, address: str) -> str:
    """The name of the module to which an address in another module leads.

    >>> resolve_address("flow/picture/rings", "../motion"), resolve_address("cards", "./pixels")
    ('flow/motion', 'pixels')
    """
    parts: list[str] = list(PurePosixPath(name).parent.parts)
    for part in address.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


@cache
def wrap_module(name: str) -> str:
    """A module as a constant that holds what it exports, without comments and indents."""
    text = COMMENT_LINE.sub("", read_part(f"{name}.js"))
    given = "".join(
        f"const {{ {' '.join(names.split()).replace(' as ', ': ')} }} = {variable_of(other)};\n"
        for other, names in list_imports(name)
    )
    exported = list_exported(text)
    if DEFAULT in text:
        exported.append("draw: $draw")
    body = EXPORT.sub("", IMPORT.sub("", text)).replace(DEFAULT, "const $draw = ", 1)
    return f"const {variable_of(name)} = (() => {{\n{given}{body}return {{ {', '.join(exported)} }};\n}})();\n"


def list_exported(text: str) -> list[str]:
    """The names that a module exports, besides its default.

    >>> list_exported("export const [a, b] = [1, 2];\\nexport class Flow {}\\nconst own = 3;\\n")
    ['a', 'b', 'Flow']
    """
    return [name for names in EXPORT.findall(text) for name in re.findall(r"\w+", names)]


def variable_of(name: str) -> str:
    """The constant that holds what a module exports.

    >>> variable_of("flow/words")
    '$flow_words'
    """
    return "$" + name.replace("/", "_")


def join_styles(names: Iterable[str]) -> str:
    """The style sheets of the modules of these names, of those that have one."""
    files = [f"{name}.css" for name in names]
    return "\n".join(read_part(name) for name in files if (COMPONENTS_FOLDER / name).exists())


@cache
def read_part(file_name: str) -> str:
    """The text of a file of this folder."""
    return (COMPONENTS_FOLDER / file_name).read_text("utf-8")
