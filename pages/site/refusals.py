"""Counts how often visitors of all sessions were shown each error, by the error's code; stores nothing
that was typed.
"""

from collections import Counter
from threading import Lock
from weakref import WeakSet

from attention_core.record.errors import AttentionError

COUNTS: Counter[str] = Counter()  # code of an error -> how many such errors visitors were shown
# errors that are counted already, because a page shows the same error at each drawing
TOLD: WeakSet[AttentionError] = WeakSet()
LOCK = Lock()


def count_refusal(error: AttentionError) -> None:
    """Counts an error that a page shows its visitor; the same error object is counted once."""
    with LOCK:
        if error not in TOLD:
            TOLD.add(error)
            COUNTS[error.code] += 1
