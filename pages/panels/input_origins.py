"""Where the numbers of the inputs come from, in words."""

from collections.abc import Callable

from attention_core.inputs.tokenizer import shown
from pages.panels import what_if
from pages.runs.run_inputs import Material
from pages.setup.setup import Setup
from pages.site.words import literal, say


def origins(setup: Setup, material: Material, spell: Callable[[str], str] = literal) -> str:
    """Which numbers are built by hand, random, edited. spell: how words are written in it."""
    names: dict[str, list[str]] = {}
    for name, origin in material.origins.items():
        seed = material.seeds.get(name)
        called = say("origin.allowed") if name == "allowed" else name
        names.setdefault(origin, []).append(called if seed is None else say("origin.seeded", name=called, seed=seed))
    for step in what_if.STEPS:
        if getattr(setup, step) is not None:
            names.setdefault("typed", []).append(say(f"edited.{step}"))
    parts = [say(f"origin.group.{origin}", names=say("fact.comma").join(group)) for origin, group in names.items()]
    return " ".join([*parts, *dashed(setup, material, spell)])


def dashed(setup: Setup, material: Material, spell: Callable[[str], str] = literal) -> list[str]:
    """Why tiles are dashed: all of them, or some words, got random vectors."""
    words = [spell(shown(word)) for word in material.random_words()]
    if words:
        return [say("tiles.some_random", words=say("fact.comma").join(words), seed=setup.seed)]
    return [say("tiles.all_random")] if "random" in (*material.word_origins, *material.key_origins) else []
