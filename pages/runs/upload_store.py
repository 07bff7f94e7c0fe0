"""The tensors that a session has brought: kept for that session alone, called by what is in them, the latest few."""

from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.qkv_file import oldest_in_force
from attention_core.inputs.files.uploads import read_arrays
from attention_core.record.errors import AttentionError
from pages.setup.setup import Setup

MAX_UPLOADS = 2  # loads of a session: the one on the screen, and the one that undo goes back to

UploadedArrays = dict[str, np.ndarray]
ReadFile = tuple[UploadedFile, UploadedArrays]


@dataclass(frozen=True)
class Source:
    """A file that an array is from: what the browser calls it, and its name."""

    id: str
    name: str


@dataclass
class Load:
    """The arrays of files, newer ones before older ones; where each is from; and a digest of what is in them."""

    arrays: UploadedArrays = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    digest: object = field(default_factory=sha256)

    def add(self, upload: list[ReadFile]) -> None:
        """Adds files that came together, newer than those before; a new array takes the place of one of its name."""
        if self.arrays:
            self.digest.update(b"then")  # the same files one after the other are another load
        new: UploadedArrays = {}
        for file, arrays in upload:
            content = file.getvalue()
            self.digest.update(
                repr((*arrays, len(content))).encode() + content
            )  # the same bytes may be q here, k there
            self.sources |= dict.fromkeys(arrays, Source(file.file_id, file.name))
            new |= arrays
        old = {name: array for name, array in self.arrays.items() if name not in new}
        self.arrays = new | old


def store_upload(files: list[UploadedFile], setup: Setup) -> str:
    """Reads files and keeps their arrays beside those of the Setup on the screen, to which it goes back where they are
    refused; the name by which a Setup calls them. Raises AttentionError."""
    uploads = [[(file, read(file)) for file in upload] for upload in by_upload(files)]
    names = [[name for _, arrays in upload for name in arrays] for upload in uploads]
    load = Load()
    for upload in uploads[oldest_in_force(names) :]:
        load.add(upload)
    called = load.digest.hexdigest()[:16]
    hold("held", called, load.arrays, setup)
    hold("sources", called, load.sources, setup)
    return called


def read(file: UploadedFile) -> UploadedArrays:
    """The arrays of a file. Raises AttentionError."""
    return read_arrays(file.name, file.getvalue(), minus_infinity=True)


def by_upload(files: list[UploadedFile]) -> list[list[UploadedFile]]:
    """The files of the box, those together that were chosen together; the oldest first, and the session knows it."""
    here = {file.file_id: file for file in files}
    uploads = []
    for upload in st.session_state.get("uploads", []):
        uploads.append([file for file in upload if file in here])
    known = {file for upload in uploads for file in upload}
    uploads.append([file for file in here if file not in known])
    uploads = [upload for upload in uploads if upload]
    st.session_state["uploads"] = uploads
    return [[here[file] for file in upload] for upload in uploads]


def hold(what: str, called: str, value: dict, setup: Setup) -> None:
    """Keeps something of a load and of the latest loads before it; that of the Setup on the screen goes last."""
    held = st.session_state.get(what, {})
    others = [name for name in held if name != called]
    others.sort(key=lambda name: name == setup.file)
    latest = others[1 - MAX_UPLOADS :]
    st.session_state[what] = {name: held[name] for name in latest} | {called: value}


def uploaded_arrays(setup: Setup) -> UploadedArrays | None:
    """The arrays that a Setup names; None where it names none. Raises AttentionError: file_away."""
    if setup.file is None:
        return None
    arrays = st.session_state.get("held", {}).get(setup.file)
    if arrays is None:
        raise AttentionError("file_away")
    return arrays


def sources_of(setup: Setup) -> dict[str, Source]:
    """The file that each array of a Setup is from, by the array's name."""
    return st.session_state.get("sources", {}).get(setup.file, {})
