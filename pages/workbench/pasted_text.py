"""Recognises a text in the sentence box that is not a sentence, such as a matrix, a link or a file name."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.pasted.brackets import has_brackets
from attention_core.inputs.pasted.refusals import safe_excerpt
from attention_core.record.errors import AttentionError
from pages.setup.codec import LINK_KEYS, OTHER_LINK_KEYS, setup_from_link
from pages.setup.setup import Setup
from pages.setup.setup_file import SETUP_FORMAT, read_strict_json, setup_from_file
from pages.site.catalog import PAGES, PAGES_BY_SLUG
from pages.site.controls import FILE, MATRICES

LEAST_MATRIX_NUMBERS = 2  # a text with fewer numbers is read as words
MAX_LIST_CHARS = 20_000  # most characters of a text that is read as a list of texts
MAX_SHOWN_CHARS = 32  # most characters of the text that a message repeats
FILE_KINDS = {MATRICES: ("csv", "tsv", "txt", "xlsx"), FILE: ("npz", "npy", "safetensors", "json")}  # by panel
OTHER_FILE_KINDS = ("pt", "pth", "pkl", "bin", "gguf", "onnx", "h5", "mat", "ipynb", "pdf", "docx", "png", "jpg")
KINDS_PATTERN = "|".join([*FILE_KINDS[MATRICES], *FILE_KINDS[FILE], *OTHER_FILE_KINDS])
# Matches the name of a file without spaces, or a path, which may have spaces.
FILE_NAME = re.compile(
    rf"[\"']?(?:\S+|(?:[A-Za-z]:[\\/]|~?/|\.{{1,2}}/|\\\\|file:)[^\n]{{0,500}})\.({KINDS_PATTERN})[\"']?", re.IGNORECASE
)
WEB_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
QUERY_ALONE = re.compile(r"[^\s?]*\?[^\s=]+=\S*")  # matches the end of a link, which begins with a query
NUMBER = re.compile(r"(?<!\w)[+\-−–]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+\-]?\d+)?(?!\w)")
LIST_OF_TEXTS = re.compile(r"[\[(]\s*[\"']")
LETTERS = re.compile(r"[^\W\d_]+")
BETWEEN_CELLS = re.compile(r"[\n\t;|&]")
MAP_NAMES = ("attention", "attentions")  # keys under which a file stores attention maps


@dataclass(frozen=True)
class Pasted:
    """A pasted text that was recognised, and the ways to use it.

    kind: the key of the sentence about the text, in [pasted] of the page's texts. values: the values in this sentence.
    readings: the text's interpretations as a matrix, as texts. error: the error for which a text that looks like a
    matrix or file cannot be read. opened: the Setup that the text contains, and its unreadable parts. page: the page of
    the app to which a link leads, with the parameters. tokens: the texts of a list. lines: the sentences on the text's
    lines. panel: the panel that can use the text.
    """

    kind: str
    values: Mapping[str, object] = field(default_factory=dict)
    readings: tuple[str, ...] = ()
    error: AttentionError | None = None
    opened: tuple[Setup, list[tuple[str, str]]] | None = None
    page: tuple[str, Mapping[str, str]] | None = None
    tokens: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    panel: str | None = None


def recognise(text: str) -> Pasted | None:
    """Recognises a text that is no sentence; None for a sentence.

    The text may be a matrix, several lines, a list of texts, a link or a saved file of the app, another address, the
    name of a file, or an unreadable text that looks like a matrix.
    """
    text = text.strip()
    return next((found for read in READERS if (found := read(text)) is not None), None)


def shorten(text: str) -> str:
    """Returns the beginning of a text on one line, without unprintable characters."""
    return safe_excerpt(" ".join(text[: 4 * MAX_SHOWN_CHARS].split()), MAX_SHOWN_CHARS)


def read_saved_file(text: str) -> Pasted | None:
    """Recognises the content of a file that the app saved, and reads its Setup or finds the error.

    Returns None for another text.
    """
    if not text.startswith("{") or f'"{SETUP_FORMAT}"' not in text[:200]:
        return None
    try:
        return Pasted("settings", opened=setup_from_file(text))
    except AttentionError as error:
        return Pasted("settings", error=error)


def read_address(text: str) -> Pasted | None:
    """Recognises a link of the app, and finds the page or Setup to which it leads, or another web address.

    Returns None for any other text.
    """
    is_web_address = WEB_ADDRESS.fullmatch(text)
    if not is_web_address and not QUERY_ALONE.fullmatch(text):
        return None
    try:
        parts = urlsplit(text)
        link = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=2 * len(LINK_KEYS)))
    except ValueError:
        return Pasted("address") if is_web_address else None
    slug = parts.path.rstrip("/").rpartition("/")[2]
    if slug in PAGES_BY_SLUG and slug != PAGES[0].slug and link.keys() & {"lang", "open", *LINK_KEYS}:
        return Pasted("link", page=(slug, link))
    if link.keys() & LINK_KEYS or (link and link.keys() <= {*OTHER_LINK_KEYS}):
        return Pasted("link", opened=setup_from_link(link))
    return Pasted("address") if is_web_address else None


def read_file_name(text: str) -> Pasted | None:
    """Recognises the name of a file, and finds the panel that can open such a file; None for another text."""
    found = FILE_NAME.fullmatch(text)
    if found is None:
        return None
    kind = found[1].lower()
    panel = next((panel for panel, kinds in FILE_KINDS.items() if kind in kinds), None)
    return Pasted("file_name" if panel else "other_file", {"kinds": ", ".join(FILE_KINDS[FILE])}, panel=panel)


def read_list_of_texts(text: str) -> Pasted | None:
    """Recognises a list of texts in the syntax of Python or JSON; None for another text."""
    if len(text) > MAX_LIST_CHARS or not LIST_OF_TEXTS.match(text):
        return None
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(found, str):  # a single text in brackets is not a list
        return None
    if not all(isinstance(each, str) and each.strip() for each in found):
        return None
    tokens = tuple(each.strip() for each in found)
    return Pasted("list", {"count": len(tokens)}, tokens=tokens)


def read_matrix_text(text: str) -> Pasted | None:
    """Recognises a matrix, and finds its interpretations or why it cannot be read; None for words."""
    try:
        rows, columns = parse_matrix(text, "x").shape
    except AttentionError as error:
        readings = tuple(error.values.get("readings", ()))
        if readings:
            return Pasted("readings", error=error, readings=readings)
        return Pasted("like_matrix", error=error) if looks_like_matrix(text) else None
    if rows * columns < LEAST_MATRIX_NUMBERS:
        return None
    return Pasted("matrix", {"rows": rows, "columns": columns}, readings=(text,))


def read_arrays(text: str) -> Pasted | None:
    """Recognises a JSON object of arrays, and finds the panel that can open it; None for another text."""
    if not text.startswith("{"):
        return None
    try:
        found = read_strict_json(text)
    except AttentionError:
        return None
    if not isinstance(found, dict) or not any(isinstance(value, list) for value in found.values()):
        return None
    if found.keys() & {*MAP_NAMES}:
        return Pasted("maps", page=("maps", {}))
    return Pasted("arrays", {"names": shorten(", ".join(found))}, panel=FILE)


def looks_like_matrix(text: str) -> bool:
    """Returns whether most of a text is numbers, with separators between them as in a matrix.

    >>> [looks_like_matrix(text) for text in ("[[1, 2], [3]]", "1,x\\n2,3", "In 1990, 2001 and 2003", "[sic] 1")]
    [True, True, False, False]
    """
    numbers, words = len(NUMBER.findall(text)), len(LETTERS.findall(text))
    is_separated = BETWEEN_CELLS.search(text) is not None or has_brackets(text)
    return is_separated and numbers >= LEAST_MATRIX_NUMBERS and numbers > words


def read_lines(text: str) -> Pasted | None:
    """Recognises a text of several lines, and returns the sentences on them; None if it has one line."""
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    return Pasted("lines", {"count": len(lines)}, lines=lines) if len(lines) > 1 else None


READERS: tuple[Callable[[str], Pasted | None], ...] = (
    read_saved_file,
    read_address,
    read_file_name,
    read_list_of_texts,
    read_arrays,
    read_matrix_text,
    read_lines,
)
