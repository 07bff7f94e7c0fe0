"""Reads the contents of a file by name: arrays of numbers, texts, and the reasons why other values are unreadable.

A file of attention maps or tensors often has further values. Those that cannot be read are listed by name with their
errors; `read_contents` raises an error only for a file of a wrong format or beyond the bounds.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
from safetensors import SafetensorError, deserialize

from attention_core.inputs.files.stored_arrays import (
    ARRAY_BOUNDS,
    BFLOAT16,
    MAX_ARRAYS,
    ZIP_ENTRY_MAGIC,
    ZIP_FAULTS,
    FileBounds,
    check_unpacked_size,
    is_packed_as_numpy,
    nested_array,
    parse_json,
    printable_name,
    read_stored_array,
    split_npy,
    unpack_member,
)
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.record.errors import AttentionError

MAX_TEXT_BYTES = 200_000  # most bytes of all texts of an NPZ file, or of a safetensors file's metadata
MAX_CONTENT_AXES = 6  # most axes of an array: (step, layer, B, H, T, S)
JSON_BOUNDS = replace(ARRAY_BOUNDS, axes=MAX_CONTENT_AXES)
MAX_JSON_DEPTH = 12  # most levels of nested objects, and lists of objects, in a JSON file
ABOUT_KEY = "about"  # metadata key in files that this app exports
AXIS_WORDS = {"T": "queries", "S": "keys"}  # axis -> metadata key for its words in files that this app exports
TEXT_TYPE = re.compile(r"[<>|=]?[US][0-9]{1,6}")
COUNTED_BY = ("layer", "head")  # keys that number an object of a list: "layer_0.head_1"
NOT_FINITE = {"-Infinity": -np.inf, "Infinity": np.inf, "NaN": np.nan}  # text in this app's JSON files -> number
MAX_SAFETENSORS_HEADER = 100_000  # most bytes of a safetensors header; enough for several hundred arrays
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

Texts = str | tuple["Texts", ...]
Found = np.ndarray | Texts | AttentionError


@dataclass(frozen=True, eq=False)
class FileContents:
    """The contents of a file, by name.

    arrays: whole numbers as int64, truth values as bool, others as float64; they may be infinite or NaN. texts: texts,
    or nested lists of texts. unread: the error of each value that is neither an array nor a text. dims: {name of an
    array: its axes}, if the file states them, as exports of this app do.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    texts: dict[str, Texts] = field(default_factory=dict)
    unread: dict[str, AttentionError] = field(default_factory=dict)
    dims: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return all names of the file."""
        return [*self.arrays, *self.texts, *self.unread]


def read_contents(file_name: str, content: bytes, bounds: FileBounds = ARRAY_BOUNDS) -> FileContents:
    """Read everything in a file.

    file_name: the name with its ending, .json, .npz, .npy, .safetensors, or the ending of a text file with a matrix.
    Nested JSON objects are named by their path, "params.q"; those in a list by their "name", else by their indices.
    Arrays of texts and of bytes are texts. Nothing is unpickled.

    Raises AttentionError: file_ending, file_empty, file_too_large, too_many_arrays, too_many_numbers, array_twice, and
    those of parse_json; not_npz, unpacked_too_large, not_safetensors, header_too_long.

    >>> contents = read_contents("maps.json", b'{"model": "m", "attn": {"q": [[1, 0]]}, "odd": [1, [2]]}')
    >>> contents.arrays["attn.q"].tolist(), contents.texts, list(contents.unread)
    ([[1, 0]], {'model': 'm'}, ['odd'])
    """
    _, ending = split_file_name(file_name)
    shown_name = printable_name(file_name)
    if ending not in FILE_READERS:
        raise AttentionError("file_ending", name=shown_name, endings=", ".join(FILE_READERS))
    find = FILE_READERS[ending]
    if find in (find_in_text, find_in_json):
        bounds = ARRAY_BOUNDS
    if not content:
        raise AttentionError("file_empty", name=shown_name)
    if len(content) > bounds.file_bytes:
        raise AttentionError("file_too_large", name=shown_name, limit=bounds.file_bytes, given=len(content))
    bounds = replace(bounds, axes=MAX_CONTENT_AXES)
    found = find(file_name, content, bounds)
    contents = gather_contents(shown_name, found, bounds)
    return unfold_about(contents)


def gather_contents(file_name: str, found: Iterator[tuple[str, Found]], bounds: FileBounds) -> FileContents:
    """Collect the arrays and texts found in a file into a FileContents; raise AttentionError if there are too many."""
    contents, numbers = FileContents(), 0
    for name, value in found:
        if name in contents.arrays or name in contents.texts or name in contents.unread:
            raise AttentionError("array_twice", file=file_name, name=printable_name(name))
        match value:
            case np.ndarray():
                numbers += value.size
                contents.arrays[name] = value
            case AttentionError():
                contents.unread[name] = value
            case _:
                contents.texts[name] = value
        if len(contents.names()) > MAX_ARRAYS:
            raise AttentionError("too_many_arrays", name=file_name, limit=MAX_ARRAYS, given=MAX_ARRAYS + 1)
        if numbers > bounds.numbers:
            raise AttentionError("too_many_numbers", name=file_name, limit=bounds.numbers, given=numbers)
    return contents


# ---- text ------------------------------------------------------------------------------------------------------------
def find_in_text(file_name: str, content: bytes, _: FileBounds) -> Iterator[tuple[str, Found]]:
    """Yield the matrix of a text file, named after the file.

    Raises AttentionError: not_text, and the errors of parse_matrix.
    """
    stem, _ = split_file_name(file_name)
    yield stem, parse_matrix(decode_text(file_name, content), printable_name(file_name))


def split_file_name(file_name: str) -> tuple[str, str]:
    """Split a file's name into the name without folder and ending, and the ending in lower case.

    >>> split_file_name("folder/Layer.NPZ")
    ('Layer', '.npz')
    """
    stem, dot, ending = re.split(r"[/\\]", file_name)[-1].rpartition(".")
    return stem, (dot + ending).lower()


def decode_text(file_name: str, content: bytes) -> str:
    """Decode the text of a file: as UTF-16 if it has that byte order mark, otherwise as UTF-8 with or without a
    mark.
    """
    encoding = "utf-16" if content.startswith(UTF_16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise AttentionError("not_text", name=printable_name(file_name)) from None
    if "\0" in text:  # NUL: in most binary files, but hardly in texts
        raise AttentionError("not_text", name=printable_name(file_name))
    return text


# ---- JSON ------------------------------------------------------------------------------------------------------------
def find_in_json(file_name: str, content: bytes, _: FileBounds) -> Iterator[tuple[str, Found]]:
    """Yield the contents of a JSON file; a value without a name gets the name of the file."""
    stem, _ = split_file_name(file_name)
    value = parse_json(file_name, decode_text(file_name, content))
    is_own_export = isinstance(value, tuple) and {ABOUT_KEY, "steps"} <= {key for key, _ in value}
    found = find_in_own_json(dict(value)) if is_own_export else walk_json("", value, stem, MAX_JSON_DEPTH)
    try:
        yield from found
    except RecursionError:
        raise AttentionError("lists_too_deep", name=printable_name(file_name), limit=MAX_CONTENT_AXES) from None


def walk_json(name: str, value: object, unnamed: str, depth: int) -> Iterator[tuple[str, Found]]:
    """Yield the arrays and texts of a JSON value, at any depth.

    unnamed: the name for a value that has none. depth: the number of further levels of objects that are allowed.
    """
    own_name = name or unnamed
    if is_counted_object(value):
        value = [text for _, text in value]
    if value is None or value == [] or value == ():
        return  # empty values are skipped
    rows = read_text_rows(value)
    if rows is not None:
        items = rows
    elif isinstance(value, tuple):
        items = value
    elif isinstance(value, list) and all(isinstance(item, tuple) for item in value):
        names = name_entries(value)
        items = [(key, without_name(entry, key)) for key, entry in zip(names, value, strict=True)]
    else:
        yield from read_layers(own_name, value)
        return
    if depth == 0:
        yield own_name, AttentionError("file_nested_deep", name=printable_name(own_name), limit=MAX_JSON_DEPTH)
        return
    for key, item in items:
        yield from walk_json(f"{name}.{key}" if name else key, item, unnamed, depth - 1)


def read_layers(name: str, value: object) -> Iterator[tuple[str, Found]]:
    """Yield the contents of a JSON value that is not an object.

    A list of arrays is split if the arrays differ in shape or if some are empty, because the layers of a model may
    differ in their number of heads, and some layers may return no weights.
    """
    whole = read_json_value(name, value)
    is_uneven = isinstance(whole, AttentionError) and whole.code in ("lists_differ", "json_value")
    if not is_uneven or not isinstance(value, list):
        yield name, whole
        return
    parts = [None if part is None else read_json_value(name, part) for part in value]
    if not all(part is None or (isinstance(part, np.ndarray) and part.ndim > 1) for part in parts):
        yield name, whole
        return
    for place, part in enumerate(parts):
        empty = AttentionError("layer_empty", name=printable_name(name), layer=place + 1)
        yield f"{name}.{place}", empty if part is None else part


def name_entries(entries: list[tuple]) -> list[str]:
    """Return a name for each object of a list: its layer and head, or its "name", if these differ; otherwise its
    index.
    """
    counted = [count_name(dict(entry)) for entry in entries]
    if all(counted) and len(set(counted)) == len(counted) > 1:
        return counted
    names = [dict(entry).get("name") for entry in entries]
    if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
        return names
    return [str(place) for place in range(len(entries))]


def count_name(entry: dict) -> str:
    """Return the name of an object that its layer and head give, such as "layer_0.head_1"; "" if it lacks one of these
    keys."""
    return ".".join(f"{key}_{entry[key]}" for key in COUNTED_BY if type(entry.get(key)) is int)


def without_name(entry: tuple, name: str) -> tuple:
    """Return an object of a list without the entries that became its name."""
    is_counted = name == count_name(dict(entry))
    return tuple(
        (key, value)
        for key, value in entry
        if (key, value) != ("name", name) and not (is_counted and key in COUNTED_BY)
    )


def is_counted_object(value: object) -> bool:
    """Return whether an object has the keys 0, 1, 2, ... with texts as values, the form in which pandas writes a column
    to JSON.
    """
    if not isinstance(value, tuple) or not value:
        return False
    return all(key == str(place) and isinstance(text, str) for place, (key, text) in enumerate(value))


def read_text_rows(value: object) -> list[tuple[str, object]] | None:
    """Return the columns of a list of objects that have the same keys, such as tokens with their numbers.

    At least one column must have texts, and no column may have arrays or objects. Returns None for any other value.
    """
    is_list_of_objects = isinstance(value, list) and all(isinstance(entry, tuple) for entry in value)
    if not is_list_of_objects or not value or () in value:
        return None
    names = tuple(name for name, _ in value[0])
    columns = [(name, []) for name in names]
    for entry in value:
        if tuple(name for name, _ in entry) != names:
            return None
        for (_, column), (_, cell) in zip(columns, entry, strict=True):
            if isinstance(cell, (list, tuple)):
                return None
            column.append(cell)
    has_texts = any(as_texts(column) for _, column in columns)
    return columns if has_texts else None


def read_json_value(name: str, value: object) -> Found:
    """Convert a JSON value that is no object to texts or an array; return, not raise, the AttentionError of any other
    value.
    """
    texts = as_texts(value)
    if texts is not None:
        return texts
    try:
        return nested_array(name, value, JSON_BOUNDS)
    except AttentionError as error:
        return error


def as_texts(value: object, depth: int = MAX_CONTENT_AXES) -> Texts | None:
    """Return a text unchanged and nested lists of texts as tuples; return None for any other value.

    depth: the allowed depth of the lists.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value or depth == 0:
        return None
    texts = tuple(as_texts(each, depth - 1) for each in value)
    return None if None in texts else texts


def find_in_own_json(document: dict) -> Iterator[tuple[str, Found]]:
    """Yield the contents of a JSON file that this app exported: the steps of a run, and the metadata with their
    axes.
    """
    dims = []
    steps = document["steps"] if isinstance(document["steps"], list) else []
    for place, entry in enumerate(steps):
        step = dict(entry) if isinstance(entry, tuple) else {}
        name, values = step.get("name"), step.get("values")
        if not isinstance(name, str):
            yield f"steps.{place}", AttentionError("json_value", name="steps", given="{…}", index=(place,))
            continue
        if isinstance(step.get("dims"), list):
            dims.append((name, step["dims"]))
        yield name, read_json_value(name, with_infinities(values))
    yield ABOUT_KEY, json.dumps(to_plain(document[ABOUT_KEY]) | {"dims": dict(dims)})


def to_plain(value: object) -> object:
    """Convert a parsed JSON value back to plain dicts and lists."""
    if isinstance(value, tuple):
        return {key: to_plain(item) for key, item in value}
    return value if not isinstance(value, list) else [to_plain(item) for item in value]


def with_infinities(value: object) -> object:
    """Return nested lists in which the JSON texts for infinities and NaN are replaced by these numbers."""
    if isinstance(value, list):
        return [with_infinities(item) for item in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


# ---- NumPy's files ---------------------------------------------------------------------------------------------------
def find_in_npz(file_name: str, content: bytes, bounds: FileBounds) -> Iterator[tuple[str, Found]]:
    """Yield the contents of an NPZ file.

    The file's directory is checked before unpacking, and no file is written.
    """
    shown_name, entries = printable_name(file_name), content.count(ZIP_ENTRY_MAGIC)
    if entries > MAX_ARRAYS:  # counted first, because zipfile makes an object per entry
        raise AttentionError("too_many_arrays", name=shown_name, limit=MAX_ARRAYS, given=entries)
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = archive.infolist()
            check_unpacked_size(file_name, members, bounds)
            for member in members:
                if member.is_dir():
                    continue
                name = member.filename.removesuffix(".npy")
                given = printable_name(member.filename)
                if name == member.filename:
                    yield name, AttentionError("member_name", name=shown_name, given=given)
                elif not is_packed_as_numpy(member):
                    raise AttentionError("member_packing", name=shown_name, given=given)
                else:
                    yield name, read_npy_contents(name, unpack_member(archive, member), bounds)
    except AttentionError:
        raise
    except ZIP_FAULTS:
        raise AttentionError("not_npz", name=shown_name) from None


def find_in_npy(file_name: str, content: bytes, bounds: FileBounds) -> Iterator[tuple[str, Found]]:
    """Yield the contents of an NPY file, named after the file."""
    stem, _ = split_file_name(file_name)
    yield stem, read_npy_contents(file_name, content, bounds)


def read_npy_contents(name: str, content: bytes, bounds: FileBounds) -> Found:
    """Return the array or the texts of an NPY file; if it has neither, return the AttentionError."""
    texts = read_npy_texts(content)
    if texts is not None:
        return texts
    try:
        dtype, order, shape, data = split_npy(name, content)
        return read_stored_array(name, dtype, shape, data, order, bounds)
    except AttentionError as error:
        return error


def read_npy_texts(content: bytes) -> Texts | None:
    """Return the texts of an NPY file; None for other contents. Nothing is unpickled."""
    if len(content) > MAX_TEXT_BYTES:
        return None
    try:
        kind, order, shape, held = split_npy("", content)
    except AttentionError:
        return None
    if TEXT_TYPE.fullmatch(kind) is None or len(shape) > 2 or (order == "F" and len(shape) > 1):
        return None
    dtype = np.dtype(kind)
    count = math.prod(shape)
    if not dtype.itemsize or len(held) != count * dtype.itemsize:
        return None
    try:
        return nest_texts(np.frombuffer(held, dtype).reshape(shape).tolist())
    except ValueError:  # raised for a code point outside Unicode
        return None


def nest_texts(value: object) -> Texts:
    """Convert nested lists of texts to tuples, with bytes decoded as UTF-8."""
    if isinstance(value, list):
        return tuple(map(nest_texts, value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


# ---- safetensors -----------------------------------------------------------------------------------------------------
def find_in_safetensors(file_name: str, content: bytes, bounds: FileBounds) -> Iterator[tuple[str, Found]]:
    """Yield the contents of a safetensors file: its arrays, and the texts of its metadata, with JSON lists as lists."""
    shown_name, length = printable_name(file_name), int.from_bytes(content[:8], "little")
    if MAX_SAFETENSORS_HEADER < length <= len(content):
        raise AttentionError("header_too_long", name=shown_name, limit=MAX_SAFETENSORS_HEADER, given=length)
    try:
        stored = dict(deserialize(content))  # `deserialize` raises an error if the header leaves bytes undescribed
    except SafetensorError:
        raise AttentionError("not_safetensors", name=shown_name) from None
    for name, entry in json.loads(content[8 : 8 + length], object_pairs_hook=tuple):
        if name != "__metadata__":
            yield name, read_stored_tensor(name, stored[name], bounds)
            continue
        for key, text in entry:
            yield key, read_metadata(text)


def read_stored_tensor(name: str, tensor: Mapping, bounds: FileBounds) -> Found:
    """Return an array of a safetensors file; if it cannot be read, return the AttentionError."""
    dtype = SAFETENSORS_TYPES.get(tensor["dtype"], tensor["dtype"])
    try:
        return read_stored_array(name, dtype, tensor["shape"], tensor["data"], bounds=bounds)
    except AttentionError as error:
        return error


def read_metadata(text: str) -> Texts:
    """Return the text of a metadata entry, or a list of texts if the entry is a JSON list."""
    try:
        texts = as_texts(json.loads(text))
    except (ValueError, RecursionError):
        texts = None
    return text if texts is None else texts


FILE_READERS = {  # file ending -> generator of the (name, value) pairs in a file
    ".csv": find_in_text,
    ".tsv": find_in_text,
    ".txt": find_in_text,
    ".json": find_in_json,
    ".npy": find_in_npy,
    ".npz": find_in_npz,
    ".safetensors": find_in_safetensors,
}


# ---- exports of this app ---------------------------------------------------------------------------------------------
def unfold_about(contents: FileContents) -> FileContents:
    """Return the contents of a file whose metadata from this app's export are split into words, axes of arrays, and
    notes."""
    said = contents.texts.get(ABOUT_KEY)
    packed = contents.arrays.get(ABOUT_KEY)
    if packed is not None and are_bytes(packed):
        said = packed.astype(np.uint8).tobytes().decode("utf-8", "replace")
    try:
        about = json.loads(said) if isinstance(said, str) else None
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or not isinstance(about.get("labels"), dict):
        return contents
    arrays = {name: array for name, array in contents.arrays.items() if name != ABOUT_KEY}
    texts = {name: text for name, text in contents.texts.items() if name != ABOUT_KEY}
    for name, value in about.items():
        if isinstance(value, str):
            texts.setdefault(name, value)
    for axis, words in about["labels"].items():
        words = as_texts(words)
        if words is not None:
            texts.setdefault(AXIS_WORDS.get(axis, f"labels.{axis}"), words)
    return FileContents(arrays, texts, contents.unread, read_dims(about.get("dims")))


def are_bytes(array: np.ndarray) -> bool:
    """Return whether an array is one axis of bytes (uint8), the form in which this app's NPZ files store a text."""
    return array.ndim == 1 and array.dtype == np.int64 and bool(((array >= 0) & (array < 256)).all())


def read_dims(dims: object) -> dict[str, tuple[str, ...]]:
    """Return {name of an array: its axes}, as exports of this app state them."""
    if not isinstance(dims, dict):
        return {}
    read = {name: as_texts(axes) for name, axes in dims.items()}
    return {name: axes for name, axes in read.items() if isinstance(axes, tuple)}
