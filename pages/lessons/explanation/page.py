"""Is attention an explanation? Other weights in the place of the learned ones: whose prediction moves?"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.dumbbells import End, dumbbells
from attention_core.learned.insight.attention_swaps import Shift, moving
from attention_core.learned.tasks.evidence import EACH, answer
from attention_core.record.number_text import percent
from pages.lessons.explanation import drawers
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.learned.classifiers import EXAMPLES, TEXTS, check_text, setup_of, shifts_of, verdict_of
from pages.lessons.learned.learning import learning, share_axis
from pages.lessons.learned.training_panel import train_yourself
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import predict
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, option, text_box
from pages.runs.cache import trace_of
from pages.session.labels import palette, place_names, words_for
from pages.site.words import say

ANSWERS = {("lookup",): 0, ("vote",): 1, ("lookup", "vote"): 2, (): 3}  # whose prediction moves, as it may be guessed
BOXES = {"lookup": "text_lookup", "vote": "text_vote"}  # the names of the boxes for their texts
BEFORE = -0.03  # the axis begins, so that an end at 0 stands free of the names
WIDE = 400  # pixels of the dumbbells' field
ROOM = 460  # pixels of the bars beside it


def draw_shifts(found: Mapping[str, Mapping[str, Shift]], known: bool) -> None:
    """A dumbbell for each kind of other weights: A at the one end, B at the other."""
    colours = {"lookup": palette().share, "vote": palette().k}
    rows = []
    for kind in drawers.KINDS:
        shifts = {task: found[task][kind] for task in EXAMPLES}
        ends = [End(option("task")(task), each.mean, each.interval, colours[task]) for task, each in shifts.items()]
        rows.append((option("shift")(kind), ends))
    x = replace(share_axis(say("lessons.explanation.axis_shift")), first=BEFORE)
    curve_chart(dumbbells(rows, x, palette(), not known, WIDE), "explanation_hero", say("lessons.explanation.alt"))


def draw_weights(texts: drawers.Texts) -> None:
    """The learned weights of both texts."""
    for task, (network, text) in texts.items():
        trace, verdict = trace_of(setup_of(task, network, text)), verdict_of(task, network, text)
        told = {"name": verdict.name, "share": percent(verdict.share), "task": option("task")(task)}
        title = say("lessons.explanation.row_task" if answer(task, text) else "lessons.explanation.row_guess", **told)
        rows = [row_of(title, trace, "weights", (0, 0, 0))]
        names, opened = place_names(trace, "S", trace.sizes()["S"]), opened_in(f"own_{task}", {"": trace})
        how = {"height": 70.0, "whole": True, "room": ROOM}
        picture = bar_rows(rows, names, words_for(trace), palette(), opened, **how)
        show(f"own_{task}", picture, {"": trace}, title)


def most_of(task: str, network: str, text: str) -> float:
    """The largest weight."""
    return float(trace_of(setup_of(task, network, text))["weights"].max())


with lesson("explanation") as place:
    texts = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for task in EXAMPLES:
            of = learning(task)
            text = text_box(BOXES[task], TEXTS[task], lambda typed, task=task: check_text(task, typed), width=260)
            texts[task] = (of.network_at(max(of.steps)), text)
    found = {
        task: {kind: shifts_of(task, network, kind) for kind in drawers.KINDS} for task, (network, _) in texts.items()
    }
    answers = [say(f"lessons.explanation.moves_{name}") for name in ("lookup", "vote", "both", "neither")]
    known = predict(answers, {ANSWERS[moving({task: found[task]["uniform"] for task in EXAMPLES})]})
    told = {f"{task}_{kind}": percent(found[task][kind].mean) for task in EXAMPLES for kind in drawers.KINDS}
    most = {f"{task}_most": percent(most_of(task, *asked)) for task, asked in texts.items()}
    st.markdown(f"##### {say('lessons.explanation.fact' if known else 'lessons.explanation.seen', **told, **most)}")
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_weights(texts)
        with st.container(width="content"):
            draw_shifts(found, known)
            st.markdown(say("lessons.explanation.legend"))
    st.caption(say("lessons.explanation.how", count=EACH))
    trained = choose("trained", tuple(EXAMPLES), words=option("task"))
    train_yourself(trained)
    setup = setup_of("lookup", *texts["lookup"])
    stands_for(setup, place)
    drawer("witness", lambda: drawers.witness(texts))
    for name in ("others", "spare", "conclude"):
        drawer(name, lambda name=name: drawers.after_the_guess(known, getattr(drawers, name), texts))
    code(trace_of(setup), ("q", "k", "scores", "weights", "head_outputs", "output"))
