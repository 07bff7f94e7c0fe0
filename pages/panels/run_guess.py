"""Whether a language model guesses about any sentence of a run: said by every file of it, and on the stage."""

from attention_core.learned.language.batches import START
from pages.panels.model_guess import tell_sign
from pages.panels.second_sentence import second_words_of
from pages.runs.cache import inputs_of
from pages.setup.setup import Setup, model_of
from pages.site.words import strip_markup

WORD_PANEL = "words"  # the panel that shows which words the model says


def tell_run_guess(setup: Setup) -> str:
    """The sign of each sentence of a run about which its model guesses, without markup; nothing where no model reads,
    or where it knows such sentences."""
    if model_of(setup) is None:
        return ""
    inputs = inputs_of(setup)
    own = [each.words for each in inputs.batch] or [inputs.queries]
    sentences = [words for words in (*own, second_words_of(setup)) if words[:1] == (START,)]
    signs = dict.fromkeys(tell_sign(setup, words, setup.panel == WORD_PANEL) for words in sentences)
    return strip_markup(" ".join(filter(None, signs)))
