"""The words of a Chinese sentence: a click between two characters splits one word, or joins two words."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from attention_core.inputs.tokenizer import TOKEN_SEPARATOR, is_written_without_spaces
from attention_core.learned.language.batches import START
from pages.components import make_component
from pages.components.messages import ListOf, Text, Whole
from pages.panels.setup_controls import show_refusal, try_change
from pages.panels.word_swaps import first_sentence_of
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.session.labels import current_palette
from pages.session.view import current_screen
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import get_text_template, say

KEY = "word_gaps"
CONTROL = "word_gap"  # control under which the refusal of a click is stored

word_gaps = make_component(
    "word_gaps",
    '<div class="word-gaps" role="group"></div>',
    is_fetched=True,
    sends={"gap": {"at": Whole(), "words": ListOf(Text(10_000), 10_000)}},
)


def show_word_gaps(setup: Setup, inputs: RunInputs) -> None:
    """Shows the words of the sentence, which can be split and joined; returns early for text with spaces between the
    words.
    """
    words = gap_words(inputs)
    if resolve_run(setup.run).network is not None or not is_written_without_spaces("".join(words)):
        return
    data = {
        "words": words,
        "text": {
            "label": say("gaps.label"),
            "part": get_text_template("gaps.part"),
            "join": get_text_template("gaps.join"),
        },
        "palette": vars(current_palette()),
    }
    word_gaps(data=data, key=KEY, on_gap=take_gap)
    show_refusal(CONTROL)


def gap_words(inputs: RunInputs) -> list[str]:
    """The words of the sentence without START."""
    return [word for word in first_sentence_of(inputs) if word != START]


def take_gap(gap: Mapping) -> None:
    """Handles a click between two characters, if the current words are those that the browser showed."""
    screen = current_screen()
    words = gap_words(screen.inputs)
    changed = toggle_gap(words, gap["at"]) if [*gap["words"]] == words else ()
    if changed:
        try_change(CONTROL, text=spell_tokens(changed, screen.setup.run))


def toggle_gap(words: Sequence[str], at: int) -> tuple[str, ...]:
    """The words after one is split, or two are joined, at a character offset; () at an invalid offset.

    >>> toggle_gap(["南京", "市长"], 2), toggle_gap(["南京", "市长"], 3), toggle_gap(["南京", "市长"], 4)
    (('南京市长',), ('南京', '市', '长'), ())
    """
    text = "".join(words)
    if not 0 < at < len(text) or TOKEN_SEPARATOR in text:
        return ()
    ends = sorted({*accumulate(map(len, words))} ^ {at})
    return tuple(text[start:end] for start, end in zip([0, *ends], ends, strict=False))
