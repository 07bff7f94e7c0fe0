"""Puts the parts of a recorded model together as a stack of the core, which computes the same as the whole model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.layer_maps import LayerMaps
from attention_core.checkpoints.model_parts import FoundPart, PartReader, as_double
from attention_core.checkpoints.vector_norms import choose_norm
from attention_core.checkpoints.watched_stream import Stream
from attention_core.record.errors import AttentionError
from attention_core.transformer.part_norms import NormWeights
from attention_core.transformer.stack import LayerConfig, LayerWeights, StackConfig, StackWeights
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A model as a stack of the core, and the recorded input vectors of each part.

    beginnings: the vectors to which each attention and feed-forward layer adds its output, in order, then those before
    the last norm or the unembedding. A feed-forward layer reads these vectors; in a parallel layer it reads those of
    the attention layer before it. end: the model's result: its logits if one linear map computes them, else its
    vectors.
    """

    config: StackConfig
    weights: StackWeights
    beginnings: tuple[Float[Tensor, "B T D"], ...]
    end: Tensor


def find_whole_model(
    stream: Stream,
    layers: Sequence[tuple[str, LayerMaps | AttentionError, CoreRun | None]],
    logits: Tensor | None,
    vectors: Tensor | None,
) -> WholeModel:
    """Return a recorded model as a stack of the core.

    layers: for each recorded attention layer its name, its LayerMaps or the error that says why there are none, and its
    run by the core from its input. logits: those that the model returned, if any. vectors: the result of its last
    layer, after any last norm; None if unknown.

    Raises AttentionError that says which part the core lacks.
    """
    for _, maps, _ in layers:
        if isinstance(maps, AttentionError):
            raise maps
    reader = PartReader(stream, layers)
    head = None if logits is None else reader.read_head(logits)
    if head is not None:
        words, norm, total = head
        parts = reader.read_parts(total, is_needed=vectors is None)
        if parts:
            norms, learned = choose_norm(norm, "before")
            table = UnembeddingWeights(table=words.matrix.T.double(), b_words=as_double(words.bias), **learned)
            last = reader.vectors_at(total, words.name)
            return join_parts(parts, last, logits, unembedding=(UnembeddingConfig(norms=norms), table))
    if vectors is None:
        raise AttentionError("stack_no_end")
    end = stream.point(vectors)
    norm = reader.norm_at(end)
    total = end if norm is None else stream.point(stream.norm_at(end).given)
    parts = reader.read_parts(total, is_needed=True)
    norms, learned = choose_norm(norm, "before")
    last = reader.vectors_at(total, layers[-1][0])
    return join_parts(parts, last, vectors, norms=(norms, NormWeights(**learned)))


def join_parts(
    parts: Sequence[FoundPart], last: Tensor, end: Tensor, unembedding: tuple | None = None, norms: tuple | None = None
) -> WholeModel:
    """Join the parts of a model, in order, to a stack: each layer is an attention layer and the feed-forward layer
    after it.

    last: the vectors after the last layer. end: the model's result. unembedding, norms: a config and weights for after
    the layers.
    """
    configs, weights = [], []
    for part in parts:
        if part.is_attention:
            configs.append(LayerConfig(part.config))
            weights.append(LayerWeights(part.weights))
        else:
            configs[-1] = replace(configs[-1], feed_forward=part.config, parallel=part.parallel)
            weights[-1] = replace(weights[-1], feed_forward=part.weights)
    words, table = unembedding or (None, None)
    chosen, gains = norms if norms and norms[0] else ((), None)
    return WholeModel(
        StackConfig(tuple(configs), norms=chosen, unembedding=words),
        StackWeights(tuple(weights), norms=gains, unembedding=table),
        (*(part.x.double() for part in parts), last.double()),
        end.double(),
    )
