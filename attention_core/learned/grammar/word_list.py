"""A list of Chinese words with their frequencies: the list of rjieba with added everyday and grammar words.

The library takes the cut with the largest product of word frequencies. It is called without its model of characters
(hmm), which makes words of characters that are adjacent by chance. Its list came from newspapers, so
everyday_words.txt adds words of everyday speech.
"""

from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from types import ModuleType

from attention_core.learned.grammar.vocabulary import known_words

EVERYDAY_WORDS = Path(__file__).with_name("everyday_words.txt")
EVERYDAY_COUNT = 500  # occurrences: the least count of an added word
LOADING = Lock()


def cut_by_list(text: str) -> tuple[str, ...]:
    """Cut a run of ideographs into words of the list."""
    return tuple(load_library().cut(text, hmm=False))


def load_library() -> ModuleType:
    """Return the library with our words added. The first call loads the library for all sessions."""
    with LOADING:
        return load_once()


@cache
def load_once() -> ModuleType:
    """Load the library and add our words. No other function changes the library's list."""
    import rjieba

    for word in our_words():
        if count_of(word, rjieba) < EVERYDAY_COUNT:
            rjieba.add_word(word, EVERYDAY_COUNT, None)
    return rjieba


@cache
def our_words() -> frozenset[str]:
    """The words that are added to the library: the grammar's words of several characters, and everyday words."""
    names = (word for word in known_words("zh") if len(word) > 1)
    return frozenset((*names, *EVERYDAY_WORDS.read_text(encoding="utf-8").split()))


def count_of(word: str, library: ModuleType) -> int:
    """The count of a word in the list of a loaded library; 0 if the list lacks the word."""
    return library.suggest_freq(word) - 1 if library.has_word(word) else 0


@lru_cache(maxsize=4096)
def word_count(word: str) -> int:
    """The count of a word in the library's list; 0 if the list lacks the word."""
    return count_of(word, load_library())


@lru_cache(maxsize=4096)
def word_class(word: str) -> str:
    """The word class in the library's letters: n nouns, v verbs, a adjectives, d adverbs, m numbers; "" if unknown."""
    tagged = load_library().tag(word, hmm=False)
    return tagged[0][1] if len(tagged) == 1 else ""
