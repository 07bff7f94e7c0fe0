"""The sentence and its translation in the decoder's lesson, and the translator's run on both."""

from dataclasses import dataclass
from functools import lru_cache

import torch

from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.examples.examples import EXAMPLES
from attention_core.learned.grammar import vocabulary
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
DECODER_LAYERS, DECODER_HEADS = ("1", "2"), ("1", "2", "3", "4")  # layers and heads of the translator's decoder
MOST_TYPED_WORDS = 14  # longest sentence, in words: each word has its own line
ROW_CHOICE, FIRST_ROW = "t", 3  # link parameter and default of the selected generated word


@dataclass(frozen=True)
class Written:
    """A sentence and its translation, each with its start token, and the selection.

    layer: counted from 1. head, row: counted from 0."""

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
        """The run of the translator, with what each decoder part adds to vectors and logits."""
        return sum_translator(self.name, self.source, self.target)

    def view(self) -> BlockView:
        """Returns the view of the run at the selected row, for the picture of the sum."""
        return make_view(self.name, (*self.source, *self.target), self.stack, self.row)

    def shown(self) -> Setup:
        """Returns the selected cross-attention as a Setup of the workbench."""
        return self.setup.with_fields(head=self.head, token=self.row)


def choose_written() -> Written:
    """Asks for a sentence, a layer and a head; by default the last layer and the head that aligns words."""
    setup = sentence_box(make_setup(example=TRANSLATOR_EXAMPLE), "english", "context_text", MOST_TYPED_WORDS)
    layer = choose_option("layer", DECODER_LAYERS, DECODER_LAYERS[-1], str)
    aligning = DECODER_HEADS[aligning_head(EXAMPLES[TRANSLATOR_EXAMPLE].translator)]
    head = choose_option("head", DECODER_HEADS, aligning, str)
    kind = sentences_of(setup.run)
    target = kind.own_words()
    row = min(get_choice(ROW_CHOICE, FIRST_ROW, read_link_count), len(target) - 1)
    return Written(setup, kind.source_words(), target, int(layer), DECODER_HEADS.index(head), row)


@lru_cache(maxsize=4)  # few entries, because each has a logit change per row and vocabulary word
def sum_translator(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> Stack:
    """Runs a translator, and adds what each decoder part contributes to each word's vector and logits."""
    with torch.inference_mode():
        stack = with_logit_sum(with_residual_sum(run_translator(name, source, target)))
    return stack.labelled(target, memory=source, vocabulary=tuple(vocabulary(TARGET)))
