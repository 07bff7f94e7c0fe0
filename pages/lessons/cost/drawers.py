"""Lesson 11, further sights: a batch, pairs that are skipped, precisions, a softmax that never sees a whole row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.online_softmax import count_blocks, refs_by_key, with_online_softmax
from attention_core.comparison.differences import find_moves
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import Row, bar_rows
from attention_core.drawing.charts import single_picture
from attention_core.drawing.scaling_curves import time_ratio
from attention_core.explanation.layout import panel
from attention_core.inputs import matrix_edits
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
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
from attention_core.variants.sparse_patterns import work_map
from attention_core.variants.timed_kinds import LONG_TIMED_LENGTHS, TIMED_BATCH, TIMED_KINDS, TIMED_WIDTH, TimedCase
from attention_core.verification.precision import (
    PRECISIONS,
    largest_finite_number,
    overflow_example,
    precision_errors,
    run_in_precision,
    with_queries_scaled_first,
)
from attention_core.verification.proof import find_overflow
from pages.export.doors import workbench_door
from pages.lessons.pictures import get_opened_cell, show_picture, show_step_picture
from pages.lessons.races import run_race
from pages.panels.canvas_map import show_plain_map
from pages.panels.link_controls import (
    choose_option,
    option_labels,
    pick_example,
    pick_place,
    sentence_box,
    slide,
    switch,
)
from pages.panels.progress import measure_on_request
from pages.runs.cache import cached_savings, inputs_of, trace_for
from pages.session.labels import Selection, current_palette, describe_cell, picture_texts_for, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal


# ---- a batch ---------------------------------------------------------------------------------------------------------
def show_batch() -> None:
    """Eight sequences in one run against eight runs."""
    lengths = TIMED_KINDS["together"].lengths
    cases = (TimedCase("together"), TimedCase("one_by_one"))

    def tell(measured: Sequence[Mapping[int, float]]) -> None:
        st.markdown(say("lessons.cost.batch", count=TIMED_BATCH))
        together, alone = measured
        for length in (lengths[0], lengths[-1]):
            if length in together and length in alone:
                took = {"a": format_duration(together[length]), "b": format_duration(alone[length])}
                ratio = format_fixed(time_ratio(alone[length], together[length]), 1)
                st.markdown(say("lessons.cost.batch_took", length=format_grouped(length), times=ratio, **took))

    run_race("batch", cases, lengths, {}, tell, say("lessons.cost.batch_alt"))


# ---- pairs that are skipped ------------------------------------------------------------------------------------------
def show_skip() -> None:
    """Which pairs a pattern has, which are computed, what that saves, and how far the output is from full attention."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_option("pattern", ("local", "strided"), width="content")
        made = choose_option("made", ("near", "random"), width="content")
        with st.container(width=300):
            length = slide("tokens", LONG_TIMED_LENGTHS[:-1], 256, format_grouped)
    found = cached_savings(kind, length, made)
    counted = {name: format_grouped(getattr(found, name)) for name in ("kept", "computed", "pairs", "multiply_adds")}
    told = {**counted, "all": format_grouped(found.all_multiply_adds), "error": format_percent(found.error)}
    st.markdown(say("lessons.cost.skipped", share=format_percent(time_ratio(found.computed, found.pairs)), **told))
    st.markdown(say(f"lessons.cost.error_{made}", **told))
    step = Step("pairs", work_map(TIMED_KINDS[kind].pattern, length, length), ("T", "S"))
    show_plain_map(
        Trace({"pairs": step}), "pairs", "cost_pairs", say("lessons.cost.pairs_alt"), say("lessons.cost.pairs")
    )
    cases = (TimedCase(), TimedCase(kind))

    def tell(seconds: dict[TimedCase, float]) -> None:
        if len(seconds) == len(cases):
            took = dict(zip(("a", "b"), map(format_duration, seconds.values()), strict=True))
            st.markdown(say("lessons.cost.skip_took", length=format_grouped(length), **took))

    start = say("lessons.cost.measure_here")
    measure_on_request(f"skip_{kind}_{length}", cases, lambda case: case.seconds(length), start, tell)


# ---- precisions ------------------------------------------------------------------------------------------------------
SCALE_OF_WIDTH_4 = 0.5  # the scale of width 4: one over its square root
QUERY_FACTORS = (1, 10, 100, 1000, 10_000, 12_000, 20_000)
PRECISION_STEPS = ("scores", "scaled_scores", "weights", "output")


def show_precision() -> None:
    """What rounding does to every number of a run, and the first cell that overflows."""
    with st.container(horizontal=True):
        case = choose_option("case", ("own", "built"))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    setup = choose_own_setup() if case == "own" else make_overflowing_setup()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown, first = choose_option("shown", PRECISION_STEPS, "weights"), switch("first")
    try:
        run = with_queries_scaled_first(trace_for(setup)) if first else trace_for(setup)
        low, exactly = (run_in_precision(run, PRECISIONS[name]) for name in (dtype, "float64"))
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    lost, moved = find_overflow(low), find_moves(low, exactly)
    told = {"dtype": dtype, "step": option_labels("shown")(shown)}
    if lost:
        cell, number = Ref(*lost), exactly[lost[0]][lost[1]].item()
        beyond = {
            "number": format_exact(number),
            "limit": format_exact(largest_finite_number(dtype)),
            "cell": escape_markdown(describe_cell(low, cell)),
        }
        st.markdown(say("lessons.cost.lost", **beyond, **told))
    elif shown in moved:
        cell = escape_markdown(describe_cell(low, Ref(shown, moved[shown].index)))
        st.markdown(say("lessons.cost.rounded", size=format_small(moved[shown].size), cell=cell, **told))
    else:
        st.markdown(say("lessons.cost.exact", **told))
    show_precision_errors(
        low,
        precision_errors(run, PRECISIONS[dtype]),
        shown,
        selection_of(run, setup),
        say("lessons.cost.errors", **told),
    )
    workbench_door(replace(setup, dtype=dtype), "precision")


def choose_own_setup() -> Setup:
    """The reader's sentence, its queries made larger."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        factor = slide("factor", QUERY_FACTORS, 1, format_grouped)
    if factor == 1:
        return setup
    return replace(setup, w_q=matrix_edits.scale_to_text(inputs_of(setup).matrices["w_q"], factor, "w_q"))


def make_overflowing_setup() -> Setup:
    """Three queries and three keys made by hand, one of whose scores float16 cannot hold."""
    built, heads = overflow_example(), {"q": {"H": 0}, "k": {"H_kv": 0}, "v": {"H_kv": 0}}
    matrices = {name: to_text(built.step(name).window(B=0, **head), name) for name, head in heads.items()}
    return Setup(example="one_query", scale=SCALE_OF_WIDTH_4, **matrices)


def show_precision_errors(low: Trace, lost: Trace, step: str, look: Selection, title: str) -> None:
    """How far each number of a step is from float64; a click opens the number itself, in its precision."""
    runs, name = {"": low}, "errors"
    opened = get_opened_cell(name, runs)
    drawn = panel(lost, step, look.at)
    picture = single_picture([drawn], lost, picture_texts_for(low), current_palette(), [title], opened and opened[1])
    show_picture(name, picture, runs, title)


# ---- a softmax that never sees a whole row ---------------------------------------------------------------------------
LONG_TEXT_TOKENS = 2048  # tokens: what a stored map would take


def show_stored() -> None:
    """The row of one word block by block: a running maximum, a running sum, and the output so far."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta", name="of"), "said")
        trace = trace_for(setup)
        names = place_names(trace, "S", trace.sizes()["S"])
        setup = replace(setup, token=pick_place("asks", names, selection_of(trace, setup).query))
    with st.columns(2)[0], st.container(horizontal=True):
        block = slide("block", [n for n, _ in enumerate(names, 1)], min(2, len(names)))
        count = count_blocks(len(names), block)
        seen = slide("seen", [n for n, _ in enumerate(names[:count], 1)], count) if count > 1 else count
    look, longer = selection_of(trace, setup), with_online_softmax(trace, block)
    row = (0, look.head, look.query)
    maxima, sums = (refs_by_key(name, row, len(names), block, seen) for name in ("maximum", "total"))
    told = {
        "seen": seen,
        "count": count,
        "block": block,
        "maximum": format_fixed(longer[maxima[-1].step][row].item()),
        "sum": format_fixed(longer[sums[-1].step][row].item()),
        "z": format_row(longer.step(f"seen_outputs_{seen}").window(B=0, H=look.head, T=look.query)),
        "gap": format_exact(abs_difference(longer[f"seen_outputs_{seen}"], trace["head_outputs"]).max().item()),
    }
    st.markdown(say("lessons.cost.all_seen" if seen == count else "lessons.cost.some_seen", **told))
    rows = [
        Row(say("lessons.cost.row_scores", word=names[look.query]), longer, list_score_refs(row, len(maxima))),
        Row(say("lessons.cost.row_maximum"), longer, maxima),
        Row(say("lessons.cost.row_sum"), longer, sums),
    ]
    runs = {"": longer}
    picture = bar_rows(rows, names, picture_texts_for(longer), current_palette(), get_opened_cell("blocks", runs))
    show_picture("blocks", picture, runs, say("lessons.cost.blocks_alt"))
    st.markdown(say("lessons.cost.divided", mixed=f"mixed_{seen}", output=f"seen_outputs_{seen}"))
    show_step_picture("seen", longer, f"seen_outputs_{seen}", look)
    pairs = attention_cost(T=LONG_TEXT_TOKENS, D=TIMED_WIDTH).stored["weights"]
    st.markdown(
        say("lessons.cost.kept", tokens=format_grouped(LONG_TEXT_TOKENS), pairs=format_grouped(pairs), block=block)
    )
    workbench_door(setup, "stored")


def list_score_refs(row: tuple[int, int, int], keys: int) -> list[Ref]:
    """The scores of a row, up to so many keys."""
    return [Ref("masked_scores", (*row, s)) for s in range(keys)]
