"""Draws the lesson on the bottleneck, which compares a network with attention with one without, during training."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

import streamlit as st

from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import SHIPPED_SEED
from attention_core.learned.training.wider_vector import LONGER, WIDER, WIDER_VECTOR
from attention_core.record.number_text import format_grouped, format_percent
from pages.lessons.bottleneck.drawers import LESSON, show_neck
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run, tell_method
from pages.lessons.learned.learning import (
    TrainingRecord,
    get_training_record,
    load_shipped_training,
    share_axis,
    show_own_training,
)
from pages.lessons.learned.writers import (
    WRITING_TASKS,
    WritingResult,
    check_writer_text,
    network_colours,
    shorten_writing,
    split_symbols,
    write_at_step,
)
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import choose_option, option_labels, text_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import only_now, show_live_curves, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import current_palette
from pages.site.words import escape_markdown, say

# training steps with a checkpoint
KEPT_TRAINING_STEPS = sorted(set(chain.from_iterable(course.saved for course in COURSES.values())))
TASK_TEXT_CONTROLS = {"dates": "text_dates", "reversal": "text_reversal"}  # task -> name of its text input


# ---- the chart of the lesson on one vector: the share of texts generated exactly, against the length -----------------
EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX = 200, 210  # px: width and height of the charts' plot area


def draw_exactness_curves(records: Mapping[str, TrainingRecord], step: LiveChoice, length: int) -> None:
    """Draws, for each selectable training step, the chart of all networks' shares of exact texts by text length.

    length: the length of the visitor's text, marked by a vertical line if it is within the measured lengths.
    """
    places = list(chain.from_iterable(record.places for record in records.values()))
    axes = (
        whole_number_axis(say("lessons.bottleneck.axis_length"), places),
        share_axis(say("lessons.bottleneck.axis_exact")),
    )
    at = length if min(places) <= length <= max(places) else None
    pictures = []
    for each in step.options:
        drawn = [make_exactness_curve(kind, record, each) for kind, record in records.items()]
        picture = curves(drawn, *axes, current_palette(), at, EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX)
        pictures.append(picture)
    show_live_curves(step, "bottleneck_hero", pictures, axes, say("lessons.bottleneck.alt"))


def make_exactness_curve(kind: str, record: TrainingRecord, step: int) -> Curve:
    """Returns a network's curve of the share of exact texts by text length; dashed if the visitor trained it."""
    return Curve(
        name_network(kind, record),
        record.places,
        record.figures_at(step),
        network_colours(current_palette())[kind],
        dashed=record.own,
    )


def name_network(kind: str, record: TrainingRecord) -> str:
    """Returns the label at the end of a network's curve, with a remark if the visitor trained the network."""
    name = option_labels("short")(kind)
    return say("lessons.bottleneck.yours", kind=name) if record.own else name


# ---- sentences on the accuracy and the output of the networks --------------------------------------------------------
def describe_exactness(kind: str, record: TrainingRecord, step: int) -> str:
    """Returns the phrase about the share of texts that a network generates exactly, up to the longest in training."""
    task, _, _ = record.course.partition("_")
    share = format_percent(record.mean_at(step, WRITING_TASKS[task].longest))
    return say("lessons.bottleneck.right", kind=option_labels("kind")(kind), share=share)


def tell_bottleneck(task: str) -> str:
    """Returns the paragraph that compares the exact outputs of the supplied networks: one vector against attention.

    The shares of exact texts are those after the last training step.
    """
    records = {kind: load_shipped_training(f"{task}_{kind}") for kind in ("additive", "one")}
    longest = WRITING_TASKS[task].longest
    shares = {kind: format_percent(record.mean_at(record.steps[-1], longest)) for kind, record in records.items()}
    one = records["one"]
    lost = find_lost_length(one.places, one.figures_at(one.steps[-1]))
    if task == "reversal":
        shares |= {"longest": longest}
        shares |= describe_other_vectors(one.places, lost)
    return say(f"lessons.bottleneck.shown_{task}", length=lost, **shares)


def describe_other_vectors(places: Sequence[int], length: int) -> dict[str, object]:
    """Returns the values of a paragraph's placeholders: what longer training and a wider context vector achieve.

    They are the shares of exact texts at a length for the network trained longer and for the network with the wider
    vector; the width of that vector; and the shortest length from which on it generates no text exactly.
    """
    rows = WIDER_VECTOR.rows
    wider = rows[WIDER]
    return {
        "longer": format_percent(rows[LONGER].exact_at(length)),
        "wider": format_percent(wider.exact_at(length)),
        "width": wider.width,
        "wider_length": find_lost_length(places, wider.exact),
    }


def find_lost_length(places: Sequence[int], figures: Sequence[float]) -> int | None:
    """Returns the shortest length such that no text of it or longer is generated exactly; None if some of the longest
    texts are.
    """
    lost = None
    for length, share in zip(reversed(places), reversed(figures), strict=True):
        if share > 0:
            break
        lost = length
    return lost


def describe_writing(kind: str, result: WritingResult) -> str:
    """Returns the phrase that quotes a network's output for a text and says whether it is right."""
    mark = {True: "right", False: "wrong", None: "unknown"}[result.right]
    written = say("lessons.bottleneck.nothing")
    if result.written:
        written = escape_markdown(shorten_writing(result.written))
    return say(f"lessons.bottleneck.writes_{mark}", kind=option_labels("kind")(kind), written=written)


def tell_writings(text: str, results: Mapping[str, WritingResult], is_known: bool) -> str:
    """Returns the sentence about each network's output for a text.

    is_known: whether the right answer is known.
    """
    parts = [describe_writing(kind, result) for kind, result in results.items()]
    key = "becomes" if is_known else "guess"
    return say(f"lessons.bottleneck.{key}", text=escape_markdown(text), parts=join_with_commas(parts))


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choose_option("task", tuple(WRITING_TASKS))
        kinds = WRITING_TASKS[task].kinds
        check_text = partial(check_writer_text, task)
        text = text_box(TASK_TEXT_CONTROLS[task], WRITING_TASKS[task].text, check_text, width=200)
        kind = choose_option("kind", kinds)
        course = f"{task}_{kind}"
        records = {each: load_shipped_training(f"{task}_{each}") for each in kinds}
        records[kind] = record = get_training_record(course)
        usual = max(record.steps) if record.own else WRITING_TASKS[task].telling
        kept = find_live_choice("step_of", record.steps, usual, "{:,}".format, KEPT_TRAINING_STEPS)
        show_live_choice(kept, width=220)
    step = kept.value
    compared = tuple(dict.fromkeys((kind, "one")))
    results = {each: write_at_step(records[each], step, text) for each in compared if step in records[each].networks}
    facts = []
    longest = WRITING_TASKS[task].longest
    for each_step in kept.options:
        parts = join_with_commas(describe_exactness(each, records[each], each_step) for each in compared)
        facts.append(say(f"lessons.bottleneck.fact_{task}", step=f"{each_step:,}", parts=parts, longest=longest))
    tell_live(kept, "bottleneck_fact", facts, "heading")
    writings = tell_writings(text, results, results[kind].right is not None)
    tell_live(kept, "bottleneck_writings", only_now(kept, writings))
    setup = results[kind].setup
    symbols = split_symbols(course, text)
    networks = {each: records[each].network_at(step) for each in results}
    picture, chart = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with picture:
        show_neck(task, symbols, kept, networks, results)
        if setup is None and kind != "one":
            st.info(say("lessons.bottleneck.wrote_nothing"))
    with chart:
        draw_exactness_curves(records, kept, len(symbols))
    st.markdown(tell_bottleneck(task))
    show_own_training(lambda: course)
    tell_method(say("lessons.bottleneck.how", numbers=format_grouped(record.parameters), seed=SHIPPED_SEED))
    if setup is not None:
        show_lesson_run(setup, place)
        draw_drawer(LESSON, "growing", record, text)
        draw_drawer(LESSON, "one_step", setup, kept.written(step))
    draw_drawer(LESSON, "untrained", task, records)
    draw_drawer(LESSON, "smear", record, step, text)
    if setup is not None:
        show_lesson_code(LESSON, trace_for(setup))
