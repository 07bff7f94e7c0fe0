"""Defines the store of what sessions opened last, under digests by which a Setup names it."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, Protocol, TypeVar

from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError


class Digested(Protocol):
    """What can be stored."""

    @property
    def digest(self) -> str:
        """A digest of all contents."""

    @property
    def held(self) -> object:
        """What of it takes memory."""

    @property
    def nbytes(self) -> int:
        """The number of bytes of this memory."""


Kept = TypeVar("Kept", bound=Digested)


class DigestStore(Generic[Kept]):
    """Stores layers, or whole models, in memory under their digests; removes the oldest if they take too much.

    most_bytes: the most bytes that all of them may take; memory that several share counts once. too_large: the code of
    the error for one that alone takes more.
    """

    def __init__(self, most_bytes: int, too_large: str):
        self.most_bytes, self.too_large = most_bytes, too_large
        self.kept: OrderedDict[str, Kept] = OrderedDict()
        self.lock = Lock()

    def keep(self, opened: Kept) -> str:
        """Stores a layer or a model; returns the digest by which a Setup names it.

        Raises AttentionError with the code `too_large` for a layer or model that alone takes more than most_bytes.
        """
        if opened.nbytes > self.most_bytes:
            raise AttentionError(self.too_large, limit=self.most_bytes // 2**20, given=opened.nbytes // 2**20)
        digest = opened.digest
        with self.lock:
            self.kept[digest] = opened
            self.kept.move_to_end(digest)
            while self.count_bytes() > self.most_bytes:
                self.kept.popitem(last=False)
        return digest

    def count_bytes(self) -> int:
        """Returns the number of bytes of all stored layers or models; memory that several share counts once."""
        return count_memory([kept.held for kept in tuple(self.kept.values())])

    def forget(self, digest: str) -> None:
        """Drops a layer or a model, if it is stored."""
        with self.lock:
            self.kept.pop(digest, None)

    def list_kept(self) -> list[Kept]:
        """Returns all stored layers or models, the latest last."""
        with self.lock:
            return [*self.kept.values()]

    def find(self, digest: str) -> Kept:
        """Returns the layer or model with a digest. Raises AttentionError (layer_away) if none with this digest is
        stored any more.
        """
        with self.lock:
            found = self.kept.get(digest)
        if found is None:
            raise AttentionError("layer_away")
        return found
