"""Bundles JavaScript modules of this folder: joins a module and its imports into one text.

Components, exported lectures and tests need the modules as one text. Each module becomes a function that returns the
module's exports, so that its other names stay private. Imported modules come first.

Unused declarations, comments and indents are removed. Supported lines: `import { a, b } from "./other.js";`, `export
const`, `export function`, `export class`, and `export default function`. Imports must not be circular.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

COMPONENTS_FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function\*?|class) (\[[^\]]*\]|\w+))", re.MULTILINE)
DEFAULT = "export default "
# Matches comments on whole lines and at line ends; the latter only without a quote, because a string may contain "//".
COMMENT = re.compile(r"^\s*//.*\n|^\s*/\*\*(?:[^*]|\*(?!/))*\*/\n|[ \t]+//[^\"'`\n]*$|^\n", re.MULTILINE)
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# Matches a declaration of a module: its first line, and the lines after it that are indented or close a bracket.
DECLARATION = re.compile(
    r"^(?:export )?(?:async )?(?:const|function\*?|class) (?P<name>\w+).*\n(?:[ \t)\]}].*\n)*", re.MULTILINE
)


def join_modules(name: str) -> str:
    """Returns a module bundled with all its imports, as one module with the same default export."""
    return f"{write_constants(name)}{DEFAULT}{variable_of(name)}.draw;\n"


def write_constants(name: str) -> str:
    """Returns JavaScript that defines a constant with the exports of each module; a module comes after its imports."""
    imported: dict[str, set[str]] = defaultdict(set)
    written: list[str] = []
    for module in reversed(list_modules(name)):
        if module != name and not imported[module]:
            continue
        text, imports = reduce_module(module, frozenset(imported[module]))
        for other, names in imports.items():
            imported[other] |= {exported for exported, _ in names}
        written.insert(0, text)
    return "".join(written)


def list_modules(name: str) -> list[str]:
    """Returns the names of a module and of all modules that it imports, directly or not; each comes after its imports.

    Raises ValueError for a circular import.
    """
    found: dict[str, None] = {}
    add_module(name, (), found)
    return list(found)


def add_module(name: str, importers: tuple[str, ...], found: dict[str, None]) -> None:
    """Adds the imports of a module, and then the module itself, to `found`.

    importers: the chain of modules that led to this import.
    """
    if name in importers:
        raise ValueError(f"modules import each other: {' -> '.join([*importers, name])}")
    if name in found:
        return
    for other, _ in list_imports(name):
        add_module(other, (*importers, name), found)
    found[name] = None


def list_imports(name: str) -> Iterator[tuple[str, str]]:
    """Yields (module, text between the braces) for each module that a module imports directly."""
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
def reduce_module(name: str, wanted: frozenset[str]) -> tuple[str, dict[str, list[tuple[str, str]]]]:
    """Returns JavaScript that defines a constant with the exports of a module, and the imports of the module.

    wanted: the exports that other modules import. The returned imports are {module: (name in that module, name in this
    module) pairs}.
    """
    text = COMMENT.sub("", read_part(f"{name}.js"))
    body = drop_unused(IMPORT.sub("", text), wanted)
    used = set(re.findall(r"\w+", body))
    imports = {}
    for other, names in list_imports(name):
        kept = [pair for pair in read_names(names) if pair[1] in used]
        if kept:
            imports[other] = kept
    given = "".join(f"const {{ {write_names(pairs)} }} = {variable_of(other)};\n" for other, pairs in imports.items())
    exported = list_exported(body)
    if DEFAULT in body:
        exported.append("draw: $draw")
    code = INDENT.sub("", EXPORT.sub("", body).replace(DEFAULT, "const $draw = ", 1))
    wrapped = f"const {variable_of(name)} = (() => {{\n{given}{code}return {{ {', '.join(exported)} }};\n}})();\n"
    return wrapped, imports


def read_names(names: str) -> Iterator[tuple[str, str]]:
    """Yields a (name in the imported module, name here) pair for each name between the braces of an import.

    >>> list(read_names("a, b as two,"))
    [('a', 'a'), ('b', 'two')]
    """
    for pair in filter(str.strip, names.split(",")):
        words = pair.split()
        yield words[0], words[-1]


def write_names(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns imported names in the form of a JavaScript destructuring pattern's content.

    >>> write_names([("a", "a"), ("b", "two")])
    'a, b: two'
    """
    return ", ".join(ours if theirs == ours else f"{theirs}: {ours}" for theirs, ours in pairs)


def drop_unused(text: str, wanted: Iterable[str]) -> str:
    """Returns the text of a module without unused declarations.

    A declaration is kept if its name is in `wanted` or occurs elsewhere in the text.

    >>> drop_unused("export const a = 1;\\nconst b = 2;\\nexport const c = () => {\\n  b;\\n};\\n", ["a"])
    'export const a = 1;\\n'
    """
    words = Counter(re.findall(r"\w+", text))

    def keep(found: re.Match[str]) -> str:
        name = found["name"]
        own = Counter(re.findall(r"\w+", found[0]))
        if name in wanted or words[name] > own[name]:
            return found[0]
        words.subtract(own)
        return ""

    shorter = DECLARATION.sub(keep, text)
    return text if shorter == text else drop_unused(shorter, wanted)


def list_exported(text: str) -> list[str]:
    """Returns the names that a module exports, except its default export.

    >>> list_exported("export const [a, b] = [1, 2];\\nexport class Flow {}\\nconst own = 3;\\n")
    ['a', 'b', 'Flow']
    """
    return [name for names in EXPORT.findall(text) for name in re.findall(r"\w+", names)]


def variable_of(name: str) -> str:
    """Returns the name of the JavaScript constant that holds the exports of a module.

    >>> variable_of("flow/words")
    '$flow_words'
    """
    return "$" + name.replace("/", "_")


def join_styles(names: Iterable[str]) -> str:
    """Returns the style sheets of the named modules, concatenated; a module may have none."""
    files = [f"{name}.css" for name in names]
    return "\n".join(read_part(name) for name in files if (COMPONENTS_FOLDER / name).exists())


@cache
def read_part(file_name: str) -> str:
    """Returns the text of a file in this folder."""
    return (COMPONENTS_FOLDER / file_name).read_text("utf-8")
