"""Shows the lesson on heads: the same matrices as two heads and as one head, in a sentence with coloured animals.

With two heads the output shows which animal has which colour; with one head it may not.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core import Trace
from attention_core.analysis.head_contributions import find_carried
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.record.number_text import format_fixed
from pages import components
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.heads.drawers import LESSON
from pages.lessons.pictures import RunPicture, make_cell_rows, show_lesson_journey, show_run_picture
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names, quote_token
from pages.panels.fact import show_fact
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.collected import show_moving
from pages.session.labels import place_name, selection_of
from pages.session.staged import is_one_screen
from pages.site.words import get_text_template, say

COLOUR_CHANGES = ("weaker", "same", "stronger")  # strength of a colour with one head, relative to two heads


def name_colour_change(one: float, two: float) -> str:
    """Returns a name in COLOUR_CHANGES: whether an output colour is weaker, the same or stronger with one head than
    with two.
    """
    if format_fixed(one) == format_fixed(two):
        return "same"
    return "weaker" if abs(one) < abs(two) else "stronger"


def make_colour_rows(runs: Mapping[str, Trace], names: Sequence[str], query: int, known: bool) -> RunPicture:
    """Returns a picture of each word's input colour, and of its output colours with two heads and with one head.

    query: the index of the selected word. known: whether the answer may be shown.
    """
    two = runs["two"]
    one = runs["one"]
    colour = two.labels["D_out"].index("colour")
    rows = [
        column_of(say("lessons.heads.own"), two, "x", (0,), colour, "two"),
        column_of(say("lessons.heads.with_two"), two, "output", (0,), colour, "two"),
        column_of(say("lessons.heads.with_one"), one, "output", (0,), colour, "one", hidden=not known),
    ]
    return make_cell_rows("hero", rows, names, runs, two, colour_rows, looked=query)


# ---- the words painted in their colours, and the colour that flows to a word along each head -------------------------
PAINTED_TEXTS = ("own", "with_two", "with_one", "brings", "flows", "comma", "paints", "unpainted", "colour", "and")


def show_painted(
    runs: Mapping[str, Trace], shown: str, names: Sequence[str], query: int, colour: int, known: bool
) -> None:
    """Shows, as ribbons, which words' colours flow to the selected word through each head.

    runs: {"two": the run with two heads, "one": the run with one head}. shown: the name of the run whose ribbons are
    drawn. query: the word selected at first; the browser selects another word without a request. colour: the index of
    the output column with the colour. known: whether the output with one head may be shown.
    """
    run = runs[shown]
    seen = ("two", "one") if known else ("two",)
    data = {
        "words": list(names),
        "query": query,
        "shown": shown,
        "own": run["x"][0, :, colour].tolist(),
        "heads": describe_heads(run, colour),
        "out": {name: runs[name]["output"][0, :, colour].tolist() for name in seen},
        "text": {name: get_text_template(f"lessons.heads.painted.{name}") for name in PAINTED_TEXTS}
        | {"alt": say("lessons.heads.painted.alt")},
    }
    show_moving(components.painted_words, data=data, key="heads_painted")


def describe_heads(run: Trace, colour: int) -> list[dict[str, object]]:
    """Returns, for each head, its name, its weights, and the amount of the colour that it takes from each word."""
    carried = find_carried(run, colour)[0]  # (H, S)
    heads = []
    for head, weights in enumerate(run["weights"][0]):
        heads.append(
            {
                "name": place_name(run, "H", head),
                "weights": weights.tolist(),
                "carried": carried[head].tolist(),
            }
        )
    return heads


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        two = sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour")).with_fields(head=0)
        one = two.with_fields(heads=1)
        runs = {"two": trace_for(two), "one": trace_for(one)}
        names = list_place_names(runs["two"], "T")
        colour = runs["two"].labels["D_out"].index("colour")
        moved = abs_difference(runs["one"]["output"], runs["two"]["output"])[0, :, colour]  # (T,)
        query = pick_place("token", names, int(moved.argmax()))
        shown = choose_option("heads", ("two", "one"))
    two = two.with_fields(token=query)
    colours = {name: run["output"][0, query, colour].item() for name, run in runs.items()}
    change = name_colour_change(**colours)
    word = quote_token(runs["two"], "T", query)
    painted = st.container()
    answers = [say(f"lessons.heads.{name}") for name in COLOUR_CHANGES]
    right = COLOUR_CHANGES.index(change)
    known = predict(answers, {right}, say("lessons.heads.ask", word=word)) or shown == "one"
    with painted:
        show_painted(runs, shown, list_place_names(runs["two"], "T"), query, colour, known)
    setup = two.with_fields(heads=1) if shown == "one" else two
    run = runs[shown]
    selection = selection_of(run, setup)
    key = "came_same" if change == "same" and shown == "one" else f"came_{shown}"
    fact = say(
        f"lessons.heads.{key}",
        fact=fact_sentence(run, selection),
        word=word,
        one=format_fixed(colours["one"]),
        two=format_fixed(colours["two"]),
    )
    show_fact(fact)
    show_lesson_journey(setup)
    if not is_one_screen():  # a lecture leaves this picture out, because the coloured words show the same numbers
        st.space("small")  # below the names of the journey's stops
        show_run_picture(make_colour_rows(runs, names, query, known))
    show_lesson_run(setup, place)
    draw_drawers(LESSON, two)
    show_lesson_code(LESSON, run)
