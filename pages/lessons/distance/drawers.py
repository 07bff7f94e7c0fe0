"""Draws the accordions of the lesson on distance, which compares attention, RNN and CNN.

It also provides functions that the lesson's page uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from statistics import median_low

import streamlit as st

from attention_core import Trace
from attention_core.analysis.across_layers import reachable_inputs
from attention_core.comparison.differences import count_moved_weights
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.inputs.matrix_edits import pack_chosen, pack_matrix
from attention_core.inputs.matrix_values import REMOVED
from attention_core.record.number_text import format_duration, format_exact, format_fixed, format_grouped
from attention_core.record.trace import Step
from attention_core.variants.convolution import attend_by_position, kernel_band, read_taps, with_convolution
from attention_core.variants.encoder_cost import (
    CostComparison,
    encoder_cost,
    encoding_time,
    one_step_reach,
    receptive_field,
)
from attention_core.variants.encoders import Encoder
from attention_core.variants.recurrence import PASS_PLANNERS, passed_places, with_both_passes
from attention_core.variants.timing import fit_slope
from pages.export.page_links import link_to_workbench
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    PLAIN_LAYER,
    EncoderWords,
    cached_encoder_cost,
    get_word_names,
    get_word_vectors,
    name_state,
    run_with_states,
    setup_for_attention_encoder,
)
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import (
    FIRST_SELECTION,
    SMALL_MAP_CELL_PX,
    equalize_sizes,
    make_weights_map,
    show_bar_rows,
    show_cell_rows,
    show_panels,
    show_side_by_side,
)
from pages.lessons.sentences import join_with_commas, list_place_names, show_sentence
from pages.panels.chart import show_chart, show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, pick_place, sentence_box, slide, text_box
from pages.panels.progress import measure_on_request
from pages.panels.word_changes import suggest_word, with_word
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, picture_texts_for, place_name, selection_of
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- shared by the charts: names and colours of encoders, and the axis of lengths ------------------------------------
ENCODED_LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)

EncodersByKind = Mapping[str, Encoder]


def name_encoder(kind: str) -> str:
    """Returns the name of a kind of encoder in the page's language."""
    return option_labels("kinds")(kind)


def encoder_colours() -> dict[str, str]:
    """Returns {kind of encoder: its colour}."""
    palette = current_palette()
    return {
        "rnn": palette.k,
        "gru": palette.outline,
        "lstm": palette.q,
        "cnn": palette.v,
        "attention": palette.share,
    }


def length_axis(lengths: Sequence[int]) -> Axis:
    """Returns the logarithmic axis for the number of words in a sequence."""
    return Axis(
        say("lessons.distance.axis_length"),
        lengths[0],
        lengths[-1],
        log=True,
        values=tuple(lengths),
    )


def list_values(drawn: Sequence[Curve]) -> list[float]:
    """Returns the y values of all points of all curves in a single list."""
    return list(chain.from_iterable(curve.y for curve in drawn))


# ---- Setups whose weights are independent of the words: from a kernel, or from positions alone -----------------------
PROJECTIONS = ("w_q", "w_k", "w_v")


def setup_with_kernel(own: Setup, taps: str) -> Setup:
    """Returns the Setup whose attention weights are replaced by the numbers of a convolution kernel.

    taps: the numbers of the kernel as text.
    """
    length = trace_for(own).sizes()["T"]
    weights = kernel_band(read_taps(taps), length)  # (T, T)
    no_projections = dict.fromkeys(PROJECTIONS, REMOVED)
    return own.with_fields(
        **PLAIN_LAYER,
        **no_projections,
        weights=pack_chosen(weights[None, None].numpy()),  # (1, 1, T, T), each row with the same kernel
    )


def setup_with_offset_scores(own: Setup, scores: str) -> Setup:
    """Returns the Setup with matrices that make a score depend only on the offset between query and key.

    scores: the scores of consecutive offsets, as text.
    """
    x = trace_for(own)["x"][0]  # (T, D)
    run = attend_by_position(x, read_taps(scores))
    projections = {name: pack_matrix(run.step(name).window()) for name in PROJECTIONS}
    widened = run.step("x").window(B=0)
    return own.with_fields(
        **PLAIN_LAYER,
        **projections,
        scale=1.0,
        x=pack_matrix(widened),
    )


FIXED_WEIGHT_SETUPS = {"kernel": setup_with_kernel, "position": setup_with_offset_scores}
DEFAULT_TAPS = {"kernel": "0.2, 0.5, 0.3", "position": "4, 0, 0"}


# ---- drawer "states": what does an RNN do, word by word, in one direction or in both? --------------------------------
MAX_STATES_ACROSS = 18  # most states side by side, so that their numbers are legible


def show_rnn_states(sentence: Setup, encoders: Mapping[str, Encoder]) -> None:
    """Shows one step of the RNN: the word, the previous state, and the new state computed from both.

    encoders: {kind: its encoder}, with the kinds "attention" and "rnn".
    """
    words = get_word_names(sentence)
    numbers = [str(number) for number in range(1, len(words) + 1)]
    t = 0
    if len(words) > 1:
        t = slide("t", range(len(words)), min(3, len(words) - 1), numbers.__getitem__)
    trace = run_with_states(sentence, encoders["attention"], encoders["rnn"], t)
    states = ("h_0", *trace.step("states").operation.reads)
    before, after = states[-2:]
    show_sentence(
        "lessons.distance.step",
        word=escape_markdown(words[t]),
        t=numbers[t],
        before=name_state(before),
        after=name_state(after),
        waiting=len(words[t:]) - 1,
    )
    show_states_so_far(trace, t)
    show_state_step(trace, t, words[t], numbers[t])


def show_states_so_far(trace: Trace, t: int) -> None:
    """Shows the states up to step t side by side; at most MAX_STATES_ACROSS states are shown."""
    drawn = panel(trace, "states", {"T": t}, largest=MAX_STATES_ACROSS)
    states = trace.step("states").operation.reads
    first = states[drawn.first[1]]
    title = say("lessons.distance.states_so_far", first=name_state(first), after=name_state(states[-1]))
    show_panels("states", [drawn], trace, [title], title)


def show_state_step(trace: Trace, t: int, word: str, number: str) -> None:
    """Shows as bars the vector of a word, the state before the word, and the state after it.

    number: the number of the word, counted from 1.
    """
    states = ("h_0", *trace.step("states").operation.reads)
    before, after = states[-2:]
    names = {"before": name_state(before), "after": name_state(after)}
    word_title = say("lessons.distance.row_word", word=word, x=name_state(f"x_{number}"))
    before_title = say("lessons.distance.row_before", before=names["before"])
    after_title = say("lessons.distance.row_after", x=name_state(f"x_{number}"), **names)
    rows = [
        row_of(word_title, trace, "x", (0, t)),
        row_of(before_title, trace, before, (0,)),
        row_of(after_title, trace, after, (0,)),
    ]
    columns = [str(column) for column in range(1, len(rows[0].refs) + 1)]
    alt = say("lessons.distance.alt_states")
    show_bar_rows("step", rows, columns, {"": trace}, trace, alt)


def show_both_passes(sentence: Setup, encoders: Mapping[str, Encoder]) -> None:
    """Shows the states of both passes (from the left and from the right) after some steps, and which words have both
    states.

    encoders: {kind: its encoder}.
    """
    kind = choose_option("unit", tuple(PASS_PLANNERS), label_visibility="collapsed")
    words = get_word_names(sentence)
    count = len(words)
    counts = range(1, len(words) + 1)
    steps = slide("passed", counts, median_low(counts)) if count > 1 else count
    run = trace_for(setup_for_attention_encoder(encoders["attention"], sentence, 0))
    encoder = replace(encoders[kind], width=run.sizes()["D"], both=True)
    trace = with_both_passes(run, encoder, steps)
    passed = passed_places(count, steps)
    onward, back, complete = ([words[place] for place in places] for places in passed)
    show_sentence(
        "lessons.distance.passes",
        step=steps,
        count=count,
        onward=escape_markdown(onward[-1]),
        back=escape_markdown(back[0]),
        complete=join_with_commas(map(escape_markdown, complete)) or say("lessons.distance.no_word"),
    )
    show_sentence(f"lessons.distance.unit_{kind}", keep=f"{encoder.keep:g}")
    onward_title = say("lessons.distance.pass_onward", first=onward[0], last=onward[-1])
    back_title = say("lessons.distance.pass_back", first=back[0], last=back[-1])
    show_pass(trace, "states", {"T": passed[0][-1]}, onward_title)
    show_pass(trace, "states_back", {"T'": 0}, back_title)
    if kind == "lstm":
        show_gates(trace, onward[-1])


def show_pass(trace: Trace, step: str, newest: dict[str, int], title: str) -> None:
    """Shows the states of one pass side by side in word order, at most MAX_STATES_ACROSS around the newest state."""
    drawn = panel(trace, step, newest, largest=MAX_STATES_ACROSS)
    show_panels(step, [drawn], trace, [title], title)


def show_gates(trace: Trace, word: str) -> None:
    """Shows how an LSTM computed its newest cell and state: a row of numbers for each gate."""
    state = trace.step("states").operation.reads[-1]
    out, cell = trace.step(state).operation.reads
    keep, before, let_in, new = trace.step(cell).operation.reads
    kinds = {before: "before", keep: "keep", new: "new", let_in: "in", cell: "cell", out: "out", state: "state"}
    rows = []
    for step, kind in kinds.items():
        text = say(f"lessons.distance.gate_{kind}", step=name_state(step), word=word, cell=name_state(cell))
        rows.append(row_of(text, trace, step, (0,)))
    columns = [str(column) for column in range(1, len(rows[0].refs) + 1)]
    show_cell_rows("gates", rows, columns, {"": trace}, trace)


# ---- drawer "cost": path length between two words, and sequential steps ----------------------------------------------
GROWTH_QUANTITIES = ("longest_path", "sequential_steps", "multiply_adds")
COST_COLUMNS = ("kind", "path", "waiting", "products", "numbers")


def show_encoder_costs(encoders: EncodersByKind, cnn: Encoder, words: EncoderWords, distance: int) -> None:
    """Shows path lengths, sequential steps and multiply-adds of all encoders, and the receptive field of the CNN."""
    T, D = get_word_vectors(words).shape
    costs = {kind: cached_encoder_cost(encoder, T, D, distance) for kind, encoder in encoders.items()}
    if costs:
        show_cost_table(costs, T, abs(distance))
    agree = all(cost.agrees for cost in costs.values())
    key = "twice" if agree else "differ"
    st.caption(say(f"lessons.distance.{key}", D=D, width=COMPARED_ENCODER_WIDTH))
    show_cost_growth(encoders, T, D)
    show_receptive_field(cnn, words)


def show_cost_table(costs: Mapping[str, CostComparison], length: int, distance: int) -> None:
    """Shows a table of costs with a row for each kind of encoder: path length, sequential steps and multiply-adds.

    distance: the number of words that the path in the table bridges.
    """
    heads = [say(f"lessons.distance.head_{column}", T=length, distance=distance) for column in COST_COLUMNS]
    rows = []
    for kind, cost in costs.items():
        cells = list_cost_cells(kind, cost)
        row = dict(zip(heads, cells, strict=True))
        rows.append(row)
    st.table(rows, hide_index=True, width="content")


def list_cost_cells(kind: str, cost: CostComparison) -> list[str]:
    """Returns the texts in an encoder's row of the table of costs, in the order of COST_COLUMNS."""
    path = say("lessons.distance.unreached") if cost.path is None else str(cost.path)
    return [
        name_encoder(kind),
        path,
        str(cost.formula.sequential_steps),
        format_grouped(cost.formula.multiply_adds),
        format_grouped(cost.formula.parameters),
    ]


def show_cost_growth(encoders: EncodersByKind, length: int, width: int) -> None:
    """Shows how a selected cost, one of GROWTH_QUANTITIES, grows with the number of words.

    length: the number of words that a vertical line marks. width: the width of the words' vectors.
    """
    quantity = choose_option("growth", GROWTH_QUANTITIES)
    title = option_labels("growth")(quantity)
    drawn = [make_cost_curve(kind, encoder, quantity, width) for kind, encoder in encoders.items()]
    picture = curves(
        drawn,
        length_axis(ENCODED_LENGTHS),
        decade_axis(title, list_values(drawn)),
        current_palette(),
        length,
        height=220,
    )
    show_curve_chart(picture, "distance_growth", title)


def make_cost_curve(kind: str, encoder: Encoder, quantity: str, width: int) -> Curve:
    """Returns the curve of a quantity of an encoder's cost, by length."""
    costs = [encoder_cost(encoder, length, width) for length in ENCODED_LENGTHS]
    amounts = [getattr(cost, quantity) for cost in costs]
    colour = encoder_colours()[kind]
    return Curve(name_encoder(kind), ENCODED_LENGTHS, amounts, colour)


# ---- drawer "cost", below the costs: the receptive field of a stack of convolutions ----------------------------------
MAX_FIELD_WORDS = 12  # most words, so that the picture's cells are distinguishable


def show_receptive_field(encoder: Encoder, words: EncoderWords) -> None:
    """Shows from which words information reaches a position through several layers of a CNN."""
    names = tuple(get_word_names(words)[:MAX_FIELD_WORDS])
    layers = slide("deep", range(9), 2)
    reached = reachable_inputs(one_step_reach(encoder, len(names)), layers)  # (T, S)
    show_sentence(
        "lessons.distance.field",
        layers=layers,
        window=encoder.window,
        field=receptive_field(encoder, layers),
        seen=int(reached.sum(-1).max()),
    )
    step = Step("reached", reached, ("T", "S"))
    trace = Trace({"reached": step}, {"T": names, "S": names})
    title = say("lessons.distance.reached", layers=layers)
    picture = single_picture(
        [panel(trace, "reached")],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        chosen=None,
    )
    show_chart(picture, "distance_field", title, lambda _: None)


# ---- drawer "time": how long does it take? ---------------------------------------------------------------------------
TIMED_ENCODING_LENGTHS = ENCODED_LENGTHS[3:]


def show_encoding_times(encoders: EncodersByKind) -> None:
    """Measures the time of a forward pass by length, if the visitor requests it, and shows the exponent of its growth.

    encoders: {kind: its encoders}.
    """
    tasks = [(encoder, length) for length, encoder in product(TIMED_ENCODING_LENGTHS, encoders.values())]
    seconds = measure_on_request(
        "time",
        tasks,
        lambda task: encoding_time(*task).seconds,
        say("lessons.distance.measure"),
    )
    lengths = list_measured_lengths(encoders, seconds)
    if encoders and len(lengths) > 1:
        times = {kind: [seconds[encoder, length] for length in lengths] for kind, encoder in encoders.items()}
        say_encoding_times(lengths, times)
        show_time_curves(lengths, times)
    st.caption(say("lessons.distance.machine", width=COMPARED_ENCODER_WIDTH))


def list_measured_lengths(encoders: EncodersByKind, seconds: Mapping[tuple[Encoder, int], float]) -> list[int]:
    """Returns the lengths at which the times of all encoders were measured."""
    lengths = []
    for length in TIMED_ENCODING_LENGTHS:
        if all((encoder, length) in seconds for encoder in encoders.values()):
            lengths.append(length)
    return lengths


def say_encoding_times(lengths: Sequence[int], times: Mapping[str, Sequence[float]]) -> None:
    """Shows the time of each kind of encoder at the longest length, the fastest kind first.

    times: {kind: its seconds at each length}.
    """
    parts = []
    for kind, seconds in times.items():
        slope = fit_slope(lengths, seconds)
        part = say(
            "lessons.distance.took",
            kind=name_encoder(kind),
            time=format_duration(seconds[-1]),
            slope=format_fixed(slope),
        )
        parts.append((seconds[-1], part))
    fastest_first = [part for _, part in sorted(parts)]
    show_sentence(
        "lessons.distance.timed",
        length=format_grouped(lengths[-1]),
        parts=join_with_commas(fastest_first),
    )


def show_time_curves(lengths: Sequence[int], times: Mapping[str, Sequence[float]]) -> None:
    """Shows the times of each kind of encoder by length, as curves.

    times: {kind: its seconds at each length}.
    """
    colours = encoder_colours()
    drawn = []
    for kind, seconds in times.items():
        slope = format_fixed(fit_slope(lengths, seconds))
        name = say("lessons.distance.slope", kind=name_encoder(kind), slope=slope)
        drawn.append(Curve(name, lengths, seconds, colours[kind]))
    x = length_axis(TIMED_ENCODING_LENGTHS)
    y = decade_axis(say("lessons.distance.axis_seconds"), list_values(drawn))
    picture = curves(drawn, x, y, current_palette())
    show_curve_chart(picture, "distance_time", say("lessons.distance.alt_time"))


# ---- drawer "fixed": is a convolution an attention? ------------------------------------------------------------------
def show_fixed_weights(example: str) -> None:
    """Shows fixed weights, given by a kernel or by positions alone, beside the weights that attention computes from the
    words.
    """
    kind = choose_option("fixed", tuple(FIXED_WEIGHT_SETUPS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(make_setup(example=example), "said")
        taps = text_box(kind, DEFAULT_TAPS[kind], read_taps, width=220)
        free = trace_for(own)
        selection = selection_of(free, own)
        names = list_place_names(free, "T")
        at = pick_place("changed", names, selection.query, width=120)
        new_word = text_box("into", suggest_word(own, at), partial(with_word, own, at), width=120)
    changed = with_word(own, at, new_word)
    setup = FIXED_WEIGHT_SETUPS[kind](own, taps)
    changed_setup = FIXED_WEIGHT_SETUPS[kind](changed, taps)
    fixed = trace_for(setup)
    moved = say(
        "lessons.distance.moved",
        old=escape_markdown(names[at]),
        new=escape_markdown(new_word),
        count=fixed["weights"].numel(),
        fixed=count_moved_weights(fixed, trace_for(changed_setup), 0),
        free=count_moved_weights(free, trace_for(changed), selection.head),
    )
    st.markdown(f"**{moved}**")
    show_fixed_beside_free(fixed, free, selection, say(f"lessons.distance.map_{kind}"))
    if kind == "kernel":
        show_convolution(fixed, taps)
    link_to_workbench(setup, "fixed")


def show_fixed_beside_free(fixed: Trace, free: Trace, selection: Selection, title: str) -> None:
    """Shows the fixed weights and a head's computed weights as two matrices of equal size, side by side."""
    band = make_weights_map(
        "band",
        fixed,
        FIRST_SELECTION,
        title,
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
        outlined=False,
    )
    head = place_name(free, "H", selection.head)
    learned = make_weights_map(
        "learned",
        free,
        selection,
        say("lessons.distance.map_words", head=head),
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
    )
    show_side_by_side(*equalize_sizes(band, learned))


def show_convolution(fixed: Trace, taps: str) -> None:
    """Shows the output under a kernel's weights, the result of torch's convolution, and their largest difference."""
    trace = with_convolution(fixed, read_taps(taps))
    gap = abs_difference(trace["output"], trace["convolved"]).max().item()
    key = "nearly" if gap else "exactly"
    show_sentence(f"lessons.distance.{key}", gap=format_exact(gap))
    steps = ("output", "convolved")
    panels = [panel(trace, step) for step in steps]
    titles = [say(f"lessons.distance.title_{step}") for step in steps]
    show_panels("conv", panels, trace, titles, say("lessons.distance.alt_conv"))


LESSON = Lesson(
    "distance",
    drawers={
        "states": Tabs("passes", {"onward": show_rnn_states, "both": show_both_passes}),
        "cost": show_encoder_costs,
        "time": show_encoding_times,
        "fixed": show_fixed_weights,
    },
    code=("h_1", "scores", "weights", "head_outputs"),
)
