"""Whether a model knows sentences such as this one, or guesses: said before anything is claimed about its answers."""

import math
from dataclasses import dataclass
from functools import lru_cache

from attention_core.learned.language.answers import ENDS, Answer, find_answer
from attention_core.learned.language.reading import UNKNOWN, run_model
from attention_core.learned.language.shipped import load_model, load_recipe, other_form, read_figures
from attention_core.learned.language.simple_rule import find_pronouns, nearest_fitting
from attention_core.learned.language.surprise import text_surprise

FULL_STOPS = {"en": ".", "zh": "。"}


@dataclass(frozen=True)
class Reference:
    """Whom a pronoun means.

    pronoun: where it stands. answer: that of the model, see Answer. second: that of its other form (of an encoder the
    decoder, of a decoder the encoder); None where none comes along. rule: where the noun stands that the simple rule
    names, see nearest_fitting; None where no noun before it fits.
    """

    pronoun: int
    answer: Answer
    second: Answer | None
    rule: int | None

    @property
    def is_agreed(self) -> bool:
        """Whether both forms answer the same word. They learned apart: where they differ, one of them guesses."""
        return self.second is not None and self.second.word == self.answer.word


@dataclass(frozen=True)
class Judgement:
    """What can be said of a sentence before a model's answers about it.

    unknown: where words stand of which nothing is known. surprises: of each token, in nats; of START, which is given,
    0. usual, usual_word: the mean and the largest of them that 98 of 100 texts of the trained kind stay below.
    references: of each pronoun of a third person; none of a model that answers no questions.
    """

    unknown: tuple[int, ...]
    surprises: tuple[float, ...]
    usual: float
    usual_word: float
    references: tuple[Reference, ...]

    @property
    def surprise(self) -> float:
        """Nats a word."""
        return sum(self.surprises) / (len(self.surprises) - 1)

    @property
    def startling(self) -> tuple[int, ...]:
        """Where words surprise the model more than any word of a usual text, the most surprising first."""
        places = [at for at, surprise in enumerate(self.surprises) if surprise > self.usual_word]
        return tuple(sorted(places, key=lambda at: -self.surprises[at]))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the sentence is none of those that the model knows: "unknown", "surprise" (all in all), "word" (one)."""
        found = {"unknown": self.unknown, "surprise": self.surprise > self.usual, "word": self.startling}
        return tuple(reason for reason, holds in found.items() if holds)

    @property
    def outside(self) -> bool:
        """Whether the model guesses: the sentence is none of those that it knows."""
        return bool(self.reasons)


@lru_cache(maxsize=64)
def judge_sentence(name: str, tokens: tuple[str, ...]) -> Judgement:
    r"""Judge whether a model knows sentences such as this one, and what it and the simple rule answer.

    A sentence such as *the animal did not cross the street because it was too tired* is known. Nats a word are
    $-\frac{1}{T} \sum_t \log p(w_t \mid w_{<t})$ of a decoder; of an encoder, with each word hidden in turn,
    $-\frac{1}{T} \sum_t \log p(w_t \mid w_{\setminus t})$, the pseudo-log-likelihood (Salazar et al. 2020,
    arXiv 1910.14659). The sentence is outside if they, or those of one word, are beyond what is usual
    in texts of the trained kind, or if a word is read as <unknown>. A full stop at the end may be left out.

    name: of a model that comes along. tokens: what it reads, from read_tokens: START first, then one word or more.

    Raises AttentionError: unknown_choice.

    >>> from attention_core.learned.language.reading import cut_sentence, read_tokens
    >>> words = cut_sentence("en_asked_encoder", "The dog chased the cat because it was hungry.")
    >>> judgement = judge_sentence("en_asked_encoder", read_tokens("en_asked_encoder", words, {}))
    >>> (reference,) = judgement.references
    >>> judgement.outside, words[reference.answer.word], words[reference.rule]
    (False, 'dog', 'cat')
    """
    limits = read_figures()[load_recipe(name).name].limits
    return Judgement(
        unknown=tuple(at for at, token in enumerate(tokens) if token == UNKNOWN),
        surprises=(0.0, *surprises_with_stop(name, tokens)),
        usual=limits["surprise"],
        usual_word=limits["word"],
        references=find_references(name, tokens),
    )


def surprises_with_stop(name: str, tokens: tuple[str, ...]) -> list[float]:
    """The surprise of each token behind START. A full stop that somebody left out is read, but not counted.

    Every learned text ends with one, and without it half of them would be outside for an encoder.
    """
    language = load_recipe(name).language
    read = tokens if tokens[-1] in ENDS else (*tokens, FULL_STOPS[language])
    return text_surprise(load_model(name), language, read).tolist()[: len(tokens) - 1]


def next_word_chances(name: str, tokens: tuple[str, ...]) -> list[float]:
    """The probability that a model that writes gives to each token behind START, from those before it.

    >>> len(next_word_chances("en_asked_decoder", ("<start>", "the", "dog", "barked", ".")))
    4
    """
    return [math.exp(-surprise) for surprise in surprises_with_stop(name, tokens)]


def find_references(name: str, tokens: tuple[str, ...]) -> tuple[Reference, ...]:
    """Whom each pronoun of a third person means, by both forms of a model and by the simple rule."""
    if load_model(name).shape.answers != "heads":
        return ()
    language, second = load_recipe(name).language, other_form(name)
    found = []
    for pronoun in find_pronouns(language, tokens):
        others = answer_of(second, tokens, pronoun) if second else None
        rule = nearest_fitting(language, tokens, pronoun)
        found.append(Reference(pronoun, answer_of(name, tokens, pronoun), others, rule))
    return tuple(found)


def answer_of(name: str, tokens: tuple[str, ...], pronoun: int) -> Answer:
    """What a model answers when it is asked whom a pronoun means."""
    shape = load_model(name).shape
    weights = run_model(name, tokens)[f"{shape.layers}.attention"]["weights"][0]  # (H, T, S)
    return find_answer(weights, shape.causal, tokens, pronoun)
