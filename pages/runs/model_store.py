"""Stores the whole pretrained models that sessions opened last on the workbench, each under a digest."""

from dataclasses import dataclass

from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.mechanism.config import AttentionConfig
from attention_core.record.errors import AttentionError
from pages.runs.digest_store import DigestStore
from pages.runs.layer_store import KeptLayer, TextSource, list_matrices

MAX_MODEL_BYTES = 2**30  # most bytes of all whole models together, as for one of 124 million numbers
FLOAT64_BYTES = 8


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


MODELS: DigestStore[KeptModel] = DigestStore(MAX_MODEL_BYTES, "whole_too_large")
