"""Runs a stack of layers: its parts in order, each with a Trace, and for each part the sources of its inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jaxtyping import Bool
from torch import Tensor

from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import check_class
from attention_core.mechanism.config import AttentionConfig, Choice, GivenChoices, Weights
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.notebook_picture import NotebookPicture
from attention_core.record.trace import Trace
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights, embed
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights, feed_forward
from attention_core.transformer.part_norms import BEFORE, NormWeights, check_norm_choices, norm_vectors
from attention_core.transformer.recorded_part import RecordedConfig, RecordedWeights, recorded_part
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights, unembed

EMBEDDING, NORM, UNEMBEDDING = "embedding", "norm", "unembedding"
ENCODER = "encoder."  # how names of the encoder's parts begin in an encoder-decoder


# ---- choices and weights ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LayerConfig:
    """The settings of a layer: self-attention, optional cross-attention to an encoder, optional feed-forward layer.

    A decoder's self-attention must have a causal mask among its masks. values_of_words: whether the values of
    self-attention are projected from the input of the first layer instead of this layer's input x. parallel: whether
    the feed-forward layer reads this layer's input x, as attention does, instead of the result of attention; both
    outputs are added to x (Wang and Komatsuzaki 2021, GPT-J; Chowdhery et al. 2022, section 2).

    In the place of the feed-forward layer, a recorded part may stand (see RecordedConfig); it is named "1.recorded".

    Raises AttentionError (a ValueError): parallel_layer, unless attention and the feed-forward layer both have a
    residual and there is no cross-attention.
    """

    attention: AttentionConfig
    feed_forward: FeedForwardConfig | RecordedConfig | None = None
    cross: AttentionConfig | None = None
    values_of_words: bool = False
    parallel: bool = False

    def __post_init__(self):
        is_computed = isinstance(self.feed_forward, FeedForwardConfig) and self.cross is None
        if self.parallel and not (is_computed and self.attention.residual and self.feed_forward.residual):
            raise AttentionError("parallel_layer")


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """The learned tensors of a layer: the weights of its self-attention, cross-attention and feed-forward layer."""

    attention: Weights
    feed_forward: FeedForwardWeights | RecordedWeights | None = None
    cross: Weights | None = None


@dataclass(frozen=True)
class StackConfig:
    """The settings of a stack: its layers in order, and the embedding, norms or unembedding around them.

    embedding: the embedding before the layers, if words are given as ids. norms: the norms after the layers, such as
    "layer_norm_before", if the stack ends in vectors. unembedding: the unembedding after the layers, if the stack ends
    in words.

    Raises AttentionError (a ValueError) for an unknown norm.
    """

    layers: Sequence[LayerConfig]
    embedding: EmbeddingConfig | None = None
    norms: tuple[Choice, ...] = ()
    unembedding: UnembeddingConfig | None = None

    if TYPE_CHECKING:  # the fields are tuples of Choice, but names are taken as well

        def __init__(
            self,
            layers: Sequence[LayerConfig],
            embedding: EmbeddingConfig | None = None,
            norms: GivenChoices = (),
            unembedding: UnembeddingConfig | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "norms", check_norm_choices(self.norms, BEFORE))


@dataclass(frozen=True, eq=False)
class StackWeights:
    """The learned tensors of a stack: the weights of its layers, embedding, norms and unembedding."""

    layers: Sequence[LayerWeights]
    embedding: EmbeddingWeights | None = None
    norms: NormWeights | None = None
    unembedding: UnembeddingWeights | None = None


# ---- the run ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Stack(NotebookPicture):
    """A run of several components ("parts") in order: "embedding", "1.attention", "1.cross", "1.feed_forward", ....

    The last parts are "norm" and "unembedding". The parts of an encoder come first, with names such as
    "encoder.1.attention". sources: {part: {name of its input: (part, step) that computed it}}.
    """

    parts: Mapping[str, Trace]
    sources: Mapping[str, Mapping[str, tuple[str, str]]]

    def __getitem__(self, name: str) -> Trace:
        """Return the Trace of the part with this name. Raises KeyError, which lists the existing parts."""
        if name not in self.parts:
            raise KeyError(f"there is no part {name!r}: the parts are {', '.join(self.parts)}")
        return self.parts[name]

    @property
    def end(self) -> Tensor:
        """The value of the last step of the last part."""
        return read_end(self).value

    def then(self, name: str, trace: Trace, reads: Mapping[str, "Reading"]) -> "Stack":
        """Return the stack with one more part, such as an attention or a feed-forward layer.

        name, trace: the name and the Trace of the new part. reads: {name of an input of the new part: its Reading}.
        """
        sources = {name: (reading.part, reading.step) for name, reading in reads.items() if reading.part}
        return Stack({**self.parts, name: trace}, {**self.sources, name: sources})

    def source_of(self, part: str, cell: Ref) -> tuple[str, Ref] | None:
        """Return the (part, cell) that computed a cell of a part's input.

        Returns None if the cell was given, as that of a weight, or is computed in the part.

        >>> import torch
        >>> config = StackConfig((LayerConfig(AttentionConfig(residual=True), FeedForwardConfig()),))
        >>> weights = FeedForwardWeights(w_1=torch.eye(2), w_2=torch.eye(2))
        >>> stack = run_stack(torch.eye(2), StackWeights((LayerWeights(Weights(), weights),)), config)
        >>> stack.source_of("1.feed_forward", Ref("x", (0, 1, 0)))
        ('1.attention', Ref(step='residual', index=(0, 1, 0)))
        """
        if cell.step not in self.sources.get(part, {}):
            return None
        source, step = self.sources[part][cell.step]
        return source, Ref(step, cell.index)

    def labelled(
        self, words: tuple[str, ...], memory: tuple[str, ...] = (), vocabulary: tuple[str, ...] = ()
    ) -> "Stack":
        """Return the stack with words as labels on the axes of its Traces.

        words: the words that the stack reads. memory: the words that its encoder reads. vocabulary: one word for each
        row of the decoder's tables. Raises AttentionError: labels_count.
        """
        parts = {}
        for name, trace in self.parts.items():
            of_encoder = name.startswith(ENCODER)
            labels = {"T": memory if of_encoder else words, "S": memory if of_encoder or "key" in trace else words}
            labels["V"] = () if of_encoder else vocabulary
            sizes = trace.sizes()
            parts[name] = trace.labelled(**{dim: texts for dim, texts in labels.items() if texts and dim in sizes})
        return replace(self, parts=parts)


def run_stack(
    given: object,
    weights: StackWeights,
    config: StackConfig,
    memory: Stack | Tensor | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    memory_allowed: Bool[Tensor, "..."] | None = None,
) -> Stack:
    r"""Run layers one after the other, with every step recorded.

    Each part reads the last step of the part before it: $x_{l+1} = x_l + f_l(\mathrm{norm}(x_l))$ with norms before,
    $x_{l+1} = \mathrm{norm}(x_l + f_l(x_l))$ with norms after. In a parallel layer attention and the feed-forward
    layer read the same vectors: $x_{l+1} = x_l + a_l(\mathrm{norm}(x_l)) + f_l(\mathrm{norm}(x_l))$.

    given: the ids of words if the config has an embedding, else x (T, D) or (B, T, D). weights, config: those of all
    parts. memory: the input of cross-attention: an encoder's Stack, whose parts then come first, or an encoder's output
    (B, S, D). allowed: a mask for self-attention in every layer, as attend takes it. memory_allowed: a mask for
    cross-attention.

    Returns a Stack. Raises AttentionError (a ValueError) that says what must hold and what was given. Sources: Vaswani
    et al. 2017, section 3.1; the places of norms: Xiong et al. 2020.

    >>> import torch
    >>> config = StackConfig((LayerConfig(AttentionConfig(residual=True)),) * 2)
    >>> stack = run_stack(torch.eye(3), StackWeights((LayerWeights(Weights()),) * 2), config)
    >>> list(stack.parts), stack.end.shape
    (['1.attention', '2.attention'], torch.Size([1, 3, 3]))
    """
    check_class("weights", weights, StackWeights)
    check_class("config", config, StackConfig)
    check_parts(weights, config, memory)
    stack = take_memory(memory)
    words = Reading(given)
    if config.embedding is not None:
        stack = stack.then(EMBEDDING, embed(given, weights.embedding, config.embedding), {})
        words = read_end(stack)
    for number, (layer, choices) in enumerate(zip(weights.layers, config.layers, strict=True), 1):
        stack = run_layer(stack, number, words, layer, choices, read_memory(memory, memory_allowed), allowed)
    if config.norms:
        x = read_end(stack)
        stack = stack.then(NORM, norm_vectors(x.value, weights.norms, config.norms), {"x": x})
    if config.unembedding is None:
        return stack
    x = read_end(stack)
    logits = unembed(x.value, weights.unembedding, config.unembedding)
    return stack.then(UNEMBEDDING, logits, {"x": x})


@dataclass(frozen=True, eq=False)
class Reading:
    """An input of a part in a stack: its tensor, and the part and the step of the stack that computed it.

    part, step: the names of that part and step; "" for a tensor that was given and not computed. allowed: a mask, True
    where a word may attend to a row of the tensor.
    """

    value: Tensor
    part: str = ""
    step: str = ""
    allowed: Tensor | None = None


def read_end(stack: Stack) -> Reading:
    """Return the last step of a stack as a Reading, so that the next part can read it.

    It has the names of the part and of the step, too.
    """
    part = next(reversed(stack.parts))
    step = next(reversed(stack[part].steps))
    return Reading(stack[part][step], part, step)


def take_memory(memory: Stack | Tensor | None) -> Stack:
    """Return the encoder that computed the memory as a Stack with prefixed part names.

    The Stack has no parts if the memory is a tensor or None.
    """
    if not isinstance(memory, Stack):
        return Stack({}, {})
    parts = {f"{ENCODER}{name}": trace for name, trace in memory.parts.items()}
    sources = {
        f"{ENCODER}{name}": {read: (f"{ENCODER}{part}", step) for read, (part, step) in reads.items()}
        for name, reads in memory.sources.items()
    }
    return Stack(parts, sources)


def read_memory(memory: Stack | Tensor | None, allowed: Tensor | None) -> Reading | None:
    """Return what cross-attention reads, as a Reading: the encoder's last step, or a given tensor; None without
    either.
    """
    if isinstance(memory, Stack):
        end = read_end(memory)
        return replace(end, part=f"{ENCODER}{end.part}", allowed=allowed)
    return None if memory is None else Reading(memory, allowed=allowed)


def run_layer(
    stack: Stack,
    number: int,
    words: Reading,
    weights: LayerWeights,
    config: LayerConfig,
    memory: Reading | None,
    allowed: Bool[Tensor, "..."] | None,
) -> Stack:
    """Return the stack extended by one layer: its attention parts and its feed-forward part.

    number: the layer's number, from 1. words: the input of the first layer.
    """
    x = words if number == 1 else read_end(stack)
    reads = {"x": x, "value": words} if config.values_of_words else {"x": x}
    value = words.value if config.values_of_words else None
    attention = attend(x.value, value=value, weights=weights.attention, config=config.attention, allowed=allowed)
    stack = stack.then(f"{number}.attention", attention, reads)
    if config.cross is not None:
        query = read_end(stack)
        cross = attend(query.value, memory.value, weights=weights.cross, config=config.cross, allowed=memory.allowed)
        stack = stack.then(f"{number}.cross", cross, {"query": query, "key": memory})
    if config.feed_forward is not None:
        end = read_end(stack)
        reads = {"x": x, "stream": end} if config.parallel else {"x": end}
        values = {name: reading.value for name, reading in reads.items()}
        name, trace = run_feed_forward(values, weights, config)
        stack = stack.then(f"{number}.{name}", trace, reads)
    return stack


def run_feed_forward(vectors: Mapping[str, Tensor], weights: LayerWeights, config: LayerConfig) -> tuple[str, Trace]:
    """Run the feed-forward layer of a layer, or the recorded part in its place; return the name of its kind and its
    run.

    vectors: {"x": the vectors that it reads}, in a parallel layer also {"stream": those to which it adds}.
    """
    if isinstance(config.feed_forward, RecordedConfig):
        return "recorded", recorded_part(**vectors, weights=weights.feed_forward, config=config.feed_forward)
    return "feed_forward", feed_forward(**vectors, weights=weights.feed_forward, config=config.feed_forward)


# ---- checks ----------------------------------------------------------------------------------------------------------
def check_parts(weights: StackWeights, config: StackConfig, memory: Stack | Tensor | None) -> None:
    """Check that each chosen component has weights, and that memory is given if a layer has cross-attention, and only
    then.

    Raises AttentionError.
    """
    layers = config.layers
    if not layers and config.embedding is None:
        raise AttentionError("no_layers")
    if len(layers) != len(weights.layers):
        raise AttentionError("layers_count", layers=len(layers), given=len(weights.layers))
    pairs = [(part, config, weights) for part in (EMBEDDING, "norms", UNEMBEDDING)]
    for choices, layer in zip(layers, weights.layers, strict=True):
        check_class("layer", choices, LayerConfig)
        check_class("weights of a layer", layer, LayerWeights)
        pairs += [(part, choices, layer) for part in ("attention", "cross", "feed_forward")]
    for part, choices, tensors in pairs:
        if getattr(choices, part) and getattr(tensors, part) is None:
            raise AttentionError("missing_weight", kind=part, weight="weights of its own")
    reads_memory = any(choices.cross is not None for choices in layers)
    if reads_memory and memory is None:
        raise AttentionError("memory_missing")
    if memory is not None and not reads_memory:
        raise AttentionError("memory_unused")
