"""Estimates whether a language model can read a typed sentence as trained, or only guesses the answers to questions
about it.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar.concepts import load_names, load_nouns
from attention_core.learned.grammar.page import noun_category
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.measures import all_weights
from attention_core.learned.language.questions import ENDS, Answer, find_answer
from attention_core.learned.language.reading import UNKNOWN
from attention_core.learned.language.shipped import load_model, load_recipe, other_form, read_figures
from attention_core.learned.language.simple_rule import (
    find_nouns,
    find_pronouns,
    fitting_nouns,
    may_be_consumed,
    nearest_fitting,
)
from attention_core.learned.language.surprise import number_words, text_surprise
from attention_core.learned.model_cache import MODEL_CACHE

STUDENTS = Path(__file__).parent / "shipped" / "students.json"
SURE = 0.5  # an answer with less weight than this is not sure: other words together have more


class Reading(NamedTuple):
    """A variant of a typed sentence as input of a model: with punctuation added, or nouns replaced by their categories.

    places: for each token of the typed sentence, its position in `tokens`.
    """

    tokens: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """The answers of a model, and of a simple rule, to the question of which noun a pronoun refers to.

    pronoun: the position of the pronoun. answer: the model's answer, see Answer. second: the answer of the model's
    other form (of an encoder the decoder, of a decoder the encoder); None if the package has no other form. rule: the
    position of the noun that the simple rule names (nearest_fitting); None if no noun before the pronoun fits. doubts:
    why the answer is a guess; () if it is not a guess:

    - "unknown": a word of the sentence is read as <unknown>.
    - "differs": the other form of the model names another word.
    - "shifts": the answer of a form changes if commas and a full stop are added, or if categories replace the nouns.
    - "unfit": the answer is not an earlier noun of the pronoun's gender and number; or not food or drink after a verb
      of eating or drinking; or it is None, although there are nouns before the pronoun.
    - "weak": the answer gets less than half of the weight.
    """

    pronoun: int
    answer: Answer
    second: Answer | None
    rule: int | None
    doubts: tuple[str, ...] = ()

    @property
    def is_agreed(self) -> bool:
        """Return whether both forms of the model, encoder and decoder, answer with the same word.

        The forms were trained separately. So if their answers differ, at least one form guesses.
        """
        return self.second is not None and self.second.word == self.answer.word


@dataclass(frozen=True)
class Judgement:
    """How surprising a sentence is to a model, and to which nouns the model says its pronouns refer.

    unknown: the positions of <unknown>. surprises: the surprise of each token, in nats; 0 for START, which is given.
    usual, usual_word: limits of the mean and of the largest surprise of a text; 98 of 100 texts like the training texts
    are below each. references: one for each third-person pronoun; () if the model answers no questions.
    """

    unknown: tuple[int, ...]
    surprises: tuple[float, ...]
    usual: float
    usual_word: float
    references: tuple[Reference, ...]

    @property
    def surprise(self) -> float:
        """The mean surprise, in nats per word."""
        return sum(self.surprises) / (len(self.surprises) - 1)

    @property
    def startling(self) -> tuple[int, ...]:
        """The positions of the words whose surprise is above `usual_word`, the most surprising first."""
        places = [at for at, surprise in enumerate(self.surprises) if surprise > self.usual_word]
        return tuple(sorted(places, key=lambda at: -self.surprises[at]))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return what is unusual in the sentence: "unknown" words, a high mean "surprise", or a surprising "word"."""
        found = {"unknown": self.unknown, "surprise": self.surprise > self.usual, "word": self.startling}
        return tuple(reason for reason, holds in found.items() if holds)

    @property
    def doubted(self) -> tuple[Reference, ...]:
        """The answers for pronouns (References) that count as guesses."""
        return tuple(reference for reference in self.references if reference.doubts)

    @property
    def outside(self) -> bool:
        """Whether the model only guesses the answers on this sentence.

        If there are pronouns, the model guesses if an answer is doubted. Without pronouns, it guesses if there are
        `reasons`.
        """
        return bool(self.doubted) if self.references else bool(self.reasons)


@dataclass(frozen=True)
class StudentFigures:
    """How often a model was right on sentences that students had written before the model was measured.

    asked: the number of pronouns. right: the number of right answers. unmarked: the number of answers that are not
    marked as a guess. wrong: the number of wrong answers among these. right_marked: the number of right answers that
    are marked as a guess.
    """

    asked: int
    right: int
    unmarked: int
    wrong: int
    right_marked: int


@cache
def read_student_figures() -> dict[str, StudentFigures]:
    """Read {name of a model: StudentFigures}, for each model that answers questions.

    >>> read_student_figures()["en_asked_encoder"].asked
    47
    """
    rows = json.loads(STUDENTS.read_text(encoding="utf-8"))
    return {name: StudentFigures(**row) for name, row in rows.items()}


@lru_cache(maxsize=64)
def judge_sentence(name: str, tokens: tuple[str, ...]) -> Judgement:
    r"""Judge whether a model can read a sentence as trained, and return its answers and those of a simple rule.

    An example of a sentence that the included models know is *the animal did not cross the street because it was too
    tired*. Surprise in nats per word is $-\frac{1}{T} \sum_t \log p(w_t \mid w_{<t})$ of a decoder; of an encoder, with
    one word at a time masked, $-\frac{1}{T} \sum_t \log p(w_t \mid w_{\setminus t})$, the pseudo-log-likelihood
    (Salazar et al. 2020, arXiv 1910.14659). A sentence without a pronoun is unknown if its mean or its largest surprise
    is above the limit for texts like the training texts, or if a word is read as <unknown>. A sentence with a pronoun
    is unknown if an answer is doubted, see Reference. Commas and a full stop may be omitted.

    name: a model of the package. tokens: a result of read_tokens, START first, then one word or more.

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
    """Return the surprise of each typed token after START; the model reads the sentence with missing punctuation added.

    Missing commas and a missing full stop are added to the input, but their surprise is not returned; the surprise of a
    typed punctuation mark is limited to the usual mean. Every training text is punctuated: without a full stop, half of
    all texts would surprise an encoder.
    """
    language = load_recipe(name).language
    read = punctuate(language, tokens)
    surprises = [0.0, *text_surprise(load_model(name), language, read.tokens).tolist()]
    usual = read_figures()[name].limits["surprise"]
    own = [min(surprises[at], usual) if read.tokens[at] in ENDS else surprises[at] for at in read.places]
    return own[1:]


def next_word_chances(name: str, tokens: tuple[str, ...]) -> list[float]:
    """Return the probability that a decoder gives to each token after START; the decoder reads the tokens before it.

    >>> len(next_word_chances("en_asked_decoder", ("<start>", "the", "dog", "barked", ".")))
    4
    """
    surprises = text_surprise(load_model(name), load_recipe(name).language, tokens)
    return [math.exp(-surprise) for surprise in surprises.tolist()]


def find_references(name: str, tokens: tuple[str, ...]) -> tuple[Reference, ...]:
    """Return the Reference of each third-person pronoun; () if the model's heads answer no questions.

    A Reference has the answers of both forms of the model, and the answer of the simple rule.
    """
    if load_model(name).shape.answers != "heads":
        return ()
    language, second = load_recipe(name).language, other_form(name)
    readings = tuple(other_readings(language, tokens))
    own = Reading(tokens, tuple(range(len(tokens))))
    found = []
    for pronoun in find_pronouns(language, tokens):
        answer = answer_of(name, own, pronoun)
        others = answer_of(second, own, pronoun) if second else None
        rule = nearest_fitting(language, tokens, pronoun)
        forms = (name, second) if second else (name,)
        given = (answer, others) if others else (answer,)
        words = {answer_of(form, reading, pronoun).word for form in forms for reading in readings}
        doubts = {
            "unknown": UNKNOWN in tokens,
            "differs": others is not None and others.word != answer.word,
            "shifts": not words <= {each.word for each in given},
            "unfit": not is_possible(language, tokens, pronoun, answer.word),
            "weak": any(each.weight < SURE for each in given),
        }
        told = tuple(doubt for doubt, holds in doubts.items() if holds)
        found.append(Reference(pronoun, answer, others, rule, told))
    return tuple(found)


def is_possible(language: str, tokens: tuple[str, ...], pronoun: int, word: int | None) -> bool:
    """Return whether a pronoun can refer to a word: the two agree in gender and number, and only food or drink is eaten
    or drunk.

    word: the position of the word. None is possible only if no noun is before the pronoun.
    """
    if word is None:
        return not find_nouns(language, tokens[:pronoun])
    return word in fitting_nouns(language, tokens, pronoun) and may_be_consumed(language, tokens, pronoun, word)


def answer_of(name: str, reading: Reading, pronoun: int) -> Answer:
    """Return the noun to which a model says a pronoun refers, when it reads this variant of the sentence (see Reading).

    The positions in the Answer count the typed tokens, not those of the variant.
    """
    causal = load_recipe(name).causal
    found = find_answer(last_weights(name, reading.tokens), causal, reading.tokens, reading.places[pronoun])
    back = {place: at for at, place in enumerate(reading.places)}
    return found._replace(asked=back.get(found.asked, pronoun), word=back.get(found.word))


@MODEL_CACHE.keep
def last_weights(name: str, tokens: tuple[str, ...]) -> Float[Tensor, "H T S"]:
    """Return the weights of the last layer, from which the answers are read."""
    words = number_words(load_recipe(name).language, tokens)
    return all_weights(load_model(name), words[None])[0, -1]


# ---- other ways to write the same sentence: with commas and a full stop, with nouns as their categories --------------
FULL_STOPS = {"en": ".", "zh": "。"}
COMMAS = {"en": ",", "zh": "，"}
JOINING = {  # conjunctions that begin a clause; `punctuate` adds a missing comma before them
    "en": frozenset(("because", "so", "but")),
    "zh": frozenset(("因为", "所以", "但是", "可是", "因此", "然后")),
}
FIRST_JOINED = 3  # first position at which a comma may be added before a conjunction; START is at 0


def punctuate(language: str, tokens: tuple[str, ...]) -> Reading:
    """Return a sentence with missing commas and a missing full stop added, because every training text is punctuated.

    >>> punctuate("en", ("<start>", "tom", "slept", "because", "he", "was", "tired"))
    Reading(tokens=('<start>', 'tom', 'slept', ',', 'because', 'he', 'was', 'tired', '.'), places=(0, 1, 2, 4, 5, 6, 7))
    """
    read: list[str] = []
    places = []
    for at, token in enumerate(tokens):
        if at >= FIRST_JOINED and token in JOINING[language] and read[-1] not in ENDS:
            read.append(COMMAS[language])
        places.append(len(read))
        read.append(token)
    if read[-1] not in ENDS:
        read.append(FULL_STOPS[language])
    return Reading(tuple(read), tuple(places))


def other_readings(language: str, tokens: tuple[str, ...]) -> Iterator[Reading]:
    """Yield two variants of a sentence: with commas and a full stop added, and with each noun also replaced by its
    category.

    If a model's answer differs between these forms, the answer is a guess.
    """
    punctuated = punctuate(language, tokens)
    yield punctuated
    named = category_of_nouns(language)
    yield punctuated._replace(tokens=tuple(named.get(token, token) for token in punctuated.tokens))


@cache
def category_of_nouns(language: str) -> dict[str, str]:
    """Return a mapping from each noun and first name in the vocabulary to its category.

    >>> category_of_nouns("en")["dogs"], category_of_nouns("zh")["狗"]
    ('<animals>', '<animal>')
    """
    found = {}
    for noun in (*load_nouns().values(), *load_names().values()):
        if language == "zh":
            found[noun.chinese] = noun_category(noun, False)
            continue
        found[noun.word] = noun_category(noun, noun.is_plural_only)
        if noun.plural:
            found[noun.plural] = noun_category(noun, True)
    known = word_numbers(language)
    return {word: category for word, category in found.items() if word in known and category in known}
