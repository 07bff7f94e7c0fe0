"""Computes further outputs of a language model: logit attributions, sampling probabilities, the logit lens, answers to
questions.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.logit_attribution import lens_parts, read_as_words
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.read_model import find_model, remembered
from attention_core.learned.language.reading import run_model
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.transformer.unembedding import UnembeddingConfig, choose_from_logits, unembed


@remembered
def sum_model(name: str, tokens: tuple[str, ...], words: tuple[int, ...] | None = None) -> Stack:
    """Run a model, and record what each head and feed-forward layer adds to every word's vector and logits (logit
    attribution).

    words: the rows of the vocabulary whose logits are split; None for all, () to split the vectors alone.
    """
    with torch.inference_mode():
        stack = with_residual_sum(run_model(name, tokens))
        return stack if words == () else with_logit_sum(stack, words)


@dataclass(frozen=True)
class WordChoices:
    """How output words are chosen: by the softmax temperature, the count top_k and the cumulative probability top_p.

    Raises AttentionError: positive_number, positive_integer, share_range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self):
        self.config(UnembeddingConfig())

    def config(self, own: UnembeddingConfig) -> UnembeddingConfig:
        """Return an unembedding config in which these choices replace temperature, top_k and top_p."""
        return replace(own, **vars(self))


def with_word_choices(name: str, stack: Stack, choices: WordChoices) -> Stack:
    r"""Return the run with its output probabilities recomputed: $\mathrm{softmax}_V(\mathrm{logits} / \tau)$.

    The softmax runs over the words that top_k and top_p leave. name: the name of the model. stack: its run.

    >>> stack = run_model("en_asked_decoder", ("<start>", "the", "dog"))
    >>> cut = with_word_choices("en_asked_decoder", stack, WordChoices(temperature=2.0, top_k=3))
    >>> (cut["unembedding"]["probabilities"] > 0).sum(-1).tolist()
    [[3, 3, 3]]
    """
    if choices == WordChoices():
        return stack
    own = stack[UNEMBEDDING]
    weights, config = find_model(name).unembedding()
    with torch.inference_mode():
        trace = unembed(own["x"], weights, choices.config(config)).labelled(**own.labels)
    return replace(stack, parts={**stack.parts, UNEMBEDDING: trace})


def with_returned_words(name: str, stack: Stack, choices: WordChoices) -> Stack:
    """Return the run of a recorded model with the logits that the model returned, and their probabilities, as its
    unembedding.
    """
    model = find_model(name)
    with torch.inference_mode():
        trace = choose_from_logits(model.returned_logits.double()[None], choices.config(UnembeddingConfig()))
    return stack.then(UNEMBEDDING, trace, {})


@remembered
def likeliest_words(name: str, tokens: tuple[str, ...]) -> dict[str, tuple[Tensor, Tensor]]:
    """Return the likeliest words if the unembedding read the vectors after the embedding, or after any later part
    (logit lens). The keys are names of parts, such as "1.attention".

    Each value is (probabilities, indices in the vocabulary), both (T,), of the likeliest word at each position.
    """
    stack, found = run_model(name, tokens), {}
    with torch.inference_mode():
        for part in lens_parts(stack):  # one at a time, because a large vocabulary takes much memory
            trace = read_as_words(stack[UNEMBEDDING], stack[part])
            found[part] = tuple(trace["probabilities"][0].max(-1))
    return found


@remembered
def answer_questions(name: str, tokens: tuple[str, ...]) -> dict[str, Float[Tensor, "T V"]]:
    r"""Return the probability of each word as the answer, keyed by question; {} for a model without questions.

    $\mathrm{softmax}_V(z\,W_q E^\top)$, where $z$ are the vectors after the last layer, or the outputs of one head of
    that layer per question, as ModelShape.answers says.

    name: the name of an included model. tokens: the input tokens. Raises AttentionError: unknown_choice.

    >>> words = ("<start>", "anna", "fed", "the", "dog", "and", "it", "barked", ".")
    >>> sorted(answer_questions("en_asked_encoder", words))
    ['about', 'object', 'pronoun', 'subject']
    """
    model, stack = find_model(name), run_model(name, tokens)
    found = {}
    with torch.inference_mode():
        for question in model.questions:
            logits = model.answer_logits(stack, question)  # (1, T, V)
            found[QUESTIONS[question]] = logits[0].softmax(-1)
    return found


# ---- the share of a word's last vector that comes from attention, and so can be explained by its weights -------------
SHARED_TEXTS = 20  # number of texts on which an encoder is measured
KINDS = ("embedding", "attention", "feed_forward")


@dataclass(frozen=True)
class VectorShares:
    """The mean shares of the embedding, attention and feed-forward layers in the words' vectors before the last norm;
    they sum to 1.

    words: the number of measured words. growth: the norm of a word's vector divided by the norm of its embedding,
    averaged over the words.
    """

    embedding: float
    attention: float
    feed_forward: float
    words: int
    growth: float


def shares_along(parts: Float[Tensor, "part T D"]) -> Float[Tensor, "part T"]:
    r"""Compute the share of each part in a sum: its projection $p \cdot x / (x \cdot x)$ with $x = \sum p$.

    A part that points against the sum has a negative share. The shares of a word sum to 1.

    >>> shares_along(torch.tensor([[[3.0, 1.0]], [[1.0, -1.0]]])).flatten()
    tensor([0.7500, 0.2500])
    """
    whole = parts.sum(0)  # (part, T, D) -> (T, D)
    return (parts * whole).sum(-1) / whole.square().sum(-1)  # (part, T, D) -> (part, T)


@lru_cache(maxsize=4)
def measure_vector_shares(language: str) -> VectorShares:
    """Measure the mean shares of embedding, attention and feed-forward layers in an encoder's vectors, on held-out
    texts.

    language: "en" or "zh". Sources: the vector as a sum, Elhage et al. 2021; attention maps leave residuals and norms
    out, Kobayashi et al. 2021, Incorporating Residual and Normalization Layers into Analysis of Masked Language Models.

    >>> found = measure_vector_shares("en")
    >>> round(found.embedding + found.attention + found.feed_forward, 3)
    1.0
    """
    shares = []
    growths = []
    for text in held_out_texts(language, "held", "report", SHARED_TEXTS):
        with torch.inference_mode():
            run = with_residual_sum(run_model(f"{language}_asked_encoder", text.words))["residual_sum"]
        parts = run["parts"][:, 0].double()  # (part, 1, T, D) -> (part, T, D)
        labels = run.labels["part"]
        along = shares_along(parts)
        by_kind = [along[[kind in label for label in labels]].sum(0) for kind in KINDS]  # (part, T) -> (T,) each
        shares.append(torch.stack(by_kind))  # (3, T)
        growths.append(parts.sum(0).norm(dim=-1) / parts[0].norm(dim=-1))  # (T,)
    every = torch.cat(shares, dim=-1)  # (3, words)
    means = every.mean(-1).tolist()
    return VectorShares(*means, words=every.shape[-1], growth=torch.cat(growths).mean().item())
