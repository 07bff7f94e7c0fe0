"""The translators that come with the app; see Shelf."""

from pathlib import Path

from attention_core.learned.language.shelf import Shelf
from attention_core.learned.translation.recipes import TRANSLATION_RECIPES

TRANSLATORS = Shelf(Path(__file__).with_name("shipped"), TRANSLATION_RECIPES)
