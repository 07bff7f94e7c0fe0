"""Writes and parses Setups as JSON files, for Setups that are too long for a link.

A file has a link's keys and texts.
"""

import json

from attention_core.record.errors import AttentionError
from pages.setup.codec import MAX_LINK_CHARS, setup_from_link, setup_to_link
from pages.setup.setup import Setup

SETUP_FORMAT = "attention-explorer"
SETUP_VERSION = 1
MAX_SETUP_FILE_CHARS = (
    3 * MAX_LINK_CHARS
)  # most characters of a file, enough for any Setup: a file is at most twice as long as the link


def setup_to_file(setup: Setup) -> str:
    """Returns a Setup as the JSON text of a file, which states only the differences from the Setup's example."""
    parts = {"format": SETUP_FORMAT, "version": SETUP_VERSION} | setup_to_link(setup)
    return json.dumps(parts, ensure_ascii=False, indent=2) + "\n"


def setup_from_file(text: str) -> tuple[Setup, list[tuple[str, str]]]:
    """Returns the Setup of a JSON file, and the parts of the file that could not be parsed, as (key, text).

    Raises AttentionError if the file as a whole cannot be read: file_too_long, file_not_json, file_nested, file_twice,
    file_format, file_version, file_text.
    """
    if len(text) > MAX_SETUP_FILE_CHARS:
        raise AttentionError("file_too_long", limit=MAX_SETUP_FILE_CHARS, given=len(text))
    parts = read_strict_json(text)
    if not isinstance(parts, dict) or parts.pop("format", None) != SETUP_FORMAT:
        raise AttentionError("file_format", expected=SETUP_FORMAT)
    version = parts.pop("version", None)
    if type(version) is not int or version < 1:
        raise AttentionError("file_format", expected=SETUP_FORMAT)
    if version > SETUP_VERSION:
        raise AttentionError("file_version", limit=SETUP_VERSION, given=str(version)[:20])
    for name, value in parts.items():
        if not isinstance(value, str):
            raise AttentionError("file_text", name=name[:40])
    return setup_from_link(parts)


def decode_file_text(data: bytes) -> str:
    """Decodes the bytes of an opened file to text. Raises AttentionError: file_not_json."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AttentionError("file_not_json") from None


def read_strict_json(text: str) -> object:
    """Parses a JSON text. Raises AttentionError for repeated keys, for NaN and for lone surrogates."""
    try:
        found = json.loads(text, object_pairs_hook=refuse_repeated_keys, parse_constant=refuse_constant)
        json.dumps(found, ensure_ascii=False).encode()  # raises UnicodeError for a lone surrogate such as "\\ud800"
    except AttentionError:
        raise
    except RecursionError:
        raise AttentionError("file_nested") from None
    except ValueError:
        raise AttentionError("file_not_json") from None
    return found


def refuse_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Returns the members of a JSON object as a dict. Raises AttentionError if a key is repeated."""
    parts: dict[str, object] = {}
    for name, value in pairs:
        if name in parts:
            raise AttentionError("file_twice", name=name[:40])
        parts[name] = value
    return parts


def refuse_constant(name: str) -> None:
    """Raises ValueError for NaN and Infinity, which Python's parser accepts but JSON does not allow."""
    raise ValueError(name)
