"""Stores the layers of pretrained models that sessions opened last on the workbench, each under a digest."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

import numpy as np
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.record.errors import AttentionError

MAX_KEPT_BYTES = 128 * 2**20  # most bytes of all layers together, as for six of 768 x 768
DIGEST_CHARS = 16


@dataclass(frozen=True, eq=False)
class KeptLayer:
    """One attention layer of a pretrained model: the words, vectors and matrices with which the model computed it.

    name: the model and the name of the layer in it. queries, keys: the pieces of text. matrices: x, context, value, w_q
    and so on by name, each with two axes. heads, kv_heads: into how many heads the matrices are split. pairs: "allowed"
    and "bias", if no mask or position encoding of the core is the same, each (1, H, T, S).
    """

    name: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    matrices: Mapping[str, np.ndarray]
    heads: int
    kv_heads: int
    pairs: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all numbers in the layer."""
        return sum(numbers.nbytes for numbers in (*self.matrices.values(), *self.pairs.values()))

    @property
    def digest(self) -> str:
        """A digest of all contents, by which a Setup names the layer."""
        digest = sha256(repr((self.name, self.queries, self.keys)).encode())
        for name, numbers in (*self.matrices.items(), *self.pairs.items()):
            digest.update(repr((name, tuple(numbers.shape))).encode())
            digest.update(np.ascontiguousarray(numbers).tobytes())
        return digest.hexdigest()[:DIGEST_CHARS]


def read_layer(name: str, run: CoreRun, queries: tuple[str, ...], keys: tuple[str, ...]) -> KeptLayer:
    """Returns the first text of a run that begins at a layer's input, as a KeptLayer."""
    inputs = {"x": "x", "query": "x", "key": "context", "value": "value"}  # input step -> its matrix
    matrices = {inputs[step]: run.trace[step][0].numpy() for step in inputs if step in run.trace}
    matrices |= {given: np.atleast_2d(tensor.numpy()) for given, tensor in run.weights.given().items()}
    steps = {"mask": "allowed", "bias": "bias"}
    pairs = {steps[given]: run.trace[steps[given]][:1] for given in run.given}
    kv_heads = run.config.kv_heads or run.config.heads
    return KeptLayer(name, queries, keys, matrices, run.config.heads, kv_heads, pairs)


class LayerStore:
    """Stores layers in memory, and removes those that were opened first if they take more than MAX_KEPT_BYTES."""

    def __init__(self):
        self.layers: OrderedDict[str, KeptLayer] = OrderedDict()
        self.lock = Lock()

    def keep(self, layer: KeptLayer) -> str:
        """Stores a layer; returns the digest by which a Setup names it.

        Raises AttentionError (layer_too_large) for a layer that alone takes more than MAX_KEPT_BYTES.
        """
        if layer.nbytes > MAX_KEPT_BYTES:
            raise AttentionError("layer_too_large", limit=MAX_KEPT_BYTES // 2**20, given=layer.nbytes // 2**20)
        digest = layer.digest
        with self.lock:
            self.layers[digest] = layer
            self.layers.move_to_end(digest)
            while sum(kept.nbytes for kept in self.layers.values()) > MAX_KEPT_BYTES:
                self.layers.popitem(last=False)
        return digest

    def forget(self, digest: str) -> None:
        """Drops a layer, if it is stored."""
        with self.lock:
            self.layers.pop(digest, None)

    def find(self, digest: str) -> KeptLayer:
        """Returns the layer with a digest. Raises AttentionError (layer_away) if the layer is no longer stored."""
        with self.lock:
            layer = self.layers.get(digest)
        if layer is None:
            raise AttentionError("layer_away")
        return layer


LAYERS = LayerStore()
