"""Suggested replacements of words in the sentence, one click each."""

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import try_change
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens, tokens_of
from pages.runs.run_inputs import RunInputs
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup

MAX_SWAP_OFFERS = 2  # suggested replacements


def list_swap_offers(setup: Setup, inputs: RunInputs) -> list[tuple[str, str]]:
    """The dictionary's replacements, such as (it, she), whose first word is in the sentence."""
    if resolve_run(setup.run).mode != "sentence":
        return []
    swaps = EXAMPLES[setup.run.example].dictionary().swaps
    words = first_sentence_of(inputs)
    possible_swaps = [(old, new) for old, new in swaps if old in words]
    return possible_swaps[:MAX_SWAP_OFFERS]


def take_swap_offer(number: int, setup: Setup, inputs: RunInputs) -> None:
    """Replaces a word as suggested by the offer with this number, if it exists; a query that the reader selected stays
    selected.
    """
    offers = list_swap_offers(setup, inputs)
    if number < len(offers):
        old, new = offers[number]
        try_change("text", text=exchange_word(setup, inputs, old, new), token=setup.view.token)


def first_sentence_of(inputs: RunInputs) -> tuple[str, ...]:
    """The words of the sentence; for a batch those of the first sentence."""
    return inputs.batch[0].words if inputs.batch else inputs.queries


def exchange_word(setup: Setup, inputs: RunInputs, old: str, new: str) -> str:
    """The sentence with one word replaced by another."""
    words = tuple(new if word == old else word for word in first_sentence_of(inputs))
    return spell_tokens(words, setup.run)


def with_word(setup: Setup, at: int, text: str) -> Setup:
    """The Setup with another word at a position of its sentence. Raises AttentionError if the text is not one word."""
    new_words = tokens_of(text, setup.run)
    count = len(new_words)
    if count != 1:
        raise AttentionError("one_word", given=printable_token(text), count=count)
    words = inputs_of(setup).queries
    changed_words = (*words[:at], *new_words, *words[at + 1 :])
    return setup.with_fields(text=spell_tokens(changed_words, setup.run))


def suggest_word(setup: Setup, at: int) -> str:
    """A word of the dictionary as a suggestion instead of the word at a position: its usual replacement, otherwise a
    word with another vector, otherwise the same word.
    """
    lexicon = EXAMPLES[setup.run.example].dictionary()
    word = inputs_of(setup).queries[at]
    swaps = dict(lexicon.swaps)
    if swaps.get(word):
        return swaps[word]
    own_vector = lexicon.find(word)
    for other, vector in lexicon.vectors.items():
        if vector != own_vector:
            return other
    return word
