"""Lets worker processes draw the pictures of files: vl-convert would stop all threads of the server while it draws."""

from collections.abc import Callable

import streamlit as st

from attention_core.documents.picture_files import Drawn, missing_letters
from attention_core.record.errors import AttentionError
from pages.session.visitor import current_visitor, has_asker_left
from pages.site.words import say_refusal
from pages.workers.queue import WORKERS


def draw_in_worker(draw: Callable[[], Drawn]) -> Drawn:
    """Returns the result of a function of vl-convert, called in a worker process in turn for this thread's visitor.

    Raises AttentionError: worker_ended; GivenUp, if the visitor has left.
    """
    return WORKERS.call(draw, current_visitor(), lambda: not has_asker_left())


def find_missing_letters(text: str) -> str | None:
    """Returns the letters of a text that no font of this machine has; if no process can draw them, shows why and
    returns None.
    """
    try:
        return missing_letters(text)
    except AttentionError as error:
        st.caption(say_refusal(error))
        return None
