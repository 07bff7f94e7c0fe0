"""A bundler for the JavaScript modules of this folder: joins a module and its imports into one text.

A component, an exported lecture and a test need one text. Each module becomes a function that returns its exports, so
that its other names stay private; imported modules come first.

Supported lines: `import { a, b } from "./other.js";`, `export const`, `export function`, `export class`, and
`export default function`. Imports must not be circular.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

COMPONENTS_FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function\*?|class) (\[[^\]]*\]|\w+))", re.MULTILINE)
DEFAULT = "export default "
# Comments of whole lines and at the end of a line, unless they have a quote: what looks like one may stand in a string.
COMMENT = re.compile(r"^\s*//.*\n|^\s*/\*\*(?s:.*?)\*/\n|[ \t]+//[^\"'`\n]*$|^[ \t]+|^\n", re.MULTILINE)


def join_modules(name: str) -> str:
    """Returns a module bundled with all its imports, as one module with the same default export."""
    return f"{write_constants(name)}{DEFAULT}{variable_of(name)}.draw;\n"


def write_constants(name: str) -> str:
    """Returns JavaScript with one constant for each module, a module after its imports, that holds its exports."""
    return "".join(map(wrap_module, list_modules(name)))


def list_modules(name: str) -> list[str]:
    """Returns the names of a module and of all that it imports, directly or not, each after its own imports.

    Raises ValueError for a circular import.
    """
    found: dict[str, None] = {}
    add_module(name, (), found)
    return list(found)


def add_module(name: str, importers: tuple[str, ...], found: dict[str, None]) -> None:
    """Adds the imports of a module, and then the module, to `found`. importers: the chain of modules that led here."""
    if name in importers:
        raise ValueError(f"modules import each other: {' -> '.join([*importers, name])}")
    if name in found:
        return
    for other, _ in list_imports(name):
        add_module(other, (*importers, name), found)
    found[name] = None


def list_imports(name: str) -> Iterator[tuple[str, str]]:
    """Yields the modules that a module imports directly, each with the text between its braces."""
    for names, address in IMPORT.findall(read_part(f"{name}.js")):
        yield resolve_address(name, address), names


def resolve_address(name: str, address: str) -> str:
    """Returns the name of the module that a relative address in module `name` refers to.

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
    """Returns JavaScript that defines a constant with the exports of a module, without comments and indents."""
    text = COMMENT.sub("", read_part(f"{name}.js"))
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
    """Returns the names that a module exports, besides its default.

    >>> list_exported("export const [a, b] = [1, 2];\\nexport class Flow {}\\nconst own = 3;\\n")
    ['a', 'b', 'Flow']
    """
    return [name for names in EXPORT.findall(text) for name in re.findall(r"\w+", names)]


def variable_of(name: str) -> str:
    """Returns the name of the constant that holds the exports of a module.

    >>> variable_of("flow/words")
    '$flow_words'
    """
    return "$" + name.replace("/", "_")


def join_styles(names: Iterable[str]) -> str:
    """Returns the style sheets of the named modules, joined; a module may have none."""
    files = [f"{name}.css" for name in names]
    return "\n".join(read_part(name) for name in files if (COMPONENTS_FOLDER / name).exists())


@cache
def read_part(file_name: str) -> str:
    """Returns the text of a file in this folder."""
    return (COMPONENTS_FOLDER / file_name).read_text("utf-8")
