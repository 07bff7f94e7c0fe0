"""Counts the refusals that visitors were told, of all sessions, by their code; nothing that was typed is kept."""

from collections import Counter
from threading import Lock
from weakref import WeakSet

from attention_core.record.errors import AttentionError

COUNTS: Counter[str] = Counter()  # code of an error -> number of such errors that were told
TOLD: WeakSet[AttentionError] = WeakSet()  # errors that are counted; a page says the same error at each drawing
LOCK = Lock()


def count_refusal(error: AttentionError) -> None:
    """Counts an error that a page tells its visitor; the same error object counts once."""
    with LOCK:
        if error not in TOLD:
            TOLD.add(error)
            COUNTS[error.code] += 1
