"""The words of a run and their vectors: a sentence, a batch of them, a second one for cross-attention, a matrix."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from torch import Tensor

from attention_core.examples.examples import EXAMPLES, Example, MatrixRecipe
from attention_core.examples.lexica import Lexicon, NumberMatrix
from attention_core.inputs.handmade_heads import POSITION_COLUMNS, BuiltHeads, build_heads, build_token_vectors
from attention_core.inputs.tokenizer import join_tokens, tokenise
from attention_core.record.errors import AttentionError
from pages.runs.network_store import network_view_for
from pages.runs.run_inputs import RunInputs, TokenSequence, get_example_matrix, label_rows, note_random_rows, put_matrix
from pages.setup.setup import UNCHANGED, Setup, built_heads_of, input_mode_of, is_cross_attention, network_of

MAX_BATCH_SENTENCES = 8  # of a batch, the first included
CUT = 32  # texts of which the tokens are kept: a link is tried field by field


def dictionary_for(example: str, bare: bool) -> Lexicon:
    """The words that have vectors; where positions are taken away (bare), without what a word's place adds."""
    lexicon = EXAMPLES[example].dictionary()
    return replace(lexicon, positions="left_out") if lexicon.positions and bare else lexicon


def get_sentence_tokens(setup: Setup, text: str | None, shipped: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens of a typed text, else those that the example ships."""
    if text is not None and network_of(setup):
        return tuple(text.replace(" ", ""))
    return shipped if text is None else tokens_of(text, setup.example)


@lru_cache(maxsize=CUT)
def tokens_of(text: str, example: str) -> tuple[str, ...]:
    """The tokens of a typed text, with the words that an example's dictionary knows."""
    return tokenise(text, words=EXAMPLES[example].dictionary().vectors)


def spell_tokens(tokens: tuple[str, ...], setup: Setup) -> str:
    """Tokens as a text that gives them back."""
    if network_of(setup):
        return "".join(tokens)
    try:
        return join_tokens(tokens, EXAMPLES[setup.example].dictionary().vectors)
    except AttentionError:
        return " ".join(tokens)


def further_sentences(setup: Setup) -> list[tuple[str, ...]]:
    """The tokens of the sentences that make a batch of the first one."""
    if setup.more is None or input_mode_of(setup) != "sentence" or is_cross_attention(setup):
        return []
    lines = [line for line in setup.more.splitlines() if line.strip()]
    if len(lines) >= MAX_BATCH_SENTENCES:
        raise AttentionError("too_many_sentences", limit=MAX_BATCH_SENTENCES, given=len(lines) + 1)
    return [get_sentence_tokens(setup, line, ()) for line in lines]


# ---- heads built by hand bring their own x ---------------------------------------------------------------------------
def make_built_heads(setup: Setup) -> BuiltHeads | None:
    """The heads built by hand with the words of all sentences, None where there are none."""
    kinds = built_heads_of(setup)
    if not kinds:
        return None
    own = get_sentence_tokens(setup, setup.text, EXAMPLES[setup.example].tokens)
    return build_heads(own, kinds, further_sentences(setup))


def built_sequence(words: tuple[str, ...], heads: BuiltHeads, setup: Setup) -> TokenSequence:
    """A sentence with the vectors that heads built by hand can read."""
    x = build_token_vectors(words, heads.words)
    if "bare" in setup.wiring:
        x[:, len(heads.words) + 1 :] = 0  # of the places only the column of ones stays
    return TokenSequence(words, ("built",) * len(words), x)


# ---- from texts to vectors -------------------------------------------------------------------------------------------
def gather_sequences(material: RunInputs, setup: Setup, example: Example) -> None:
    """x with its words, and the batch, or for cross-attention the context."""
    own = first_sequence(setup, example)
    material.queries, material.word_origins = put_sequence(material, "x", setup, own)
    material.keys = material.queries
    material.crossed = is_cross_attention(setup)
    if material.crossed:
        other = context_sequence(setup, example)
        material.keys, material.key_origins = put_sequence(material, "context", setup, other)
    heads, others = make_built_heads(setup), further_sentences(setup)
    if others:
        made = [further_sequence(words, heads, setup) for words in others]
        material.batch = (own, *made)
    untouched = setup.x in (None, UNCHANGED)
    material.dims = tuple(f"={word}" for word in heads.words) + POSITION_COLUMNS if heads else example.dims * untouched


def further_sequence(words: tuple[str, ...], heads: BuiltHeads | None, setup: Setup) -> TokenSequence:
    """Another sentence of a batch."""
    if heads:
        return built_sequence(words, heads, setup)
    if network_of(setup):
        learned = network_view_for(replace(setup, text="".join(words)))
        return learned_sequence(learned.queries, learned.x)
    return look_up_sequence(words, setup)


def first_sequence(setup: Setup, example: Example) -> TokenSequence:
    """The sentence before anybody changed a number of it."""
    heads = make_built_heads(setup)
    if heads:
        return built_sequence(get_sentence_tokens(setup, setup.text, example.tokens), heads, setup)
    if learned := network_view_for(setup):
        return learned_sequence(learned.queries, learned.x)
    shipped = get_example_matrix(example, "x")
    moved = "bare" in setup.wiring and shipped is not None and example.dictionary().positions
    if setup.text is None and shipped is not None and not moved:
        return TokenSequence(example.tokens, (example.origin,) * len(example.tokens), shipped)
    if shipped is None and setup.x is not None:  # q, k and v are the example's own: what was typed has no words yet
        return TokenSequence(example.tokens, (example.origin,) * len(example.tokens), np.zeros((0, 0)))
    return look_up_sequence(get_sentence_tokens(setup, setup.text or (None if moved else ""), example.tokens), setup)


def context_sequence(setup: Setup, example: Example) -> TokenSequence:
    """Where keys and values come from, before anybody changed a number of it."""
    if learned := network_view_for(setup):
        if learned.context is None:  # a text that asks itself asks another one
            learned = network_view_for(replace(setup, text=setup.context_text, context_text=None))
            return learned_sequence(learned.queries, learned.x)
        return learned_sequence(learned.keys, learned.context)
    shipped, words = get_example_matrix(example, "context"), example.context_tokens or example.tokens
    if shipped is None:
        shipped = get_example_matrix(example, "x")
    if setup.context_text is None and shipped is not None:
        return TokenSequence(words, (example.origin,) * len(words), shipped)
    if shipped is None and setup.context is not None:
        return TokenSequence(words, (example.origin,) * len(words), np.zeros((0, 0)))
    return look_up_sequence(get_sentence_tokens(setup, setup.context_text or "", words), setup)


def learned_sequence(words: tuple[str, ...], x: Tensor) -> TokenSequence:
    """A text with the vectors that a network makes of its symbols."""
    return TokenSequence(words, ("learned",) * len(words), x.numpy())


def look_up_sequence(words: tuple[str, ...], setup: Setup) -> TokenSequence:
    """A sentence with the vectors of the dictionary, random ones for words that it does not have."""
    rows, origins = vectors_of(words, setup.example, "bare" in setup.wiring, setup.seed)
    return TokenSequence(words, origins, np.array(rows, dtype=float))


@lru_cache(maxsize=CUT)
def vectors_of(words: tuple[str, ...], example: str, bare: bool, seed: int) -> tuple[NumberMatrix, tuple[str, ...]]:
    """The vectors of tokens as an example's dictionary has them, and their origins."""
    return dictionary_for(example, bare).vectors_of(words, seed)


def put_sequence(
    material: RunInputs, name: str, setup: Setup, made: TokenSequence
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Puts a sequence's vectors in their place, as they were typed if they were; its words and their origins."""
    recipe = getattr(EXAMPLES[setup.example], name)
    seed = (
        recipe.seed
        if isinstance(recipe, MatrixRecipe) and getattr(setup, TEXT_FIELDS_BY_MATRIX[name]) is None
        else setup.seed
    )
    origins = set(made.origins)
    origin = "random" if origins == {"random"} else EXAMPLES[setup.example].origin
    put_matrix(material, name, setup, made.x if made.x.size else None, origin, seed)
    if getattr(setup, name) in (None, UNCHANGED):
        return made.words, made.origins
    return label_rows(material.matrices[name], made.words), typed_origins(material, name, setup, made)


def typed_origins(material: RunInputs, name: str, setup: Setup, made: TokenSequence) -> tuple[str, ...]:
    """The origins of a sequence's vectors once somebody typed into them: random as long as random numbers are left."""
    drawn = [at for at, origin in enumerate(made.origins) if origin == "random"]
    width = None
    if drawn and made.x.size:
        dictionary = dictionary_for(setup.example, "bare" in setup.wiring)
        width = made.x.shape[1] - len(dictionary.place(0, 1))
    note_random_rows(material, name, getattr(setup, name), drawn, width)
    rows = material.random_rows[name]
    return tuple("random" if row in rows else "typed" for row in range(len(material.matrices[name])))


TEXT_FIELDS_BY_MATRIX = {"x": "text", "context": "context_text"}


def gather_words(material: RunInputs, setup: Setup, example: Example) -> None:
    """The words of both axes where q, k and v are given: those that were there before, as far as their number fits."""
    own, others = get_words_for_qkv(setup, example)
    material.queries = label_rows(material.matrices["q"], own)
    same = not is_cross_attention(setup) and len(material.matrices["k"]) == len(material.queries)
    material.keys = material.queries if same else label_rows(material.matrices["k"], others)
    material.crossed = not same


def get_words_for_qkv(setup: Setup, example: Example) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of both sequences where q, k and v are given."""
    if example.q is not None:
        return example.tokens, example.context_tokens or ()
    own = get_sentence_tokens(setup, setup.text, example.tokens)
    return own, get_sentence_tokens(setup, setup.context_text, example.context_tokens or own)
