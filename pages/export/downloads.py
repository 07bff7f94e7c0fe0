"""Offers files for download: shows the button, names the file, and checks its size.

A file is generated in a separate thread without a session, so all data that it needs must be passed to its FileMaker.
"""

import re
import weakref
from collections.abc import Callable

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.number_files import check_export_size
from pages.session.visitor import current_visitor, work_for
from pages.setup.setup import Setup
from pages.site.words import current_language, say, say_refusal, use_language

FileMaker = Callable[[], str | bytes]


class FileMakers(dict[str, FileMaker]):
    """The functions that generate the offered files, by file name."""


@st.cache_resource(scope="session", show_spinner=False)
def file_makers() -> FileMakers:
    """Returns the session's FileMakers (functions that generate files), which hold its runs in memory.

    When the visitor leaves, Streamlit clears this cache, but keeps the callables of buttons. A page that is opened
    again adds its FileMakers again.
    """
    return FileMakers()


def button_row():
    """Returns a container for a row of buttons, which continues on a second line on a phone."""
    return st.container(horizontal=True, gap="xsmall")


def can_export(trace: Trace, kind: str, step: str | None = None) -> bool:
    """Returns whether a run, or one of its steps, is small enough for a file of this kind; if not, shows the reason."""
    try:
        check_export_size(trace, kind, step)
    except AttentionError as error:
        st.caption(say_refusal(error))
        return False
    return True


def offer_download(name: str, file: str, mime: str, make: FileMaker, label: str | None = None) -> None:
    """Shows a download button; a click generates the file in the language of this session."""
    language, visitor = current_language(), current_visitor()
    makers = file_makers()
    makers[name] = make
    kept = weakref.ref(makers)

    def make_in_language() -> str | bytes:
        with use_language(language), work_for(visitor):
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
    """Returns a file name of ASCII letters, digits and underscores: the example's name and further parts.

    >>> file_name(Setup(), "csv", "../weights")
    'attention_en_it_weights.csv'
    """
    return name_file(ending, setup.run.example, *parts)


def name_file(ending: str, *parts: str) -> str:
    """Returns a file name of ASCII letters, digits and underscores.

    >>> name_file("csv", "tiny-gpt2", "layer 1")
    'attention_tiny_gpt2_layer_1.csv'
    """
    words = []
    for part in ("attention", *parts):
        words.append(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_"))
    stem = "_".join(filter(None, words))
    return f"{stem[:80]}.{ending}"
