"""A list of Chinese words with how common each is: that of rjieba, everyday words that it lacks, and the grammar's.

The library cuts where the product of the shares of the words is largest. It is asked without its statistics of
characters (hmm), which makes words of what stands together by chance. Its list came from newspapers: everyday_words.txt
adds what people say today.
"""

from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from types import ModuleType

from attention_core.learned.grammar.vocabulary import known_words

EVERYDAY_WORDS = Path(__file__).with_name("everyday_words.txt")
EVERYDAY_COUNT = 500  # of occurrences: so common is a word of the list made, where the library has it rarer
LOADING = Lock()


def cut_by_list(text: str) -> tuple[str, ...]:
    """Cut a run of ideographs by the words of the list."""
    return tuple(load_library().cut(text, hmm=False))


def load_library() -> ModuleType:
    """Give the library with our words in it. It is loaded when the first Chinese text is cut, once for all sessions."""
    with LOADING:
        return load_once()


@cache
def load_once() -> ModuleType:
    """Load the library and add our words. Only here does anybody change it: all later calls read."""
    import rjieba

    for word in our_words():
        if count_of(word, rjieba) < EVERYDAY_COUNT:
            rjieba.add_word(word, EVERYDAY_COUNT, None)
    return rjieba


@cache
def our_words() -> frozenset[str]:
    """The words that the library is given: those of the grammar, and everyday ones."""
    names = (word for word in known_words("zh") if len(word) > 1)
    return frozenset((*names, *EVERYDAY_WORDS.read_text(encoding="utf-8").split()))


def count_of(word: str, library: ModuleType) -> int:
    """How often the library's makers found a word; 0 where it does not have it."""
    return library.suggest_freq(word) - 1 if library.has_word(word) else 0


@lru_cache(maxsize=4096)
def word_count(word: str) -> int:
    """How often the library's makers found a word; 0 where it does not have it."""
    return count_of(word, load_library())


@lru_cache(maxsize=4096)
def word_class(word: str) -> str:
    """The class of a word, as the library writes it: n of nouns, v of verbs, a, d of adverbs, m of numbers."""
    tagged = load_library().tag(word, hmm=False)
    return tagged[0][1] if len(tagged) == 1 else ""
