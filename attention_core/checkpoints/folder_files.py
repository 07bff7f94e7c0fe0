"""Reads the files of a model's folder: only regular files inside allowed folders, of limited size, and unchanged since
the first read.
"""

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError

HUB_SNAPSHOTS, HUB_PREFIX = "snapshots", "models--"  # in the hub's cache: models--owner--name/snapshots/commit
HUB_SHARED = "blobs"  # folder of the hub's cache with the files, to which snapshots link
# Opening neither waits for a named pipe's writer nor follows a link that replaced the checked file.
OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
Mark = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class ModelFolder:
    """A folder whose files are read and checked here, and by no other library.

    path: the folder's path, without links. roots: the folders in which each file must be, after its links are followed.
    marks: {name of a file that was read: its path, identity, size and time of change}.
    """

    path: Path
    roots: tuple[Path, ...]
    marks: dict[str, Mark] = field(default_factory=dict, repr=False)

    def has(self, name: str) -> bool:
        """Return whether the folder has an entry of this name: a file, a folder or a link."""
        return os.path.lexists(self.path / name)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a file of the folder for reading; a file that was opened before must be unchanged.

        Raises AttentionError: folder_file_outside, folder_file_missing, folder_file_unreadable, folder_changed.
        """
        shown, real = printable_name(name), self.find(name)
        try:
            file = open(real, "rb", buffering=0, opener=open_without_waiting)  # noqa: SIM115 (closed below)
        except FileNotFoundError:
            raise AttentionError("folder_file_missing", name=shown) from None
        except (OSError, ValueError):
            raise AttentionError("folder_file_unreadable", name=shown) from None
        with file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise AttentionError("folder_file_unreadable", name=shown)
            mark = make_mark(real, state)
            if self.marks.setdefault(name, mark) != mark:
                raise AttentionError("folder_changed", name=shown)
            try:
                yield file
            except OSError:
                raise AttentionError("folder_file_unreadable", name=shown) from None

    def find(self, name: str) -> str:
        """Return the path of a file after its links are followed. Raises AttentionError if it is outside the roots."""
        try:
            real = os.path.realpath(self.path / name)
        except (OSError, ValueError):
            raise AttentionError("folder_file_unreadable", name=printable_name(name)) from None
        if not is_inside(Path(real), self.roots):
            raise AttentionError("folder_file_outside", name=printable_name(name))
        return real

    def size(self, name: str) -> int:
        """Return the number of bytes of a file."""
        with self.open(name) as file:
            return os.fstat(file.fileno()).st_size

    def read(self, name: str, limit: int) -> bytes:
        """Return the bytes of a file. Raises AttentionError: those of open; file_too_large."""
        given = self.size(name)
        if given > limit:
            raise AttentionError("file_too_large", name=printable_name(name), limit=limit, given=given)
        with self.open(name) as file:
            content = file.read(limit)
        if len(content) != given:
            raise AttentionError("folder_changed", name=printable_name(name))
        return content

    def read_object(self, name: str, limit: int) -> dict:
        """Return the object of a JSON file. Raises AttentionError: those of read and of parse_object."""
        return parse_object(name, self.read(name, limit))

    def require_unchanged(self) -> None:
        """Raise AttentionError (folder_changed) if a file that was read was changed, replaced or removed."""
        for name, mark in self.marks.items():
            try:
                real = self.find(name)
                is_same = make_mark(real, os.stat(real)) == mark
            except (OSError, AttentionError):
                is_same = False
            if not is_same:
                raise AttentionError("folder_changed", name=printable_name(name))


def find_folder(path: str | os.PathLike, roots: Iterable[str | os.PathLike] | None = None) -> ModelFolder:
    """Return a ModelFolder whose files may be read, or raise AttentionError if it is outside the allowed folders.

    roots: the folders in which the folder and all its files must be; (): nothing may be read. None allows the folder
    itself; for a revision in the hub's cache, whose files are links, it allows the model's folder and the folder of
    shared files.

    Raises AttentionError: not_a_class, folder_outside, folder_missing. Paths outside the roots are not read.
    """
    try:
        real = Path(os.path.realpath(os.path.expanduser(path)))
        allowed = own_roots(real) if roots is None else tuple(Path(os.path.realpath(root)) for root in roots)
    except TypeError:
        raise AttentionError(
            "not_a_class", name="path", expected="a text or a Path", given=type(path).__name__
        ) from None
    except (OSError, ValueError):
        raise AttentionError("folder_missing", name=printable_name(str(path))) from None
    if not is_inside(real, allowed):
        raise AttentionError("folder_outside", name=printable_name(str(path)))
    if not os.path.isdir(real):
        raise AttentionError("folder_missing", name=printable_name(str(path)))
    return ModelFolder(real, allowed)


def own_roots(folder: Path) -> tuple[Path, ...]:
    """Return the allowed folders if users name folders on their own machine."""
    model = cached_model(folder)
    return (folder,) if model is None else (model, model.parent / HUB_SHARED)


def cached_model(folder: Path) -> Path | None:
    """Return the model's folder in the hub's cache if the given folder is a revision in it; None for any other
    folder."""
    model = folder.parent.parent
    is_snapshot = folder.parent.name == HUB_SNAPSHOTS and model.name.startswith(HUB_PREFIX)
    return model if is_snapshot else None


def is_inside(path: Path, roots: Iterable[Path]) -> bool:
    """Return whether a path without links is one of the roots, or is inside one."""
    return any(path == root or root in path.parents for root in roots)


def open_without_waiting(path: str, flags: int) -> int:
    """Open a file for the builtin `open`, with OPEN_FLAGS."""
    return os.open(path, flags | OPEN_FLAGS)


def make_mark(real: str, state: os.stat_result) -> Mark:
    """Return values that identify a file's state: they change if the file is written, or replaced by another file at
    its path."""
    return real, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


# ---- JSON ------------------------------------------------------------------------------------------------------------
def parse_object(name: str, content: bytes) -> dict:
    """Parse a JSON object in UTF-8, in which each key occurs once. name: the file, for errors.

    Raises AttentionError: file_twice, json_object.
    """
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=as_dict)
    except AttentionError:
        raise
    except (ValueError, RecursionError):
        raise AttentionError("json_object", name=printable_name(name)) from None
    if not isinstance(value, dict):
        raise AttentionError("json_object", name=printable_name(name))
    return value


def as_dict(pairs: list[tuple[str, object]]) -> dict:
    """Return the pairs of a JSON object as a dict. Raises AttentionError (file_twice) if a key occurs twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise AttentionError("file_twice", name=printable_name(twice))
    return made
