"""The language models that come with the app, and what there is to know of each; see Shelf."""

from pathlib import Path

from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shelf import Shelf

LANGUAGE_MODELS = Shelf(Path(__file__).with_name("shipped"), RECIPES)
SHIPPED_FOLDER = LANGUAGE_MODELS.folder
shipped_names = LANGUAGE_MODELS.names
load_recipe = LANGUAGE_MODELS.recipe
load_model = LANGUAGE_MODELS.load
model_file = LANGUAGE_MODELS.model_file
read_figures = LANGUAGE_MODELS.figures
