"""Stores the layers of pretrained models that sessions opened last on the workbench, each under a digest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from pages.runs.checkpoint_store import MAX_LAYER_BYTES, WantedText
from pages.runs.digest_store import DigestStore

DIGEST_CHARS = 16


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


LAYERS: DigestStore[KeptLayer] = DigestStore(MAX_LAYER_BYTES, "layer_too_large")
