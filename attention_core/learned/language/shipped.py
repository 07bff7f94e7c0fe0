"""Gives access to the language models included in the package, their recipes and their measurements."""

from pathlib import Path

from attention_core.learned.language.network_folder import NetworkFolder
from attention_core.learned.language.recipes import RECIPES

LANGUAGE_MODELS = NetworkFolder(Path(__file__).with_name("shipped"), RECIPES)
SHIPPED_FOLDER = LANGUAGE_MODELS.folder
shipped_names = LANGUAGE_MODELS.names
load_recipe = LANGUAGE_MODELS.recipe
load_model = LANGUAGE_MODELS.load
model_file = LANGUAGE_MODELS.model_file
read_figures = LANGUAGE_MODELS.figures
weights_revision = LANGUAGE_MODELS.revision
ASKED_MODEL_GOALS = {"one_fits": 0.95, "two_fit": 0.85, "pairs": 0.95, "across": 0.98}


def other_form(name: str) -> str | None:
    """Return the decoder of an encoder, or the encoder of a decoder, of the same kind and language.

    Returns None if that model is not included in the package.
    """
    recipe = RECIPES[name]
    forms = [
        each
        for each in shipped_names()
        if (RECIPES[each].language, RECIPES[each].kind) == (recipe.language, recipe.kind) and each != name
    ]
    return forms[0] if forms else None


def count_seeds(name: str) -> int:
    """Return the number of seeds with which a model was trained; only the best of these trainings is in the package.

    >>> count_seeds("en_asked_encoder"), count_seeds("en_foretold_encoder")
    (3, 1)
    """
    return 1 + len(read_figures()[name].others)


def find_missed(name: str) -> dict[str, float]:
    """Return {measurement: value} for those measurements in which a model misses its goals; only "asked" models have
    goals.

    >>> find_missed("zh_asked_encoder"), find_missed("en_asked_encoder"), find_missed("en_named_encoder")
    ({'one_fits': 0.9467}, {}, {})
    """
    if RECIPES[name].kind != "asked":
        return {}
    figures = read_figures()[name].figures
    return {figure: figures[figure] for figure, least in ASKED_MODEL_GOALS.items() if figures[figure] < least}
