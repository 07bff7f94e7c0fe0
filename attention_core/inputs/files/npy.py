"""NumPy's own files, NPY and NPZ, never unpickled: what a header or a zip directory says is checked before it is
believed, so that a small file cannot ask for much memory.

The format: NEP 1, and the docstring of numpy.lib.format.
"""

import re
import struct
import zlib
from ast import literal_eval
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib.format import read_magic

from attention_core.inputs.files.array_bytes import MAX_ARRAYS, printable_name, read_stored_array
from attention_core.record.errors import AttentionError

MAX_NPY_HEADER_BYTES = 10_000  # bytes; NumPy's own bound
MAX_SIZE = 10**19  # no axis is as long; a refusal still repeats what is shorter
MAX_UNPACKED_BYTES = 12_000_000  # bytes of all members: as many numbers as are accepted in float64, and their headers

# of a file: how many bytes tell the header's length, and how its text is encoded
VERSIONS = {(1, 0): (2, "latin-1"), (2, 0): (4, "latin-1"), (3, 0): (4, "utf-8")}
PYTHON_2_SIZE = re.compile(r"(?<=[0-9])L(?=[,)])")  # 3 was written 3L
OBJECT_PATTERN = re.compile(r"[<>|=]?O[0-9]*")
# all that literal_eval raises, and what follows where the literal is no dictionary with these keys
HEADER_FAULTS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, KeyError)

ZIP_ENTRY_MAGIC = b"PK\x01\x02"  # what every entry of a zip directory begins with
ENCRYPTED_FLAG = 1  # a bit of a member's flags
# all that zipfile, of one Python or another, raises on bytes that are no zip archive
ZIP_FAULTS = (BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)


def read_npy(name: str, content: bytes) -> np.ndarray:
    """The array of an NPY file, version 1, 2 or 3, of either byte order and either order of axes.

    Raises AttentionError: npy_header, header_too_long, array_pickled, and what stored_array refuses.

    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2, 3]], dtype=np.int16))
    >>> read_npy("x", file.getvalue()).tolist()
    [[1.0, 2.0, 3.0]]
    """
    file = BytesIO(content)
    try:
        length_bytes, encoding = VERSIONS[read_magic(file)]
    except (ValueError, KeyError):
        raise AttentionError("npy_header", name=printable_name(name)) from None
    length = int.from_bytes(file.read(length_bytes), "little")
    if length > MAX_NPY_HEADER_BYTES:
        raise AttentionError("header_too_long", name=printable_name(name), limit=MAX_NPY_HEADER_BYTES, given=length)
    dtype, order, shape = parse_header(name, file.read(length), encoding)
    return read_stored_array(name, dtype, shape, memoryview(content)[file.tell() :], order)


def parse_header(name: str, header: bytes, encoding: str) -> tuple[str, str, tuple[int, ...]]:
    """Type, order and shape from the dictionary that a header is; nothing but a literal is evaluated.

    NumPy's read_array_header_1_0 evaluates the same and then makes a dtype: that knows no bfloat16, takes names such as
    "long", which have other widths elsewhere, hides what a refusal repeats, and warns on the server's log.
    """
    try:
        fields = literal_eval(PYTHON_2_SIZE.sub("", header.decode(encoding)))
        dtype = str(fields["descr"])  # of several types together a text, too, which stored_array refuses
        by_columns, shape = fields["fortran_order"], fields["shape"]
    except HEADER_FAULTS:
        raise AttentionError("npy_header", name=printable_name(name)) from None
    if not (isinstance(by_columns, bool) and is_shape(shape)):
        raise AttentionError("npy_header", name=printable_name(name))
    if OBJECT_PATTERN.fullmatch(dtype):
        raise AttentionError("array_pickled", name=printable_name(name))
    return dtype, "F" if by_columns else "C", shape


def is_shape(shape: object) -> bool:
    """Whether these are sizes of axes."""
    return isinstance(shape, tuple) and all(type(size) is int and 0 <= size < MAX_SIZE for size in shape)


def read_npz(name: str, content: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of an NPZ file, one after the other, each with its name.

    Raises AttentionError: not_npz, too_many_arrays, member_name, member_packing, unpacked_too_large, and what read_npy
    refuses.

    >>> file = BytesIO()
    >>> np.savez_compressed(file, w_q=np.eye(2))
    >>> {name: array.tolist() for name, array in read_npz("weights.npz", file.getvalue())}
    {'w_q': [[1.0, 0.0], [0.0, 1.0]]}
    """
    entries = content.count(ZIP_ENTRY_MAGIC)
    if entries > MAX_ARRAYS:  # zipfile would make an object of each
        raise AttentionError("too_many_arrays", name=printable_name(name), limit=MAX_ARRAYS, given=entries)
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = archive.infolist()
            check_members(name, members)
            for member in members:
                array_name = member.filename.removesuffix(".npy")
                yield array_name, read_npy(array_name, unpack_member(archive, member))
    except AttentionError:
        raise
    except ZIP_FAULTS:
        raise AttentionError("not_npz", name=printable_name(name)) from None


def check_members(name: str, members: list[ZipInfo]) -> None:
    """All are NPY files, packed as NumPy packs them, and together not too large: decided by the zip directory."""
    for member in members:
        if not member.filename.endswith(".npy") or "/" in member.filename or "\\" in member.filename:
            raise AttentionError("member_name", name=printable_name(name), given=printable_name(member.filename))
        if member.flag_bits & ENCRYPTED_FLAG or member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise AttentionError("member_packing", name=printable_name(name), given=printable_name(member.filename))
    unpacked_bytes = sum(member.file_size for member in members)
    if unpacked_bytes > MAX_UNPACKED_BYTES:
        raise AttentionError(
            "unpacked_too_large", name=printable_name(name), limit=MAX_UNPACKED_BYTES, given=unpacked_bytes
        )


def unpack_member(archive: ZipFile, member: ZipInfo) -> bytes:
    """A member's bytes, no more than the directory says, however many the packed bytes would give."""
    with archive.open(member) as file:
        return file.read(member.file_size)
