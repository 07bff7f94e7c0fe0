"""One vector for a whole text? A network with attention learns to write dates beside the same one without."""

from collections.abc import Mapping

import streamlit as st

from attention_core.drawing.curves import Curve, curves, wholes
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped import SEED
from attention_core.record.number_text import percent
from pages.lessons.bottleneck import drawers
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.learned.learning import Learning, learning, share_axis, shipped_learning
from pages.lessons.learned.training_panel import train_yourself
from pages.lessons.learned.writers import TASKS, Writer, check_text, colours, cut_off, text_of, writer_of
from pages.lessons.pictures import SMALL, map_shown, show_beside
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, option, slide, text_box
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, palette
from pages.site.words import literal, say

STEPS = sorted({step for course in COURSES.values() for step in course.saved})  # after which any network is kept
BOXES = {"dates": "text_dates", "reversal": "text_reversal"}  # the names of the boxes for what is read
WIDE, HIGH = 330, 250  # pixels of the curves' field
MAP = 520  # pixels of the map beside it


def draw_curves(all_of: Mapping[str, Learning], step: int, length: int) -> None:
    """The share of texts that are written exactly against their length, a curve a network."""
    drawn = [
        Curve(called(kind, each), each.places, each.figures_at(step), colours(palette())[kind], dashed=each.own)
        for kind, each in all_of.items()
    ]
    every = [place for curve in drawn for place in curve.x]
    x = wholes(say("lessons.bottleneck.axis_length"), every)
    inside = length if min(every) <= length <= max(every) else None
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, palette(), inside, WIDE, HIGH)
    curve_chart(picture, "bottleneck_hero", say("lessons.bottleneck.alt"))


def called(kind: str, of: Learning) -> str:
    """A network's name at the end of its curve."""
    name = option("short")(kind)
    return say("lessons.bottleneck.yours", kind=name) if of.own else name


def written(kind: str, writer: Writer) -> str:
    """What a network writes, and whether that is right."""
    mark = {True: "right", False: "wrong", None: "unknown"}[writer.right]
    shown = literal(cut_off(writer.written)) if writer.written else say("lessons.bottleneck.nothing")
    return say(f"lessons.bottleneck.writes_{mark}", kind=option("kind")(kind), written=shown)


def right(kind: str, of: Learning, step: int) -> str:
    """How much of all that is measured a network writes exactly."""
    return say("lessons.bottleneck.right", kind=option("kind")(kind), share=percent(of.mean_at(step)))


with lesson("bottleneck") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choose("task", tuple(TASKS))
        text = text_box(BOXES[task], TASKS[task].text, lambda typed: check_text(task, typed), width=200)
        kind = choose("kind", TASKS[task].kinds)
        all_of = {name: shipped_learning(f"{task}_{name}") for name in TASKS[task].kinds}
        all_of[kind] = learning(f"{task}_{kind}")
        steps = all_of[kind].steps
        usual = max(steps) if all_of[kind].own else TASKS[task].telling
        step = slide("step_of", steps, usual, "{:,}".format, STEPS, moves=all_of[kind].own, width=220)
    compared = tuple(dict.fromkeys((kind, "one")))
    writers = {name: writer_of(all_of[name], step, text) for name in compared if step in all_of[name].networks}
    told = say("fact.comma").join(right(name, all_of[name], step) for name in compared)
    st.markdown(f"##### {say(f'lessons.bottleneck.fact_{task}', step=f'{step:,}', parts=told)}")
    told = say("fact.comma").join(written(name, writer) for name, writer in writers.items())
    known = "becomes" if writers[kind].right is not None else "guess"  # no answer where nobody can say what is right
    st.markdown(say(f"lessons.bottleneck.{known}", text=literal(text), parts=told))
    setup = writers[kind].setup
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_curves(all_of, step, len(text_of(f"{task}_{kind}", text)))
        with st.container(width="content"):
            if setup is None:
                st.info(say("lessons.bottleneck.no_map" if kind == "one" else "lessons.bottleneck.wrote_nothing"))
            else:
                trace = trace_of(setup)
                title = say("lessons.bottleneck.map", step=f"{step:,}")
                show_beside(map_shown("alignment", trace, looked_at(trace, setup), title, MAP, SMALL))
    train_yourself(f"{task}_{kind}")
    st.caption(say("lessons.bottleneck.how", numbers=f"{all_of[kind].parameters:,}", seed=SEED))
    if setup is not None:
        stands_for(setup, place)
        drawer("growing", lambda: drawers.growing(all_of[kind], text))
        drawer("one_step", lambda: drawers.one_step(setup))
    drawer("untrained", lambda: drawers.untrained(task, all_of))
    drawer("smear", lambda: drawers.smear(all_of[kind], step, text))
    if setup is not None:
        code(trace, ("hidden", "scores", "weights", "head_outputs"))
