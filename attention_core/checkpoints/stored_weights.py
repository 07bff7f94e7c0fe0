"""Reads the weights of a model's folder from safetensors files: first the headers, then the numbers.

Files are read and not mapped into memory, so that a file that is shortened meanwhile raises an error, and numbers
already read do not change. Other formats are not read: they are pickled Python objects, which can run code when they
are read. Source of the format: the section "Format" in the README of huggingface/safetensors.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

import torch
from torch import Tensor

from attention_core.checkpoints.folder_files import ModelFolder, parse_object
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError

WEIGHTS_FILE, INDEX_FILE = "model.safetensors", "model.safetensors.index.json"
PICKLED_FILES = (
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "model.pt",
    "pytorch_model.pt",
    "consolidated.00.pth",
)
MAX_JSON_BYTES = 10_000_000  # most bytes of an index or a header; enough for 100,000 tensors
MAX_TENSORS = 100_000
MAX_TENSOR_AXES = 8
MAX_TENSOR_NUMBERS = 2**40  # most numbers in a tensor, axes of length 0 counted as 1: torch's strides end at 2**63
LENGTH_BYTES = 8  # number of bytes that hold the header's length, at the start of a file
TYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class StoredTensor:
    """The position of a stored tensor: its file in the folder, and in the file its first byte (`place`)."""

    file: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    place: int

    @property
    def stored_bytes(self) -> int:
        """The number of bytes of the tensor in the file."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def memory_bytes(self) -> int:
        """The number of bytes of the tensor in memory, where half precision is converted to float32."""
        widened = 2 if self.dtype in HALVES else 1
        return self.stored_bytes * widened


def list_tensors(folder: ModelFolder) -> dict[str, StoredTensor]:
    """Return {name: StoredTensor} of a folder's weights, read from the headers alone.

    Raises AttentionError: weights_missing, weights_pickled, weights_index, index_tensor, array_twice, not_safetensors,
    header_too_long, too_many_arrays, array_axes, weight_type, and those of ModelFolder.read_object.
    """
    if folder.has(WEIGHTS_FILE):
        return read_header(folder, WEIGHTS_FILE)
    if folder.has(INDEX_FILE):
        return list_sharded(folder, read_index(folder))
    for name in PICKLED_FILES:
        if folder.has(name):
            raise AttentionError("weights_pickled", name=name)
    raise AttentionError("weights_missing", name=WEIGHTS_FILE, index=INDEX_FILE)


def read_index(folder: ModelFolder) -> dict[str, str]:
    """Return {name of a tensor: its file}. Raises AttentionError (weights_index) unless all files are plain file
    names.
    """
    names = folder.read_object(INDEX_FILE, MAX_JSON_BYTES).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise AttentionError("weights_index", name=INDEX_FILE, given=printable_name(str(names)))
    for file in names.values():
        if not isinstance(file, str) or set(file) & set("/\\:\0") or not file.endswith(".safetensors"):
            raise AttentionError("weights_index", name=INDEX_FILE, given=printable_name(str(file)))
    return names


def list_sharded(folder: ModelFolder, index: Mapping[str, str]) -> dict[str, StoredTensor]:
    """Return the tensors of several files. Raises AttentionError unless each file has exactly the tensors that the
    index assigns to it.
    """
    tensors: dict[str, StoredTensor] = {}
    for file in sorted(set(index.values())):
        for name, tensor in read_header(folder, file).items():
            if name in tensors:
                raise AttentionError("array_twice", file=INDEX_FILE, name=printable_name(name))
            tensors[name] = tensor
    for name in (*index, *tensors):
        if name not in tensors or index.get(name) != tensors[name].file:
            raise AttentionError("index_tensor", name=INDEX_FILE, tensor=printable_name(name))
    return tensors


# ---- one file --------------------------------------------------------------------------------------------------------
def read_header(folder: ModelFolder, file_name: str) -> dict[str, StoredTensor]:
    """Return the tensors of a file. Raises AttentionError unless their bytes fill the file without a gap."""
    shown, size = printable_name(file_name), folder.size(file_name)
    if not size:
        raise AttentionError("file_empty", name=shown)
    with folder.open(file_name) as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if length > size - LENGTH_BYTES:
            raise AttentionError("not_safetensors", name=shown)
        if length > MAX_JSON_BYTES:
            raise AttentionError("header_too_long", name=shown, limit=MAX_JSON_BYTES, given=length)
        header = file.read(length)
    entries = parse_header(shown, header)
    if len(entries) > MAX_TENSORS:
        raise AttentionError("too_many_arrays", name=shown, limit=MAX_TENSORS, given=len(entries))
    start = LENGTH_BYTES + length
    tensors = {name: read_entry(file_name, name, entry, start) for name, entry in entries.items()}
    end = start
    for tensor in sorted(tensors.values(), key=lambda each: (each.place, each.stored_bytes)):
        if tensor.place != end:
            raise AttentionError("not_safetensors", name=shown)
        end += tensor.stored_bytes
    if end != size:
        raise AttentionError("not_safetensors", name=shown)
    return tensors


def parse_header(shown: str, header: bytes) -> dict[str, object]:
    """Return the entries of a header, {name of a tensor: entry}, without the metadata."""
    try:
        entries = parse_object(shown, header)
    except AttentionError as error:
        if error.code == "json_object":
            raise AttentionError("not_safetensors", name=shown) from None
        raise
    return {name: entry for name, entry in entries.items() if name != "__metadata__"}


def read_entry(file_name: str, name: str, entry: object, start: int) -> StoredTensor:
    """Return one tensor of a header. start: the position in the file from which the entry's offsets count."""
    match entry:
        case {"dtype": str(kind), "shape": [*shape], "data_offsets": [first, end]} if are_sizes(*shape, first, end):
            pass
        case _:
            raise AttentionError("not_safetensors", name=printable_name(file_name))
    if kind not in TYPES:
        raise AttentionError("weight_type", name=printable_name(name), given=printable_name(kind))
    if len(shape) > MAX_TENSOR_AXES:
        raise AttentionError("array_axes", name=printable_name(name), limit=MAX_TENSOR_AXES, given=len(shape))
    tensor = StoredTensor(file_name, TYPES[kind], tuple(shape), start + first)
    is_too_long = math.prod(max(1, length) for length in shape) > MAX_TENSOR_NUMBERS
    if end - first != tensor.stored_bytes or is_too_long:
        raise AttentionError("not_safetensors", name=printable_name(file_name))
    return tensor


def are_sizes(*values: object) -> bool:
    """Return whether all values are whole numbers of at least 0."""
    return all(type(value) is int and value >= 0 for value in values)


# ---- numbers ---------------------------------------------------------------------------------------------------------
def read_tensors(folder: ModelFolder, tensors: Mapping[str, StoredTensor]) -> dict[str, Tensor]:
    """Return tensors with their numbers; half precision becomes float32, which represents each number exactly.

    Raises AttentionError: folder_changed; not_finite, with the name of the tensor, for NaN or an infinity.
    """
    read: dict[str, Tensor] = {}
    for file_name in sorted({tensor.file for tensor in tensors.values()}):
        with folder.open(file_name) as file:
            for name, tensor in tensors.items():
                if tensor.file == file_name:
                    read[name] = read_tensor(file, name, tensor)
    folder.require_unchanged()
    return read


def read_tensor(file: BinaryIO, name: str, stored: StoredTensor) -> Tensor:
    """Return one tensor of an open file."""
    held = torch.empty(stored.stored_bytes, dtype=torch.uint8)
    rest = memoryview(held.numpy())
    file.seek(stored.place)
    while rest:
        count = file.readinto(rest)
        if not count:
            raise AttentionError("folder_changed", name=printable_name(stored.file))
        rest = rest[count:]
    tensor = held.view(stored.dtype).reshape(stored.shape)
    tensor = tensor.float() if stored.dtype in HALVES else tensor
    # The sum is tested first, in a tenth of the time: if it is finite, all numbers are.
    if tensor.is_floating_point() and not tensor.sum().isfinite() and not tensor.isfinite().all():
        index = tuple((~tensor.isfinite()).nonzero()[0].tolist())
        raise AttentionError("not_finite", name=printable_name(name), value=tensor[index].item(), index=index)
    return tensor
