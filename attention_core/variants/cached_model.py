"""Runs a language model with a KV cache in each layer: it reads a text word by word, in runs of one row, and generates
text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.reading import MAX_MODEL_WORDS, run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.language.writing import SENTENCE_ENDS, add_word, pick_word
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.mechanism.arguments import Inputs, check_arguments, make_input_steps
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.embedding import embed
from attention_core.transformer.feed_forward import feed_forward
from attention_core.transformer.stack import EMBEDDING, UNEMBEDDING, LayerWeights, Reading, Stack, read_end
from attention_core.transformer.unembedding import unembed
from attention_core.variants.decoding_work import kv_bytes
from attention_core.variants.kv_cache import decode_token, keep_tokens


@dataclass(frozen=True, eq=False)
class CachedRun:
    """The state of a decoder after it has read `count` words.

    stack: the run of the last word alone, with every step (T = 1). caches: {name of an attention layer: the cached keys
    and values}.
    """

    stack: Stack
    caches: Mapping[str, Inputs]
    count: int

    @property
    def nbytes(self) -> dict[str, int]:
        """Return {name of an attention part: the bytes of its cached keys and values}."""
        return {part: kv_bytes(self.stack[part]) for part in self.caches}

    def labelled(self, words: tuple[str, ...], vocabulary: tuple[str, ...]) -> Stack:
        """Return the run of the last word with words as labels on its axes.

        words: all words read so far. vocabulary: the words that label the logits.
        """
        labels = {"T": words[-1:], "S": words, "V": vocabulary}
        parts = {}
        for name, trace in self.stack.parts.items():
            sizes = trace.sizes()
            parts[name] = trace.labelled(**{dim: texts for dim, texts in labels.items() if dim in sizes})
        return replace(self.stack, parts=parts)


@MODEL_CACHE.keep
def run_cached(name: str, tokens: tuple[str, ...]) -> CachedRun:
    r"""Run a decoder on a text word by word; if the result for the text without its last word is cached, run only this
    word.

    $z_t = \mathrm{softmax}(q_t k_{\le t}^\top/\sqrt{d_k})\,v_{\le t}$ in each layer, where $k_{<t}$ and $v_{<t}$ are
    cached.

    name: the name of a decoder in the package. tokens: the words that the decoder reads, START first.

    Raises AttentionError: decoding_not_causal, no_tokens, unknown_choice. Source: Shazeer 2019.

    >>> run = run_cached("en_asked_decoder", ("<start>", "the", "dog"))
    >>> run.stack["unembedding"]["logits"].shape[1], run.stack["1.attention"]["k"].shape[2]
    (1, 3)
    """
    if not tokens:
        raise AttentionError("no_tokens")
    before = run_cached(name, tokens[:-1]) if tokens[1:] else None
    number = word_numbers(load_recipe(name).language)[tokens[-1]]
    with torch.inference_mode():
        return read_next(load_model(name), number, before)


def read_next(model: LanguageModel, number: int, before: CachedRun | None = None) -> CachedRun:
    """Run a decoder on one more word.

    number: the word's index in the vocabulary. before: the run on the earlier words; None for the first word. Raises
    AttentionError: decoding_not_causal.
    """
    if not model.shape.causal:
        raise AttentionError("decoding_not_causal")
    weights, config = model.weights(), model.shape.stack()
    place = before.count if before else 0
    stack = Stack({}, {}).then(EMBEDDING, embed([[number]], weights.embedding, config.embedding), {})
    words = read_end(stack)
    caches: dict[str, Inputs] = {}
    for n, (layer, choices) in enumerate(zip(weights.layers, config.layers, strict=True), 1):
        part = f"{n}.attention"
        x = read_end(stack)
        reads = {"x": x, "value": words} if choices.values_of_words else {"x": x}
        cache = before.caches[part] if before else {}
        trace = attend_behind(reads, layer, choices.attention, cache, place)
        caches[part] = keep_tokens(trace, 0)
        stack = stack.then(part, trace, reads)
        x = read_end(stack)
        bent = feed_forward(x.value, layer.feed_forward, choices.feed_forward)
        stack = stack.then(f"{n}.feed_forward", bent, {"x": x})
    x = read_end(stack)
    stack = stack.then(UNEMBEDDING, unembed(x.value, weights.unembedding, config.unembedding), {"x": x})
    return CachedRun(stack, caches, place + 1)


def gap_to_whole_run(name: str, tokens: tuple[str, ...]) -> float:
    r"""Return the largest difference between a decoder's logits with a cache, word by word, and those of a single run.

    $\max_{t, v} |a_{tv} - b_{tv}|$. name: the name of a decoder in the package. tokens: the words that the decoder
    reads, START first. Raises AttentionError: decoding_not_causal, no_tokens, unknown_choice.

    >>> gap_to_whole_run("en_asked_decoder", ("<start>", "the", "dog")) < 1e-10
    True
    """
    whole = run_model(name, tokens)[UNEMBEDDING]["logits"][0]  # (T, V)
    rows = []
    for t in range(len(tokens)):
        stack = run_cached(name, tokens[: t + 1]).stack
        rows.append(stack[UNEMBEDDING]["logits"][0, 0])  # (V,)
    return float((torch.stack(rows) - whole).abs().max())


def attend_behind(
    reads: Mapping[str, Reading], weights: LayerWeights, config: AttentionConfig, cache: Inputs, place: int
) -> Trace:
    """Run the attention of one word to itself and to the earlier words, whose keys and values come from the cache.

    place: the position of the word.
    """
    value: Tensor | None = reads["value"].value if "value" in reads else None
    arguments = check_arguments(reads["x"].value, None, value, weights.attention, config, PairInputs())
    inputs = make_input_steps(arguments, config)
    if value is not None:
        inputs["value"] = replace(inputs["value"], dims=inputs["x"].dims)  # the axes of x: one word
    return decode_token(config, inputs | cache, arguments.sources, arguments.shapes, place)


# ---- text generation: each next word is picked from the logits of one row --------------------------------------------
def write_word(name: str, tokens: tuple[str, ...], choices: WordChoices, seed: int | None, step: int) -> str:
    """Return the next word that a decoder generates: the likeliest, or a sampled one.

    name: the name of the model. tokens: the words so far, START first. choices: the settings of sampling (temperature,
    top_k and top_p). seed: the seed of a sampled word; None for the likeliest word. step: the index of the sample, from
    0.

    Raises AttentionError: decoding_not_causal, not_negative, whole_number, at_most, no_tokens, unknown_choice.

    >>> write_word("en_asked_decoder", ("<start>", "the", "dog", "did"), WordChoices(), None, 0)
    'not'
    """
    run = with_word_choices(name, run_cached(name, tokens).stack, choices)
    probabilities = run[UNEMBEDDING]["probabilities"][0, -1]  # (V)
    return vocabulary(load_recipe(name).language)[pick_word(probabilities, seed, step)]


def write_sentence(
    name: str, tokens: tuple[str, ...], choices: WordChoices, seed: int | None, step: int
) -> tuple[str, ...]:
    """Return the words that a decoder generates until the sentence ends, or until its longest text is reached.

    name: the name of the model. tokens: the words so far, START first. choices: the settings of sampling (temperature,
    top_k and top_p). seed: the seed of sampled words; None for the likeliest words. step: the index of the sample for
    the first word.

    >>> write_sentence("en_asked_decoder", ("<start>", "anna", "is"), WordChoices(), None, 0)[-1]
    '.'
    """
    written: list[str] = []
    read = tokens
    while len(read) <= MAX_MODEL_WORDS:
        written.append(write_word(name, read, choices, seed, step + len(written)))
        read = add_word(read, written[-1])
        if written[-1] in SENTENCE_ENDS:
            break
    return tuple(written)
