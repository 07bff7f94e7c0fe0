"""The language models that come with the app, and what there is to know of each; see NetworkFolder."""

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


def other_form(name: str) -> str | None:
    """The decoder of an encoder, and the encoder of a decoder: of the same kind and language, if it comes along."""
    recipe = RECIPES[name]
    forms = [
        each
        for each in shipped_names()
        if (RECIPES[each].language, RECIPES[each].kind) == (recipe.language, recipe.kind) and each != name
    ]
    return forms[0] if forms else None


def count_seeds(name: str) -> int:
    """From how many seeds a model was trained; the best of them comes along.

    >>> count_seeds("en_asked_encoder"), count_seeds("en_foretold_encoder")
    (3, 1)
    """
    return 1 + len(read_figures()[name].others)
