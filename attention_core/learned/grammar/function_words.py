"""Defines the function words of both languages: determiners, conjunctions, times, degrees, words that end a
sentence.
"""

from functools import cache

from attention_core.learned.grammar.concepts import read_data
from attention_core.learned.grammar.scene import Degree, Determiner, Phrase


# ---- determiners of nouns, and their weights in sampling -------------------------------------------------------------
def determiner(english: str, chinese: str, is_total: bool = False) -> Determiner:
    """Make a determiner from its words in both languages, in which M stands for the noun's measure word.

    is_total: whether the determiner means all things, so that 都 must follow in Chinese.
    """
    is_owner = english in ("my", "our", "your")
    return Determiner(tuple(english.split()), tuple(chinese.split()), is_total, is_owner)


DETERMINERS = {
    "": determiner("", ""),  # no determiner, as before names
    "the": determiner("the", ""),
    "the measured": determiner("the", "那 M"),
    "a": determiner("a", "一 M"),
    "not a": determiner("a", ""),
    "this": determiner("this", "这 M"),
    "that": determiner("that", "那 M"),
    "my": determiner("my", "我 的"),
    "our": determiner("our", "我们 的"),
    "your": determiner("your", "你 的"),
    "every": determiner("every", "每 M", is_total=True),
    "some": determiner("some", "一些"),
    "the people": determiner("the", "们"),
    "the things": determiner("the", "那些"),
    "these": determiner("these", "这些"),
    "those": determiner("those", "那些"),
    "two": determiner("two", "两 M"),
    "three": determiner("three", "三 M"),
    "many": determiner("many", "很多"),
    "all": determiner("all the", "所有 的", is_total=True),
    "both": determiner("both", "两 M", is_total=True),
}


def often(weights: dict[str, int]) -> tuple[Determiner, ...]:
    """Return a list of determiners to sample from, in which each is repeated according to its weight."""
    return tuple(DETERMINERS[name] for name, weight in weights.items() for _ in range(weight))


ONE = {"the": 50, "the measured": 12, "this": 5, "that": 4, "my": 7, "our": 3, "your": 3}
STRANGER = {"the": 50, "the measured": 12, "this": 5, "that": 5}
KIN = {"the": 5, "my": 6, "your": 1}
MASS = {"the": 60, "this": 6, "that": 4, "my": 8, "our": 3, "your": 2}
SEVERAL = {"two": 8, "three": 4, "many": 5, "some": 5, "these": 6, "those": 2, "my": 5, "our": 2}
FIRST_MENTION = {
    ("subject", "one"): often({**ONE, "a": 4, "every": 1}),
    ("object", "one"): often({**ONE, "the measured": 20, "a": 18}),
    ("subject", "stranger"): often({**STRANGER, "a": 5, "every": 1}),
    ("object", "stranger"): often({**STRANGER, "a": 15}),
    ("either", "stranger"): often({**STRANGER, "a": 8}),
    ("head", "stranger"): often({"the": 60, "that": 8, "a": 6, "every": 2}),
    ("subject", "kin"): often(KIN),
    ("object", "kin"): often(KIN),
    ("either", "kin"): often(KIN),
    ("head", "kin"): often({"the": 1}),
    ("subject", "mass"): often(MASS),
    ("object", "mass"): often({**MASS, "some": 14}),
    ("subject", "people"): often({**SEVERAL, "the people": 30, "all": 3, "both": 3}),
    ("object", "people"): often({**SEVERAL, "the people": 30}),
    ("subject", "things"): often({**SEVERAL, "the things": 30, "all": 3, "both": 3}),
    ("object", "things"): often({**SEVERAL, "the things": 30}),
    ("head", "one"): often({"the": 60, "that": 8, "a": 6, "every": 2}),
    ("head", "mass"): often({"the": 1}),
    ("head", "people"): often({"the people": 40, "those": 8, "two": 6, "many": 4, "all": 3}),
    ("head", "things"): often({"the things": 40, "those": 8, "two": 6, "many": 4, "all": 3}),
    ("either", "one"): often({**ONE, "a": 10}),
    ("either", "mass"): often(MASS),
    ("either", "people"): often({**SEVERAL, "the people": 40}),
    ("either", "things"): often({**SEVERAL, "the things": 40}),
}


# ---- fixed phrases ---------------------------------------------------------------------------------------------------
@cache
def load_phrases() -> dict[str, dict[str, Phrase]]:
    """Load {section: {name: phrase}} from phrases.toml."""
    return {section: read_phrases(lines) for section, lines in read_data("phrases").items()}


def read_phrases(lines: dict[str, list[str]]) -> dict[str, Phrase]:
    """Parse the lines of one section of phrases.toml as {name: phrase}."""
    phrases = {}
    for name, (english, chinese) in lines.items():
        phrases[name] = Phrase(tuple(english.split()), tuple(chinese.split()))
    return phrases


@cache
def phrases_of(section: str) -> tuple[Phrase, ...]:
    """Return the phrases of a section, in the order of the file."""
    return tuple(load_phrases()[section].values())


@cache
def phrase(name: str) -> Phrase:
    """Find a phrase by its name.

    >>> phrase("because")
    Phrase(english=('because',), chinese=('，', '因为'))
    """
    found = [lines[name] for lines in load_phrases().values() if name in lines]
    return found[0]


DEGREES = {
    "": Degree((), ("很",)),
    "too": Degree(("too",), ("太",), ("了",)),
    "very": Degree(("very",), ("非常",)),
    "so": Degree(("so",), ("特别",)),
    "really": Degree(("really",), ("真的", "很")),
}
