"""Words of the sentence that are worth exchanging, one click each: the heavy cell moves."""

from dataclasses import replace

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import shown
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import try_change
from pages.runs.cache import material_of
from pages.runs.run_inputs import Material
from pages.runs.token_vectors import spelled, words_of
from pages.session.cell_clicks import within
from pages.setup.setup import Setup, mode

OFFERED = 2


def offers(setup: Setup, material: Material) -> list[tuple[str, str]]:
    """it -> she: the dictionary's exchanges whose word stands in the sentence."""
    if mode(setup) != "sentence":
        return []
    swaps = EXAMPLES[setup.example].dictionary().swaps
    return [(old, new) for old, new in swaps if old in material.queries][:OFFERED]


def exchange(number: object, setup: Setup, material: Material) -> None:
    """Takes one of the offers, by its number, where there is such a one."""
    offered = offers(setup, material)
    if within(number, len(offered)):
        try_change("text", text=exchanged(setup, material, *offered[number]))


def exchanged(setup: Setup, material: Material, old: str, new: str) -> str:
    """The sentence with one word in the place of another."""
    return spelled(tuple(new if word == old else word for word in material.queries), setup)


def with_word(setup: Setup, at: int, text: str) -> Setup:
    """The sentence with another word at a place. Raises AttentionError where the text is not one word."""
    found, words = words_of(setup, text, ()), material_of(setup).queries
    if len(found) != 1:
        raise AttentionError("one_word", given=shown(text), count=len(found))
    return replace(setup, text=spelled((*words[:at], *found, *words[at + 1 :]), setup))


def another(setup: Setup, at: int) -> str:
    """A word of the dictionary that is worth trying in a word's place: its exchange, else one of another vector."""
    lexicon, word = EXAMPLES[setup.example].dictionary(), material_of(setup).queries[at]
    own = lexicon.find(word)
    others = (other for other, vector in lexicon.vectors.items() if vector != own)
    return dict(lexicon.swaps).get(word) or next(others, word)
