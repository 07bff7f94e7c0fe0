"""Reads and writes scenes that show an uploaded PNG or JPEG, which is stored in a lecture's file, never in a link."""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from attention_core.record.errors import AttentionError
from pages.lectures.kinds.parts import UnfitPart, UnreadPart, read_text

PICTURE_PARTS = ("picture", "alt", "source")
MAX_PICTURE_BYTES = 1_000_000  # most bytes of a picture
MAX_PICTURE_SIDE_PX = 6_000  # most pixels of a side, because a browser needs four bytes of memory per pixel
MAX_PICTURE_WORDS_CHARS = 300  # most characters of the alternative text, and of the text about author and licence
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
JPEG_SIZE_MARKERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # start-of-frame segments, which contain the size


@dataclass(frozen=True)
class OwnPicture:
    """An uploaded picture.

    alt: the text for screen readers. source: the author and the licence of the picture.
    """

    data: bytes = field(repr=False)
    alt: str = ""
    source: str = ""

    @property
    def mime(self) -> str:
        """Returns the MIME type: image/png or image/jpeg."""
        return "image/png" if self.data.startswith(PNG_SIGNATURE) else "image/jpeg"


def read_own_picture(parts: Mapping[str, object]) -> tuple[OwnPicture, tuple[UnreadPart, ...]]:
    """Decodes the picture of a scene from base64.

    Raises UnfitPart; AttentionError: picture_bytes, picture_kind, picture_size.
    """
    letters = read_text(parts, "picture", 2 * MAX_PICTURE_BYTES)
    try:
        data = base64.b64decode(letters, validate=True)
    except ValueError:
        raise UnfitPart("picture") from None
    check_picture(data)
    words = [read_text(parts, name, MAX_PICTURE_WORDS_CHARS) for name in ("alt", "source")]
    return OwnPicture(data, *words), ()


def write_own_picture(shown: OwnPicture) -> dict[str, object]:
    """Returns a picture as a JSON object, encoded in base64; empty texts are omitted."""
    parts = {"picture": base64.b64encode(shown.data).decode(), "alt": shown.alt, "source": shown.source}
    return {name: text for name, text in parts.items() if text}


@lru_cache(maxsize=64)
def check_picture(data: bytes) -> None:
    """Raises AttentionError if a file cannot be a lecture's picture: picture_bytes, picture_kind, picture_size.

    >>> check_picture(b"GIF89a")
    Traceback (most recent call last):
    attention_core.record.errors.AttentionError: a picture must be a PNG or a JPEG file: this one is neither
    """
    if len(data) > MAX_PICTURE_BYTES:
        raise AttentionError("picture_bytes", limit=MAX_PICTURE_BYTES, given=len(data))
    size = find_picture_size(data)
    if size is None:
        raise AttentionError("picture_kind")
    if not all(1 <= side <= MAX_PICTURE_SIDE_PX for side in size):
        width, height = size
        raise AttentionError("picture_size", limit=MAX_PICTURE_SIDE_PX, width=width, height=height)


def find_picture_size(data: bytes) -> tuple[int, int] | None:
    """Returns (width, height) in pixels from the header of a PNG or JPEG file; None for any other file.

    >>> find_picture_size(PNG_SIGNATURE + bytes.fromhex("0000000d49484452 00000003 00000002"))
    (3, 2)
    """
    if data.startswith(PNG_SIGNATURE) and data[12:16] == b"IHDR" and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith(JPEG_SIGNATURE):
        return find_jpeg_size(data)
    return None


def find_jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Returns the (width, height) in a JPEG's first start-of-frame segment, or None if it has none.

    Source: ITU-T T.81, B.2.2.
    """
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte; any number of them may precede a marker (B.1.1.2)
            at += 1
            continue
        if marker in JPEG_SIZE_MARKERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
