"""Words of the sentence that are worth exchanging, one click each: the heavy cell moves."""

from attention_core.examples import EXAMPLES
from pages.shared.material import Material
from pages.shared.opening import within
from pages.shared.sequences import spelled
from pages.shared.setup import Setup, mode
from pages.shared.widgets import try_change

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
