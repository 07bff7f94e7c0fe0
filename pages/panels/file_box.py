"""A file uploader in the language of the page."""

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.stored_arrays import ARRAY_BOUNDS
from pages import components
from pages.site.words import get_text_template

MAX_UPLOAD_MB = ARRAY_BOUNDS.megabytes  # of one file; the server accepts larger ones, but only as attention maps
BOX_WORDS = ("choose", "drop", "each", "add", "remove", "kind", "size", "one", "input", "error", "lost", "waits")


def file_box(label: str, types: Sequence[str], key: str, **options) -> UploadedFile | list[UploadedFile] | None:
    """Shows an uploader for one or several files. options: as of st.file_uploader, whose value it returns."""
    words = {name: get_text_template(f"upload.{name}") for name in BOX_WORDS}
    with st.container(key=f"files_of_{key}", gap=None):
        components.file_words(data={"words": words}, key=f"{key}_words")
        return st.file_uploader(label, type=types, key=key, **options)
