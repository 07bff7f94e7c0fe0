"""The tensors sampled by the listing of a code example: several sequences; q, k and v also have heads."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Weights
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plan import Plan, prepare, prepare_qkv
from attention_core.record.trace import Step
from pages.runs.run_inputs import SEQUENCES, RunInputs
from pages.runs.sentences import BIASES, PROJECTIONS, DictionarySentences, to_matrix
from pages.runs.weight_matrices import HeadSizes


@dataclass(frozen=True)
class DrawnTensors:
    """The tensors sampled by a listing. sentences: the object with the listing's example and score weights."""

    sentences: DictionarySentences

    def gather(self, inputs: RunInputs) -> None:
        """Puts the tensors into the inputs, and the first sequence of each also as a matrix."""
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
                inputs.matrices[name] = inputs.bases[name] = to_matrix(getattr(example, name))
                inputs.origins[name] = "drawn"

    def put_projections(self, inputs: RunInputs, sizes: HeadSizes) -> None:
        """Puts the layer's matrices into the inputs: typed ones, otherwise the listing's; puts none if q, k and v are
        given.
        """
        if "q" in inputs.drawn:
            return
        self.sentences.put_projections(inputs, sizes)
        for name in PROJECTIONS + BIASES:
            if inputs.origins.get(name) == "random":
                inputs.origins[name] = "drawn"

    def score_weights(self) -> dict[str, np.ndarray]:
        """The score's weights that a network learned, by name."""
        return self.sentences.score_weights()


def prepare_drawn(
    drawn: dict[str, Tensor],
    device: str,
    dtype: torch.dtype,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[dict[str, Step], Plan]:
    """The steps and plan of a run of sampled tensors. For q, k and v, the numbers of heads are those of the tensors."""
    given = {name: tensor.to(device, dtype) for name, tensor in drawn.items() if name in SEQUENCES}
    first = next(iter(given.values()))
    config = pad_every_sequence(config, len(first))
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


def pad_every_sequence(config: AttentionConfig, count: int) -> AttentionConfig:
    """The AttentionConfig with the single length of the padding mask repeated for `count` sequences."""
    masks = []
    for name, params in config.masks:
        lengths = params.get("lengths", ())
        masks.append((name, {"lengths": lengths * count} if len(lengths) == 1 else params))
    return replace(config, masks=tuple(masks))
