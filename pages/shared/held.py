"""The tensors that a session has brought: kept for that session alone, called by what is in them, the latest few."""

from hashlib import sha256

import numpy as np
import streamlit as st

from attention_core.errors import AttentionError
from attention_core.files import read_arrays
from pages.shared.setup import Setup

KEPT = 2  # loads of a session: the one on the screen, and the one that undo goes back to

Arrays = dict[str, np.ndarray]


def keep(files: list[tuple[str, bytes]], setup: Setup) -> str:
    """Reads files and keeps their arrays beside those of the Setup on the screen, to which it goes back where they are
    refused; the name by which a Setup calls them. Raises AttentionError."""
    arrays: Arrays = {}
    digest = sha256()
    for name, content in files:
        found = read_arrays(name, content, minus_infinity=True)
        arrays |= found
        digest.update(repr((*found, len(content))).encode() + content)  # the same bytes may be q here and k there
    called = digest.hexdigest()[:16]
    held = st.session_state.get("held", {})
    others = sorted((name for name in held if name != called), key=lambda name: name == setup.file)  # it comes last
    st.session_state["held"] = {**{name: held[name] for name in others[1 - KEPT :]}, called: arrays}
    return called


def held_for(setup: Setup) -> Arrays | None:
    """The arrays that a Setup names; None where it names none. Raises AttentionError: file_away."""
    if setup.file is None:
        return None
    arrays = st.session_state.get("held", {}).get(setup.file)
    if arrays is None:
        raise AttentionError("file_away")
    return arrays
