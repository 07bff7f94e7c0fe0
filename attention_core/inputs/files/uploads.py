"""Helpers of the readers of uploaded files: names and endings, text decoding, numbers that are not finite."""

import codecs
import re
from collections.abc import Collection

import numpy as np

from attention_core.inputs.files.array_bytes import BFLOAT16, printable_name
from attention_core.record.errors import AttentionError

MAX_SAFETENSORS_HEADER = 100_000  # the most bytes of a header: enough for some hundred arrays
MAX_LISTED_NAMES = 8  # the most names that an error lists

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


def split_file_name(file_name: str) -> tuple[str, str]:
    """The name of a file without its folder and its ending, and the ending.

    >>> split_file_name("folder/Layer.NPZ")
    ('Layer', '.npz')
    """
    stem, dot, ending = re.split(r"[/\\]", file_name)[-1].rpartition(".")
    return stem, (dot + ending).lower()


def decode_text(file_name: str, content: bytes) -> str:
    """Decodes the text of a file: UTF-16 if it has a byte order mark, else UTF-8 with or without one."""
    encoding = "utf-16" if content.startswith(UTF_16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise AttentionError("not_text", name=printable_name(file_name)) from None
    if "\0" in text:  # no text has this character, but most files of numbers do
        raise AttentionError("not_text", name=printable_name(file_name))
    return text


# ---- checks of arrays ------------------------------------------------------------------------------------------------
def list_first_names(names: Collection[str]) -> str:
    """Lists the first names for an error."""
    listed = [printable_name(name) for name in list(names)[:MAX_LISTED_NAMES]]
    if len(names) > MAX_LISTED_NAMES:
        listed.append("…")
    return ", ".join(listed)


def refuse_not_finite(name: str, array: np.ndarray, minus_infinity: bool) -> None:
    """Raises AttentionError for a number that is not finite. minus_infinity: whether −∞ is allowed."""
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
