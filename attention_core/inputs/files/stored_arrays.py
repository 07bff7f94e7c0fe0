"""Reads arrays in the forms that files store: bytes with a type and a shape, NumPy's NPY and NPZ, and nested lists of
JSON.

Sizes that a file states are checked before memory is allocated, so that a small file cannot claim much memory. Nothing
is unpickled. The formats of NumPy: NEP 1, and the docstring of numpy.lib.format.
"""

import json
import math
import re
import struct
import zlib
from ast import literal_eval
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib.format import read_magic

from attention_core.inputs.matrix_cells import safe_excerpt
from attention_core.record.errors import AttentionError
from attention_core.record.python_source import parse_source

MAX_AXES = 4  # most axes of an array: (B, H, T, d)
MAX_ARRAYS = 512  # most arrays in a file; enough for one array per layer of several kinds
MAX_FILE_BYTES = 5_000_000
MAX_NUMBERS = 1_250_000  # most numbers in all arrays of a file: 5 MB of float32
BYTES_BESIDE_NUMBERS = 2_000_000  # most bytes of all headers in an unpacked archive
MAX_LISTED_NAMES = 8  # most names that an error message lists
MAX_NAME_CHARACTERS = 60  # most characters of a name in an error message

BFLOAT16 = "bfloat16"  # dtype that NumPy does not have
NUMERIC_TYPE_PATTERN = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248])")


@dataclass(frozen=True)
class FileBounds:
    """The limits of an uploaded file.

    file_bytes: the most bytes of the file. numbers: the most numbers in all its arrays together. axes: the most axes of
    one array.
    """

    file_bytes: int
    numbers: int
    axes: int = MAX_AXES

    @property
    def megabytes(self) -> int:
        """The largest file size in megabytes."""
        return self.file_bytes // 1_000_000

    @property
    def unpacked_bytes(self) -> int:
        """The largest unpacked size of an archive in bytes: the numbers in float64, and the headers."""
        return self.numbers * np.dtype(np.float64).itemsize + BYTES_BESIDE_NUMBERS


ARRAY_BOUNDS = FileBounds(MAX_FILE_BYTES, MAX_NUMBERS)


def read_stored_array(
    name: str,
    dtype: str,
    shape: Sequence[int],
    data: bytes | memoryview,
    order: Literal["C", "F"] = "C",
    bounds: FileBounds = ARRAY_BOUNDS,
) -> np.ndarray:
    """Make an array from its stored bytes: truth values as bool, whole numbers as int64, others as float64.

    name: the name of the array, for errors. dtype: "bfloat16", or as in NumPy: byte order, kind, bytes per number
    ("<f4"). shape: with at most as many axes as the bounds allow. data: exactly the bytes of the array. order: "C" if
    the last axis varies fastest, "F" if the first does. bounds: the limits of the file.

    Raises AttentionError: array_type, array_axes, empty, too_many_numbers, array_bytes.

    >>> read_stored_array("w", "<f4", (2, 1), bytes.fromhex("0000c03f 000000c0")).tolist()
    [[1.5], [-2.0]]
    >>> read_stored_array("w", "bfloat16", (1,), bytes.fromhex("c03f")).tolist()
    [1.5]
    """
    if dtype != BFLOAT16 and not NUMERIC_TYPE_PATTERN.fullmatch(dtype):
        raise AttentionError("array_type", name=printable_name(name), given=safe_excerpt(dtype))
    count = check_array_size(name, shape, bounds)
    bytes_per_number = 2 if dtype == BFLOAT16 else int(dtype[-1])
    expected = count * bytes_per_number
    if len(data) != expected:
        raise AttentionError(
            "array_bytes",
            name=printable_name(name),
            expected=expected,
            given=len(data),
        )
    numbers = as_numbers(data, dtype)
    array = numbers.reshape(shape, order=order)  # (numbers,) -> shape
    return np.ascontiguousarray(array).reshape(shape)  # reshape again, because ascontiguousarray turns () into (1,)


def check_array_size(name: str, shape: Sequence[int], bounds: FileBounds = ARRAY_BOUNDS) -> int:
    """Return the number of elements of a shape. Raises AttentionError: no elements, too many, or too many axes."""
    if len(shape) > bounds.axes:
        raise AttentionError(
            "array_axes",
            name=printable_name(name),
            limit=bounds.axes,
            given=len(shape),
        )
    if 0 in shape:
        raise AttentionError("empty", name=printable_name(name), shape=tuple(shape))
    count = math.prod(shape)
    if count > bounds.numbers:
        raise AttentionError(
            "too_many_numbers",
            name=printable_name(name),
            limit=bounds.numbers,
            given=count,
        )
    return count


def as_numbers(data: bytes | memoryview, dtype: str) -> np.ndarray:
    """Convert bytes to numbers as bool, int64 or float64; uint64 becomes float64, because it may exceed int64."""
    if dtype == BFLOAT16:
        upper_halves = np.frombuffer(data, "<u2").astype(np.uint32)  # a bfloat16 has the upper 16 bits of a float32
        numbers = upper_halves << 16
        return as_float64(numbers.view(np.float32))
    if dtype.endswith("b1"):
        return np.frombuffer(data, np.uint8) != 0
    if dtype[-2] in "iu" and dtype[-2:] != "u8":
        return np.frombuffer(data, dtype).astype(np.int64)
    return as_float64(np.frombuffer(data, dtype))


def as_float64(array: np.ndarray) -> np.ndarray:
    """Convert an array to float64."""
    with np.errstate(invalid="ignore"):  # no warning here for a signalling NaN; NaN is refused later
        return array.astype(np.float64)


def printable_name(name: str) -> str:
    """Return the name of a file or an array without characters that are unsafe to print in an error."""
    return safe_excerpt(name, MAX_NAME_CHARACTERS)


# ---- checks of arrays ------------------------------------------------------------------------------------------------
def list_first_names(names: Collection[str]) -> str:
    """Return the first names as one text for an error."""
    listed = [printable_name(name) for name in list(names)[:MAX_LISTED_NAMES]]
    if len(names) > MAX_LISTED_NAMES:
        listed.append("…")
    return ", ".join(listed)


def refuse_not_finite(name: str, array: np.ndarray, minus_infinity: bool) -> None:
    """Raise AttentionError if a number is not finite.

    minus_infinity: whether −∞ is allowed.
    """
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
    """Return the index of the first True, as a tuple with a number per axis."""
    index = np.unravel_index(mask.argmax(), mask.shape)
    return tuple(map(int, index))


# ---- NumPy's files ---------------------------------------------------------------------------------------------------
MAX_NPY_HEADER_BYTES = 10_000  # most bytes of an NPY header, as in NumPy
MAX_SIZE = 10**19  # larger axis lengths make a header invalid; smaller ones are short enough for an error message

# Version of the NPY format -> (bytes that hold the header's length, the header's encoding).
VERSIONS = {
    (1, 0): (2, "latin-1"),
    (2, 0): (4, "latin-1"),
    (3, 0): (4, "utf-8"),
}
PYTHON_2_SIZE = re.compile(r"(?<=[0-9])L(?=[,)])")  # the suffix L of Python 2's long integers, as in 3L
OBJECT_PATTERN = re.compile(r"[<>|=]?O[0-9]*")
# Errors of literal_eval for a text that is no literal, and of reading a literal that is no header.
HEADER_FAULTS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, KeyError)

ZIP_ENTRY_MAGIC = b"PK\x01\x02"  # signature of an entry in a zip directory
ENCRYPTED_FLAG = 1  # flag bit of an encrypted zip member
# Errors that zipfile raises for bytes that are no zip archive; they depend on Python's version.
ZIP_FAULTS = (BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)


def split_npy(name: str, content: bytes) -> tuple[str, str, tuple[int, ...], memoryview]:
    """Split an NPY file of version 1, 2 or 3 into its array's dtype, order ("C" or "F"), shape and bytes.

    Raises AttentionError: npy_header, header_too_long, array_pickled.

    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2, 3]], dtype=np.int16))
    >>> split_npy("x", file.getvalue())[:3]
    ('<i2', 'C', (1, 3))
    """
    file = BytesIO(content)
    try:
        length_bytes, encoding = VERSIONS[read_magic(file)]
    except (ValueError, KeyError):
        raise AttentionError("npy_header", name=printable_name(name)) from None
    length = int.from_bytes(file.read(length_bytes), "little")
    if length > MAX_NPY_HEADER_BYTES:
        raise AttentionError(
            "header_too_long",
            name=printable_name(name),
            limit=MAX_NPY_HEADER_BYTES,
            given=length,
        )
    dtype, order, shape = parse_header(name, file.read(length), encoding)
    return dtype, order, shape, memoryview(content)[file.tell() :]


def parse_header(name: str, header: bytes, encoding: str) -> tuple[str, str, tuple[int, ...]]:
    """Parse dtype, order and shape from the dictionary in an NPY header with literal_eval, which runs no code.

    NumPy's read_array_header_1_0 evaluates the same literal, but then converts the dtype's text to a NumPy dtype. This
    function keeps the text, which an error quotes: NumPy has no bfloat16, accepts names such as "long", whose width
    depends on the machine, and logs warnings.
    """
    try:
        text = PYTHON_2_SIZE.sub("", header.decode(encoding))
        fields = literal_eval(parse_source(text.lstrip(" \t"), mode="eval"))
        dtype = str(fields["descr"])  # a list of types is refused later, by read_stored_array
        by_columns = fields["fortran_order"]
        shape = fields["shape"]
    except HEADER_FAULTS:
        raise AttentionError("npy_header", name=printable_name(name)) from None
    if not isinstance(by_columns, bool) or not is_shape(shape):
        raise AttentionError("npy_header", name=printable_name(name))
    if OBJECT_PATTERN.fullmatch(dtype):
        raise AttentionError("array_pickled", name=printable_name(name))
    order = "F" if by_columns else "C"
    return dtype, order, shape


def is_shape(shape: object) -> bool:
    """Return whether a value is a tuple of axis lengths, that is, of whole numbers."""
    if not isinstance(shape, tuple):
        return False
    return all(type(size) is int and 0 <= size < MAX_SIZE for size in shape)


def is_packed_as_numpy(member: ZipInfo) -> bool:
    """Return whether a zip member is uncompressed or deflated, as NumPy writes it, and not encrypted."""
    return not member.flag_bits & ENCRYPTED_FLAG and member.compress_type in (ZIP_STORED, ZIP_DEFLATED)


def check_unpacked_size(name: str, members: list[ZipInfo], bounds: FileBounds) -> None:
    """Raise AttentionError if, according to the zip directory, the zip members are too large together."""
    unpacked_bytes = sum(member.file_size for member in members)
    if unpacked_bytes > bounds.unpacked_bytes:
        raise AttentionError(
            "unpacked_too_large",
            name=printable_name(name),
            limit=bounds.unpacked_bytes,
            given=unpacked_bytes,
        )


def unpack_member(archive: ZipFile, member: ZipInfo) -> bytes:
    """Return a zip member's unpacked bytes, at most as many as the zip directory states."""
    with archive.open(member) as file:
        return file.read(member.file_size)


# ---- nested lists of JSON --------------------------------------------------------------------------------------------
MAX_LISTS = 100_000
MAX_OBJECTS = 640
MAX_TEXTS = 100_000  # most strings in a JSON file: words, names, and infinities in this app's exports
MAX_WHOLE_DIGITS = 15  # whole numbers of at most this many digits are exact in float64
# Most occurrences of a character in a JSON text, checked before parsing, because parsed values take much memory.
MAX_SIGN_COUNTS = {",": MAX_NUMBERS, "[": MAX_LISTS, "{": MAX_OBJECTS, '"': 2 * MAX_TEXTS}


def parse_json(name: str, text: str) -> object:
    """Parse a JSON text, with each object as a tuple of (key, value) pairs, so that repeated keys are kept.

    Whole numbers of at most MAX_WHOLE_DIGITS characters stay int; longer ones become float. Infinities and NaN, which
    Python's json writes, are accepted.

    Raises AttentionError: json_signs, not_json, lists_too_deep.
    """
    for sign, limit in MAX_SIGN_COUNTS.items():
        given = text.count(sign)
        if given > limit:
            raise AttentionError(
                "json_signs",
                name=printable_name(name),
                sign=sign,
                limit=limit,
                given=given,
            )

    try:
        return json.loads(text, parse_int=whole_or_float, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        raise AttentionError(
            "not_json",
            name=printable_name(name),
            row=error.lineno,
            column=error.colno,
        ) from None
    except RecursionError:
        raise AttentionError("lists_too_deep", name=printable_name(name), limit=MAX_AXES) from None


def whole_or_float(text: str) -> int | float:
    """Parse a whole number as int, or as float if the text has more than MAX_WHOLE_DIGITS characters."""
    return int(text) if len(text) <= MAX_WHOLE_DIGITS else float(text)


def nested_array(name: str, value: object, bounds: FileBounds = ARRAY_BOUNDS) -> np.ndarray:
    """Make an array from nested lists: bool if all are true or false, int64 if all are whole, else float64.

    value: nested lists, with equal lengths along each axis, at most as deep as the bounds have axes.

    Raises AttentionError: lists_too_deep, lists_differ, json_value, empty, too_many_numbers.

    >>> nested_array("x", [[1.0, 2.0], [3.0, -0.5]])
    array([[ 1. ,  2. ],
           [ 3. , -0.5]])
    """
    shape = ()
    items = [value]
    while isinstance(items[0], list):
        if len(shape) == bounds.axes:
            raise AttentionError("lists_too_deep", name=printable_name(name), limit=bounds.axes)
        check_alike(name, items, (list,), shape)
        check_equal_lengths(name, items)
        shape = (*shape, len(items[0]))
        check_array_size(name, shape, bounds)
        items = list(chain.from_iterable(items))  # the items one level deeper
    kinds = (bool,) if isinstance(items[0], bool) else (float, int)
    check_alike(name, items, kinds, shape)
    kind = bool if kinds == (bool,) else float
    if all(type(item) is int for item in items):
        kind = np.int64
    return np.array(items, dtype=kind).reshape(shape)  # (numbers,) -> shape


def check_alike(name: str, items: list, kinds: tuple[type, ...], shape: tuple[int, ...]) -> None:
    """Raise AttentionError if any item has a type that is not one of `kinds`, such as int and float."""
    for at, item in enumerate(items):
        if type(item) in kinds:
            continue
        place = np.unravel_index(at, shape)
        raise AttentionError(
            "json_value",
            name=printable_name(name),
            given=format_json_excerpt(item),
            index=tuple(map(int, place)),
        )


def check_equal_lengths(name: str, lists: list[list]) -> None:
    """Raise AttentionError if a list differs in length from the first list."""
    expected = len(lists[0])
    for row in lists:
        if len(row) != expected:
            raise AttentionError(
                "lists_differ",
                name=printable_name(name),
                expected=expected,
                given=len(row),
            )


def format_json_excerpt(item: object) -> str:
    """Return the beginning of an item as JSON text; a list or an object is shortened to its brackets."""
    if isinstance(item, list):
        return "[…]"
    if isinstance(item, tuple):  # parse_json returns an object as a tuple of pairs
        return "{…}"
    return safe_excerpt(json.dumps(item, ensure_ascii=False))
