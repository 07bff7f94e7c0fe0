"""Reads attention maps of any model from a file: the weights of its heads and the words that they stand between.

Nothing else is known of such a model, so its maps can be looked at and measured, and never be recomputed.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import torch
from numpy.lib.format import read_array_header_1_0, read_magic

from attention_core.inputs.files.array_bytes import ARRAY_BOUNDS, MAX_ARRAYS, FileBounds, printable_name
from attention_core.inputs.files.json_arrays import nested_array, parse_json
from attention_core.inputs.files.npy import HEADER_FAULTS, ZIP_ENTRY_MAGIC, ZIP_FAULTS, read_npz, unpack_member
from attention_core.inputs.files.uploads import (
    choose_array,
    decode_text,
    gather_arrays,
    read_arrays,
    refuse_not_finite,
)
from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.matrix_text import MAX_MAGNITUDE
from attention_core.record.errors import AttentionError

MAP_NAMES = ("attention", "attentions", "attn", "weights", "maps", "patterns")
QUERY_NAMES, KEY_NAMES = ("tokens", "queries", "left"), ("keys", "right")  # of the words: keys are the queries' else
MAX_MAP_HEADS = 1_024  # layers times heads
MAX_MAP_SIDE = 1_024  # queries, or keys
MAP_BOUNDS = FileBounds(10_000_000, 2_500_000)  # 12 x 12 heads of 128 words in float32; JSON keeps to ARRAY_BOUNDS
MAX_WORD_CHARS = 40
MAX_WORDS_BYTES = 200_000  # of a member of an NPZ that holds words

NamedWords = dict[str, tuple[str, ...]]


def read_attention_maps(file_name: str, content: bytes) -> AttentionMaps:
    """Read the attention maps of a model: heads x T x S, or layers x heads x T x S, as BertViz and CircuitsVis take.

    file_name: with its ending: .json, .npz, .npy, .safetensors. content: at most 10 MB, JSON 5. The maps are the array
    that is called "attention" (or "attentions", "weights", "maps", "patterns"), or the only one. The words stand in it
    as "tokens", or as "queries" and "keys": in JSON as lists of texts, in NPZ as arrays of texts, in safetensors as
    such lists in the metadata.

    Rows that do not sum to 1 are read as they are: see AttentionMaps.uneven_rows. Raises AttentionError (a ValueError):
    map_axes, too_many_map_heads, map_side, map_magnitude, words_count, and what read_arrays refuses.

    >>> maps = read_attention_maps("maps.json", b'{"attention": [[[1, 0], [0.5, 0.5]]], "tokens": ["a", "cat"]}')
    >>> maps.maps.shape, maps.keys, maps.uneven_rows()
    (torch.Size([1, 1, 2, 2]), ('a', 'cat'), [])
    """
    arrays, words = read_maps_and_words(file_name, content)
    if not arrays:
        raise AttentionError("no_arrays", name=printable_name(file_name))
    name = next((name for name in MAP_NAMES if name in arrays), MAP_NAMES[0])
    given = choose_array(file_name, arrays, name, None)
    refuse_not_finite(name, given, minus_infinity=False)
    maps = torch.from_numpy(np.asarray(given, dtype=np.float64))
    if maps.dim() == 3:
        maps = maps[None]  # (H, T, S) -> (1, H, T, S): one layer
    if maps.dim() != 4 or not maps.numel():
        raise AttentionError("map_axes", name=printable_name(name), shape=tuple(given.shape))
    L, H, T, S = maps.shape
    if L * H > MAX_MAP_HEADS:
        raise AttentionError("too_many_map_heads", limit=MAX_MAP_HEADS, given=L * H)
    if max(T, S) > MAX_MAP_SIDE:
        raise AttentionError("map_side", name=printable_name(name), limit=MAX_MAP_SIDE, given=max(T, S))
    if maps.abs().max() > MAX_MAGNITUDE:
        raise AttentionError("map_magnitude", name=printable_name(name), limit=int(MAX_MAGNITUDE))
    queries = named_words(words, QUERY_NAMES, "T", T)
    keys = named_words(words, (*KEY_NAMES, *QUERY_NAMES) if T == S else KEY_NAMES, "S", S)
    return AttentionMaps(maps, queries, keys)


def named_words(words: NamedWords, names: Sequence[str], axis: str, count: int) -> tuple[str, ...]:
    """The words of an axis under the first of their names that there is; numbers where there is none."""
    found = next((words[name] for name in names if name in words), None)
    if found is None:
        return tuple(str(n + 1) for n in range(count))
    if len(found) != count:
        raise AttentionError("words_count", axis=axis, size=count, given=len(found))
    return tuple(word[:MAX_WORD_CHARS] for word in found)


# ---- the forms of files ----------------------------------------------------------------------------------------------
def read_maps_and_words(file_name: str, content: bytes) -> tuple[dict[str, np.ndarray], NamedWords]:
    """The arrays of a file, and the words that it holds."""
    ending = file_name.rpartition(".")[2].lower()
    if ending == "json" and len(content) <= ARRAY_BOUNDS.file_bytes:
        return read_json_maps(file_name, content)
    if ending == "npz" and 0 < len(content) <= MAP_BOUNDS.file_bytes:
        words = read_npz_words(content)
        arrays = read_npz(file_name, content, MAP_BOUNDS, skipped=words)
        return gather_arrays(file_name, MAP_NAMES[0], arrays, MAP_BOUNDS), words
    words = safetensors_words(content) if ending == "safetensors" else {}
    return read_arrays(file_name, content, bounds=MAP_BOUNDS), words


def read_json_maps(file_name: str, content: bytes) -> tuple[dict[str, np.ndarray], NamedWords]:
    """The same of a JSON file: nested lists alone, or an object of them and of lists of texts."""
    value = parse_json(file_name, decode_text(file_name, content))
    if not isinstance(value, tuple):
        return {MAP_NAMES[0]: nested_array(MAP_NAMES[0], value)}, {}
    words = {key: tuple(lists) for key, lists in value if is_words(lists)}
    return {key: nested_array(key, lists) for key, lists in value if key not in words}, words


def is_words(value: object) -> bool:
    """Whether a value of a JSON text is a list of texts."""
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


def read_npz_words(content: bytes) -> NamedWords:
    """The arrays of texts of an NPZ file; none of what is no such file, which read_npz refuses."""
    if content.count(ZIP_ENTRY_MAGIC) > MAX_ARRAYS:  # before zipfile makes an object of each
        return {}
    words: dict[str, tuple[str, ...] | None] = {}
    try:
        with ZipFile(BytesIO(content)) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in (*QUERY_NAMES, *KEY_NAMES) and member.file_size <= MAX_WORDS_BYTES:
                    words[name] = read_npy_words(unpack_member(archive, member))
    except ZIP_FAULTS:
        return {}
    return {name: found for name, found in words.items() if found is not None}


def read_npy_words(content: bytes) -> tuple[str, ...] | None:
    """The texts of an NPY file; None of one that holds something else. Nothing is unpickled."""
    file = BytesIO(content)
    try:
        if read_magic(file) != (1, 0):
            return None
        shape, _, dtype = read_array_header_1_0(file)
    except HEADER_FAULTS:
        return None
    held = content[file.tell() :]
    if dtype.kind != "U" or len(shape) != 1 or len(held) != shape[0] * dtype.itemsize:
        return None
    return tuple(map(str, np.frombuffer(held, dtype)))


def safetensors_words(content: bytes) -> NamedWords:
    """The lists of texts in the metadata of a safetensors file."""
    length = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + min(length, MAX_WORDS_BYTES)])
        metadata = header.get("__metadata__", {})
        lists = {name: json.loads(metadata[name]) for name in (*QUERY_NAMES, *KEY_NAMES) if name in metadata}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    return {name: tuple(value) for name, value in lists.items() if is_words(value)}
