"""Shows the accordions of the lesson on whether a head's attention has a meaning, and provides functions that its page
uses too.
"""

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.language.checkpoints import (
    OWN,
    STEP_FIGURES,
    Reading,
    StepFigures,
    held_out_pair,
    read_pair,
    size_between_steps,
    steps_of,
)
from attention_core.learned.language.shipped import count_seeds
from attention_core.record.number_text import format_grouped, format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.learned.learning import share_axis
from pages.lessons.prompts import after_guess
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.session.labels import current_palette, spoken_share
from pages.setup.setup import Setup, make_setup
from pages.site.words import say

# ---- the three networks of the lesson on meaning, their sentences, and their measured figures ------------------------
NETWORKS = {"A": "foretold", "B": "named", "C": "asked"}  # letter of a network in the lesson -> name of its training
OFFERED_PAIRS = (47, 49, 34, 8)  # indices of the held-out pairs of sentences on offer
LANGUAGES = {"model_en": "en", "model_zh": "zh"}  # example on the workbench -> language of its networks

Pair = tuple[Reading, Reading]


def name_network(letter: str, language: str) -> str:
    """Returns the name of a network of the lesson.

    letter: a key of NETWORKS.
    """
    return f"{language}_{NETWORKS[letter]}_encoder"


def figures_of(letter: str, language: str) -> StepFigures:
    """Returns the measurements of a network of the lesson, such as the share of right answers after each training step.

    letter: a key of NETWORKS.
    """
    return STEP_FIGURES.rows[name_network(letter, language)]


def spell_words(words: tuple[str, ...], language: str) -> str:
    """Returns the words after the start token as text, joined as the language writes them."""
    return ("" if language == "zh" else " ").join(words[1:])


def merge_words(number: int, language: str) -> tuple[str, ...]:
    """Returns the words of a pair of sentences; where the two sentences differ, both words, as "cat/dog".

    number: the index of the pair.
    """
    one, two = (place.text.words for place in held_out_pair(language, number))
    return tuple(word if word == other else f"{word}/{other}" for word, other in zip(one, two, strict=True))


def list_columns(number: int, language: str) -> list[str]:
    """Returns the words of a pair between the start token and the full stop, with "…" where the sentences differ.

    number: the index of the pair.
    """
    one, two = (place.text.words[1:-1] for place in held_out_pair(language, number))
    return [word if word == other else "…" for word, other in zip(one, two, strict=True)]


def choose_step(language: str) -> LiveChoice:
    """Shows a slider that selects a training step, and returns it."""
    steps = steps_of(name_network("C", language))
    others = [step for example in LANGUAGES.values() for step in steps_of(name_network("C", example))]
    choice = find_live_choice("step_of", steps, max(steps), others=others)
    show_live_choice(choice, width=220)
    return choice


def read_by_all(language: str, step: int, number: int, change: str) -> dict[str, Pair]:
    """Returns {letter of a network: its outputs for a pair of sentences} after a training step.

    number: the index of the pair. change: an intervention in the heads, one of HEAD_CHANGES.
    """
    return {letter: read_pair(name_network(letter, language), step, number, change) for letter in NETWORKS}


def read_last(letter: str, language: str, number: int) -> Pair:
    """Returns the outputs of a fully trained network for both sentences of a pair.

    letter: a key of NETWORKS. number: the index of the pair.
    """
    name = name_network(letter, language)
    return read_pair(name, max(steps_of(name)), number)


def setup_for_network(letter: str, example: str, reading: Reading) -> Setup:
    """Returns the Setup that shows a sentence in the layer of a trained network's selected head.

    letter: a key of NETWORKS. reading: the network's output for the sentence.
    """
    language = LANGUAGES[example]
    layer, head = figures_of(letter, language).head
    return make_setup(
        example=example,
        text=spell_words(reading.place.text.words, language),
        model=name_network(letter, language),
        layer=layer + 1,
        head=head,
        token=reading.place.at,
    )


def name_head(layer: int, head: int) -> str:
    """Returns the name of a head, which counts layers and heads from 1.

    layer, head: indices from 0.
    """
    return say("lessons.meaning.head", layer=layer + 1, head=head + 1)


# ---- sentences about the networks: the share of held-out pairs with right answers for both sentences -----------------
GUESS_BOUNDS = (0.6, 0.2)  # shares of right pairs that separate the three possible guesses
ANSWERING = ("B", "C")  # networks trained to answer to which noun the pronoun refers


def find_right_guess(language: str) -> int:
    """Returns the index of the right guess: how often network B's best head attends to the noun that the pronoun refers
    to.
    """
    shown = last_of(figures_of("B", language).shown)
    reached = [shown > bound for bound in GUESS_BOUNDS]
    return reached.index(True) if True in reached else len(GUESS_BOUNDS)


def last_of(figures: dict[str, float]) -> float:
    """Returns the value after the last training step.

    figures: {training step: measured value}.
    """
    return figures[max(figures, key=int)]


def find_needed_head(figures: StepFigures) -> tuple[int, int]:
    """Returns (layer, head) of the head whose ablation leaves the fewest right answers.

    The head whose weights are the network's answer does not count.
    """
    answers = {
        (layer, head): share for layer, shares in enumerate(figures.without) for head, share in enumerate(shares)
    }
    del answers[tuple(figures.head)]
    return min(answers, key=answers.get)


def tell_lacking_steps(choice: LiveChoice, language: str) -> None:
    """Shows why the slider has only the first and the last training step, if this is so."""
    first, *between, last = choice.options
    if between:
        return
    megabytes = size_between_steps(name_network(letter, language) for letter in NETWORKS)
    st.caption(say("lessons.meaning.lacking", first=first, last=format_grouped(last), size=round(megabytes)))


def describe_step(step: str, language: str, known: bool) -> str:
    """Returns the sentence about how often heads attend to the right noun and answers are right, after a training step.

    known: whether the share of network B may be shown.
    """
    values = {}
    for letter in NETWORKS:
        figures = figures_of(letter, language)
        values[f"shown_{letter}"] = format_percent(figures.shown[step])
        if letter in ANSWERING:
            values[f"answered_{letter}"] = format_percent(figures.answered[step])
    if not known:
        values["shown_B"] = "?"
    return say("lessons.meaning.fact", step=format_grouped(int(step)), **values)


def describe_change(change: str, language: str) -> str:
    """Returns the sentence about the answers of trained networks before and after an intervention in their heads.

    change: the intervention, one of HEAD_CHANGES.
    """
    values = {}
    for letter in ANSWERING:
        figures = figures_of(letter, language)
        values[f"before_{letter}"] = format_percent(last_of(figures.answered))
        values[f"after_{letter}"] = format_percent(figures.changed[change])
    return say(f"lessons.meaning.changed_{change}", **values)


def is_changed(change: str) -> bool:
    """Returns whether a choice from HEAD_CHANGES intervenes in the heads at all."""
    return change != OWN


# ---- drawer "grow": what comes first, the answer or the head? --------------------------------------------------------
STEPPED_LANGUAGE = "en"  # the language whose networks have checkpoints between the first and the last step


def show_growing_heads(_: str) -> None:
    """Shows as curves how often heads attend to the right noun, and how often answers are right, after each training
    step.
    """
    drawn = []
    told = {}
    for letter in NETWORKS:
        figures = figures_of(letter, STEPPED_LANGUAGE)
        drawn.append(make_curve("head", letter, figures.shown))
        if letter in ANSWERING:
            drawn.append(make_curve("answer", letter, figures.answered))
        for step, share in figures.answered.items():
            told[f"answer_{letter}_{step}"] = format_percent(share)
            told[f"head_{letter}_{step}"] = format_percent(figures.shown[step])
    show_sentence("lessons.meaning.grow", **told)
    steps = [int(step) for step in figures_of("C", STEPPED_LANGUAGE).shown]
    x = Axis(say("lessons.meaning.axis_step"), 0, max(steps), values=tuple(steps))
    y = share_axis(say("lessons.meaning.axis_share"))
    picture = curves(drawn, x, y, current_palette(), height=260)
    show_curve_chart(picture, "meaning_grow", say("lessons.meaning.alt_grow"))


def make_curve(kind: str, letter: str, shares: dict[str, float]) -> Curve:
    """Returns the curve of a network's head or of its answers by training step.

    kind: "head" or "answer". letter: a key of NETWORKS. shares: {training step: share of right pairs}.
    """
    palette = current_palette()
    of_heads = {"A": palette.x, "B": palette.k, "C": palette.share}
    of_answers = {"B": palette.v, "C": palette.q}
    colour = {"head": of_heads, "answer": of_answers}[kind][letter]
    name = say(f"lessons.meaning.curve_{kind}", network=letter)
    return Curve(name, [int(step) for step in shares], [*shares.values()], colour)


# ---- drawer "every": do other heads show who is meant? ---------------------------------------------------------------
def show_every_head(language: str) -> None:
    """Shows for each head how often it attends to the right noun, and how often answers are right without it."""
    values = {}
    for letter in ANSWERING:
        for name, value in describe_heads(letter, language).items():
            values[f"{name}_{letter}"] = value
    show_sentence("lessons.meaning.every", **values)
    st.table(make_rows(language), hide_index=True, width="content")


def describe_heads(letter: str, language: str) -> dict[str, str]:
    """Returns how often a network's best head attends to the right noun, and which other head the answers need most.

    The result is {placeholder of a sentence: text}.
    """
    figures = figures_of(letter, language)
    layer, head = find_needed_head(figures)
    return {
        "best": format_percent(max(map(max, figures.heads))),
        "own": name_head(*figures.head),
        "all": format_percent(last_of(figures.answered)),
        "needed": name_head(layer, head),
        "shown": format_percent(figures.heads[layer][head]),
        "least": format_percent(figures.without[layer][head]),
    }


def make_rows(language: str) -> list[dict[str, str]]:
    """Returns the rows of the table, one per head, as {column title: text}."""
    rows = []
    for layer, heads in enumerate(figures_of("C", language).heads):
        for head, _ in enumerate(heads):
            row = {say("lessons.meaning.column_head"): name_head(layer, head)}
            for letter in ANSWERING:
                figures = figures_of(letter, language)
                shown = say("lessons.meaning.column_shown", network=letter)
                row[shown] = percent(figures.heads[layer][head])
                without = say("lessons.meaning.column_without", network=letter)
                row[without] = percent(figures.without[layer][head])
            rows.append(row)
    return rows


def percent(share: float) -> str:
    """Formats a share as a percentage for the table."""
    return say("train.percent", much=spoken_share(share)).strip()


# ---- drawer "why": why does one head attend to the right word? -------------------------------------------------------
def show_forced_look(language: str) -> None:
    """Shows how the trainings of the three networks differ, and links to each network on the workbench."""
    show_sentence("lessons.meaning.why")
    (example,) = [example for example, of in LANGUAGES.items() if of == language]
    with st.container(horizontal=True):
        for letter in NETWORKS:
            one, _ = read_last(letter, language, OFFERED_PAIRS[0])
            setup = setup_for_network(letter, example, one)
            link_to_workbench(setup, f"why_{letter}", say("lessons.meaning.door", network=letter))


# ---- drawer "conclude": what may be concluded? -----------------------------------------------------------------------
def show_conclusion(language: str) -> None:
    """Shows what can and what cannot be concluded from the three trainings."""
    named, asked = figures_of("B", language), figures_of("C", language)
    show_sentence(
        "lessons.meaning.conclude",
        answered=format_percent(last_of(named.answered)),
        shown=format_percent(last_of(named.shown)),
        without=format_percent(named.changed["off"]),
        asked=format_percent(last_of(asked.shown)),
        asked_without=format_percent(asked.changed["off"]),
        **{f"seeds_{letter}": count_seeds(name_network(letter, language)) for letter in NETWORKS},
    )


LESSON = Lesson(
    "meaning",
    drawers={
        "grow": after_guess(show_growing_heads),
        "every": after_guess(show_every_head),
        "why": after_guess(show_forced_look),
        "conclude": after_guess(show_conclusion),
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
