"""Small stacks with random weights, every size a prime of its own."""

from dataclasses import replace

from attention_core import AttentionConfig, Weights
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.part_norms import NORMS, NormWeights
from attention_core.transformer.stack import LayerConfig, LayerWeights, Stack, StackConfig, StackWeights, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights
from tests.transformer.parts import Draw, draws

HEADS, D_HEAD, D, D_HIDDEN, V, LAYERS = 2, 3, 5, 7, 11, 2
WORDS, READ = [[3, 1, 10, 3]], [[0, 7, 7, 2, 5, 9]]  # of the stack, and of an encoder


def norm_weights(draw: Draw, norms: tuple[str, ...]) -> dict:
    """What norms learn."""
    return {tensor.name: draw(D) for name in norms for tensor in NORMS[name].weights}


def layer_weights(draw: Draw, config: LayerConfig) -> LayerWeights:
    """A layer with all its biases, as its config wants it."""

    def attention(choices: AttentionConfig) -> Weights:
        width, shared = choices.heads * D_HEAD, (choices.kv_heads or choices.heads) * D_HEAD
        shapes = {"w_q": (D, width), "w_k": (D, shared), "w_v": (D, shared), "w_o": (width, D)}
        shapes |= {"b_q": (width,), "b_k": (shared,), "b_v": (shared,), "b_o": (D,)}
        tensors = {name: draw(*shape) / 2 for name, shape in shapes.items()}
        return Weights(**tensors, **norm_weights(draw, tuple(name for name, _ in choices.modifiers)))

    bent = None
    if config.feed_forward is not None:
        norms = tuple(name for name, _ in config.feed_forward.norms)
        gate = {"w_gate": draw(D, D_HIDDEN)} if config.feed_forward.activation == "swiglu" else {}
        learned = norm_weights(draw, norms) | gate
        bent = FeedForwardWeights(
            w_1=draw(D, D_HIDDEN), b_1=draw(D_HIDDEN), w_2=draw(D_HIDDEN, D), b_2=draw(D), **learned
        )
    cross = attention(config.cross) if config.cross is not None else None
    return LayerWeights(attention(config.attention), bent, cross)


def small_stack(
    norms: tuple[str, ...] = ("layer_norm_before",),
    activation: str = "gelu",
    last: tuple[str, ...] = ("layer_norm_before",),
    with_encoder: bool = False,
    ends_in_words: bool = True,
    positions: tuple[str, ...] = ("sinusoidal",),
    kv_heads: int | None = None,
    **choices,
) -> Stack:
    """A decoder of two layers, that reads an encoder of two where it has one. choices: more of each layer."""
    draw = draws(5)
    own = AttentionConfig(heads=HEADS, kv_heads=kv_heads, masks=["causal"], modifiers=norms, residual=True)
    across = replace(own, masks=())
    layer = LayerConfig(own, FeedForwardConfig(activation, norms, residual=True), **choices)
    table = draw(V, D)
    embedding = EmbeddingConfig(times_root=True, positions=positions)
    of_words = EmbeddingWeights(table=table)
    memory = None
    if with_encoder:
        layer = replace(layer, cross=across)
        encoder = LayerConfig(across, layer.feed_forward)
        layers = [layer_weights(draw, encoder) for _ in range(LAYERS)]
        ends = norm_weights(draw, last)
        memory = run_stack(
            READ,
            StackWeights(layers, of_words, NormWeights(**ends)),
            StackConfig([encoder] * LAYERS, embedding, last),
        )
    unembedding = UnembeddingConfig(last, temperature=0.5) if ends_in_words else None
    to_words = UnembeddingWeights(table=table, b_words=draw(V), **norm_weights(draw, last))
    return run_stack(
        WORDS,
        StackWeights([layer_weights(draw, layer) for _ in range(LAYERS)], of_words, unembedding=to_words),
        StackConfig([layer] * LAYERS, embedding, unembedding=unembedding),
        memory,
    )


def with_moved(stack, part, step, index, by=1.0):
    """A stack one number of which is another."""
    trace = stack[part]
    value = trace[step].clone()
    value[index] += by
    steps = {**trace.steps, step: replace(trace.step(step), value=value)}
    return replace(stack, parts={**stack.parts, part: replace(trace, steps=steps)})
