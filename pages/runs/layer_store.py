"""Stores the layers and the whole pretrained models that sessions opened last on the workbench, each under a
digest.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from pages.runs.checkpoint_store import WantedText

MAX_KEPT_BYTES = 512 * 2**20  # most bytes of all layers together, as for one of 4,096 x 4,096 with 8 heads of keys
MAX_MODEL_BYTES = 2**30  # most bytes of all whole models together, as for one of 124 million numbers
DIGEST_CHARS, FLOAT64_BYTES = 16, 8


@dataclass(frozen=True)
class TextSource:
    """The origin of a stored layer or model, with which its model can read another text.

    wanted: the text that was requested. folder: the folder of the model. texts: the text that was read, and the second
    text or ""; the last one includes what the model has generated after it. count: the number of queries. number: the
    index of the layer in the recording.
    """

    wanted: WantedText
    folder: Path
    texts: tuple[str, str]
    count: int
    number: int


@dataclass(frozen=True, eq=False)
class KeptLayer:
    """One attention layer of a pretrained model: the words, vectors and matrices with which the model computed it.

    name: the model and the name of the layer in it. queries, keys: the pieces of text. matrices: x, context, value, w_q
    and so on by name, each with two axes. config: the settings of its attention. pairs: "allowed" and "bias", if no
    mask or position encoding of the core is the same, each (1, H, T, S). alone: the reason why the other layers of the
    model are not stored, too; None for a layer of a whole model. source: the text that its model read.
    """

    name: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    matrices: Mapping[str, np.ndarray]
    config: AttentionConfig
    pairs: Mapping[str, Tensor] = field(default_factory=dict)
    alone: AttentionError | None = None
    source: TextSource | None = None

    @property
    def title(self) -> str:
        """The name of the layer as the page shows it."""
        return self.name

    @property
    def held(self) -> object:
        """The tensors of the layer, to count their memory."""
        return (self.matrices, self.pairs)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all tensors of the layer."""
        return count_memory(self.held)

    @property
    def digest(self) -> str:
        """A hash of the layer's contents, by which a Setup names the layer."""
        digest = sha256(repr((self.name, self.queries, self.keys)).encode())
        for name, numbers in (*self.matrices.items(), *self.pairs.items()):
            digest.update(repr((name, tuple(numbers.shape))).encode())
            digest.update(np.ascontiguousarray(numbers).tobytes())
        return digest.hexdigest()[:DIGEST_CHARS]


def read_layer(
    name: str,
    run: CoreRun,
    queries: tuple[str, ...],
    keys: tuple[str, ...],
    alone: AttentionError | None = None,
    source: TextSource | None = None,
) -> KeptLayer:
    """Returns an attention layer as a KeptLayer, from a recorded run of this layer; of a batch, only the first text."""
    steps = {"mask": "allowed", "bias": "bias"}
    pairs = {steps[given]: run.trace[steps[given]][:1] for given in run.given}
    matrices = list_matrices(run.trace, run.weights)
    return KeptLayer(name, queries, keys, matrices, run.config, pairs, alone, source)


def list_matrices(trace: Trace, weights: Weights) -> dict[str, np.ndarray]:
    """Returns {name: numbers} of a layer's input vectors and learned tensors, each with two axes."""
    inputs = {"x": "x", "query": "x", "key": "context", "value": "value"}  # input step -> its matrix
    matrices = {inputs[step]: trace[step][0].numpy() for step in inputs if step in trace}
    return matrices | {given: np.atleast_2d(tensor.numpy()) for given, tensor in weights.given().items()}


@dataclass(frozen=True, eq=False)
class KeptModel:
    """A whole pretrained model, with the text that the model has read.

    layer_names: the names of its layers' modules. source: the text that it read.
    """

    model: RecordedModel
    layer_names: tuple[str, ...]
    source: TextSource | None = None

    @property
    def title(self) -> str:
        """The name of the model as the page shows it."""
        return self.model.title

    @property
    def held(self) -> object:
        """The tensors of the model, to count their memory: weights, recorded vectors and run."""
        return self.model.whole

    @property
    def nbytes(self) -> int:
        """The number of bytes of the model's weights, recorded vectors and run."""
        return self.model.nbytes

    @property
    def digest(self) -> str:
        """A hash of the model and its text, by which a Setup names both."""
        return self.model.digest

    def config(self, layer: int) -> AttentionConfig:
        """Returns the settings of a layer's attention. layer: the number of the layer, from 1. Raises AttentionError:
        at_most.
        """
        if not 1 <= layer <= len(self.layer_names):
            raise AttentionError("at_most", name="layer", limit=len(self.layer_names), given=layer)
        return self.model.whole.config.layers[layer - 1].attention

    def layer(self, layer: int) -> KeptLayer:
        """Returns a layer as a KeptLayer, whose run begins at the recorded input vectors. layer: the number of the
        layer, from 1. Raises AttentionError: at_most.
        """
        config, whole = self.config(layer), self.model.whole
        matrices = list_matrices(whole.stack[f"{layer}.attention"], whole.weights.layers[layer - 1].attention)
        name = f"{self.model.title}, {self.layer_names[layer - 1]}"
        return KeptLayer(name, self.model.words, self.model.words, matrices, config)


def require_whole_size(parameters: int) -> None:
    """Raises AttentionError (whole_too_large), before its parts are found, if a model takes more than MAX_MODEL_BYTES.

    parameters: the model's number of parameters, each of which takes 64 bits in attention_core.
    """
    if parameters * FLOAT64_BYTES > MAX_MODEL_BYTES:
        given = parameters * FLOAT64_BYTES // 2**20
        raise AttentionError("whole_too_large", limit=MAX_MODEL_BYTES // 2**20, given=given)


Kept = TypeVar("Kept", KeptLayer, KeptModel)


class LayerStore(Generic[Kept]):
    """Stores layers, or whole models, in memory, and removes those that were opened first if they take too much.

    most_bytes: the most bytes that all of them may take; memory that several share counts once. too_large: the code of
    the error for one that alone takes more.
    """

    def __init__(self, most_bytes: int = MAX_KEPT_BYTES, too_large: str = "layer_too_large"):
        self.most_bytes, self.too_large = most_bytes, too_large
        self.layers: OrderedDict[str, Kept] = OrderedDict()
        self.lock = Lock()

    def keep(self, layer: Kept) -> str:
        """Stores a layer or a model; returns the digest by which a Setup names it.

        Raises AttentionError with the code `too_large` for a layer or model that alone takes more than most_bytes.
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
        """Returns the number of bytes of all stored layers or models; memory that several share counts once."""
        return count_memory([kept.held for kept in tuple(self.layers.values())])

    def forget(self, digest: str) -> None:
        """Drops a layer or a model, if it is stored."""
        with self.lock:
            self.layers.pop(digest, None)

    def list_kept(self) -> list[Kept]:
        """Returns all stored layers or models, the latest last."""
        with self.lock:
            return [*self.layers.values()]

    def find(self, digest: str) -> Kept:
        """Returns the layer or model with a digest. Raises AttentionError (layer_away) if none with this digest is
        stored any more.
        """
        with self.lock:
            layer = self.layers.get(digest)
        if layer is None:
            raise AttentionError("layer_away")
        return layer


LAYERS: LayerStore[KeptLayer] = LayerStore()
MODELS: LayerStore[KeptModel] = LayerStore(MAX_MODEL_BYTES, "whole_too_large")
