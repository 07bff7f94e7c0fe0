"""Lesson 9, further sights: the states of an RNN, steps and costs, measured time, weights that no word decides."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.receptive_field import reachable_inputs
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.inputs.matrix_edits import to_places
from attention_core.inputs.matrix_text import to_text
from attention_core.record.number_text import format_duration, format_exact, format_fixed
from attention_core.record.trace import Step
from attention_core.variants.convolution import attend_by_position, kernel_band, read_taps, with_convolution
from attention_core.variants.encoder_cost import encoder_cost
from attention_core.variants.encoder_paths import one_step_reach, receptive_field
from attention_core.variants.encoder_timing import encoding_time
from attention_core.variants.encoders import Encoder
from attention_core.variants.timing import fit_slope
from pages.export.doors import workbench_door
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    PLAIN_LAYER,
    EncoderWords,
    cached_encoder_cost,
    get_word_names,
    get_word_vectors,
    run_with_states,
)
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import SMALL_MAP_CELL_PX, equalize_sizes, make_weights_map, show_picture, show_side_by_side
from pages.panels.chart import show_chart, show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, pick_place, sentence_box, slide, text_box
from pages.panels.progress import measure_on_request
from pages.panels.word_swaps import suggest_word, with_word
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, picture_texts_for, place_name, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MAX_FIELD_WORDS = 12  # words of a map whose cells are to be seen one by one
MAX_STATES_ACROSS = 18  # states beside each other, so that their numbers can be read
ENCODED_LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
TIMED_ENCODING_LENGTHS = ENCODED_LENGTHS[3:]
GROWTH_QUANTITIES = ("longest_path", "sequential_steps", "multiply_adds")

EncodersByKind = Mapping[str, Encoder]  # by kind


def encoder_colours() -> dict[str, str]:
    """One a kind."""
    own = current_palette()
    return {"rnn": own.k, "gru": own.outline, "lstm": own.q, "cnn": own.v, "attention": own.share}


# ---- what does an RNN do, word by word? ------------------------------------------------------------------------------
def show_rnn_states(sentence: Setup, attention: Encoder, rnn: Encoder) -> None:
    """One state after the other: the word, the state before it, and what becomes of both."""
    names = get_word_names(sentence)
    numbers = [str(n) for n, _ in enumerate(names, 1)]
    t = slide("t", range(len(names)), min(3, max(range(len(names)))), numbers.__getitem__) if len(names) > 1 else 0
    trace = run_with_states(sentence, attention, rnn, t)
    before, after = trace.step("states").operation.reads[-2:] if t else ("h_0", "h_1")
    told = {"t": numbers[t], "before": before, "after": after, "waiting": len(names[t:][1:])}
    st.markdown(say("lessons.distance.step", word=escape_markdown(names[t]), **told))
    runs, words = {"": trace}, picture_texts_for(trace)
    opened = get_opened_cell("states", runs)
    drawn = panel(trace, "states", {"T": t}, largest=MAX_STATES_ACROSS)
    title = say("lessons.distance.states_so_far", first=trace.step("states").operation.reads[drawn.first[1]], **told)
    picture = single_picture([drawn], trace, words, current_palette(), [title], opened and opened[1])
    show_picture("states", picture, runs, title)
    rows = [
        row_of(say("lessons.distance.row_word", word=names[t], **told), trace, "x", (0, t)),
        row_of(say("lessons.distance.row_before", **told), trace, before, (0,)),
        row_of(say("lessons.distance.row_after", **told), trace, after, (0,)),
    ]
    columns = [str(n) for n, _ in enumerate(rows[0].refs, 1)]
    picture = bar_rows(rows, columns, words, current_palette(), get_opened_cell("step", runs))
    show_picture("step", picture, runs, say("lessons.distance.alt_states"))


# ---- how many steps, and how many must wait? -------------------------------------------------------------------------
def show_encoder_costs(encoders: EncodersByKind, cnn: Encoder, words: EncoderWords, distance: int) -> None:
    """Steps between two words, steps that wait for each other, multiply-adds; and whom stacked convolutions hear."""
    T, D = get_word_vectors(words).shape
    found = {kind: cached_encoder_cost(encoder, T, D, distance) for kind, encoder in encoders.items()}
    columns = ("kind", "path", "waiting", "products", "numbers")
    heads = [say(f"lessons.distance.head_{column}", T=T, distance=abs(distance)) for column in columns]
    rows = [
        (
            option_labels("kinds")(kind),
            say("lessons.distance.unreached") if each.path is None else str(each.path),
            str(each.formula.sequential_steps),
            f"{each.formula.multiply_adds:,}",
            f"{each.formula.parameters:,}",
        )
        for kind, each in found.items()
    ]
    if rows:
        st.table([dict(zip(heads, row, strict=True)) for row in rows], hide_index=True, width="content")
    agree = all(each.agrees for each in found.values())
    st.caption(say("lessons.distance.twice" if agree else "lessons.distance.differ", D=D, width=COMPARED_ENCODER_WIDTH))
    growth = choose_option("growth", GROWTH_QUANTITIES)
    drawn = [
        Curve(
            option_labels("kinds")(kind),
            ENCODED_LENGTHS,
            [getattr(encoder_cost(encoder, n, D), growth) for n in ENCODED_LENGTHS],
            colour,
        )
        for (kind, encoder), colour in zip(encoders.items(), map(encoder_colours().get, encoders), strict=True)
    ]
    y = decade_axis(option_labels("growth")(growth), [number for curve in drawn for number in curve.y])
    show_curve_chart(
        curves(drawn, length_axis(ENCODED_LENGTHS), y, current_palette(), T, height=220),
        "distance_growth",
        option_labels("growth")(growth),
    )
    show_receptive_field(cnn, words)


def length_axis(lengths: Sequence[int]) -> Axis:
    """Words of a sequence, each step twice as many."""
    return Axis(say("lessons.distance.axis_length"), lengths[0], lengths[-1], log=True, values=tuple(lengths))


def show_receptive_field(encoder: Encoder, words: EncoderWords) -> None:
    """Which words reach which position through a stack of convolutions."""
    names = get_word_names(words)[:MAX_FIELD_WORDS]
    layers = slide("deep", range(9), 2)
    reached = reachable_inputs(one_step_reach(encoder, len(names)), layers)
    trace = Trace({"reached": Step("reached", reached, ("T", "S"))}, {"T": tuple(names), "S": tuple(names)})
    told = {"layers": layers, "window": encoder.window, "field": receptive_field(encoder, layers)}
    st.markdown(say("lessons.distance.field", **told, seen=int(reached.sum(-1).max())))
    title = say("lessons.distance.reached", **told)
    picture = single_picture(
        [panel(trace, "reached")], trace, picture_texts_for(trace), current_palette(), [title], None
    )
    show_chart(picture, "distance_field", title, lambda _: None)


# ---- how long does it take? ------------------------------------------------------------------------------------------
def show_encoding_times(encoders: EncodersByKind) -> None:
    """Measured here: the time of one forward pass against the length, and the power with which it grows."""
    tasks = [(encoder, length) for length in TIMED_ENCODING_LENGTHS for encoder in encoders.values()]
    found = measure_on_request(
        "time", tasks, lambda task: encoding_time(*task).seconds, say("lessons.distance.measure")
    )
    lengths = [
        length for length in TIMED_ENCODING_LENGTHS if all((encoder, length) in found for encoder in encoders.values())
    ]
    if encoders and len(lengths) > 1:
        drawn, parts = [], []
        for kind, encoder in encoders.items():
            seconds = [found[encoder, length] for length in lengths]
            told = {"kind": option_labels("kinds")(kind), "slope": format_fixed(fit_slope(lengths, seconds))}
            drawn.append(Curve(say("lessons.distance.slope", **told), lengths, seconds, encoder_colours()[kind]))
            parts.append((seconds[-1], say("lessons.distance.took", time=format_duration(seconds[-1]), **told)))
        listed = say("fact.comma").join(text for _, text in sorted(parts))
        st.markdown(say("lessons.distance.timed", length=f"{lengths[-1]:,}", parts=listed))
        y = decade_axis(say("lessons.distance.axis_seconds"), [number for curve in drawn for number in curve.y])
        show_curve_chart(
            curves(drawn, length_axis(TIMED_ENCODING_LENGTHS), y, current_palette()),
            "distance_time",
            say("lessons.distance.alt_time"),
        )
    st.caption(say("lessons.distance.machine", width=COMPARED_ENCODER_WIDTH))


# ---- is a convolution an attention? ----------------------------------------------------------------------------------
def show_fixed_weights(example: str) -> None:
    """Weights that no word decides, those of a kernel or of positions alone, beside weights that words decide."""
    kind = choose_option("fixed", tuple(FIXED_WEIGHT_SETUPS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(Setup(example=example), "said")
        taps = text_box(kind, DEFAULT_TAPS[kind], read_taps, width=220)
        free = trace_for(own)
        look, names = selection_of(free, own), place_names(free, "T", free.sizes()["T"])
        at = pick_place("changed", names, look.query, width=120)
        new = text_box("into", suggest_word(own, at), lambda text: with_word(own, at, text), width=120)
    setup, other = (FIXED_WEIGHT_SETUPS[kind](each, taps) for each in (own, with_word(own, at, new)))
    trace, head = trace_for(setup), look.head
    moved = {
        "fixed": count_changed_weights(trace, trace_for(other)),
        "free": count_changed_weights(free, trace_for(with_word(own, at, new)), head),
    }
    told = {"old": escape_markdown(names[at]), "new": escape_markdown(new), "count": trace["weights"].numel(), **moved}
    st.markdown(f"**{say('lessons.distance.moved', **told)}**")
    learned = say("lessons.distance.map_words", head=place_name(free, "H", head))
    band = make_weights_map(
        "band",
        trace,
        Selection(0, 0, 0, 0),
        say(f"lessons.distance.map_{kind}"),
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
        outlined=False,
    )
    show_side_by_side(
        *equalize_sizes(band, make_weights_map("learned", free, look, learned, PAGE_WIDTH_PX, SMALL_MAP_CELL_PX))
    )
    if kind == "kernel":
        both = with_convolution(trace, read_taps(taps))
        gap = abs_difference(both["output"], both["convolved"]).max().item()
        st.markdown(say("lessons.distance.nearly" if gap else "lessons.distance.exactly", gap=format_exact(gap)))
        panels = [panel(both, step) for step in ("output", "convolved")]
        titles = [say(f"lessons.distance.title_{part.step}") for part in panels]
        opened = get_opened_cell("conv", {"": both})
        picture = single_picture(panels, both, picture_texts_for(both), current_palette(), titles, opened and opened[1])
        show_picture("conv", picture, {"": both}, say("lessons.distance.alt_conv"))
    workbench_door(setup, "fixed")


def setup_with_kernel(own: Setup, taps: str) -> Setup:
    """The run whose weights are a kernel's, in the place of computed ones."""
    weights = kernel_band(read_taps(taps), trace_for(own).sizes()["T"])
    return replace(
        own,
        **PLAIN_LAYER,
        **dict.fromkeys(("w_q", "w_k", "w_v"), "none"),
        weights=to_places(weights[None, None].numpy()),
    )


def setup_with_offset_scores(own: Setup, scores: str) -> Setup:
    """The run whose scores are an offset's alone."""
    run = attend_by_position(trace_for(own)["x"][0], read_taps(scores))
    projections = {name: to_text(run.step(name).window()) for name in ("w_q", "w_k", "w_v")}
    return replace(own, **PLAIN_LAYER, scale=1.0, x=to_text(run.step("x").window(B=0)), **projections)


FIXED_WEIGHT_SETUPS = {"kernel": setup_with_kernel, "position": setup_with_offset_scores}
DEFAULT_TAPS = {"kernel": "0.2, 0.5, 0.3", "position": "4, 0, 0"}


def count_changed_weights(trace: Trace, other: Trace, head: int = 0) -> int:
    """How many weights of a head are not the same in two runs, to the last bit."""
    return int(trace["weights"][0, head].ne(other["weights"][0, head]).sum())
