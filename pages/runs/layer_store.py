"""Stores the layers and the whole pretrained models that sessions opened last on the workbench, each under a
digest.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

MAX_KEPT_BYTES = 128 * 2**20  # most bytes of all layers together, as for six of 768 x 768
MAX_MODEL_BYTES = 2**30  # most bytes of all whole models together, as for one of 124 million numbers
DIGEST_CHARS, FLOAT64_BYTES = 16, 8


@dataclass(frozen=True, eq=False)
class KeptLayer:
    """One attention layer of a pretrained model: the words, vectors and matrices with which the model computed it.

    name: the model and the name of the layer in it. queries, keys: the pieces of text. matrices: x, context, value, w_q
    and so on by name, each with two axes. heads, kv_heads: into how many heads the matrices are split. pairs: "allowed"
    and "bias", if no mask or position encoding of the core is the same, each (1, H, T, S). alone: why the other layers
    of its model are not stored with it; None for a layer of a whole model.
    """

    name: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    matrices: Mapping[str, np.ndarray]
    heads: int
    kv_heads: int
    pairs: Mapping[str, Tensor] = field(default_factory=dict)
    alone: AttentionError | None = None

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


def read_layer(
    name: str, run: CoreRun, queries: tuple[str, ...], keys: tuple[str, ...], alone: AttentionError | None = None
) -> KeptLayer:
    """Returns the first text of a run that begins at a layer's input, as a KeptLayer."""
    steps = {"mask": "allowed", "bias": "bias"}
    pairs = {steps[given]: run.trace[steps[given]][:1] for given in run.given}
    matrices = list_matrices(run.trace, run.weights)
    return KeptLayer(name, queries, keys, matrices, *count_heads(run.config), pairs, alone)


def list_matrices(trace: Trace, weights: Weights) -> dict[str, np.ndarray]:
    """Returns {name: numbers} of a layer's input vectors and learned tensors, each with two axes."""
    inputs = {"x": "x", "query": "x", "key": "context", "value": "value"}  # input step -> its matrix
    matrices = {inputs[step]: trace[step][0].numpy() for step in inputs if step in trace}
    return matrices | {given: np.atleast_2d(tensor.numpy()) for given, tensor in weights.given().items()}


def count_heads(config: AttentionConfig) -> tuple[int, int]:
    """Returns the number of heads, and that of the heads of keys and values."""
    return config.heads, config.kv_heads or config.heads


@dataclass(frozen=True, eq=False)
class KeptModel:
    """A whole pretrained model, with the text that it read.

    layer_names: the names of its layers' modules.
    """

    model: RecordedModel
    layer_names: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """The number of bytes of its weights, its recorded vectors and its run."""
        return self.model.nbytes

    @property
    def digest(self) -> str:
        """A digest by which a Setup names the model with its text."""
        return self.model.digest

    def config(self, layer: int) -> AttentionConfig:
        """Returns the settings of a layer's attention. layer: from 1. Raises AttentionError: at_most."""
        if not 1 <= layer <= len(self.layer_names):
            raise AttentionError("at_most", name="layer", limit=len(self.layer_names), given=layer)
        return self.model.whole.config.layers[layer - 1].attention

    def layer(self, layer: int) -> KeptLayer:
        """Returns a layer, which begins at its recorded vectors. layer: from 1. Raises AttentionError: at_most."""
        config, whole = self.config(layer), self.model.whole
        matrices = list_matrices(whole.stack[f"{layer}.attention"], whole.weights.layers[layer - 1].attention)
        name = f"{self.model.title}, {self.layer_names[layer - 1]}"
        return KeptLayer(name, self.model.words, self.model.words, matrices, *count_heads(config))


def require_whole_size(parameters: int) -> None:
    """Raises AttentionError (whole_too_large), before its parts are found, if a model takes more than MAX_MODEL_BYTES.

    parameters: the number of its learned numbers; in the core each takes 64 bits.
    """
    if parameters * FLOAT64_BYTES > MAX_MODEL_BYTES:
        given = parameters * FLOAT64_BYTES // 2**20
        raise AttentionError("whole_too_large", limit=MAX_MODEL_BYTES // 2**20, given=given)


Kept = TypeVar("Kept", KeptLayer, KeptModel)


class LayerStore(Generic[Kept]):
    """Stores layers, or whole models, in memory, and removes those that were opened first if they take too much.

    most_bytes: the most bytes that all of them may take. too_large: the code of the error for one that alone takes
    more.
    """

    def __init__(self, most_bytes: int = MAX_KEPT_BYTES, too_large: str = "layer_too_large"):
        self.most_bytes, self.too_large = most_bytes, too_large
        self.layers: OrderedDict[str, Kept] = OrderedDict()
        self.lock = Lock()

    def keep(self, layer: Kept) -> str:
        """Stores a layer or a model; returns the digest by which a Setup names it.

        Raises AttentionError, whose code is `too_large`, for one that alone takes more than most_bytes.
        """
        if layer.nbytes > self.most_bytes:
            raise AttentionError(self.too_large, limit=self.most_bytes // 2**20, given=layer.nbytes // 2**20)
        digest = layer.digest
        with self.lock:
            self.layers[digest] = layer
            self.layers.move_to_end(digest)
            while self.count_bytes() > self.most_bytes:
                self.layers.popitem(last=False)
        return digest

    def count_bytes(self) -> int:
        """Returns the number of bytes of all stored layers or models."""
        return sum(kept.nbytes for kept in tuple(self.layers.values()))

    def forget(self, digest: str) -> None:
        """Drops a layer or a model, if it is stored."""
        with self.lock:
            self.layers.pop(digest, None)

    def find(self, digest: str) -> Kept:
        """Returns the layer or model with a digest. Raises AttentionError (layer_away) if it is no longer stored."""
        with self.lock:
            layer = self.layers.get(digest)
        if layer is None:
            raise AttentionError("layer_away")
        return layer


LAYERS: LayerStore[KeptLayer] = LayerStore()
MODELS: LayerStore[KeptModel] = LayerStore(MAX_MODEL_BYTES, "whole_too_large")
