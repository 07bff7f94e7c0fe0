"""Reads arrays from uploaded files and checks all that they say: text, JSON, NPY, NPZ, safetensors."""

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator

import numpy as np
from safetensors import SafetensorError, deserialize

from attention_core.inputs.files.array_bytes import (
    ARRAY_BOUNDS,
    BFLOAT16,
    MAX_ARRAYS,
    FileBounds,
    printable_name,
    read_stored_array,
)
from attention_core.inputs.files.json_arrays import read_json_arrays
from attention_core.inputs.files.npy import read_npy, read_npz
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.record.errors import AttentionError

MAX_SAFETENSORS_HEADER = 100_000  # bytes, of some hundred arrays
MAX_LISTED_NAMES = 8  # in an error

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAFETENSORS_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": BFLOAT16,
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}

NamedArrays = Iterator[tuple[str | None, np.ndarray]]  # None: an array without a name of its own


def read_arrays(
    file_name: str,
    content: bytes,
    minus_infinity: Collection[str] | bool = (),
    bounds: FileBounds = ARRAY_BOUNDS,
) -> dict[str, np.ndarray]:
    """Reads all arrays of a file by their names; an array without a name gets that of the file, less its ending.

    file_name: with its ending, which says how the file is read: .csv, .tsv and .txt as one matrix of text
    (`parse_matrix`), .json as nested lists or an object of them, .npy, .npz, .safetensors. content: at most 5 MB.
    minus_infinity: names of arrays that may hold −∞, as additive masks and masked scores do; True: all may. bounds: how
    much the file may hold; a text and JSON never more than ARRAY_BOUNDS allows.

    Returns float64, or bool where the file holds truth values; at most 512 arrays of at most 4 axes, 1,250,000 numbers
    together. Every number is finite, but for the −∞ that were allowed.
    Raises AttentionError: file_ending, file_empty, file_too_large; not_text, not_npz, not_safetensors, and what
    read_json_arrays, read_npy, read_npz and parse_matrix refuse; no_arrays, too_many_arrays, array_twice,
    too_many_numbers; not_finite, not_blocked_or_finite.

    >>> read_arrays("w_q.csv", b"1,2\\n3,4")
    {'w_q': array([[1., 2.],
           [3., 4.]])}
    """
    arrays = read_unchecked_arrays(file_name, content, bounds)
    for name, array in arrays.items():
        may_be_blocked = minus_infinity
        if not isinstance(minus_infinity, bool):
            may_be_blocked = name in minus_infinity
        refuse_not_finite(name, array, may_be_blocked)
    return arrays


# ---- which file ------------------------------------------------------------------------------------------------------
def read_unchecked_arrays(file_name: str, content: bytes, bounds: FileBounds = ARRAY_BOUNDS) -> dict[str, np.ndarray]:
    """Reads the arrays of a file by their names, whether their numbers are finite or not."""
    stem, ending = split_file_name(file_name)
    reader = FILE_READERS.get(ending)
    shown_name = printable_name(file_name)
    if reader is None:
        raise AttentionError("file_ending", name=shown_name, endings=", ".join(FILE_READERS))
    if reader in (text_arrays, json_arrays):
        bounds = ARRAY_BOUNDS
    if not content:
        raise AttentionError("file_empty", name=shown_name)
    if len(content) > bounds.file_bytes:
        raise AttentionError(
            "file_too_large",
            name=shown_name,
            limit=bounds.file_bytes,
            given=len(content),
        )
    return gather_arrays(file_name, stem, reader(file_name, content, bounds), bounds)


def split_file_name(file_name: str) -> tuple[str, str]:
    """The name of a file without its folder and its ending, and the ending.

    >>> split_file_name("folder/Layer.NPZ")
    ('Layer', '.npz')
    """
    stem, dot, ending = re.split(r"[/\\]", file_name)[-1].rpartition(".")
    return stem, (dot + ending).lower()


def gather_arrays(
    file_name: str, stem: str, named: Iterable[tuple[str | None, np.ndarray]], bounds: FileBounds
) -> dict[str, np.ndarray]:
    """Gathers the arrays one by one, until there are too many of them or of their numbers."""
    shown_name = printable_name(file_name)
    arrays = {}
    numbers = 0
    for own_name, array in named:
        name = stem if own_name is None else own_name
        numbers += array.size
        if name in arrays:
            raise AttentionError("array_twice", file=shown_name, name=printable_name(name))
        if len(arrays) == MAX_ARRAYS:
            raise AttentionError(
                "too_many_arrays",
                name=shown_name,
                limit=MAX_ARRAYS,
                given=MAX_ARRAYS + 1,
            )
        if numbers > bounds.numbers:
            raise AttentionError(
                "too_many_numbers",
                name=shown_name,
                limit=bounds.numbers,
                given=numbers,
            )
        arrays[name] = array
    if not arrays:
        raise AttentionError("no_arrays", name=shown_name)
    return arrays


def text_arrays(file_name: str, content: bytes, _bounds: FileBounds) -> NamedArrays:
    """Reads the matrix of a text."""
    text = decode_text(file_name, content)
    yield None, parse_matrix(text, printable_name(file_name))


def json_arrays(file_name: str, content: bytes, _bounds: FileBounds) -> NamedArrays:
    """Reads the arrays of a JSON file."""
    text = decode_text(file_name, content)
    return read_json_arrays(file_name, text)


def npy_arrays(file_name: str, content: bytes, bounds: FileBounds) -> NamedArrays:
    """Reads the array of an NPY file."""
    yield None, read_npy(file_name, content, bounds)


def safetensors_arrays(file_name: str, content: bytes, bounds: FileBounds) -> NamedArrays:
    """Reads the arrays of a safetensors file: the length of a header in 8 bytes, the header in JSON, the numbers."""
    length = int.from_bytes(content[:8], "little")
    if MAX_SAFETENSORS_HEADER < length <= len(content):
        raise AttentionError(
            "header_too_long",
            name=printable_name(file_name),
            limit=MAX_SAFETENSORS_HEADER,
            given=length,
        )
    try:
        stored = dict(deserialize(content))  # checks the header against the bytes
    except SafetensorError:
        raise AttentionError("not_safetensors", name=printable_name(file_name)) from None
    # `deserialize` gives one of two arrays with the same name; the header itself has both names.
    header = json.loads(content[8 : 8 + length], object_pairs_hook=tuple)
    for name, _ in header:
        if name == "__metadata__":
            continue
        array = stored[name]
        dtype = SAFETENSORS_TYPES.get(array["dtype"], array["dtype"])
        yield name, read_stored_array(name, dtype, array["shape"], array["data"], bounds=bounds)


FILE_READERS = {
    ".csv": text_arrays,
    ".tsv": text_arrays,
    ".txt": text_arrays,
    ".json": json_arrays,
    ".npy": npy_arrays,
    ".npz": read_npz,
    ".safetensors": safetensors_arrays,
}


def decode_text(file_name: str, content: bytes) -> str:
    """Decodes the text of a file: UTF-16 with its mark, else UTF-8 with or without one."""
    encoding = "utf-16" if content.startswith(UTF_16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise AttentionError("not_text", name=printable_name(file_name)) from None
    if "\0" in text:  # no text has this character, and most files of numbers do
        raise AttentionError("not_text", name=printable_name(file_name))
    return text


# ---- which array, which numbers --------------------------------------------------------------------------------------
def list_first_names(names: Collection[str]) -> str:
    """Lists the first names, as an error repeats them."""
    listed = [printable_name(name) for name in list(names)[:MAX_LISTED_NAMES]]
    if len(names) > MAX_LISTED_NAMES:
        listed.append("…")
    return ", ".join(listed)


def refuse_not_finite(name: str, array: np.ndarray, minus_infinity: bool) -> None:
    """Refuses a number that is not finite; minus_infinity: −∞ is allowed."""
    refused = ~np.isfinite(array)
    if minus_infinity:
        refused &= array != -np.inf
    if not refused.any():
        return
    index = first_true(refused)
    code = "not_blocked_or_finite" if minus_infinity else "not_finite"
    raise AttentionError(
        code,
        name=printable_name(name),
        value=array[index].item(),
        index=index,
    )


def first_true(mask: np.ndarray) -> tuple[int, ...]:
    """The index of the first True."""
    index = np.unravel_index(mask.argmax(), mask.shape)
    return tuple(map(int, index))
