"""The goals set for the models of kind "asked" before their training, and the goals that they miss."""

from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import read_figures

WANTED = {"one_fits": 0.95, "two_fit": 0.85, "pairs": 0.95, "across": 0.98}  # of each asked model, see measure_heads


def find_missed(name: str) -> dict[str, float]:
    """The figures of a shipped model that are below its goals; other kinds than "asked" have no goals.

    >>> find_missed("zh_asked_encoder"), find_missed("en_asked_encoder"), find_missed("en_named_encoder")
    ({'one_fits': 0.9467}, {}, {})
    """
    if RECIPES[name].kind != "asked":
        return {}
    figures = read_figures()[name].figures
    return {figure: figures[figure] for figure, least in WANTED.items() if figures[figure] < least}
