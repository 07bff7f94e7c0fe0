"""One vector for a whole text? A network with attention learns to write dates beside the same one without."""

from collections.abc import Mapping

import streamlit as st

from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped import SHIPPED_SEED
from attention_core.record.number_text import format_percent
from pages.lessons.bottleneck import drawers
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.learned.learning import TrainingRecord, get_training_record, load_shipped_training, share_axis
from pages.lessons.learned.training_panel import show_own_training
from pages.lessons.learned.writers import (
    WRITING_TASKS,
    WritingResult,
    check_writer_text,
    network_colours,
    shorten_writing,
    split_symbols,
    write_at_step,
)
from pages.lessons.pictures import SMALL_MAP_CELL_PX, make_weights_map, show_side_by_side
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, slide, text_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, selection_of
from pages.site.words import escape_markdown, say

# The steps after which any network is kept.
KEPT_TRAINING_STEPS = sorted({step for course in COURSES.values() for step in course.saved})
TASK_TEXT_CONTROLS = {"dates": "text_dates", "reversal": "text_reversal"}  # the names of the boxes for what is read
EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX = 330, 250  # pixels of the curves' field
ALIGNMENT_MAP_PX = 520  # pixels of the map beside it


def draw_exactness_curves(all_of: Mapping[str, TrainingRecord], step: int, length: int) -> None:
    """The share of texts that are written exactly against their length, a curve a network."""
    drawn = [
        Curve(
            name_network(kind, each),
            each.places,
            each.figures_at(step),
            network_colours(current_palette())[kind],
            dashed=each.own,
        )
        for kind, each in all_of.items()
    ]
    every = [place for curve in drawn for place in curve.x]
    x = whole_number_axis(say("lessons.bottleneck.axis_length"), every)
    inside = length if min(every) <= length <= max(every) else None
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, current_palette(), inside, EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX)
    show_curve_chart(picture, "bottleneck_hero", say("lessons.bottleneck.alt"))


def name_network(kind: str, of: TrainingRecord) -> str:
    """A network's name at the end of its curve."""
    name = option_labels("short")(kind)
    return say("lessons.bottleneck.yours", kind=name) if of.own else name


def describe_writing(kind: str, writer: WritingResult) -> str:
    """What a network writes, and whether that is right."""
    mark = {True: "right", False: "wrong", None: "unknown"}[writer.right]
    shown = escape_markdown(shorten_writing(writer.written)) if writer.written else say("lessons.bottleneck.nothing")
    return say(f"lessons.bottleneck.writes_{mark}", kind=option_labels("kind")(kind), written=shown)


def describe_exactness(kind: str, of: TrainingRecord, step: int) -> str:
    """How much of all that is measured a network writes exactly."""
    return say("lessons.bottleneck.right", kind=option_labels("kind")(kind), share=format_percent(of.mean_at(step)))


with draw_lesson("bottleneck") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choose_option("task", tuple(WRITING_TASKS))
        text = text_box(
            TASK_TEXT_CONTROLS[task], WRITING_TASKS[task].text, lambda typed: check_writer_text(task, typed), width=200
        )
        kind = choose_option("kind", WRITING_TASKS[task].kinds)
        all_of = {name: load_shipped_training(f"{task}_{name}") for name in WRITING_TASKS[task].kinds}
        all_of[kind] = get_training_record(f"{task}_{kind}")
        steps = all_of[kind].steps
        usual = max(steps) if all_of[kind].own else WRITING_TASKS[task].telling
        step = slide("step_of", steps, usual, "{:,}".format, KEPT_TRAINING_STEPS, moves=all_of[kind].own, width=220)
    compared = tuple(dict.fromkeys((kind, "one")))
    writers = {name: write_at_step(all_of[name], step, text) for name in compared if step in all_of[name].networks}
    told = say("fact.comma").join(describe_exactness(name, all_of[name], step) for name in compared)
    st.markdown(f"##### {say(f'lessons.bottleneck.fact_{task}', step=f'{step:,}', parts=told)}")
    told = say("fact.comma").join(describe_writing(name, writer) for name, writer in writers.items())
    known = "becomes" if writers[kind].right is not None else "guess"  # no answer where nobody can say what is right
    st.markdown(say(f"lessons.bottleneck.{known}", text=escape_markdown(text), parts=told))
    setup = writers[kind].setup
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_exactness_curves(all_of, step, len(split_symbols(f"{task}_{kind}", text)))
        with st.container(width="content"):
            if setup is None:
                st.info(say("lessons.bottleneck.no_map" if kind == "one" else "lessons.bottleneck.wrote_nothing"))
            else:
                trace = trace_for(setup)
                title = say("lessons.bottleneck.map", step=f"{step:,}")
                show_side_by_side(
                    make_weights_map(
                        "alignment", trace, selection_of(trace, setup), title, ALIGNMENT_MAP_PX, SMALL_MAP_CELL_PX
                    )
                )
    show_own_training(f"{task}_{kind}")
    st.caption(say("lessons.bottleneck.how", numbers=f"{all_of[kind].parameters:,}", seed=SHIPPED_SEED))
    if setup is not None:
        show_lesson_run(setup, place)
        drawer("growing", lambda: drawers.show_alignment_growing(all_of[kind], text))
        drawer("one_step", lambda: drawers.show_decoder_step(setup))
    drawer("untrained", lambda: drawers.show_untrained(task, all_of))
    drawer("smear", lambda: drawers.show_smeared_states(all_of[kind], step, text))
    if setup is not None:
        show_lesson_code(trace, ("hidden", "scores", "weights", "head_outputs"))
