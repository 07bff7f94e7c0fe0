"""Text generation by a decoder: each next word is picked from the logits of one row, which reads a cache."""

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import MAX_MODEL_WORDS
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.language.writing import SENTENCE_ENDS, add_word, pick_word
from attention_core.transformer.stack import UNEMBEDDING
from attention_core.variants.cached_model import run_cached


def write_word(name: str, tokens: tuple[str, ...], choices: WordChoices, seed: int | None, step: int) -> str:
    """Return the next word that a decoder generates.

    name: of the model. tokens: the words so far, START first. choices: temperature, top_k and top_p. seed, step: see
    pick_word.

    Raises AttentionError: decoding_not_causal, and the errors of pick_word.

    >>> write_word("en_asked_decoder", ("<start>", "the", "dog", "did"), WordChoices(), None, 0)
    'not'
    """
    run = with_word_choices(name, run_cached(name, tokens).stack, choices)
    probabilities = run[UNEMBEDDING]["probabilities"][0, -1]  # (V)
    return vocabulary(load_recipe(name).language)[pick_word(probabilities, seed, step)]


def write_sentence(
    name: str, tokens: tuple[str, ...], choices: WordChoices, seed: int | None, step: int
) -> tuple[str, ...]:
    """Return the words that a decoder generates up to the next sentence end, or up to the longest text it can read.

    The arguments are those of write_word; step is the index of the first word's sample.

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
