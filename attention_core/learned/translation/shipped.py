"""The shipped translators; see NetworkFolder."""

from pathlib import Path

from attention_core.learned.language.network_folder import NetworkFolder
from attention_core.learned.translation.recipes import TRANSLATION_RECIPES

TRANSLATORS = NetworkFolder(Path(__file__).with_name("shipped"), TRANSLATION_RECIPES)
