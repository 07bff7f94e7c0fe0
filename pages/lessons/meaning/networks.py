"""The three networks of the lesson on meaning, the sentences that they read, and what was measured of them."""

from attention_core.learned.language.kept_steps import steps_of
from attention_core.learned.language.pair_readings import Reading, held_out_pair, read_pair
from attention_core.learned.language.step_figures import StepFigures, read_step_figures
from pages.panels.link_controls import pick_place
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.setup.setup import Setup
from pages.site.words import say

NETWORKS = {"A": "foretold", "B": "named", "C": "asked"}  # the letter of each: its kind
PAIRS = (47, 49, 34, 8)  # of the held-out pairs, those that may be looked at
LANGUAGES = {"model_en": "en", "model_zh": "zh"}  # of the examples

Pair = tuple[Reading, Reading]


def name_network(letter: str, language: str) -> str:
    """The name of a network of the lesson."""
    return f"{language}_{NETWORKS[letter]}_encoder"


def figures_of(letter: str, language: str) -> StepFigures:
    """What was measured of it."""
    return read_step_figures()[name_network(letter, language)]


def spell_words(words: tuple[str, ...], language: str) -> str:
    """Words behind the sign that each text begins with, as they are written."""
    return ("" if language == "zh" else " ").join(words[1:])


def spell_pair(number: int, language: str) -> str:
    """Both sentences of a pair, written as one."""
    return spell_words(merge_words(number, language), language)


def merge_words(number: int, language: str) -> tuple[str, ...]:
    """The words of a pair; where they differ, both of them."""
    one, two = (place.text.words for place in held_out_pair(language, number))
    return tuple(word if word == other else f"{word}/{other}" for word, other in zip(one, two, strict=True))


def list_columns(number: int, language: str) -> list[str]:
    """The words of a pair between the sign that a text begins with and the full stop; "…" where they differ."""
    one, two = (place.text.words[1:-1] for place in held_out_pair(language, number))
    return [word if word == other else "…" for word, other in zip(one, two, strict=True)]


def pick_pair(language: str) -> int:
    """Asks for a pair of sentences. Gives its number."""
    labels = [spell_pair(number, language) for number in PAIRS]
    return PAIRS[pick_place("pair", labels, 0)]


def choose_step(language: str) -> LiveChoice:
    """Asks for a step of training."""
    steps = steps_of(name_network("C", language))
    others = [step for example in LANGUAGES.values() for step in steps_of(name_network("C", example))]
    choice = find_live_choice("step_of", steps, max(steps), others=others)
    show_live_choice(choice, width=220)
    return choice


def read_by_all(language: str, step: int, number: int, change: str) -> dict[str, Pair]:
    """What each network makes of a pair after some steps."""
    return {letter: read_pair(name_network(letter, language), step, number, change) for letter in NETWORKS}


def read_last(letter: str, language: str, number: int) -> Pair:
    """What a network makes of a pair after all its training."""
    name = name_network(letter, language)
    return read_pair(name, max(steps_of(name)), number)


def setup_for_network(letter: str, example: str, reading: Reading) -> Setup:
    """The run of the layer in which the network's head stands, after all its training."""
    language = LANGUAGES[example]
    layer, head = figures_of(letter, language).head
    return Setup(
        example=example,
        text=spell_words(reading.place.text.words, language),
        model=name_network(letter, language),
        layer=layer + 1,
        head=head,
        token=reading.place.at,
    )


def name_head(layer: int, head: int) -> str:
    """A head by its layer and its number, both given from 0 and told from 1."""
    return say("lessons.meaning.head", layer=layer + 1, head=head + 1)
