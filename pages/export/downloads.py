"""How a file is offered: its button, its name, and whether it may be so large.

A file is made in a thread of its own, where no session can be asked: whatever it needs is handed to it.
"""

import re
import weakref
from collections.abc import Callable

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.number_files import check_export_size
from pages.setup.setup import Setup
from pages.site.words import current_language, say, say_refusal, use_language

FileMaker = Callable[[], str | bytes]


class FileMakers(dict[str, FileMaker]):
    """How each file is made that is offered on a page, by its name."""


@st.cache_resource(scope="session", show_spinner=False)
def file_makers() -> FileMakers:
    """Those of the session. They hold its runs: Streamlit keeps what a button calls when the visitor has left, and
    clears this; a page that comes back offers its files anew."""
    return FileMakers()


def button_row():
    """A row of buttons, which wraps on a phone."""
    return st.container(horizontal=True, gap="xsmall")


def can_export(trace: Trace, kind: str, step: str | None = None) -> bool:
    """Whether so many numbers may be in a file of this kind; says so where they may not."""
    try:
        check_export_size(trace, kind, step)
    except AttentionError as error:
        st.caption(say_refusal(error))
        return False
    return True


def offer_download(name: str, file: str, mime: str, make: FileMaker, label: str | None = None) -> None:
    """A file to download, made when it is asked for, in the language of this session."""
    language = current_language()
    makers = file_makers()
    makers[name] = make
    kept = weakref.ref(makers)

    def make_in_language() -> str | bytes:
        with use_language(language):
            return kept()[name]()

    st.download_button(
        label or say(f"export.{name}"),
        make_in_language,
        file,
        mime,
        key=f"export_{name}",
        on_click="ignore",
    )


def file_name(setup: Setup, ending: str, *parts: str) -> str:
    """A name of plain letters, whatever the example and the step are called.

    >>> file_name(Setup(), "csv", "../weights")
    'attention_en_it_weights.csv'
    """
    words = []
    for part in ("attention", setup.example, *parts):
        words.append(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_"))
    stem = "_".join(filter(None, words))
    return f"{stem[:80]}.{ending}"
