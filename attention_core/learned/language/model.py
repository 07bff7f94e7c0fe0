"""Defines a small language model: a Transformer that reads sentences of a generated grammar, with heads that answer
questions.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.language.questions import QUESTIONS
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.norms import EPS, rms_norm
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.stack import LayerConfig, LayerWeights, Stack, StackConfig, StackWeights, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

ROPE = ("rope", {"style": "half", "base": 100.0})  # RoPE with a small base (fast rotations), because texts are short
NORM = "rms_norm_before"
ANSWERS = ("nowhere", "sum", "heads")
WORD_DEVIATION = 0.05  # standard deviation of the initial word embeddings


@dataclass(frozen=True)
class ModelShape:
    """The size and the form of a language model.

    words: the size of the vocabulary. width: the width of a word's vector. inner: the inner width of the feed-forward
    layer. causal: whether a word attends only to itself and earlier words (a decoder). answers: where answers to
    questions are read: "nowhere"; "sum", a word's vector after the last layer; or "heads", a separate head of the last
    layer for each question. The values of such a head are projected from the word embeddings, so that it can pass on
    only the word that it attends to.

    Raises AttentionError: unknown_choice.
    """

    words: int
    causal: bool
    answers: str = "heads"
    width: int = 64
    layers: int = 3
    heads: int = 4
    inner: int = 176

    def __post_init__(self):
        require_one_of("answers", self.answers, ANSWERS)

    def stack(self) -> StackConfig:
        """Return the core's config for a model with these parts, as in Llama (Touvron et al. 2023), with or without a
        causal mask.
        """
        attention = AttentionConfig(
            heads=self.heads,
            masks=("causal",) if self.causal else (),
            positions=(ROPE,),
            modifiers=(NORM,),
            residual=True,
        )
        feed_forward = FeedForwardConfig("swiglu", norms=(NORM,), residual=True)
        layers = [LayerConfig(attention, feed_forward)] * self.layers
        if self.answers == "heads":
            layers[-1] = LayerConfig(attention, feed_forward, values_of_words=True)
        return StackConfig(tuple(layers), embedding=EmbeddingConfig(), unembedding=UnembeddingConfig(norms=(NORM,)))


def draw_normal(inputs: int, outputs: int, generator: Generator) -> nn.Parameter:
    """Sample a matrix W for x @ W from a normal distribution with standard deviation 1/√(3 inputs).

    torch.nn.Linear starts with the same standard deviation.
    """
    matrix = torch.empty(inputs, outputs)
    nn.init.normal_(matrix, std=(3 * inputs) ** -0.5, generator=generator)
    return nn.Parameter(matrix)


class LanguageLayer(nn.Module):
    """The parameters of one Transformer layer. Each matrix is multiplied from the right: x @ w."""

    def __init__(self, shape: ModelShape, generator: Generator):
        super().__init__()
        width, inner = shape.width, shape.inner
        self.g_attention = nn.Parameter(torch.ones(width))
        self.w_q = draw_normal(width, width, generator)
        self.w_k = draw_normal(width, width, generator)
        self.w_v = draw_normal(width, width, generator)
        self.w_o = draw_normal(width, width, generator)
        self.g_feed_forward = nn.Parameter(torch.ones(width))
        self.w_1 = draw_normal(width, inner, generator)
        self.w_gate = draw_normal(width, inner, generator)
        self.w_2 = draw_normal(inner, width, generator)

    def weights(self) -> LayerWeights:
        """Return the parameters of the layer as LayerWeights, which the core's functions take."""
        attention = Weights(w_q=self.w_q, w_k=self.w_k, w_v=self.w_v, w_o=self.w_o, g_rms_before=self.g_attention)
        feed_forward = FeedForwardWeights(
            w_1=self.w_1, w_gate=self.w_gate, w_2=self.w_2, g_rms_before=self.g_feed_forward
        )
        return LayerWeights(attention, feed_forward)


class LanguageModel(nn.Module):
    """A language model of a given shape; its initial parameters are sampled from a generator."""

    def __init__(self, shape: ModelShape, generator: Generator):
        super().__init__()
        self.shape = shape
        self.words = nn.Parameter(torch.empty(shape.words, shape.width))
        nn.init.normal_(self.words, std=WORD_DEVIATION, generator=generator)
        self.layers = nn.ModuleList(LanguageLayer(shape, generator) for _ in range(shape.layers))
        self.g_last = nn.Parameter(torch.ones(shape.width))
        if shape.answers != "nowhere":
            read = shape.width if shape.answers == "sum" else shape.width // shape.heads
            self.w_answers = nn.Parameter(torch.empty(len(QUESTIONS), read, shape.width))
            nn.init.normal_(self.w_answers, std=read**-0.5, generator=generator)

    # ---- the full run, to be shown -----------------------------------------------------------------------------------
    def weights(self) -> StackWeights:
        """Return the parameters of the model as StackWeights, which the core's functions take."""
        return StackWeights(
            tuple(layer.weights() for layer in self.layers),
            embedding=EmbeddingWeights(table=self.words),
            unembedding=UnembeddingWeights(table=self.words, g_rms_before=self.g_last),
        )

    def stack(self, words: Int[Tensor, "B T"]) -> Stack:
        """Run all parts of the model on words, and return a Stack with every step recorded."""
        return run_stack(words, self.weights(), self.shape.stack())

    def answer_logits(self, stack: Stack, question: int) -> Float[Tensor, "B T V"]:
        """Return the logit of each word as the answer to a question that is asked at every position.

        question: the index of the question in QUESTIONS.
        """
        return self.read_answers(self.answer_source(stack, question), question)

    def answer_source(self, stack: Stack, question: int) -> Float[Tensor, "B T read"]:
        """Return the vectors from which the answers to a question are read: a head's outputs, or the words' last
        vectors.
        """
        if self.shape.answers == "heads":
            return stack[f"{self.shape.layers}.attention"]["head_outputs"][:, question]  # (B, T, d_v)
        x = stack[f"{self.shape.layers}.feed_forward"]["residual"]  # (B, T, D)
        return rms_norm(x, self.g_last, eps=EPS.usual)

    def read_answers(self, source: Float[Tensor, "*N read"], question: int) -> Float[Tensor, "*N V"]:
        """Return the logits of all words as answers to a question.

        source: rows of answer_source.
        """
        return source @ self.w_answers[question] @ self.words.T

    # ---- the run in training -----------------------------------------------------------------------------------------
    def run_layers(self, words: Int[Tensor, "B T"], allowed: Bool[Tensor, "B 1 T T"] | None = None) -> Stack:
        """Run the layers without the unembedding.

        allowed: a boolean mask, True where a word may attend to another; needed if a row holds several texts.
        """
        weights = StackWeights(self.weights().layers)
        config = StackConfig(self.shape.stack().layers)
        return run_stack(self.words[words], weights, config, allowed=allowed)

    def word_logits(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """Return the logits of all words, computed from vectors after the last layer."""
        return rms_norm(x, self.g_last, eps=EPS.usual) @ self.words.T
