"""Reads toy lexica (words with handmade vectors) from examples.json.

A lexicon inherits the fields that it lacks from the lexicon that its field "like" names. A group of words with a "role"
(such as "person") has a vector that is also used for any other word to which the user gives this role.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from attention_core.inputs.tokenizer import Lexicon


# ---- reading examples.json -------------------------------------------------------------------------------------------
def read_lexica(entries: Mapping[str, dict]) -> dict[str, Lexicon]:
    """Parse the lexica by name; a lexicon with the field "like" inherits the words of the lexicon named there.

    A word that the lexicon also lists has the listed vector instead of the inherited one.
    """
    lexica: dict[str, Lexicon] = {}
    for name, entry in entries.items():
        like = Lexicon((), {})
        if "like" in entry:
            like = lexica[entry["like"]]
        vectors = dict(like.vectors)
        roles = dict(like.roles)
        for group in entry.get("words", ()):
            row = tuple(group["vector"])
            if "role" in group:
                roles[group["role"]] = row
            for word in group["words"]:
                vectors[word] = row
        swaps = entry.get("swaps", like.swaps)
        lexica[name] = Lexicon(
            dims=tuple(entry.get("dims", like.dims)),
            vectors=MappingProxyType(vectors),
            positions=entry.get("positions", like.positions),
            swaps=tuple(tuple(pair) for pair in swaps),
            roles=MappingProxyType(roles),
        )
    return lexica


EXAMPLE_DATA = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
LEXICA: Mapping[str, Lexicon] = MappingProxyType(read_lexica(EXAMPLE_DATA["lexica"]))
