"""Words of the sentence that are worth exchanging, one click each: the heavy cell moves."""

from dataclasses import replace

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import try_change
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens, tokens_of
from pages.runs.run_inputs import RunInputs
from pages.session.cell_clicks import is_valid_index
from pages.setup.setup import Setup, input_mode_of

MAX_SWAP_OFFERS = 2


def list_swap_offers(setup: Setup, material: RunInputs) -> list[tuple[str, str]]:
    """it -> she: the dictionary's exchanges whose word stands in the sentence."""
    if input_mode_of(setup) != "sentence":
        return []
    swaps = EXAMPLES[setup.example].dictionary().swaps
    return [(old, new) for old, new in swaps if old in material.queries][:MAX_SWAP_OFFERS]


def take_swap_offer(number: object, setup: Setup, material: RunInputs) -> None:
    """Takes one of the offers, by its number, where there is such a one."""
    offered = list_swap_offers(setup, material)
    if is_valid_index(number, len(offered)):
        try_change("text", text=exchange_word(setup, material, *offered[number]))


def exchange_word(setup: Setup, material: RunInputs, old: str, new: str) -> str:
    """The sentence with one word in the place of another."""
    return spell_tokens(tuple(new if word == old else word for word in material.queries), setup)


def with_word(setup: Setup, at: int, text: str) -> Setup:
    """The sentence with another word at a place. Raises AttentionError where the text is not one word."""
    found, words = tokens_of(text, setup), inputs_of(setup).queries
    if len(found) != 1:
        raise AttentionError("one_word", given=printable_token(text), count=len(found))
    return replace(setup, text=spell_tokens((*words[:at], *found, *words[at + 1 :]), setup))


def suggest_word(setup: Setup, at: int) -> str:
    """A word of the dictionary that is worth trying in a word's place: its exchange, else one of another vector."""
    lexicon, word = EXAMPLES[setup.example].dictionary(), inputs_of(setup).queries[at]
    own = lexicon.find(word)
    others = (other for other, vector in lexicon.vectors.items() if vector != own)
    return dict(lexicon.swaps).get(word) or next(others, word)
