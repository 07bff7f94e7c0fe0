"""Fixed phrases in both languages: conjunctions, times, degrees, the end of a sentence."""

from functools import cache

from attention_core.learned.grammar.concepts import read_data
from attention_core.learned.grammar.scene import Degree, Phrase


@cache
def load_phrases() -> dict[str, dict[str, Phrase]]:
    """Load section -> name -> phrase from phrases.toml."""
    return {section: read_phrases(lines) for section, lines in read_data("phrases").items()}


def read_phrases(lines: dict[str, list[str]]) -> dict[str, Phrase]:
    """Read the phrases of a section: name -> phrase."""
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
