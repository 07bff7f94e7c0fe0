"""Keeps uploaded files of tensors in the visitor's browser tab (sessionStorage), so that they survive a reload."""

import json
from base64 import b64decode, b64encode
from binascii import Error as UnreadableBase64

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.components import make_component
from pages.components.messages import AnyOf, Flag, Text
from pages.runs.cache import check_computable, trace_for
from pages.runs.upload_store import StoredFile, files_of, is_stored, store_files
from pages.session import linked_setup, setup_state
from pages.session.fragments import page_part, redraw
from pages.session.view import ScreenState
from pages.setup.setup_file import read_strict_json

MAX_KEPT_KB = 64  # most kilobytes of a screen's files that the browser stores
MAX_KEPT_CHARS = 2 * 1024 * MAX_KEPT_KB  # most characters of these files in base64, which has four for three bytes
REFUSED_KEY = "keeps_no_file"  # session key: True if the browser can store nothing

kept_file = make_component(
    "kept_file", "<div></div>", sends={"read": AnyOf((None, Text(MAX_KEPT_CHARS))), "refused": Flag()}
)


@page_part(lambda screen: (file_on_screen(), linked_setup.awaited_file()))
def keep_file(_: ScreenState) -> None:
    """Sends the files of the screen to the browser tab; receives files that the link names and this session lacks."""
    digest, wanted = file_on_screen(), linked_setup.awaited_file()
    kept_file(
        data={"digest": digest, "text": write_files(digest), "awaits": wanted},
        key="kept_file",
        on_read=take_kept,
        on_refused=take_refused,
    )


def file_on_screen() -> str:
    """Returns the digest of the files of the screen; "" without files."""
    return setup_state.current_setup().run.file or ""


def is_kept(digest: str) -> bool:
    """Returns whether the browser tab stores these files, so that a reload does not lose them."""
    return bool(write_files(digest)) and not st.session_state.get(REFUSED_KEY)


# ---- as a text -------------------------------------------------------------------------------------------------------
def write_files(digest: str) -> str:
    """Returns the text of the files of a digest for the browser; "" if there are none or they are too large."""
    uploads = files_of(digest)
    size = sum(len(file.content) for upload in uploads for file in upload)
    if not uploads or size > 1024 * MAX_KEPT_KB:
        return ""
    text = json.dumps([[[file.name, b64encode(file.content).decode()] for file in upload] for upload in uploads])
    return text if len(text) <= MAX_KEPT_CHARS else ""


def read_files(text: str) -> list[list[StoredFile]]:
    """Parses the text that write_files returned. Raises ValueError or AttentionError for any other text."""
    uploads = read_strict_json(text)
    if not isinstance(uploads, list) or not all(isinstance(upload, list) for upload in uploads):
        raise ValueError("files are a list of uploads, each a list: given another value")
    return [
        [read_file(each, f"kept {number} {place}") for place, each in enumerate(upload)]
        for number, upload in enumerate(uploads)
    ]


def read_file(written: object, file_id: str) -> StoredFile:
    """Parses one file of the text. Raises ValueError for anything else."""
    match written:
        case [str() as name, str() as content]:
            return StoredFile(file_id, name, b64decode(content))
    raise ValueError("a file is a name and its content in base64: given another value")


# ---- what the browser tells ------------------------------------------------------------------------------------------
def take_kept(text: str | None) -> None:
    """Opens the link of this visit again, now with the files that the browser tab has kept.

    Files whose digest is not that of the link are not used. text: None if the tab keeps no such files.
    """
    wanted = linked_setup.awaited_file()
    if not wanted:
        return
    if text is not None and not st.session_state["past"]:
        try:
            store_files(read_files(text), setup_state.current_setup().run)
        except (AttentionError, ValueError, UnreadableBase64):
            text = None
    if text is not None and is_stored(wanted) and not st.session_state["past"]:
        linked_setup.open_awaited_link(check_computable, trace_for)
        st.rerun()  # reruns the whole page, because a file has its panel beside the picture
    linked_setup.forget_awaited_link()
    redraw()


def take_refused(_: bool) -> None:
    """Handles the message that the browser can store nothing."""
    st.session_state[REFUSED_KEY] = True
    redraw(keep_file.__name__)
