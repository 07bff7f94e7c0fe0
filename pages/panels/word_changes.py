"""Changes the words of a sentence: exchanges one word for another, or splits and joins Chinese words."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import TOKEN_SEPARATOR, is_written_without_spaces, printable_token
from attention_core.learned.language.batches import START
from attention_core.record.errors import AttentionError
from pages.components import make_component
from pages.components.messages import ListOf, Text, Whole
from pages.panels.flow_numbers import MAX_WHOLE_TOKENS
from pages.panels.setup_controls import show_refusal, try_change
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens, tokens_of
from pages.runs.run_inputs import RunInputs
from pages.session.labels import current_palette
from pages.session.view import current_screen
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import get_text_template, say


def find_swap_offer(setup: Setup, inputs: RunInputs) -> tuple[str, str] | None:
    """Returns a pair of words from the example's dictionary, such as (it, she), whose first word the sentence has; else
    None.

    The page suggests to replace the first word by the second, unless the picture draws only a part of the words, in
    which the replaced one may be missing.
    """
    if resolve_run(setup.run).mode != "sentence":
        return None
    swaps = EXAMPLES[setup.run.example].dictionary().swaps
    words = first_sentence_of(inputs)
    if len(words) > MAX_WHOLE_TOKENS:
        return None
    return next(((old, new) for old, new in swaps if old in words), None)


def take_swap_offer(setup: Setup, inputs: RunInputs) -> None:
    """Applies the suggested replacement of a word. A query that the visitor selected stays selected."""
    old, new = find_swap_offer(setup, inputs)
    try_change("text", text=exchange_word(setup, inputs, old, new), token=setup.view.token)


def first_sentence_of(inputs: RunInputs) -> tuple[str, ...]:
    """Returns the words of the sentence; for a batch, the words of the first sentence."""
    return inputs.batch[0].words if inputs.batch else inputs.queries


def exchange_word(setup: Setup, inputs: RunInputs, old: str, new: str) -> str:
    """Returns the sentence as text, with every occurrence of the word `old` replaced by `new`."""
    words = tuple(new if word == old else word for word in first_sentence_of(inputs))
    return spell_tokens(words, setup.run)


def with_word(setup: Setup, at: int, text: str) -> Setup:
    """Returns the Setup with another word at a position. Raises AttentionError if the text is not one word."""
    new_words = tokens_of(text, setup.run)
    count = len(new_words)
    if count != 1:
        raise AttentionError("one_word", given=printable_token(text), count=count)
    words = inputs_of(setup).queries
    changed_words = (*words[:at], *new_words, *words[at + 1 :])
    return setup.with_fields(text=spell_tokens(changed_words, setup.run))


def suggest_word(setup: Setup, at: int) -> str:
    """Returns a word of the dictionary that could replace the word at index `at`.

    It is the replacement that the dictionary suggests, else a word with another vector, else the same word.
    """
    lexicon = EXAMPLES[setup.run.example].dictionary()
    word = inputs_of(setup).queries[at]
    swaps = dict(lexicon.swaps)
    if swaps.get(word):
        return swaps[word]
    own_vector = lexicon.find(word)
    for other, vector in lexicon.vectors.items():
        if vector != own_vector:
            return other
    return word


# ---- the words of a Chinese sentence: a click between two characters splits or joins ---------------------------------
GAP_CONTROL = "word_gap"  # name under which the error of a refused split or join is stored

word_gaps = make_component(
    "word_gaps",
    '<div class="word-gaps" role="group"></div>',
    is_fetched=True,
    sends={"gap": {"at": Whole(), "words": ListOf(Text(10_000), 10_000)}},
)


def show_word_gaps(setup: Setup, inputs: RunInputs) -> None:
    """Shows the words of a sentence with buttons to split and join them; shows nothing if spaces separate the words."""
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
    word_gaps(data=data, key="word_gaps", on_gap=take_gap)
    show_refusal(GAP_CONTROL)


def gap_words(inputs: RunInputs) -> list[str]:
    """Returns the words of a run's first sentence, without START."""
    return [word for word in first_sentence_of(inputs) if word != START]


def take_gap(gap: Mapping) -> None:
    """Splits or joins words after a click between two characters, if the sentence still has the words that the browser
    showed.

    gap: "at", the offset of the click in characters, and "words", which the browser showed.
    """
    screen = current_screen()
    words = gap_words(screen.inputs)
    changed = toggle_gap(words, gap["at"]) if [*gap["words"]] == words else ()
    if changed:
        try_change(GAP_CONTROL, text=spell_tokens(changed, screen.setup.run))


def toggle_gap(words: Sequence[str], at: int) -> tuple[str, ...]:
    """Returns the words after a click at a character offset: a word is split there, or two words are joined.

    Returns () if the offset is invalid.

    >>> toggle_gap(["南京", "市长"], 2), toggle_gap(["南京", "市长"], 3), toggle_gap(["南京", "市长"], 4)
    (('南京市长',), ('南京', '市', '长'), ())
    """
    text = "".join(words)
    if not 0 < at < len(text) or TOKEN_SEPARATOR in text:
        return ()
    ends = sorted({*accumulate(map(len, words))} ^ {at})
    return tuple(text[start:end] for start, end in zip([0, *ends], ends, strict=False))
