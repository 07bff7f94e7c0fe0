"""Shows the lesson on whether a head's attention has a meaning: three trainings of one network, its attention, and
answers without a head.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row, row_of
from attention_core.learned.language.checkpoints import Reading
from attention_core.learned.language.measures import MEASURED_PAIRS
from attention_core.record.number_text import format_percent
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run, tell_method
from pages.lessons.meaning.drawers import (
    LANGUAGES,
    LESSON,
    OFFERED_PAIRS,
    Pair,
    choose_step,
    describe_change,
    describe_step,
    figures_of,
    find_right_guess,
    is_changed,
    last_of,
    list_columns,
    merge_words,
    read_by_all,
    read_last,
    setup_for_network,
    spell_words,
    tell_lacking_steps,
)
from pages.lessons.opened_cell import FoundRuns
from pages.lessons.pictures import RunPicture, find_phone_room, make_cell_rows, show_live_bars
from pages.lessons.prompts import predict
from pages.panels.link_controls import choose_option, pick_example, pick_place
from pages.panels.live_choice import LiveChoice
from pages.panels.live_frames import tell_live
from pages.runs.cache import trace_for
from pages.site.words import say

GUESSES = ("most", "some", "few")
HEAD_CHANGES = ("own", "even", "off")  # interventions in heads: none, uniform weights, ablation


# ---- the picture of the lesson on meaning: weights of a head of each network from the pronoun, in both sentences -----
HEADS_WIDTH_PX = 1118  # width of the picture in pixels, as wide as the page so that words are legible


def show_heads(choice: LiveChoice, language: str, number: int, change: str, known: bool) -> None:
    """Shows the weights of one head of each network, in a picture that follows the slider of training steps.

    number: the index of the pair of sentences. change: the intervention in the heads, one of HEAD_CHANGES. known:
    whether the answer may be shown.
    """
    names = list_columns(number, language)
    readings = [read_by_all(language, step, number, change) for step in choice.options]
    shown = [make_rows(each, names, known, room=HEADS_WIDTH_PX) for each in readings]
    pictures = [each.picture for each in shown]
    on_phone = {"room": find_phone_room(len(names)), "titles_above": True}
    narrow = [make_rows(each, names, known, **on_phone).picture for each in readings]
    step = choice.value

    def find_run(name: str) -> Trace:
        letter, place = name
        return read_by_all(language, step, number, change)[letter][int(place) - 1].trace

    runs = FoundRuns([*shown[choice.position].runs], find_run)
    show_live_bars(choice, "heads", pictures, narrow, runs, say("lessons.meaning.alt"))


def make_rows(pairs: Mapping[str, Pair], names: tuple[str, ...], known: bool, **how) -> RunPicture:
    """Returns a picture with two rows for each network, one for each sentence of the pair.

    names: the names of the columns. known: whether the rows of network B may be shown. how: arguments of cell_rows.
    """
    rows = []
    runs = {}
    for letter, pair in pairs.items():
        for place, reading in enumerate(pair, 1):
            run = f"{letter}{place}"
            runs[run] = reading.trace
            rows.append(make_row(letter, reading, run, hidden=letter == "B" and not known))
    return make_cell_rows("heads", rows, names, runs, pairs["C"][0].trace, **how)


def make_row(letter: str, reading: Reading, run: str, hidden: bool) -> Row:
    """Returns the row of a head's weights for the pronoun as query, titled with the network's answer.

    reading: the network's output for the sentence. hidden: whether the weights are still hidden.
    """
    links = [link for link in reading.place.text.links if link.kind == "about"]
    deciding = reading.place.text.words[links[-1].at]  # the word that decides to which noun the pronoun refers
    values = {"network": letter, "reason": deciding}
    if reading.answer is None:
        title = say("lessons.meaning.row_silent", **values)
    elif reading.undecided:
        title = say("lessons.meaning.row_undecided", **values)
    else:
        sign = say("lessons.meaning.right" if reading.right else "lessons.meaning.wrong")
        share = format_percent(reading.share)
        title = say("lessons.meaning.row", answer=reading.answer, share=share, sign=sign, **values)
    row = row_of(title, reading.trace, "weights", (0, reading.head, reading.place.at), run, hidden)
    return replace(row, refs=row.refs[1:-1])  # the row without the start token and the full stop


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = pick_example(*LANGUAGES, zh="model_zh").run.example
        language = LANGUAGES[example]
        pairs = [spell_words(merge_words(each, language), language) for each in OFFERED_PAIRS]
        number = OFFERED_PAIRS[pick_place("pair", pairs, 0)]
        choice = choose_step(language)
        change = choose_option("change", HEAD_CHANGES)
    answers = [say(f"lessons.meaning.guess_{name}") for name in GUESSES]
    answered = format_percent(last_of(figures_of("B", language).answered))
    question = say("lessons.meaning.ask", answered=answered, count=MEASURED_PAIRS)
    known = predict(answers, {find_right_guess(language)}, question)
    facts = [describe_step(str(step), language, known) for step in choice.options]
    tell_live(choice, "meaning_fact", facts, "heading")
    tell_lacking_steps(choice, language)
    if is_changed(change):
        st.markdown(describe_change(change, language))
    show_heads(choice, language, number, change, known)
    tell_method(say("lessons.meaning.how"))
    one, _ = read_last("C", language, number)
    setup = setup_for_network("C", example, one)
    show_lesson_run(setup, place)
    draw_drawers(LESSON, known, language)
    show_lesson_code(LESSON, trace_for(setup))
