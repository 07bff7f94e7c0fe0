"""A layer of a pretrained model as the input of a run: its pieces of text, their vectors, and the layer's matrices."""

from dataclasses import dataclass, replace

import numpy as np

from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.pair_inputs import PairInputs
from pages.runs.layer_store import KeptLayer
from pages.runs.run_inputs import SEQUENCES, RunInputs, StartMatrix
from pages.runs.sentences import BIASES, NO_MATRIX, PROJECTIONS, fit_bias
from pages.runs.weight_matrices import HeadSizes, cut_to_sizes

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
        own = HeadSizes(self.layer.heads, self.layer.kv_heads)
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
