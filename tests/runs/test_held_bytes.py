"""What sessions hold of uploads: counted once until it is freed, refused beyond the limit, whoever has left."""

import gc
import io
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from attention_core.record.errors import AttentionError
from pages.maps import given_file
from pages.runs import held_bytes, upload_store
from pages.runs.held_bytes import HeldBytes
from pages.runs.upload_store import StoredFile, store_files
from pages.session.linked_state import LinkedState
from pages.setup.setup import RunSetup


@dataclass(frozen=True, eq=False)
class Thing:
    """Something that a session holds."""

    numbers: np.ndarray


def make_thing(count: int) -> Thing:
    """Holds so many float64 numbers."""
    return Thing(np.zeros(count))


def test_an_object_counts_once_until_it_is_freed():
    held, one, other = HeldBytes(1000), make_thing(7), make_thing(11)
    held.add([one, other, one])
    held.add([one])
    assert held.nbytes == 8 * (7 + 11)
    del one
    gc.collect()
    assert held.nbytes == 8 * 11
    del other
    gc.collect()
    assert held.nbytes == 0 and not held.counted


def test_what_does_not_fit_is_refused_and_counts_nothing():
    held, one, other = HeldBytes(8 * 13), make_thing(7), make_thing(7)
    held.add([one])
    with pytest.raises(AttentionError, match="must fit into 0 MB together") as refused:
        held.add([other])
    assert refused.value.code == "uploads_full" and held.nbytes == 8 * 7
    del one
    gc.collect()
    held.add([other])
    assert held.nbytes == 8 * 7


def pack(**arrays: np.ndarray) -> bytes:
    """The bytes of an NPZ file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.fixture
def held(monkeypatch) -> HeldBytes:
    """A count of its own."""
    own = HeldBytes()
    for module in (upload_store, given_file, held_bytes):
        monkeypatch.setattr(module, "HELD", own)
    return own


def test_sessions_that_upload_are_counted_whole_and_no_longer_when_they_are_forgotten(held, monkeypatch):
    sessions = [{}, {}, {}]
    content = pack(**{name: np.ones((1, 2, 5, 3)) for name in ("q", "k", "v")})
    each = 3 * 8 * 2 * 5 * 3 + len(content)
    for number, session in enumerate(sessions, 1):
        monkeypatch.setattr(upload_store.st, "session_state", session)
        store_files([[StoredFile(f"file {number}", "qkv.npz", bytes(bytearray(content)))]], RunSetup())
        assert held.nbytes == number * each
    sessions[0].clear()  # as the server forgets it
    gc.collect()
    assert held.nbytes == 2 * each
    held.most = 3 * each - 1
    monkeypatch.setattr(upload_store.st, "session_state", {})
    with pytest.raises(AttentionError) as refused:
        store_files([[StoredFile("file 4", "qkv.npz", bytes(bytearray(content)))]], RunSetup())
    assert refused.value.code == "uploads_full" and not upload_store.st.session_state
    assert held.nbytes == 2 * each


def test_a_refusal_that_a_session_keeps_keeps_nothing_of_what_was_refused():
    state, refused = LinkedState(), []

    def read() -> None:
        thing = make_thing(7)
        refused.append(weakref.ref(thing))
        raise AttentionError("uploads_full", limit=3)

    try:
        read()
    except AttentionError as error:
        state.refuse("bring", error)
    gc.collect()
    assert refused[0]() is None and state.refused["bring"].code == "uploads_full"
