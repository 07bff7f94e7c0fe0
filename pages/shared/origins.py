"""Where the numbers of the inputs come from, in words."""

from attention_core.tokens import shown
from pages.shared.material import Material
from pages.shared.setup import Setup
from pages.shared.words import literal, say


def origins(setup: Setup, material: Material) -> str:
    """Which numbers are built by hand, random, edited."""
    names: dict[str, list[str]] = {}
    for name, origin in material.origins.items():
        seed = material.seeds.get(name)
        called = say("origin.allowed") if name == "allowed" else name
        names.setdefault(origin, []).append(called if seed is None else say("origin.seeded", name=called, seed=seed))
    parts = [say(f"origin.group.{origin}", names=say("fact.comma").join(group)) for origin, group in names.items()]
    return " ".join([*parts, *([dashed_words(setup, material)] if material.random_words() else [])])


def dashed_words(setup: Setup, material: Material) -> str:
    """Which words got a random vector."""
    words = [literal(shown(word)) for word in material.random_words()]
    return say("tiles.some_random", words=say("fact.comma").join(words), seed=setup.seed)
