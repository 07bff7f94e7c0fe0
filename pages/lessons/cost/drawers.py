"""Lesson 11, further sights: a batch, pairs that are skipped, precisions, a softmax that never sees a whole row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.online_softmax import count_of_blocks, in_blocks, key_by_key
from attention_core.comparison.differences import moves
from attention_core.comparison.distances import apart
from attention_core.drawing.bars import Row, bar_rows
from attention_core.drawing.charts import single_picture
from attention_core.drawing.scaling_curves import times
from attention_core.explanation.layout import panel
from attention_core.inputs import matrix_edits
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import duration, exact, fixed, grouped, percent, row_text, small
from attention_core.record.trace import Step
from attention_core.variants.cost import attention_cost
from attention_core.variants.sparse import work_map
from attention_core.variants.timing import BATCH, KINDS, LENGTHS, WIDTH, Case
from attention_core.verification.precision import PRECISIONS, errors, in_precision, largest, overflowing, scaled_first
from attention_core.verification.proof import overflow
from pages.export.doors import workbench_door
from pages.lessons.pictures import opened_in, show, show_step
from pages.lessons.races import run_race
from pages.panels.canvas_map import plain_map
from pages.panels.link_controls import choose, option, pick_example, pick_place, sentence_box, slide, switch
from pages.panels.progress import measured_on_request
from pages.runs.cache import material_of, saved_of, trace_of
from pages.session.labels import Look, describe, looked_at, palette, place_names, words_for
from pages.setup.setup import Setup
from pages.site.words import literal, say, sentence


# ---- a batch ---------------------------------------------------------------------------------------------------------
def batch() -> None:
    """Eight sequences in one run against eight runs."""
    lengths = KINDS["together"].lengths
    cases = (Case("together"), Case("one_by_one"))

    def tell(measured: Sequence[Mapping[int, float]]) -> None:
        st.markdown(say("lessons.cost.batch", count=BATCH))
        together, alone = measured
        for length in (lengths[0], lengths[-1]):
            if length in together and length in alone:
                took = {"a": duration(together[length]), "b": duration(alone[length])}
                ratio = fixed(times(alone[length], together[length]), 1)
                st.markdown(say("lessons.cost.batch_took", length=grouped(length), times=ratio, **took))

    run_race("batch", cases, lengths, {}, tell, say("lessons.cost.batch_alt"))


# ---- pairs that are skipped ------------------------------------------------------------------------------------------
def skip() -> None:
    """Which pairs a pattern has, which are computed, what that saves, and how far the output is from full attention."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose("pattern", ("local", "strided"), width="content")
        made = choose("made", ("near", "random"), width="content")
        with st.container(width=300):
            length = slide("tokens", LENGTHS[:-1], 256, grouped)
    found = saved_of(kind, length, made)
    counted = {name: grouped(getattr(found, name)) for name in ("kept", "computed", "pairs", "multiply_adds")}
    told = {**counted, "all": grouped(found.all_multiply_adds), "error": percent(found.error)}
    st.markdown(say("lessons.cost.skipped", share=percent(times(found.computed, found.pairs)), **told))
    st.markdown(say(f"lessons.cost.error_{made}", **told))
    step = Step("pairs", work_map(KINDS[kind].pattern, length, length), ("T", "S"))
    plain_map(Trace({"pairs": step}), "pairs", "cost_pairs", say("lessons.cost.pairs_alt"), say("lessons.cost.pairs"))
    cases = (Case(), Case(kind))

    def tell(seconds: dict[Case, float]) -> None:
        if len(seconds) == len(cases):
            took = dict(zip(("a", "b"), map(duration, seconds.values()), strict=True))
            st.markdown(say("lessons.cost.skip_took", length=grouped(length), **took))

    start = say("lessons.cost.measure_here")
    measured_on_request(f"skip_{kind}_{length}", cases, lambda case: case.seconds(length), start, tell)


# ---- precisions ------------------------------------------------------------------------------------------------------
HALF = 0.5  # the scale of width 4: one over its square root
FACTORS = (1, 10, 100, 1000, 10_000, 12_000, 20_000)
SHOWN = ("scores", "scaled_scores", "weights", "output")


def precision() -> None:
    """What rounding does to every number of a run, and the first cell that overflows."""
    with st.container(horizontal=True):
        case = choose("case", ("own", "built"))
        dtype = choose("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    setup = own_run() if case == "own" else built_run()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown, first = choose("shown", SHOWN, "weights"), switch("first")
    try:
        run = scaled_first(trace_of(setup)) if first else trace_of(setup)
        low, exactly = (in_precision(run, PRECISIONS[name]) for name in (dtype, "float64"))
    except AttentionError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    lost, moved = overflow(low), moves(low, exactly)
    told = {"dtype": dtype, "step": option("shown")(shown)}
    if lost:
        cell, number = Ref(*lost), exactly[lost[0]][lost[1]].item()
        beyond = {"number": exact(number), "limit": exact(largest(dtype)), "cell": literal(describe(low, cell))}
        st.markdown(say("lessons.cost.lost", **beyond, **told))
    elif shown in moved:
        cell = literal(describe(low, Ref(shown, moved[shown].index)))
        st.markdown(say("lessons.cost.rounded", size=small(moved[shown].size), cell=cell, **told))
    else:
        st.markdown(say("lessons.cost.exact", **told))
    show_errors(low, errors(run, PRECISIONS[dtype]), shown, looked_at(run, setup), say("lessons.cost.errors", **told))
    workbench_door(replace(setup, dtype=dtype), "precision")


def own_run() -> Setup:
    """The reader's sentence, its queries made larger."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        factor = slide("factor", FACTORS, 1, grouped)
    if factor == 1:
        return setup
    return replace(setup, w_q=matrix_edits.times(material_of(setup).matrices["w_q"], factor, "w_q"))


def built_run() -> Setup:
    """Three queries and three keys made by hand, one of whose scores float16 cannot hold."""
    built, heads = overflowing(), {"q": {"H": 0}, "k": {"H_kv": 0}, "v": {"H_kv": 0}}
    matrices = {name: to_text(built.step(name).window(B=0, **head), name) for name, head in heads.items()}
    return Setup(example="one_query", scale=HALF, **matrices)


def show_errors(low: Trace, lost: Trace, step: str, look: Look, title: str) -> None:
    """How far each number of a step is from float64; a click opens the number itself, in its precision."""
    runs, name = {"": low}, "errors"
    opened = opened_in(name, runs)
    drawn = panel(lost, step, look.at)
    picture = single_picture([drawn], lost, words_for(low), palette(), [title], opened and opened[1])
    show(name, picture, runs, title)


# ---- a softmax that never sees a whole row ---------------------------------------------------------------------------
LONG = 2048  # tokens: what a stored map would take


def stored() -> None:
    """The row of one word block by block: a running maximum, a running sum, and the output so far."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta", name="of"), "said")
        trace = trace_of(setup)
        names = place_names(trace, "S", trace.sizes()["S"])
        setup = replace(setup, token=pick_place("asks", names, looked_at(trace, setup).query))
    with st.columns(2)[0], st.container(horizontal=True):
        block = slide("block", [n for n, _ in enumerate(names, 1)], min(2, len(names)))
        count = count_of_blocks(len(names), block)
        seen = slide("seen", [n for n, _ in enumerate(names[:count], 1)], count) if count > 1 else count
    look, longer = looked_at(trace, setup), in_blocks(trace, block)
    row = (0, look.head, look.query)
    maxima, sums = (key_by_key(name, row, len(names), block, seen) for name in ("maximum", "total"))
    told = {
        "seen": seen,
        "count": count,
        "block": block,
        "maximum": fixed(longer[maxima[-1].step][row].item()),
        "sum": fixed(longer[sums[-1].step][row].item()),
        "z": row_text(longer.step(f"seen_outputs_{seen}").window(B=0, H=look.head, T=look.query)),
        "gap": exact(apart(longer[f"seen_outputs_{seen}"], trace["head_outputs"]).max().item()),
    }
    st.markdown(say("lessons.cost.all_seen" if seen == count else "lessons.cost.some_seen", **told))
    rows = [
        Row(say("lessons.cost.row_scores", word=names[look.query]), longer, scores_of(row, len(maxima))),
        Row(say("lessons.cost.row_maximum"), longer, maxima),
        Row(say("lessons.cost.row_sum"), longer, sums),
    ]
    runs = {"": longer}
    picture = bar_rows(rows, names, words_for(longer), palette(), opened_in("blocks", runs))
    show("blocks", picture, runs, say("lessons.cost.blocks_alt"))
    st.markdown(say("lessons.cost.divided", mixed=f"mixed_{seen}", output=f"seen_outputs_{seen}"))
    show_step("seen", longer, f"seen_outputs_{seen}", look)
    pairs = attention_cost(T=LONG, D=WIDTH).stored["weights"]
    st.markdown(say("lessons.cost.kept", tokens=grouped(LONG), pairs=grouped(pairs), block=block))
    workbench_door(setup, "stored")


def scores_of(row: tuple[int, int, int], keys: int) -> list[Ref]:
    """The scores of a row, up to so many keys."""
    return [Ref("masked_scores", (*row, s)) for s in range(keys)]
