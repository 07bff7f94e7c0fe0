"""Finds the noun of a pronoun by a rule without learning, as a baseline for models: the nearest earlier noun that
agrees.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar import chinese, english
from attention_core.learned.grammar.concepts import Noun, load_names, load_nouns
from attention_core.learned.grammar.page import noun_category

Fit = tuple[str, bool]  # agreement: gender ("f", "m", "n", or "" for any), and whether plural
WORDS_OF_MANY = frozenset(
    ("两", "三", "一些", "那些", "这些", "很多", "所有")
)  # words that make a Chinese noun after them plural
BEHIND_MANY = ("们",)  # suffix that makes a Chinese noun before it plural
COUNTING = ("一", "两", "三", "这", "那", "每")  # Chinese words before a measure word
CONSUMING = {  # verb of eating or drinking -> the kinds of nouns to which a pronoun after it may refer
    **dict.fromkeys(("eat", "eats", "ate", "eaten", "eating", "吃"), frozenset(("food", "animal", "plant"))),
    **dict.fromkeys(("drink", "drinks", "drank", "drunk", "drinking", "喝"), frozenset(("drink", "food"))),
}
BEHIND_VERBS = ("了", "完", "掉", "up", "all", "of")  # words that may stand between a verb of CONSUMING and the pronoun
WORDS_BETWEEN = 3  # most words between a plural word and its noun, as in 两 只 小 狗


@cache
def pronoun_fits(language: str) -> dict[str, Fit]:
    """Return {third-person pronoun: (its gender, whether it is plural)}; English "they" has the gender "".

    >>> pronoun_fits("en")["her"], pronoun_fits("en")["them"], pronoun_fits("zh")["它们"]
    (('f', False), ('', True), ('n', True))
    """
    if language == "zh":
        return {word: fit for fit, word in chinese.PRONOUNS.items()}
    fits = {"f": ("f", False), "m": ("m", False), "n": ("n", False), "they": ("", True)}
    return {word: fit for key, fit in fits.items() for word in english.PRONOUNS[key]}


@cache
def noun_fits(language: str) -> dict[str, frozenset[Fit]]:
    """Return {noun, name or category: the set of (gender, whether plural) that it may have}.

    A Chinese noun may be singular or plural.

    >>> sorted(noun_fits("en")["teachers"]), sorted(noun_fits("en")["<animal>"]), sorted(noun_fits("zh")["安娜"])
    ([('f', True), ('m', True)], [('n', False)], [('f', False), ('f', True)])
    """
    found: dict[str, frozenset[Fit]] = {}
    for noun in (*load_nouns().values(), *load_names().values()):
        for word, many in noun_forms(language, noun):
            fits = {(gender, many) for gender in noun.genders}
            found[word] = found.get(word, frozenset()) | fits
    return {word: fits for word, fits in found.items() if fits}


def noun_forms(language: str, noun: Noun) -> Iterator[tuple[str, bool]]:
    """Yield (form, whether it is plural) for the forms of a noun, and for its category tokens."""
    if language == "zh":
        yield from product((noun.chinese, noun_category(noun, False)), (False, True))
        return
    yield noun.word, noun.is_plural_only
    yield noun_category(noun, noun.is_plural_only), noun.is_plural_only
    if noun.plural:
        yield noun.plural, True
        yield noun_category(noun, True), True


def find_pronouns(language: str, tokens: tuple[str, ...]) -> tuple[int, ...]:
    """Return the positions of third-person pronouns.

    >>> find_pronouns("en", ("<start>", "anna", "fed", "her", "dog"))
    (3,)
    """
    return tuple(at for at, token in enumerate(tokens) if token in pronoun_fits(language))


def fitting_nouns(language: str, tokens: tuple[str, ...], at: int) -> tuple[int, ...]:
    """Return the positions of the nouns before a pronoun that agree with it in gender and number.

    language: "en" or "zh". tokens: as a model reads them; a category token such as "<animal>" counts as a noun and
    agrees if a noun of the category does. at: the pronoun's position.
    """
    wanted, many = pronoun_fits(language)[tokens[at]]
    found = []
    for place in find_nouns(language, tokens[:at]):
        genders = {gender for gender, number in noun_fits(language)[tokens[place]] if number == many}
        does_fit = wanted in genders if wanted else bool(genders)
        if does_fit and (language == "en" or is_many(tokens, place) == many):
            found.append(place)
    return tuple(found)


def find_nouns(language: str, tokens: tuple[str, ...]) -> tuple[int, ...]:
    """Return the positions of nouns and names.

    In Chinese, 本 is the name Ben, but a measure word in 一 本 书.
    """
    found = [at for at, word in enumerate(tokens) if word in noun_fits(language)]
    return tuple(at for at in found if not (tokens[at] == "本" and at and tokens[at - 1] in COUNTING))


def is_many(tokens: tuple[str, ...], noun: int) -> bool:
    """Return whether a Chinese noun is plural, judged by the words around it.

    noun: the position of the noun.
    """
    earlier = tokens[max(noun - WORDS_BETWEEN, 0) : noun]
    others = find_nouns("zh", earlier)
    own = earlier[others[-1] + 1 :] if others else earlier
    return tokens[noun + 1 : noun + 2] == BEHIND_MANY or not WORDS_OF_MANY.isdisjoint(own)


@cache
def noun_kinds(language: str) -> dict[str, frozenset[str]]:
    """Return {noun or category: its kinds, such as "food"}."""
    found: dict[str, frozenset[str]] = {}
    for noun in load_nouns().values():
        for word, _ in noun_forms(language, noun):
            found[word] = found.get(word, frozenset()) | {noun.kind}
    return found


def may_be_consumed(language: str, tokens: tuple[str, ...], at: int, noun: int) -> bool:
    """Return whether a pronoun may refer to a noun, judged by the verb before it: what is eaten or drunk is food or
    drink.

    After eat or drink the noun must be of a kind in CONSUMING; after any other verb the result is True. at: the
    position of the pronoun. noun: the position of the noun.

    >>> [may_be_consumed("en", ("the", "table", "had", "bread", ",", "tom", "ate", "it"), 7, noun) for noun in (1, 3)]
    [False, True]
    """
    before = [token for token in tokens[:at] if token not in BEHIND_VERBS]
    kinds = CONSUMING.get(before[-1]) if before else None
    return kinds is None or not kinds.isdisjoint(noun_kinds(language).get(tokens[noun], ()))


def nearest_fitting(language: str, tokens: tuple[str, ...], at: int) -> int | None:
    """Return the position of the nearest earlier noun that agrees with a pronoun; None if there is none.

    Noun and pronoun must agree in gender and number. language: "en" or "zh". tokens: the tokens that read_tokens
    returns for the words of a text. at: the position of the pronoun.

    >>> nearest_fitting("en", ("the", "dog", "bit", "tom", "because", "it"), 5)
    1
    >>> nearest_fitting("zh", ("两", "只", "猫", "看见", "狗", "，", "它们"), 6)
    2
    """
    found = fitting_nouns(language, tokens, at)
    return found[-1] if found else None


# ---- the pronouns of a sentence, each with the noun of the rule, and the weight of each head on it -------------------
def find_antecedents(language: str, tokens: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return (position of a pronoun, position of the nearest earlier noun that agrees with it), for each such pronoun.

    Pronouns without such a noun are left out. The rule ignores the sense of the sentence: if two nouns agree with a
    pronoun, the nearest need not be the noun to which the pronoun refers.

    >>> find_antecedents("en", ("it", "saw", "the", "dog", "because", "it", "was", "old"))
    ((5, 3),)
    """
    nouns = ((at, nearest_fitting(language, tokens, at)) for at in find_pronouns(language, tokens))
    return tuple((at, noun) for at, noun in nouns if noun is not None)


def measure_antecedents(
    weights: Float[Tensor, "*heads T T"], language: str, tokens: tuple[str, ...]
) -> Float[Tensor, "*heads"] | None:
    """Return the mean weight from a pronoun to its noun, both found by find_antecedents, for each head.

    Returns None if no pronoun has a noun. The weights on all mentions of the same noun are summed.

    >>> weights = torch.tensor([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.25, 0.5, 0.25, 0]])
    >>> float(measure_antecedents(weights, "en", ("dog", "saw", "dog", "it")))
    0.5
    """
    found = find_antecedents(language, tokens)
    if not found:
        return None
    shares = []
    for at, noun in found:
        mentions = [place for place, token in enumerate(tokens) if token == tokens[noun]]
        shares.append(weights[..., at, mentions].sum(-1))  # sum over the mentions: (..., mentions) -> (...)
    return torch.stack(shares).mean(0)  # mean over the pronouns: (pronouns, ...) -> (...)
