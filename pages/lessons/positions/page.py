"""Draws the lesson on positions: none, sinusoids, or columns that a head reads, with a slider for its offset."""

from collections.abc import Sequence

import streamlit as st

from attention_core import Trace
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import attends_at_offset
from attention_core.inputs.matrix_values import ChangedCells, PackedNumbers
from attention_core.record.number_text import format_fixed, format_term
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import RunPicture, make_cell_rows, make_live, show_run_picture
from pages.lessons.positions.drawers import LESSON
from pages.lessons.sentences import list_place_names, quote_token
from pages.lessons.word_threads import Way, show_threads
from pages.panels.head_maps import fact_sentence
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, make_place_reader, pick_example, sentence_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_goal, tell_each, tell_live
from pages.runs.cache import trace_for
from pages.session.answers import are_answers_revealed
from pages.session.labels import Selection, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

POSITIONS = {  # options of the control: no positions, the sinusoids of 2017, or position numbers that head 1 reads
    "without": {"wiring": ("bare",)},
    "sinusoidal": {"wiring": ("bare",), "positions": ("sinusoidal",)},
    "with": {},
}
BUILT_DIAL = -8  # the default number in W_q, with which head 1 attends to the previous word
REACHES = ("−2", "−1.5", "−1", "−0.5", "0", "+0.5", "+1", "+1.5", "+2")  # offsets on the slider; −1: the word before
REACH_OF_DIAL = dict(zip(range(-16, 17, 4), REACHES, strict=True))


def turn_dial(built: Setup, dial: int) -> Setup:
    """Returns the Setup in which a number replaces one cell of W_q. dial: this number, which sets the offset at which
    head 1 attends.
    """
    if dial == BUILT_DIAL:
        return built.with_fields(w_q=None)
    return built.with_fields(w_q=ChangedCells(cells=PackedNumbers.of([[3, 0, dial]])))


def take_word(_: int, word: int) -> None:
    """Selects the word that the visitor clicked in the picture as the query.

    word: the position of the word.
    """
    store_choice("token", word)


def show_dial(dial: LiveChoice, traces: Sequence[Trace]) -> None:
    """Shows the slider that sets the offset at which head 1 attends, and the goal to reach with it.

    traces: the run at each position of the slider.
    """
    reached = [attends_at_offset(each, 0, 1) for each in traces]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=420):
            show_live_choice(dial)
            entries = [say("lessons.positions.entry", number=format_term(each)) for each in dial.options]
            tell_live(dial, "positions_entry", entries, "caption")
        with st.container(width="stretch"):
            show_live_goal(dial, "positions_goal", reached, [tell_goal(each) for each in reached])


def tell_goal(reached: bool) -> str:
    """Returns the sentence about the goal that every word attends to the next word.

    reached: whether the goal is reached; if not, the sentence contains the answer once the visitor has revealed all
    answers.
    """
    if reached:
        return say("lessons.positions.done")
    answer = say("lessons.positions.answer") if are_answers_revealed() else ""
    return say("lessons.positions.still", answer=answer)


def tell_colour(trace: Trace, selection: Selection) -> str:
    """Returns the sentence about the component "colour" in the output of the selected query."""
    number = trace["output"][0, selection.query, trace.labels["D_out"].index("colour")]
    return say(
        "lessons.positions.came",
        fact=fact_sentence(trace, selection),
        word=quote_token(trace, "T", selection.query),
        number=format_fixed(float(number)),
    )


def make_colour_rows(trace: Trace, names: list[str], selection: Selection) -> RunPicture:
    """Returns a picture of each word's colour in the input and in the output."""
    colour = trace.labels["D_out"].index("colour")
    columns = (("own", "x"), ("after", "output"))
    rows = [column_of(say(f"lessons.positions.{title}"), trace, step, (0,), colour) for title, step in columns]
    return make_cell_rows("hero", rows, names, {"": trace}, trace, colour_rows, looked=selection.query)


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        built = sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour"))
        with st.container(width="content"):
            kind = choose_option("positions", tuple(POSITIONS))
    built = built.with_fields(head=0, **POSITIONS[kind])
    names = list_place_names(trace_for(built), "T")
    query = get_choice("token", len(names) - 1, make_place_reader(len(names)))
    built = built.with_fields(token=min(query, len(names) - 1))
    dial = find_live_choice("dial", tuple(REACH_OF_DIAL), BUILT_DIAL, REACH_OF_DIAL.__getitem__)
    followed = dial if kind == "with" else None
    setups = [turn_dial(built, each) for each in dial.options] if followed else [built]
    traces = [trace_for(each) for each in setups]
    shown = dial.position if followed else 0
    selection = selection_of(traces[shown], setups[shown])
    st.markdown(say(f"lessons.positions.told_{kind}"))
    if followed:
        show_dial(dial, traces)
    tell_each(followed, "positions_fact", [f"##### {tell_colour(each, selection)}" for each in traces])
    words, colours = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with words:
        ways = [Way(str(number), each, 0, selection) for number, each in enumerate(traces)]
        word = say("lessons.positions.word")
        show_threads("head_0", ways, shown, (word, word), take_word, followed)
    with colours:
        heroes = [make_colour_rows(each, names, selection) for each in traces]
        show_run_picture(make_live(followed, heroes, say("lesson.rows")) if followed else heroes[0])
    show_lesson_run(setups[shown], place)
    draw_drawers(LESSON, built.with_fields(wiring=(), positions=()))
    show_lesson_code(LESSON, traces[shown])
