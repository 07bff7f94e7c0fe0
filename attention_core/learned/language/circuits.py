"""Computes what a language model's heads do with single words, without a sentence: the scores between words, and each
head's output.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.analysis.head_circuits import copying_score, head_circuit, with_answers, with_pushes
from attention_core.analysis.head_composition import EARLIER, compose
from attention_core.learned.grammar import cut_words
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.read_model import ReadModel, find_model, remembered
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.stack import EMBEDDING, Reading, Stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

CIRCUIT = "circuit"
COMPOSITION = "composition"  # prefix of a part's name; the projection of the later head follows: q, k or v
Places = Int[Tensor, "H T"]  # per head and query, the position of a key
MAX_SHOWN_WORDS = 12  # most words in a picture, each a row and a column
MAX_ADDED_WORDS = 6


# ---- which words -----------------------------------------------------------------------------------------------------
def read_added_words(name: str, text: str) -> tuple[str, ...]:
    """Return the distinct words of a text that a visitor typed in order to add them to a sentence's words.

    name: the name of the model. Raises AttentionError: words_unknown, words_many.

    >>> read_added_words("en_asked_encoder", "cat, it cat")
    ('cat', 'it')
    """
    language = load_recipe(name).language
    known = word_numbers(language)
    words = tuple(dict.fromkeys(word for word in cut_words(text, language) if word not in ",，;、"))
    unknown = [word for word in words if word not in known]
    if unknown:
        raise AttentionError("words_unknown", words=", ".join(unknown)[:40])
    if len(words) > MAX_ADDED_WORDS:
        raise AttentionError("words_many", limit=MAX_ADDED_WORDS, given=len(words))
    return words


def choose_words(tokens: tuple[str, ...], at: int, added: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the words to show in a picture: the word at `at`, the added words, and as many words of the sentence as
    fit.

    >>> choose_words(("the", "dog", "saw", "the", "cat"), 1, ("bird",))
    ('the', 'dog', 'saw', 'cat', 'bird')
    """
    own = tuple(dict.fromkeys(tokens))
    wanted = {tokens[at], *added}
    others = [word for word in own if word not in wanted][: MAX_SHOWN_WORDS - len(wanted)]
    shown = wanted.union(others)
    return (*(word for word in own if word in shown), *(word for word in added if word not in own))


# ---- the heads on words alone ----------------------------------------------------------------------------------------


@remembered
def word_circuit(name: str, tokens: tuple[str, ...], layer: int) -> Stack:
    """Run the heads of a layer on single words, without a sentence: a Stack of the embedding and a part such as
    "2.circuit".

    The part has the steps of head_circuit, `scaled_scores` and `written`, also `writes` unless missing_pushes says why
    not, and `answers` if answers are read from the heads of this layer.

    name: the name of a model. tokens: words of its vocabulary; for a recorded model, words of its text. layer: the
    index of the layer, counted from 1.

    >>> stack = word_circuit("en_asked_encoder", ("it", "dog"), 3)
    >>> list(stack.parts), stack["3.circuit"]["answers"].shape
    (['embedding', '3.circuit'], torch.Size([1, 4, 2, 2]))
    """
    model = find_model(name)
    with torch.inference_mode():
        words = model.embed(tokens).labelled(T=tokens)
        trace = run_alone(model, words["x"], layer)
        if missing_pushes(name, layer) is None:
            trace = push_words(model, trace, model.rows_of(tokens), layer)
    trace = trace.labelled(T=tokens, S=tokens, **({"V": tokens} if "writes" in trace else {}))
    x = Reading(words["x"], EMBEDDING, "x")
    part = f"{layer}.{CIRCUIT}"
    reads = {source: x for source in ("x", "value") if source in trace}
    return Stack({}, {}).then(EMBEDDING, words, {}).then(part, trace, reads)


def missing_pushes(name: str, layer: int) -> str | None:
    """Return why the heads' contributions to the logits of words cannot be computed; None if they can be.

    "no_logits": no linear map computes logits from the last vectors, or the rows of the words are unknown.
    "norms_behind": a norm behind a layer changes what the heads add before it reaches the logits.
    """
    model = find_model(name)
    if model.rows_of(()) is None:
        return "no_logits"
    return None if model.heads_of(layer).reaches_logits else "norms_behind"


def run_alone(model: ReadModel, x: Float[Tensor, "B T D"], layer: int) -> Trace:
    """Compute the scores of a layer's heads between single words, and what each head adds for each word (see
    head_circuit).

    x: the vectors of the words. If the layer computes its values from these vectors instead of from its input, they are
    also its values.
    """
    heads = model.heads_of(layer)
    return head_circuit(x, heads.weights, heads.config, value=x if heads.values_of_words else None)


def push_words(model: ReadModel, trace: Trace, rows: Sequence[int] | slice, layer: int) -> Trace:
    """Add to a run what each head adds to the logits of some words if its whole weight is on one word.

    If answers are read from this layer, the logits of the answers are added, too. rows: those of the words in the
    unembedding.
    """
    weights, config = model.unembedding()
    table = weights.table[rows if isinstance(rows, slice) else list(rows)]
    gain, is_centred = read_last_norm(weights, config)
    trace = with_pushes(trace, table, gain, is_centred)
    answers = model.heads_of(layer).w_answers
    return trace if answers is None else with_answers(trace, answers, table)


def read_last_norm(weights: UnembeddingWeights, config: UnembeddingConfig) -> tuple[Float[Tensor, " D"] | None, bool]:
    """Return the gain of the norm before an unembedding, and whether it is a LayerNorm; (None, False) without one."""
    names = [name for name, _ in config.norms]
    if "layer_norm_before" in names:
        return weights.g_layer_before, True
    return (weights.g_rms_before if names else None), False


# ---- earlier heads ---------------------------------------------------------------------------------------------------
@remembered
def head_compositions(name: str, layer: int, head: int) -> Stack:
    """Measure how much of what each earlier head writes reaches a head: a Stack of parts such as "3.composition_q".

    The parts are those of compose. A layer whose values are computed from the words themselves has no part for values:
    no earlier head reaches them. It is {} for layer 1. layer: from 1. head: from 0. Raises AttentionError if a layer
    lacks a matrix: missing_weight, weight_shape.

    >>> stack = head_compositions("en_foretold_encoder", 2, 0)
    >>> list(stack.parts), stack["2.composition_k"]["composition"].shape
    (['2.composition_q', '2.composition_k', '2.composition_v'], torch.Size([4]))
    """
    model, stack = find_model(name), Stack({}, {})
    if layer == 1:
        return stack
    own, *others = (model.heads_of(each) for each in (layer, *range(1, layer)))
    with torch.inference_mode():
        earlier = [(each.weights, each.config) for each in others]
        traces = compose(earlier, (own.weights, own.config), head)
    names = [f"L{number}H{place}" for number, place in list_earlier_heads(name, layer)]
    for read, trace in traces.items():
        if read != "v" or not own.values_of_words:
            stack = stack.then(f"{layer}.{COMPOSITION}_{read}", trace.labelled(**{EARLIER: tuple(names)}), {})
    return stack


def list_earlier_heads(name: str, layer: int) -> list[tuple[int, int]]:
    """Return the layer and the number of each head before a layer, both from 1, in the order of head_compositions.

    >>> list_earlier_heads("en_foretold_encoder", 2)
    [(1, 1), (1, 2), (1, 3), (1, 4)]
    """
    heads = find_model(name).heads
    return [(number, place + 1) for number in range(1, layer) for place in range(heads[number - 1])]


# ---- over all words --------------------------------------------------------------------------------------------------
@remembered
def word_pushes(name: str, token: str, layer: int) -> dict[str, Float[Tensor, "H V"]]:
    """Return, by step, what each head of a layer adds to the logit of every word if its whole weight is on one given
    word.

    The steps are `writes`, and `answers` if answers are read from the heads; {} if missing_pushes says why not. token:
    the word to which the heads attend.

    >>> word_pushes("en_asked_encoder", "dog", 3)["answers"].shape
    torch.Size([4, 1744])
    """
    if missing_pushes(name, layer) is not None:
        return {}
    model = find_model(name)
    with torch.inference_mode():
        trace = push_words(model, run_alone(model, model.embed((token,))["x"], layer), slice(None), layer)
    return {step: trace[step][0, :, 0] for step in ("writes", "answers") if step in trace}


@remembered
def copying_scores(name: str, layer: int) -> dict[str, Float[Tensor, " H"]]:
    """Return how much each head of a layer copies: 1 if each word raises its own logit, -1 if it lowers it (see
    copying_score).

    The result is {step: score of each head} over the whole vocabulary, for the steps `writes` and, if answers are read
    from the heads, `answers`. It is {} for a recorded model: the vectors of words outside its text are unknown.

    >>> [round(float(score), 2) for score in copying_scores("en_asked_encoder", 3)["answers"]]
    [1.0, 1.0, 1.0, 1.0]
    """
    model = find_model(name)
    if not model.reads_all:
        return {}
    with torch.inference_mode():
        table = model.unembedding()[0].table
        x = model.embed(model.vocabulary)["x"].transpose(0, 1)  # (V, 1, D): each word is a text by itself
        trace = push_words(model, run_alone(model, x, layer), (0,), layer)
        scores = {}
        for step, made in (("writes", "gained"), ("answers", "answered")):
            if made in trace:
                written = trace[made][:, :, 0].transpose(0, 1)  # (V, H, 1, D) -> (H, V, D)
                scores[step] = copying_score(written, table)
        return scores


@remembered
def favourite_words(name: str, tokens: tuple[str, ...], layer: int) -> tuple[Places, Places]:
    """Return, for each head and query, the key with the highest score.

    Among single words it is the key with the highest score that the mask allows; in the sentence the key with the
    largest weight.

    >>> alone, run = favourite_words("en_asked_encoder", ("<start>", "the", "dog", "barked", "."), 3)
    >>> alone.shape == run.shape == (4, 5)
    True
    """
    own, model = run_model(name, tokens)[f"{layer}.attention"], find_model(name)
    with torch.inference_mode():
        scores = run_alone(model, model.embed(tokens)["x"], layer)["scaled_scores"][0]  # (H, T, T)
    if "allowed" in own:
        scores = scores.masked_fill(~own["allowed"][0], -torch.inf)
    return scores.argmax(-1), own["weights"][0].argmax(-1)
