"""The sentence of the lesson on the decoder, its translation, and the run of the translator on both."""

from dataclasses import dataclass

import torch

from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.examples.examples import EXAMPLES
from attention_core.learned.grammar import vocabulary
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.learned.translation.pairs import TARGET
from attention_core.learned.translation.reading import aligning_head, run_translator
from attention_core.transformer.stack import Stack
from pages.panels.lesson_choices import get_choice
from pages.panels.link_controls import choose_option, sentence_box
from pages.panels.model_look import BlockView, make_view
from pages.runs.compute import sentences_of
from pages.setup.link_values import read_link_count
from pages.setup.setup import Setup, make_setup

TRANSLATOR_EXAMPLE = "translator"
DECODER_LAYERS, DECODER_HEADS = ("1", "2"), ("1", "2", "3", "4")  # layers and heads of the translator's decoder, from 1
MOST_TYPED_WORDS = 14  # most words of a sentence, because each has a line in the picture
ROW_CHOICE, FIRST_ROW = "t", 3  # the selected generated word: its link parameter, and the default index


@dataclass(frozen=True)
class Written:
    """A sentence and its translation, each with its start token, and the selected layer, head and generated word.

    layer: the layer, counted from 1. head: the head, counted from 0. row: the index of the generated word.
    """

    setup: Setup
    source: tuple[str, ...]
    target: tuple[str, ...]
    layer: int
    head: int
    row: int

    @property
    def name(self) -> str:
        """Name of the translator."""
        return EXAMPLES[TRANSLATOR_EXAMPLE].translator

    @property
    def stack(self) -> Stack:
        """The run of the translator, with what each decoder part adds to the vectors and to the logits."""
        return sum_translator(self.name, self.source, self.target)

    def view(self) -> BlockView:
        """Returns the BlockView of the run at the selected word, for the picture of the residual sum."""
        return make_view(self.name, (*self.source, *self.target), self.stack, self.row)

    def shown(self) -> Setup:
        """Returns a Setup that shows the selected cross-attention on the workbench."""
        return self.setup.with_fields(head=self.head, token=self.row)


def choose_written() -> Written:
    """Shows the choice of a sentence, a layer and a head; returns these with the sentence's translation.

    The defaults are the last layer, and the head that aligns words.
    """
    setup = sentence_box(make_setup(example=TRANSLATOR_EXAMPLE), "english", "context_text", MOST_TYPED_WORDS)
    layer = choose_option("layer", DECODER_LAYERS, DECODER_LAYERS[-1], str)
    aligning = DECODER_HEADS[aligning_head(EXAMPLES[TRANSLATOR_EXAMPLE].translator)]
    head = choose_option("head", DECODER_HEADS, aligning, str)
    kind = sentences_of(setup.run)
    target = kind.own_words()
    row = min(get_choice(ROW_CHOICE, FIRST_ROW, read_link_count), len(target) - 1)
    return Written(setup, kind.source_words(), target, int(layer), DECODER_HEADS.index(head), row)


@MODEL_CACHE.keep
def sum_translator(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> Stack:
    """Runs a translator, and adds steps for what each decoder component adds to each word's vector and logits."""
    with torch.inference_mode():
        stack = with_logit_sum(with_residual_sum(run_translator(name, source, target)))
    return stack.labelled(target, memory=source, vocabulary=tuple(vocabulary(TARGET)))
