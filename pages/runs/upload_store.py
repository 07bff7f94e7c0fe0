"""Stores the tensors that a session uploaded last, under a digest (hash) of their contents."""

from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.contents import FileContents, read_contents
from attention_core.inputs.files.qkv_file import guess_array_roles, guess_roles, oldest_in_force
from attention_core.inputs.files.stored_arrays import refuse_not_finite
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.runs.held_bytes import HELD
from pages.setup.setup import RunSetup

MAX_FILE_NAME_CHARS = 60  # most characters of a file's name that are shown
MAX_UPLOADS = 2  # most sets of files that a session stores: the one on the screen, and the one that undo restores

UploadedArrays = dict[str, np.ndarray]
ReadFile = tuple["UploadedFile | StoredFile", FileContents]


@dataclass(frozen=True)
class Source:
    """The file from which an array was read: its id in the browser, and its name."""

    id: str
    name: str


@dataclass(frozen=True)
class StoredFile:
    """A file that was uploaded: its id in the browser, its name, and its bytes."""

    file_id: str
    name: str
    content: bytes

    def getvalue(self) -> bytes:
        """Returns the bytes of the file, as Streamlit's UploadedFile does."""
        return self.content


@dataclass
class Load:
    """A set of files that are used together: their arrays, newer files first, the file of each array, and a digest.

    others: {file: {name: None for a text, or the error of an array that cannot be read}}.
    """

    arrays: UploadedArrays = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    others: dict[Source, dict[str, AttentionError | None]] = field(default_factory=dict)
    digest: object = field(default_factory=sha256)

    def add(self, upload: list[ReadFile]) -> None:
        """Adds files that were uploaded together; they count as newer than all earlier files.

        A new array replaces an earlier one with the same name.
        """
        if self.arrays:
            self.digest.update(b"then")  # separates uploads, so that the same files in one upload get another digest
        new: UploadedArrays = {}
        for file, contents in upload:
            arrays, content = contents.arrays, file.getvalue()
            # the names are hashed, too, because files with the same bytes may have other names
            names_and_size = repr((*arrays, len(content)))
            self.digest.update(names_and_size.encode())
            self.digest.update(content)
            source = Source(file.file_id, file.name)
            self.sources |= dict.fromkeys(arrays, source)
            self.others[source] = {**dict.fromkeys(contents.texts), **contents.unread}
            new |= arrays
        for name, array in self.arrays.items():
            new.setdefault(name, array)
        self.arrays = new


def store_upload(files: list[UploadedFile], run: RunSetup) -> str:
    """Reads uploaded files and stores their arrays in the session; returns the digest that names the arrays in a Setup.

    run: the run on the screen, whose arrays are kept. Raises AttentionError if a file or a needed array cannot be read.
    """
    return store_files(by_upload(files), run)


def store_files(given: "list[list[UploadedFile]] | list[list[StoredFile]]", run: RunSetup) -> str:
    """Reads files, grouped by upload, and stores their arrays in the session; returns their digest.

    run: the run on the screen, whose arrays are kept. Raises AttentionError if a file or a needed array cannot be read;
    uploads_full, if all sessions together would hold too many bytes.
    """
    uploads, names = [], []
    for upload in given:
        read_files, array_names = [], []
        for file in upload:
            contents = read_file(file)
            read_files.append((file, contents))
            array_names += contents.arrays
        uploads.append(read_files)
        names.append(array_names)
    load = Load()
    oldest = oldest_in_force(names)
    for upload in uploads[oldest:]:
        load.add(upload)
    refuse_missed(load)
    digest = load.digest.hexdigest()[:16]
    in_force = [
        [StoredFile(file.file_id, file.name, file.getvalue()) for file, _ in upload] for upload in uploads[oldest:]
    ]
    HELD.add([*load.arrays.values(), *chain.from_iterable(in_force)])
    store_latest("held", digest, load.arrays, run)
    store_latest("sources", digest, load.sources, run)
    store_latest("others", digest, load.others, run)
    store_latest("files", digest, in_force, run)
    return digest


def read_file(file: "UploadedFile | StoredFile") -> FileContents:
    """Returns the contents of a file; an array with NaN or +∞ counts as unreadable. Raises AttentionError."""
    contents = read_contents(file.name, file.getvalue())
    arrays, unread = {}, dict(contents.unread)
    for name, array in contents.arrays.items():
        try:
            refuse_not_finite(name, array, minus_infinity=True)
        except AttentionError as error:
            unread[name] = error.without_frames()
        else:
            arrays[name] = array
    return replace(contents, arrays=arrays, unread=unread)


def refuse_missed(load: Load) -> None:
    """Raises the error of an unreadable array if its role is taken by no other array, or if no array could be read."""
    roles = guess_array_roles(load.arrays)
    refused = {name: error for others in load.others.values() for name, error in others.items() if error is not None}
    for role, name in guess_roles(refused).items():
        if role not in roles:
            raise refused[name]
    if refused and not load.arrays:
        raise next(iter(refused.values()))


def by_upload(files: list[UploadedFile]) -> list[list[UploadedFile]]:
    """Groups the uploaded files by upload, oldest upload first; the session stores which files were
    uploaded together.
    """
    files_by_id = {file.file_id: file for file in files}
    new = list(files_by_id)
    uploads = []
    uploads_before = st.session_state.get("uploads", [])
    for upload in uploads_before:
        still_here = [file_id for file_id in upload if file_id in files_by_id]
        new = [file_id for file_id in new if file_id not in upload]
        if still_here:
            uploads.append(still_here)
    if new:
        uploads.append(new)
    st.session_state["uploads"] = uploads
    return [[files_by_id[file_id] for file_id in upload] for upload in uploads]


def store_latest(what: str, digest: str, value: dict | list, run: RunSetup) -> None:
    """Stores a value under a digest, and keeps at most MAX_UPLOADS values: the latest, and the one on the screen.

    what: the session key of the values. value: the arrays, sources or other contents of a set of files. run: the run on
    the screen, whose value is evicted last.
    """
    stored = dict(st.session_state.get(what, {}))
    stored.pop(digest, None)
    on_screen = stored.pop(run.file, None)
    if on_screen is not None:
        stored[run.file] = on_screen  # the value moves to the end of the dict, so that it counts as the latest
    while len(stored) >= MAX_UPLOADS:
        oldest = next(iter(stored))
        del stored[oldest]
    stored[digest] = value
    st.session_state[what] = stored


def uploaded_arrays(run: RunSetup) -> UploadedArrays:
    """Returns the arrays that a run names. Raises AttentionError: file_away, if this session does not have them."""
    arrays = st.session_state.get("held", {}).get(run.file)
    if arrays is None:
        raise AttentionError("file_away")
    return arrays


def is_stored(digest: str) -> bool:
    """Returns whether this session has the arrays of a digest."""
    return digest in st.session_state.get("held", {})


def files_of(digest: str) -> list[list[StoredFile]]:
    """Returns the files of a digest, grouped by upload; [] if this session does not have them."""
    return st.session_state.get("files", {}).get(digest, [])


def printable_file_name(name: str) -> str:
    """Returns the name of a file, shortened and without unprintable characters."""
    return printable_token(name[:MAX_FILE_NAME_CHARS])


def sources_of(run: RunSetup) -> dict[str, Source]:
    """Returns {name of an array of a run: the file from which it was read}."""
    return st.session_state.get("sources", {}).get(run.file, {})


def others_of(run: RunSetup) -> dict[Source, dict[str, AttentionError | None]]:
    """Returns, for each file of a run, what it contains besides the arrays that the run can use.

    The result is {file: {name: None for a text, or the error of an array that cannot be read}}.
    """
    return st.session_state.get("others", {}).get(run.file, {})
