"""Makes an array from the type, shape and bytes that a file stores, after checking that they match."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attention_core.inputs.matrix_cells import safe_excerpt
from attention_core.record.errors import AttentionError

MAX_AXES = 4  # (B, H, T, d)
MAX_ARRAYS = 512  # the most arrays of a file: several kinds, one array per layer
MAX_FILE_BYTES = 5_000_000
MAX_NUMBERS = 1_250_000  # the most numbers of all arrays of a file: 5 MB of float32
BYTES_BESIDE_NUMBERS = 2_000_000  # the most bytes of the headers of an unpacked file
MAX_NAME_CHARACTERS = 60  # the most characters of a name in an error

BFLOAT16 = "bfloat16"  # a type that NumPy lacks
NUMERIC_TYPE_PATTERN = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248])")


@dataclass(frozen=True)
class FileBounds:
    """The limits of a file. file_bytes: its size. numbers: of all its arrays together. axes: of one array."""

    file_bytes: int
    numbers: int
    axes: int = MAX_AXES

    @property
    def megabytes(self) -> int:
        """The largest file size in megabytes."""
        return self.file_bytes // 1_000_000

    @property
    def unpacked_bytes(self) -> int:
        """The largest unpacked size of an archive: its numbers in float64, and their headers."""
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
    """Makes an array from its stored bytes: truth values as bool, whole numbers as int64, others as
    float64.

    name: of the array, for errors. dtype: "bfloat16", or as in NumPy: byte order, kind, bytes per number ("<f4").
    shape: at most as many axes as the bounds allow. data: exactly its bytes. order: "C" if
    the last axis varies fastest, "F" if the first does. bounds: of the file.

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
    return np.ascontiguousarray(array).reshape(shape)  # ascontiguousarray gives () an axis: (1,) -> ()


def check_array_size(name: str, shape: Sequence[int], bounds: FileBounds = ARRAY_BOUNDS) -> int:
    """Returns the number of numbers in a shape. Raises AttentionError for 0 numbers, too many, or too many axes."""
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
    """Reads numbers from bytes, as bool, int64 or float64; uint64, which may exceed int64, as float64."""
    if dtype == BFLOAT16:
        upper_halves = np.frombuffer(data, "<u2").astype(np.uint32)  # the upper halves of float32 numbers
        numbers = upper_halves << 16
        return as_float64(numbers.view(np.float32))
    if dtype.endswith("b1"):
        return np.frombuffer(data, np.uint8) != 0
    if dtype[-2] in "iu" and dtype[-2:] != "u8":
        return np.frombuffer(data, dtype).astype(np.int64)
    return as_float64(np.frombuffer(data, dtype))


def as_float64(array: np.ndarray) -> np.ndarray:
    """The numbers as float64."""
    with np.errstate(invalid="ignore"):  # a signalling NaN raises an error later, like any NaN
        return array.astype(np.float64)


def printable_name(name: str) -> str:
    """The name of a file or an array, safe to print in an error."""
    return safe_excerpt(name, MAX_NAME_CHARACTERS)
