"""A layer of a pretrained model as the input of a run: the pieces of the text, their vectors, and the layer's matrices.

The layer is stored alone, or as one of the layers of a whole model.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_core.checkpoints.whole_run import PartRow
from attention_core.mechanism.config import LEARNED_TENSORS, AttentionConfig
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.record.errors import AttentionError
from pages.runs.layer_store import LAYERS, KeptLayer
from pages.runs.model_store import MODELS, KeptModel
from pages.runs.run_inputs import SEQUENCES, RunInputs, StartMatrix
from pages.runs.sentences import BIASES, NO_MATRIX, PROJECTIONS, fit_bias
from pages.runs.weight_matrices import HeadSizes, cut_to_sizes
from pages.setup.choice_text import write_choice, write_mask, write_position
from pages.setup.setup import RunSetup

ORIGIN = "learned"


@dataclass(frozen=True, eq=False)
class RecordedLayer:
    """A layer that was recorded while its model read a text."""

    layer: KeptLayer

    def gather(self, inputs: RunInputs) -> None:
        """Puts the pieces of text and their recorded vectors into the inputs of a run."""
        inputs.layer_name = self.layer.name
        inputs.queries, inputs.keys = self.layer.queries, self.layer.keys
        inputs.crossed = "context" in self.layer.matrices
        inputs.word_origins = (ORIGIN,) * len(inputs.queries)
        inputs.key_origins = (ORIGIN,) * len(inputs.keys)
        for name in SEQUENCES:
            if name in self.layer.matrices:
                inputs.put(name, self.start(name))

    def start(self, name: str) -> StartMatrix:
        """Returns one of the layer's matrices before any edit."""
        numbers = self.layer.matrices.get(name)
        return NO_MATRIX if numbers is None else StartMatrix(numbers, ORIGIN)

    def put_projections(self, inputs: RunInputs, sizes: HeadSizes) -> None:
        """Puts the layer's W_q, W_k, W_v, W_o and biases into the inputs of a run, cut to a chosen width."""
        own = HeadSizes(self.layer.config.heads, self.layer.config.kv_heads or self.layer.config.heads)
        for name in PROJECTIONS + BIASES:
            start = self.start(name)
            if name in BIASES:
                start = fit_bias(start, name, inputs)
            if (sizes.d_k, sizes.d_v) != (None, None):
                start = cut_to_sizes(start, name, sizes, own)
            inputs.put(name, start)

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: tensor} of the layer's learned tensors other than its projections."""
        return {name: numbers for name, numbers in self.layer.matrices.items() if name in LEARNED_TENSORS}

    def add_pairs(self, pairs: PairInputs) -> PairInputs:
        """Returns the tensors about pairs of tokens.

        The layer's mask and bias are added, unless a mask or position encoding of the core is the same.
        """
        allowed, bias = (self.layer.pairs.get(name) for name in ("allowed", "bias"))
        if allowed is not None and pairs.allowed is not None:
            allowed = allowed & pairs.allowed
        return replace(pairs, allowed=pairs.allowed if allowed is None else allowed, bias=bias)


@dataclass(frozen=True, eq=False)
class RecordedModelLayer(RecordedLayer):
    """A layer of a whole model that was recorded while it read a text.

    model: the name by which `find_model` finds the model. The model is complete, but can read only the recorded text.
    worst: the proof of the part of the model whose error is nearest to its bound.
    """

    model: str = ""
    worst: PartRow | None = None

    def own_words(self) -> tuple[str, ...]:
        """Returns the pieces of the recorded text."""
        return self.layer.queries

    def read(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Returns what the model reads for each piece: the piece itself."""
        return words

    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Raises AttentionError (text_not_recorded): the model that would read another text is not kept."""
        raise AttentionError("text_not_recorded")


def find_recorded(run: RunSetup) -> RecordedLayer:
    """Returns the recorded layer that a run names: alone, or with a number as a layer of a whole model.

    Raises AttentionError: layer_away, at_most.
    """
    if run.layer is None:
        return RecordedLayer(LAYERS.find(run.recorded))
    kept = MODELS.find(run.recorded)
    return RecordedModelLayer(kept.layer(run.layer), kept.model.name, kept.model.worst)


def find_kept(run: RunSetup) -> KeptLayer | KeptModel:
    """Returns the stored layer or model to which the layer of a recorded run belongs. Raises AttentionError:
    layer_away.
    """
    return LAYERS.find(run.recorded) if run.layer is None else MODELS.find(run.recorded)


def find_settings(run: RunSetup) -> AttentionConfig:
    """Returns the settings with which the model computed the layer of a run. Raises AttentionError: layer_away,
    at_most.
    """
    return find_recorded(run).layer.config


def layer_fields(config: AttentionConfig) -> dict[str, object]:
    """Returns {field of a Setup: value} of the settings of a recorded layer's attention."""
    return {
        "score": config.score,
        "scale": config.scale,
        "heads": config.heads,
        "kv_heads": None if config.kv_heads == config.heads else config.kv_heads,
        "masks": tuple(write_mask(*mask) for mask in config.masks),
        "positions": tuple(write_position(*position) for position in config.positions),
        "modifiers": tuple(write_choice(*modifier, MODIFIERS) for modifier in config.modifiers),
        "normaliser": write_choice(*config.normaliser, NORMALISERS),
        "wiring": ("residual",) if config.residual else (),
    }


def change_layer(run: RunSetup, layer: int) -> dict[str, object]:
    """Returns the changed fields of a run that show another layer of its model, with the settings of that layer.

    Raises AttentionError: layer_away, at_most.
    """
    own = {} if run.recorded is None else layer_fields(MODELS.find(run.recorded).config(layer))
    return {"layer": layer, **own}
