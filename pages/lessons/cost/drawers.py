"""Draws the accordions of the lesson on cost, and provides functions that the lesson's page uses too."""

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.analysis.online_softmax import count_blocks, refs_by_key, with_online_softmax
from attention_core.comparison.differences import find_moves
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves, histogram_picture
from attention_core.explanation.layout import panel
from attention_core.inputs.matrix_edits import pack_matrix, scale_matrix
from attention_core.learned.training.mixed_precision import (
    EVERY,
    LOSS_SCALE,
    PRECISION_FIGURES,
    SCHEMES,
    SEEDS,
    STEPS,
    SchemeFigures,
    bytes_of_steps,
    bytes_per_weight,
    count_powers,
    last_loss,
    late_shares,
    share_of_zeros,
    trained_gradients,
)
from attention_core.record.expressions import Ref
from attention_core.record.number_text import (
    format_duration,
    format_exact,
    format_fixed,
    format_grouped,
    format_percent,
    format_row,
    format_small,
)
from attention_core.record.trace import Step
from attention_core.variants.cost import attention_cost
from attention_core.variants.sparse import RoutedHeads, relative_error, route_heads, work_map
from attention_core.variants.timing import LONG_TIMED_LENGTHS, TIMED_BATCH, TIMED_KINDS, TIMED_WIDTH, TimedCase
from attention_core.verification.precision import (
    PRECISIONS,
    add_updates,
    largest_finite_number,
    overflow_example,
    precision_errors,
    repeat_update,
    run_in_precision,
    smallest_number,
    spacing_after_one,
    with_queries_scaled_first,
)
from attention_core.verification.proof import find_overflow
from pages.export.page_links import link_to_workbench
from pages.lessons.cost.races import PointsByLength, run_race
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import show_bar_rows, show_cell_rows, show_picture, show_step_picture
from pages.lessons.sentences import (
    format_gap,
    list_place_names,
    quote_token,
    say_bytes,
    show_sentence,
)
from pages.panels.canvas_map import show_plain_map
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import (
    choose_option,
    option_labels,
    pick_example,
    pick_place,
    sentence_box,
    slide,
    switch,
)
from pages.panels.markdown_table import NUMBERS, make_table
from pages.panels.progress import measure_on_request
from pages.runs.cache import cached_savings, inputs_of, trace_for
from pages.session.labels import Selection, current_palette, describe_cell, name_token, picture_texts_for, selection_of
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, say

# ---- drawer "stored": must the map be stored? ------------------------------------------------------------------------
LONG_TEXT_TOKENS = 2048  # length in tokens for which the size of a stored attention map is given


def show_online_softmax() -> None:
    """Shows the online softmax of one query block by block: running maximum, running sum, and output."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta", name="of"), "said")
        trace = trace_for(setup)
        names = list_place_names(trace, "S")
        query = pick_place("asks", names, selection_of(trace, setup).query)
    setup = setup.with_fields(token=query)
    selection = selection_of(trace, setup)
    block, seen = choose_blocks(names)
    streamed = with_online_softmax(trace, block)
    say_numbers_so_far(streamed, selection, block, seen)
    show_running_numbers(streamed, selection, block, seen)
    output = f"seen_outputs_{seen}"
    show_sentence("lessons.cost.divided", mixed=f"mixed_{seen}", output=output)
    show_step_picture("seen", streamed, output, selection)
    pairs = attention_cost(T=LONG_TEXT_TOKENS, D=TIMED_WIDTH).stored["weights"]
    show_sentence(
        "lessons.cost.kept",
        tokens=format_grouped(LONG_TEXT_TOKENS),
        pairs=format_grouped(pairs),
        block=block,
    )
    link_to_workbench(setup, "stored")


def choose_blocks(names: Sequence[str]) -> tuple[int, int]:
    """Shows the choice of the number of keys per block and of the number of processed blocks; returns both."""
    numbers = list(range(1, len(names) + 1))
    with st.columns(2)[0], st.container(horizontal=True):
        block = slide("block", numbers, min(2, len(names)))
        count = count_blocks(len(names), block)
        seen = slide("seen", numbers[:count], count) if count > 1 else count
    return block, seen


def say_numbers_so_far(streamed: Trace, selection: Selection, block: int, seen: int) -> None:
    """Shows the maximum, the sum and the output after `seen` blocks, and how far this output is from the final one."""
    row = (0, selection.head, selection.query)
    outputs = streamed[f"seen_outputs_{seen}"]  # (B, H, T, d_v)
    gap = abs_difference(outputs, streamed["head_outputs"]).max().item()
    count = count_blocks(streamed.sizes()["S"], block)
    key = "some_seen"
    if seen == count:
        key = "all_seen" if count > 1 else "all_at_once"
    show_sentence(
        f"lessons.cost.{key}",
        seen=seen,
        count=count,
        maximum=format_fixed(streamed[f"maximum_{seen}"][row].item()),
        sum=format_fixed(streamed[f"total_{seen}"][row].item()),
        z=format_row(outputs[row].tolist()),
        gap=format_gap(gap),
    )


def show_running_numbers(streamed: Trace, selection: Selection, block: int, seen: int) -> None:
    """Shows the scores of the keys in the first `seen` blocks, and the running maximum and sum at each key."""
    names = list_place_names(streamed, "S")
    row = (0, selection.head, selection.query)
    maxima = refs_by_key("maximum", row, len(names), block, seen)
    sums = refs_by_key("total", row, len(names), block, seen)
    scores = [Ref("masked_scores", (*row, key)) for key, _ in enumerate(maxima)]
    score_title = say("lessons.cost.row_scores", word=name_token(streamed, "T", selection.query))
    rows = [
        Row(score_title, streamed, scores),
        Row(say("lessons.cost.row_maximum"), streamed, maxima),
        Row(say("lessons.cost.row_sum"), streamed, sums),
    ]
    alt = say("lessons.cost.blocks_alt")
    show_bar_rows("blocks", rows, names, {"": streamed}, streamed, alt)


# ---- a router chooses heads for each word of a sentence; the other heads are not computed for that word --------------
EXAMPLES = {"en": "en_it", "zh": "zh_ta"}
TOPS = {"one": 1, "both": 2}  # option of the control -> number of heads that a router chooses for each word


def show_routed_heads() -> None:
    """Shows controls for a sentence and the number of heads per word; shows to which heads a router sends each word."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(make_setup(example=EXAMPLES[current_language()]), "routed")
        top = choose_option("top", tuple(TOPS), width="content")
    trace = trace_for(setup)
    routed = route_heads(trace, TOPS[top])
    st.markdown(make_gate_table(trace, routed))
    show_sentence(
        "lessons.cost.routed",
        computed=format_grouped(routed.computed),
        pairs=format_grouped(routed.pairs),
        error=format_percent(relative_error(routed.output, trace["output"][0])),
    )


def make_gate_table(trace: Trace, routed: RoutedHeads) -> str:
    """Returns a Markdown table of the router's gates, with a row per word and a column per head.

    The gates of heads that are computed for a word are marked.
    """
    heads = list_place_names(trace, "H")
    rows = []
    for place, (gates, chosen) in enumerate(zip(routed.gates.tolist(), routed.chosen.tolist(), strict=True)):
        cells = [quote_token(trace, "T", place)]
        for gate, is_chosen in zip(gates, chosen, strict=True):
            text = format_fixed(gate)
            cells.append(say("lessons.cost.routed_to", gate=text) if is_chosen else text)
        rows.append(cells)
    return make_table([say("lessons.cost.routed_word"), *heads], rows)


# ---- drawer "skip": which pairs can be skipped? ----------------------------------------------------------------------
def show_skipped_pairs() -> None:
    """Shows which pairs a sparse pattern keeps and computes, what it saves, and its error; below, heads chosen by a
    router.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_option("pattern", ("local", "strided"), width="content")
        made = choose_option("made", ("near", "random"), width="content")
        with st.container(width=300):
            length = slide("tokens", LONG_TIMED_LENGTHS[:-1], 256, format_grouped)
    show_savings(kind, length, made)
    show_work_map(kind, length)
    measure_saved_time(kind, length)
    show_sentence("lessons.cost.experts")
    show_routed_heads()


def show_savings(kind: str, length: int, made: str) -> None:
    """Shows how many pairs and multiply-adds a pattern saves, and how far its output is from full attention.

    kind: the name of the pattern. made: the kind of inputs, "near" or "random".
    """
    savings = cached_savings(kind, length, made)
    share = savings.computed / savings.pairs
    show_sentence(
        "lessons.cost.skipped",
        kept=format_grouped(savings.kept),
        pairs=format_grouped(savings.pairs),
        computed=format_grouped(savings.computed),
        share=format_percent(share),
        multiply_adds=format_grouped(savings.multiply_adds),
        all=format_grouped(savings.all_multiply_adds),
    )
    show_sentence(f"lessons.cost.error_{made}", error=format_percent(savings.error))


def show_work_map(kind: str, length: int) -> None:
    """Draws the (query, key) pairs of `length` tokens as a matrix: which a pattern keeps, and which are computed."""
    pattern = TIMED_KINDS[kind].pattern
    work = work_map(pattern, length, length)  # (T, S)
    trace = Trace({"pairs": Step("pairs", work, ("T", "S"))})
    alt = say("lessons.cost.pairs_alt")
    title = say("lessons.cost.pairs")
    show_plain_map(trace, "pairs", "cost_pairs", alt, title)


def measure_saved_time(kind: str, length: int) -> None:
    """If the visitor requests it, measures the time of full attention and of a sparse pattern."""
    cases = (TimedCase(), TimedCase(kind))
    measure_on_request(
        f"skip_{kind}_{length}",
        cases,
        lambda case: case.seconds(length),
        say("lessons.cost.measure_here"),
        partial(show_saved_time, cases, length),
    )


def show_saved_time(cases: Sequence[TimedCase], length: int, seconds: Mapping[TimedCase, float]) -> None:
    """Shows the times of full attention and of a sparse pattern; shows nothing until both times are measured.

    cases: the two, full attention first. seconds: the times measured so far.
    """
    if len(seconds) < len(cases):
        return
    full, skipping = seconds.values()
    show_sentence(
        "lessons.cost.skip_took",
        length=format_grouped(length),
        a=format_duration(full),
        b=format_duration(skipping),
    )


# ---- runs of the lesson on cost that lose precision: the visitor's sentence, or scores that overflow -----------------
SCALE_OF_WIDTH_4 = 0.5  # the scale of the scores for vectors of width 4: 1 / √4
QUERY_FACTORS = (1, 10, 100, 1000, 10_000, 12_000, 20_000)


def choose_own_setup() -> Setup:
    """Shows controls for a sentence and a factor.

    Returns the Setup of the sentence, with W_q multiplied by the factor.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        factor = slide("factor", QUERY_FACTORS, 1, format_grouped)
    if factor == 1:
        return setup
    w_q = inputs_of(setup).matrices["w_q"]
    return setup.with_fields(w_q=scale_matrix(w_q, factor, "w_q"))


def make_overflowing_setup() -> Setup:
    """Returns a Setup of three queries and three keys made by hand, one of whose scores overflows float16."""
    built = overflow_example()
    q = built.step("q").window(B=0, H=0)  # (T, d_k)
    k = built.step("k").window(B=0, H_kv=0)  # (S, d_k)
    v = built.step("v").window(B=0, H_kv=0)  # (S, d_v)
    return make_setup(
        example="one_query",
        scale=SCALE_OF_WIDTH_4,
        q=pack_matrix(q, "q"),
        k=pack_matrix(k, "k"),
        v=pack_matrix(v, "v"),
    )


# ---- rounding errors of a run, and numbers that overflow a precision -------------------------------------------------
PRECISION_STEPS = ("scores", "scaled_scores", "weights", "output")


def show_rounded_run() -> None:
    """Shows the rounding error of every number of a step, and the first cell of the run that overflows, if any."""
    with st.container(horizontal=True):
        case = choose_option("case", ("own", "built"))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    setup = choose_own_setup() if case == "own" else make_overflowing_setup()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choose_option("shown", PRECISION_STEPS, "weights")
        scaled_first = switch("first")
    run = trace_for(setup)
    if scaled_first:
        run = with_queries_scaled_first(run)
    low = run_in_precision(run, PRECISIONS[dtype])
    exact = run_in_precision(run, PRECISIONS["float64"])
    say_lost_precision(low, exact, dtype, step)
    errors = precision_errors(run, PRECISIONS[dtype])
    title = say("lessons.cost.errors", dtype=dtype, step=option_labels("shown")(step))
    show_precision_errors(low, errors, step, selection_of(run, setup), title)
    link_to_workbench(setup.with_fields(dtype=dtype), "precision")


def say_lost_precision(low: Trace, exact: Trace, dtype: str, step: str) -> None:
    """Shows which number overflows in a precision; without an overflow, shows the largest error of a step.

    low: the run in that precision. exact: the same run in float64.
    """
    overflow = find_overflow(low)
    if overflow is not None:
        say_overflow(Ref(*overflow), low, exact, dtype)
        return
    shown = option_labels("shown")(step)
    moved = find_moves(low, exact)
    if step not in moved:
        show_sentence("lessons.cost.exact", dtype=dtype, step=shown)
        return
    largest = moved[step]
    cell = describe_cell(low, Ref(step, largest.index))
    show_sentence(
        "lessons.cost.rounded",
        dtype=dtype,
        step=shown,
        size=format_small(largest.size),
        cell=escape_markdown(cell),
    )


def say_overflow(cell: Ref, low: Trace, exact: Trace, dtype: str) -> None:
    """Shows the exact number of a cell that overflows, and the largest finite number of the precision."""
    number = exact[cell.step][cell.index].item()
    limit = largest_finite_number(dtype)
    show_sentence(
        "lessons.cost.lost",
        dtype=dtype,
        number=format_exact(number),
        limit=format_exact(limit),
        cell=escape_markdown(describe_cell(low, cell)),
    )


def show_precision_errors(low: Trace, errors: Trace, step: str, selection: Selection, title: str) -> None:
    """Shows the error of each number of a step, compared with float64. A click opens the number in the low
    precision.
    """
    name = "errors"
    picture = single_picture(
        [panel(errors, step, selection.at)],
        errors,
        picture_texts_for(low),
        current_palette(),
        [title],
        get_opened_ref(name, low),
    )
    show_picture(name, picture, {"": low}, title)


# ---- training in 16 bits: whole trainings, gradients that underflow to 0, updates that rounding cancels --------------
CURVES_WIDTH_PX, CURVES_HEIGHT_PX = 460, 250  # px: size of the plot of losses
FAMILIES = {
    "weights": ("float32", "scaled", "alone", "bfloat16", "bfloat16_alone"),
    "scale": ("float32", "scaled", "unscaled", "small", "small_scaled"),
}  # name of a comparison, that is, what differs between its trainings -> names of these trainings
DRAWN = {
    "weights": ("scaled", "alone", "bfloat16_alone"),
    "scale": ("scaled", "unscaled", "small"),
}  # comparison -> trainings whose curves are drawn; the curves of the others would coincide with the first
STEP_TICKS = tuple(range(0, STEPS + 1, 100))
GRADIENT_SCALES = (1, 8, 64, 1024, 2**15, 2**20)
POWERS = range(-64, 17)  # exponents of 2 on the histogram's axis
UPDATE_PARTS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)  # sizes of updates: 1/64, 1/128, ... of the weight
REPEATED, REPEATED_PART = 1024, 4096  # the update 1/4096 is added 1024 times
UPDATE_DIGITS = 5  # decimal places of the shown weights and updates


def write_part(part: int) -> str:
    """Returns the fraction 1/part as text."""
    return f"1/{format_grouped(part)}"


# ---- whole trainings -------------------------------------------------------------------------------------------------
def show_trainings() -> None:
    """Shows one training in several precisions: losses, shares of gradients and updates rounded away, and memory."""
    family = choose_option("differ", tuple(FAMILIES))
    measured = PRECISION_FIGURES.rows
    rows = {name: measured[name] for name in FAMILIES[family]}
    say_trainings(family, rows)
    show_losses({name: measured[name] for name in DRAWN[family]})
    st.markdown(make_training_table(rows))
    show_memory()
    show_sentence(
        "lessons.cost.trained", steps=STEPS, seeds=len(SEEDS), every=EVERY, scale=format_grouped(int(LOSS_SCALE))
    )


def show_memory() -> None:
    """Shows the bytes per weight with and without float32 master weights, and the memory of a run in 16 bits."""
    whole, mixed, alone = (SCHEMES[name] for name in ("float32", "scaled", "alone"))
    show_sentence(
        "lessons.cost.memory",
        whole=bytes_per_weight(whole),
        mixed=bytes_per_weight(mixed),
        alone=bytes_per_weight(alone),
        whole_run=say_bytes(bytes_of_steps(whole)),
        run=say_bytes(bytes_of_steps(mixed)),
    )


def say_trainings(family: str, rows: dict[str, SchemeFigures]) -> None:
    """Shows, for each training, the final loss, the share of gradients rounded to 0, and the share of lost updates.

    family: a key of FAMILIES. rows: the measurements of each training (losses and shares), by name.
    """
    values = {}
    for name, figures in rows.items():
        values[f"{name}_loss"] = format_small(last_loss(figures))
        values[f"{name}_still"] = format_middle(late_shares(figures.still))
        least, *_, most = shares = late_shares(figures.zero)
        values[f"{name}_zero"] = format_middle(shares)
        values[f"{name}_zeros"] = f"{format_percent(least)} – {format_percent(most)}"
    show_sentence(f"lessons.cost.train_{family}", **values)


def format_middle(shares: Sequence[float]) -> str:
    """Formats the median of several shares as a percentage."""
    return format_percent(statistics.median(shares))


def show_losses(rows: dict[str, SchemeFigures]) -> None:
    """Draws the loss on held-out texts by training step, as the median over the random seeds."""
    palette = current_palette()
    colours = (palette.q, palette.k, palette.share)
    steps = range(EVERY, STEPS + 1, EVERY)
    drawn = []
    for (name, figures), colour in zip(rows.items(), colours, strict=True):
        middle = [statistics.median(losses) for losses in zip(*figures.losses, strict=True)]
        drawn.append(Curve(say(f"lessons.cost.scheme.{name}"), steps, middle, colour))
    axes = (
        Axis(say("lessons.cost.axis_step"), 0, STEPS, values=STEP_TICKS),
        decade_axis(say("lessons.cost.axis_loss"), [loss for curve in drawn for loss in curve.y]),
    )
    picture = curves(drawn, *axes, palette, None, CURVES_WIDTH_PX, CURVES_HEIGHT_PX)
    show_curve_chart(picture, f"cost_losses_{'_'.join(rows)}", say("lessons.cost.losses_alt"))


def make_training_table(rows: dict[str, SchemeFigures]) -> str:
    """Returns a Markdown table with a training per row: final loss, shares of zero gradients and of lost updates."""
    columns = ("scheme", "loss", "zero", "still")
    titles = [say(f"lessons.cost.column.{column}") for column in columns]
    lines = []
    for name, figures in rows.items():
        lines.append(
            [
                say(f"lessons.cost.scheme.{name}"),
                format_small(last_loss(figures)),
                say("lessons.cost.percent", share=format_middle(late_shares(figures.zero))),
                say("lessons.cost.percent", share=format_middle(late_shares(figures.still))),
            ]
        )
    return make_table(titles, lines, [NUMBERS] * len(titles))


# ---- gradients -------------------------------------------------------------------------------------------------------
def show_lost_gradients() -> None:
    """Shows the magnitudes of the gradients at the end of a training, and the share of gradients that float16 rounds to
    0.
    """
    with st.container(width=300):
        scale = slide("scale", GRADIENT_SCALES, 1, format_grouped)
    exact = trained_gradients("float32", scale)
    rounded = trained_gradients("float16", scale)
    smallest = smallest_number("float16")
    show_sentence(
        "lessons.cost.gradients",
        scale=format_grouped(scale),
        count=format_grouped(rounded.numel()),
        zero=format_percent(share_of_zeros([rounded])),
        exact=format_percent(share_of_zeros([exact])),
        smallest=format_small(smallest),
    )
    show_gradient_sizes(count_powers(exact), math.log2(smallest / 2))
    show_sentence("lessons.cost.gradients_colours")


def show_gradient_sizes(counts: dict[int, int], lost_below: float) -> None:
    """Shows a histogram of the gradients by power of two, with those that float16 rounds to 0 in another colour.

    lost_below: the exponent below which gradients are drawn as rounded to 0.
    """
    lost = [counts.get(power, 0) if power < lost_below else 0 for power in POWERS[:-1]]
    held = [counts.get(power, 0) if power >= lost_below else 0 for power in POWERS[:-1]]
    palette = current_palette()
    axes = (
        Axis(say("lessons.cost.axis_power"), POWERS[0], POWERS[-1], values=tuple(POWERS[::8])),
        Axis(say("lessons.cost.axis_count"), 0, max(counts.values())),
    )
    picture = histogram_picture(POWERS, (lost, held), (palette.minus, palette.q), *axes, palette)
    show_curve_chart(picture, "cost_gradients", say("lessons.cost.gradients_alt"))


# ---- updates ---------------------------------------------------------------------------------------------------------
def show_lost_updates() -> None:
    """Shows which updates are too small to change the weight 1, and what many such updates add up to with and without a
    master weight.
    """
    dtype = choose_option("number", ("float16", "bfloat16", "float32"), "float16", lambda name: say(f"dtype.{name}"))
    trace = add_updates(1.0, [1 / part for part in UPDATE_PARTS], dtype)
    update = 1 / REPEATED_PART
    show_sentence(
        "lessons.cost.updates",
        dtype=say(f"dtype.{dtype}"),
        spacing=write_part(round(1 / spacing_after_one(dtype))),
        lost=int((trace["moved"] == 1).sum()),
        count=len(UPDATE_PARTS),
        times=format_grouped(REPEATED),
        update=write_part(REPEATED_PART),
        alone=format_fixed(repeat_update(1.0, update, REPEATED, dtype, dtype)),
        master=format_fixed(repeat_update(1.0, update, REPEATED, dtype, "float32")),
    )
    rows = [
        row_of(say(f"lessons.cost.update.{step}"), trace, step, (), digits=UPDATE_DIGITS)
        for step in ("weight", "update", "moved")
    ]
    show_cell_rows("updates", rows, [write_part(part) for part in UPDATE_PARTS], {"": trace}, trace, sums=1)


# ---- drawer "precision": what does precision cost a run, and what does it cost a training? ---------------------------
# ---- drawer "batch": does a batch save time? -------------------------------------------------------------------------
def show_batch() -> None:
    """Measures the time of eight sequences in one batch, and the time of the same sequences one by one."""
    lengths = TIMED_KINDS["together"].lengths
    cases = (TimedCase("together"), TimedCase("one_by_one"))
    tell = partial(show_batch_times, lengths)
    run_race("batch", cases, lengths, {}, tell, "lessons.cost.batch_alt")


def show_batch_times(lengths: Sequence[int], measured: Sequence[PointsByLength]) -> None:
    """Shows the times of the batch and of its sequences one by one, at the shortest and the longest length."""
    show_sentence("lessons.cost.batch", count=TIMED_BATCH)
    together, alone = measured
    for length in (lengths[0], lengths[-1]):
        if length not in together or length not in alone:
            continue
        ratio = alone[length] / together[length]
        show_sentence(
            "lessons.cost.batch_took",
            length=format_grouped(length),
            a=format_duration(together[length]),
            b=format_duration(alone[length]),
            times=format_fixed(ratio, 1),
        )


LESSON = Lesson(
    "cost",
    drawers={
        "stored": show_online_softmax,
        "skip": show_skipped_pairs,
        "precision": Tabs(
            "precise",
            {
                "run": show_rounded_run,
                "train": show_trainings,
                "gradients": show_lost_gradients,
                "updates": show_lost_updates,
            },
        ),
        "batch": show_batch,
    },
    code=("scores", "weights", "head_outputs", "maximum_2", "powers_2", "faded_2", "total_2", "mixed_2"),
)
