"""Turns a typed sentence into the tokens that a model reads (words, categories or <unknown>), and runs the model on
them.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar import categories, cut_words
from attention_core.learned.grammar.concepts import find_verb, load_nouns
from attention_core.learned.language.batches import MASK, ROW_LENGTH, START, word_numbers
from attention_core.learned.language.read_model import find_model
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import Stack

MAX_MODEL_WORDS = ROW_LENGTH - 1  # most words of a sentence, without START, as in the training texts
UNKNOWN = "<unknown>"


def cut_sentence(name: str, text: str) -> tuple[str, ...]:
    """Split a typed text into words, after START; for an encoder the text may contain MASK.

    name: the name of a model. Raises AttentionError: no_tokens, model_too_long, unknown_choice.

    >>> cut_sentence("en_asked_encoder", "the <mask> barked.")
    ('<start>', 'the', '<mask>', 'barked', '.')
    """
    recipe = load_recipe(name)
    text = text.replace(START, " ")
    pieces = [text] if recipe.causal else text.split(MASK)
    words = list(cut_words(pieces[0], recipe.language))
    for piece in pieces[1:]:
        words += [MASK, *cut_words(piece, recipe.language)]
    return begin_sentence(words)


def begin_sentence(words: Sequence[str]) -> tuple[str, ...]:
    """Return START and the words of a sentence. Raises AttentionError: no_tokens, model_too_long."""
    if not words:
        raise AttentionError("no_tokens")
    if len(words) > MAX_MODEL_WORDS:
        raise AttentionError("model_too_long", limit=MAX_MODEL_WORDS, given=len(words))
    return (START, *words)


def role_names(language: str) -> tuple[str, ...]:
    """Return the categories that a visitor may choose for an unknown word, without their brackets."""
    return tuple(category.strip("<>") for category in categories(language))


def read_tokens(name: str, words: tuple[str, ...], roles: Mapping[str, str]) -> tuple[str, ...]:
    """Return the token that a model reads for each word.

    The token is the word itself if the vocabulary has it, else the category chosen for the word in `roles`, else a
    similar known word if `stand_in` has one, else <unknown>.

    >>> read_tokens("en_asked_encoder", ("my", "mom", "has", "a", "zorb"), {"zorb": "animal"})
    ('my', 'mother', 'has', 'a', '<animal>')
    """
    return known_tokens(words, load_recipe(name).language, roles)


def known_tokens(words: Sequence[str], language: str, roles: Mapping[str, str]) -> tuple[str, ...]:
    """Return the token that a model of this language reads for each word.

    The token is the word itself if the vocabulary has it, else the category chosen for the word in `roles`, else a
    similar known word if `stand_in` has one, else <unknown>.
    """
    numbers = word_numbers(language)
    tokens = []
    for word in words:
        category = f"<{roles.get(word)}>"
        if word in numbers:
            tokens.append(word)
        elif category in numbers:
            tokens.append(category)
        else:
            tokens.append(stand_in(language, word) or UNKNOWN)
    return tuple(tokens)


def run_model(name: str, tokens: tuple[str, ...]) -> Stack:
    """Run a model on tokens in float64, and return a Stack with every step recorded."""
    return find_model(name).run(tokens)


def run_linked(name: str, tokens: tuple[str, ...]) -> Stack:
    """Run a model on tokens; each part reads the result of the part before it, so that changes can be passed on."""
    return find_model(name).run_linked(tokens)


@dataclass(frozen=True, eq=False)
class LayerInputs:
    """The inputs of the attention in one layer of a model, as arguments of attend."""

    x: Float[Tensor, "T D"]
    value: Float[Tensor, "T D"] | None
    weights: Weights
    config: AttentionConfig

    def tensor(self, name: str) -> Tensor | None:
        """Return a tensor by its name, such as "x" or "w_q"; None if the layer has no such tensor."""
        if name in ("x", "value"):
            return getattr(self, name)
        return self.weights.given().get(name)


def layer_inputs(name: str, tokens: tuple[str, ...], layer: int) -> LayerInputs:
    """Return the input vectors, weights and config of one layer's attention when the model runs on these tokens.

    layer: the layer, counted from 1. Raises AttentionError: unknown_choice.
    """
    trace = run_model(name, tokens)[f"{layer}.attention"]
    model = load_model(name)
    value = trace["value"][0] if "value" in trace else None
    return LayerInputs(trace["x"][0], value, model.layers[layer - 1].weights().attention, layer_config(name, layer))


def layer_config(name: str, layer: int) -> AttentionConfig:
    """Return the config of a layer's attention; layers count from 1. Raises AttentionError: at_most, unknown_choice."""
    layers = RECIPES[require_one_of("model", name, tuple(RECIPES))].choices().layers
    if not 1 <= layer <= len(layers):
        raise AttentionError("at_most", name="layer", limit=len(layers), given=layer)
    return layers[layer - 1].attention


# ---- everyday words outside the vocabulary, and the word or category that the model reads instead --------------------
VOWELS = "aeiou"
MANY = {"man": "men", "woman": "women", "person": "persons", "piece-of-furniture": "pieces-of-furniture"}
ONE_OF_MANY = {"<furniture>": "<pieces-of-furniture>"}


def stand_in(language: str, word: str) -> str | None:
    """Return the token that a model reads instead of an everyday word that its vocabulary lacks; None if unlisted.

    The token is of the same kind, and often means nearly the same. language: "en" or "zh". word: a word of a typed
    text, as cut_words gives it. Raises AttentionError: unknown_choice.

    >>> stand_in("en", "mom"), stand_in("en", "hamsters"), stand_in("en", "felt"), stand_in("zh", "弟弟")
    ('mother', None, 'thought', '哥哥')
    >>> stand_in("en", "homework"), stand_in("en", "exams"), stand_in("en", "zorb")
    ('<text>', '<texts>', None)
    """
    found = load_stand_ins(require_one_of("language", language, ("en", "zh"))).get(word)
    if found is None and word.isdecimal():
        return {"en": "three", "zh": "三"}[language]
    return found


@cache
def load_stand_ins(language: str) -> dict[str, str]:
    """Return {everyday word outside the vocabulary: token that the model reads instead}, for each form of the word."""
    known = word_numbers(language)
    file = Path(__file__).parent / f"everyday_{language}.toml"
    found: dict[str, str] = {}
    for kind, rows in tomllib.loads(file.read_text(encoding="utf-8")).items():
        for token, words in rows.items():
            for word in words.split():
                for form, read in READERS[kind](word, token):
                    if form not in known and read in known:
                        found.setdefault(form, read)
    return found


def read_alone(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yield the pair (word, token that replaces it) for a word with a single form."""
    yield word, token


def read_noun(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yield pairs (word, token that replaces it) for a noun and for its plural."""
    yield word, token
    yield plural_of(word), plural_token(token)


def read_verb(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yield pairs (word, token that replaces it) for each form of a verb; a category token replaces all forms."""
    read = [token] * 5 if token.startswith("<") else verb_forms(token)
    yield from zip(verb_forms(word), read, strict=True)


READERS = {"word": read_alone, "noun": read_noun, "verb": read_verb}


def plural_of(word: str) -> str:
    """Return the English plural of a noun by rule: man -> men, consonant + y -> ies, es after s, x, z, ch, sh, else s.

    >>> plural_of("exam"), plural_of("class"), plural_of("party"), plural_of("postman")
    ('exams', 'classes', 'parties', 'postmen')
    """
    if word.endswith("man") and word not in ("human",):
        return f"{word[:-2]}en"
    if word.endswith("y") and word[-2] not in VOWELS:
        return f"{word[:-1]}ies"
    ending = "es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return word + ending


def plural_token(token: str) -> str:
    """Return the plural of a noun or category, as a token of the vocabulary; the token itself if it has none."""
    if token.startswith("<"):
        kind = token.strip("<>")
        return ONE_OF_MANY.get(token) or f"<{MANY.get(kind) or plural_of(kind)}>"
    noun = load_nouns().get(token)
    return noun.plural if noun and noun.plural else token


def verb_forms(base: str) -> tuple[str, ...]:
    """Return the forms of an English verb: base, third person, past, participle and -ing form."""
    return tuple(find_verb(base))
