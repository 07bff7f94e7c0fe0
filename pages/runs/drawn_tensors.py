"""The tensors that the listing of a code example draws: several sequences; q, k and v have heads, too."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Weights
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plan import Plan, prepare, prepare_qkv
from attention_core.record.trace import Step
from pages.runs.run_inputs import SEQUENCES, RunInputs, StartMatrix
from pages.runs.sentences import BIASES, NO_MATRIX, PROJECTIONS, DictionarySentences, fit_bias, put_matrix, to_matrix


@dataclass(frozen=True)
class DrawnTensors:
    """What a listing draws. sentences: whose example and score weights they have."""

    sentences: DictionarySentences

    def gather(self, inputs: RunInputs) -> None:
        """Puts the tensors, the first sequence of each as a matrix, and the layer's matrices, as they were typed where
        somebody typed them."""
        example = self.sentences.example
        inputs.queries = example.tokens
        inputs.keys = example.context_tokens or example.tokens
        inputs.crossed = example.context_tokens is not None
        inputs.word_origins = ("random",) * len(inputs.queries)
        inputs.key_origins = ("random",) * len(inputs.keys)
        for name in (*SEQUENCES, "allowed"):
            listed = getattr(example, name)
            if listed is not None:
                inputs.drawn[name] = listed.draw()
        for name in SEQUENCES:
            if name in inputs.drawn:
                inputs.matrices[name] = to_matrix(getattr(example, name))
                inputs.origins[name] = "drawn"
        for name in PROJECTIONS + BIASES:
            start = NO_MATRIX
            listed = getattr(example, name)
            if listed is not None:
                start = StartMatrix(to_matrix(listed), "drawn")
            if name in BIASES:
                start = fit_bias(start, name, inputs)
            put_matrix(inputs, name, start)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The score's weights that a network learned."""
        return self.sentences.score_weights()


def prepare_drawn(
    drawn: dict[str, Tensor],
    device: str,
    dtype: torch.dtype,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[dict[str, Step], Plan]:
    """What a run of drawn tensors is given; where these are q, k and v, the numbers of heads are theirs."""
    given = {name: tensor.to(device, dtype) for name, tensor in drawn.items() if name in SEQUENCES}
    allowed = drawn.get("allowed")
    if allowed is not None:
        allowed = allowed.to(device)
        if pairs.allowed is not None:
            allowed = allowed & pairs.allowed
        pairs = replace(pairs, allowed=allowed)
    if "q" in given:
        config = replace(config, heads=1, kv_heads=None, residual=False)
        return prepare_qkv(given["q"], given["k"], given["v"], weights, config, pairs)
    return prepare(given["x"], given.get("context"), given.get("value"), weights, config, pairs)
