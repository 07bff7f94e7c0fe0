"""Reads NumPy's files, NPY and NPZ, without unpickling.

Headers and zip directories are checked before use, so that a small file cannot claim much memory. The format: NEP 1,
and the docstring of numpy.lib.format.
"""

import re
import struct
import zlib
from ast import literal_eval
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib.format import read_magic

from attention_core.inputs.files.array_bytes import (
    ARRAY_BOUNDS,
    FileBounds,
    printable_name,
    read_stored_array,
)
from attention_core.record.errors import AttentionError
from attention_core.record.python_source import parse_source

MAX_NPY_HEADER_BYTES = 10_000  # the most bytes of a header, as in NumPy
MAX_SIZE = 10**19  # limit of an axis: larger numbers are no sizes, smaller numbers are quoted in the error

# By version of the format: the number of bytes of the header's length, and the encoding of the header.
VERSIONS = {
    (1, 0): (2, "latin-1"),
    (2, 0): (4, "latin-1"),
    (3, 0): (4, "utf-8"),
}
PYTHON_2_SIZE = re.compile(r"(?<=[0-9])L(?=[,)])")  # Python 2 wrote 3 as 3L
OBJECT_PATTERN = re.compile(r"[<>|=]?O[0-9]*")
# Errors of literal_eval, and of a literal that is no dictionary with the keys of a header.
HEADER_FAULTS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, KeyError)

ZIP_ENTRY_MAGIC = b"PK\x01\x02"  # the beginning of every entry of a zip directory
ENCRYPTED_FLAG = 1  # a bit of a member's flags
# Errors that zipfile raises, depending on Python's version, for bytes that are no zip archive.
ZIP_FAULTS = (BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)


def read_npy(name: str, content: bytes, bounds: FileBounds = ARRAY_BOUNDS) -> np.ndarray:
    """Reads the array of an NPY file, version 1, 2 or 3, of either byte order and either order of axes.

    Raises AttentionError: npy_header, header_too_long, array_pickled, and those of read_stored_array.

    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2, 3]], dtype=np.int16))
    >>> read_npy("x", file.getvalue()).tolist()
    [[1, 2, 3]]
    """
    dtype, order, shape, data = split_npy(name, content)
    return read_stored_array(name, dtype, shape, data, order, bounds)


def split_npy(name: str, content: bytes) -> tuple[str, str, tuple[int, ...], memoryview]:
    """The type, the order of axes, the shape and the bytes of the array of an NPY file.

    Raises AttentionError: npy_header, header_too_long, array_pickled.
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
    """Reads type, order and shape from the dictionary in a header; only a literal is evaluated.

    NumPy's read_array_header_1_0 evaluates the same literal and then makes a dtype of it. That dtype supports no
    bfloat16, accepts names such as "long", whose width depends on the machine, hides the text that an error
    quotes, and logs warnings on the server.
    """
    try:
        text = PYTHON_2_SIZE.sub("", header.decode(encoding))
        fields = literal_eval(parse_source(text.lstrip(" \t"), mode="eval"))
        dtype = str(fields["descr"])  # several types become a text for which read_stored_array raises an error
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
    """Tells whether this is a tuple of sizes of axes."""
    if not isinstance(shape, tuple):
        return False
    return all(type(size) is int and 0 <= size < MAX_SIZE for size in shape)


def is_packed_as_numpy(member: ZipInfo) -> bool:
    """Whether a member is stored or deflated, without a password."""
    return not member.flag_bits & ENCRYPTED_FLAG and member.compress_type in (ZIP_STORED, ZIP_DEFLATED)


def check_unpacked_size(name: str, members: list[ZipInfo], bounds: FileBounds) -> None:
    """Raises AttentionError if members are too large together, by the sizes in the zip directory."""
    unpacked_bytes = sum(member.file_size for member in members)
    if unpacked_bytes > bounds.unpacked_bytes:
        raise AttentionError(
            "unpacked_too_large",
            name=printable_name(name),
            limit=bounds.unpacked_bytes,
            given=unpacked_bytes,
        )


def unpack_member(archive: ZipFile, member: ZipInfo) -> bytes:
    """Unpacks a member, up to the number of bytes in the zip directory."""
    with archive.open(member) as file:
        return file.read(member.file_size)
