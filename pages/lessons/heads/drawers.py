"""Draws the accordions of the lesson on heads, and provides functions that the lesson's page uses too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import streamlit as st

from attention_core import Trace
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.analysis.head_circuits import seen_step, take_unseen, with_sights
from attention_core.analysis.head_contributions import with_contributions, with_likeness, without_head
from attention_core.comparison.differences import find_moves, relative_change
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import accident_at, find_most_alike_heads
from attention_core.explanation.traced_source import function_listing
from attention_core.inputs.handmade_heads import HEAD_KINDS
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import MAX_COLUMNS
from attention_core.learned.training.head_counts import (
    HEAD_COUNTS,
    OVERFITTING,
    OVERFITTING_STEPS,
    RATES,
    SEEDS,
    STABILITY,
    STEPS,
    TEXT_COUNTS,
    OverfittingRow,
    StabilityRow,
    chance_of_difference,
    chance_that_heads_are_alike,
)
from attention_core.mechanism.config import kv_choices
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_grouped, format_or_scientific, format_percent
from attention_core.variants.cost import attention_cost
from attention_core.variants.textbook_code import (
    heads_by_eighth,
    merge_by_copy,
    merge_by_reshape,
    merge_by_view,
    merge_untransposed,
    multi_head,
    numbered_heads,
    split_by_eighth,
)
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import make_cell_rows, show_cell_rows, show_run_picture
from pages.lessons.sentences import (
    format_gap,
    join_with_commas,
    list_place_names,
    quote_token,
    show_sentence,
)
from pages.lessons.trained_model import show_one_head
from pages.panels.head_maps import head_name
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.panels.markdown_table import NUMBERS, make_table
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection, name_token, place_name, selection_of
from pages.setup.setup import Setup, make_setup
from pages.site.code_words import say_code
from pages.site.words import escape_markdown, say

# ---- random layers of the lesson on heads, of any sizes --------------------------------------------------------------
EXAMPLE_WIDTH = 512  # model width of the example with eight heads
RANDOM_LAYER_TOKENS = 10


def make_random_layer(width: int, heads: int, d_k: int | None = None, d_v: int | None = None) -> Setup:
    """Returns the Setup of a layer with random weights on ten random tokens.

    At EXAMPLE_WIDTH the tokens are those of the example. The default head width is width / heads, rounded up. It is
    rounded down if all heads together would exceed MAX_COLUMNS: with 3 heads and width 512, a head has 170 columns.
    """
    x = None
    if width != EXAMPLE_WIDTH:
        vectors = random_matrix("x", (RANDOM_LAYER_TOKENS, width), 0)
        x = pack_matrix(vectors)
    part = width // heads
    fitting = None if (part + 1) * heads <= MAX_COLUMNS or part * heads == width else part
    return make_setup(example="eight_heads", x=x, heads=heads, d_k=d_k or fitting, d_v=d_v or fitting)


# ---- drawer "bring": what does each head add to the output? ----------------------------------------------------------
def show_ledger(setup: Setup) -> None:
    """Shows what each head adds to the output of the selected query, and the output without this head."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    heads = list_place_names(trace, "H")
    whole = with_contributions(trace)
    runs = {"all": whole}
    for head, _ in enumerate(heads):
        runs[f"no{head}"] = without_head(trace, head)
    say_contributions(whole, selection, heads)
    parts = make_contribution_rows(whole, selection, heads)
    sums = make_rows_without_heads(runs, selection, heads)
    show_cell_rows(
        "ledger",
        [*parts, *sums],
        list_place_names(trace, "D_out"),
        runs,
        runs["no0"],
        sums=len(sums),
    )


def say_contributions(whole: Trace, selection: Selection, heads: Sequence[str]) -> None:
    """Shows for each head how far the output of the selected query moves without that head."""
    contributions = whole["contributions"][selection.batch, :, selection.query]  # (H, D_out)
    largest = contributions.abs().amax(-1)  # (H,)
    moves = []
    for name, size in zip(heads, largest.tolist(), strict=True):
        move = say("lessons.heads.moves", head=name, size=format_fixed(size))
        moves.append(move)
    show_sentence(
        "lessons.heads.ledger",
        word=quote_token(whole, "T", selection.query),
        parts=join_with_commas(moves),
    )


def make_contribution_rows(whole: Trace, selection: Selection, heads: Sequence[str]) -> list[Row]:
    """Returns a picture with one row per head: the vector that the head adds to the output of the selected query."""
    rows = []
    for head, name in enumerate(heads):
        index = (selection.batch, head, selection.query)
        row = row_of(name, whole, "contributions", index, "all")
        rows.append(row)
    return rows


def make_rows_without_heads(runs: Mapping[str, Trace], selection: Selection, heads: Sequence[str]) -> list[Row]:
    """Returns a picture with a row for the selected query's output, and a row per head for the output without this
    head.

    runs: {name: run}; "all" is the run with all heads, "no0" the run without head 0, and so on.
    """
    index = (selection.batch, selection.query)
    title = say("lessons.heads.all")
    rows = [row_of(title, runs["all"], "output", index, "all")]
    for head, name in enumerate(heads):
        run = f"no{head}"
        title = say("lessons.heads.without", head=name)
        row = row_of(title, runs[run], "without_head", index, run)
        rows.append(row)
    return rows


def show_head_likeness(setup: Setup) -> None:
    """Shows how alike the heads attend: for each pair, the share of attention to the same words; names the most alike
    pair.
    """
    compared = setup
    if choose_option("which", ("these", "five")) == "five":
        compared = make_setup(
            example=setup.run.example,
            text=setup.run.text,
            built=HEAD_KINDS,
            score="dot",
        )
    trace = with_likeness(trace_for(compared))
    one, other, share = find_most_alike_heads(trace["likeness"][0])
    key = "alike_random" if trace.chance else "alike"
    show_sentence(
        f"lessons.heads.{key}",
        share=format_percent(share),
        one=place_name(trace, "H", one),
        other=place_name(trace, "H", other),
    )
    names = list_place_names(trace, "H")
    inputs = inputs_of(compared)
    rows = []
    for head, _ in enumerate(names):
        title = head_name(compared, inputs, head)
        row = row_of(title, trace, "likeness", (0, head))
        rows.append(row)
    show_cell_rows("alike", rows, names, {"": trace}, trace)
    link_to_workbench(compared, "alike")


# ---- drawer "split", tab: which code merges heads, and what happens without contiguous() -----------------------------
MERGES = {"view": merge_by_view, "copy": merge_by_copy, "reshape": merge_by_reshape, "untransposed": merge_untransposed}


def show_merges(_: Setup) -> None:
    """Shows the code of the chosen way to merge heads, and its result or torch's error.

    One of the ways gives wrong numbers without an error.
    """
    of_way, of_heads = st.columns([3, 1], vertical_alignment="bottom")
    with of_way:
        way = choose_option("merge", tuple(MERGES))
    with of_heads:
        heads = slide("merged", (2, 3, 4), 2)
    outputs = numbered_heads(heads)
    merge = MERGES[way]
    if way == "view":
        st.error(say("lessons.heads.merge_view"), icon=":material/error:")
    else:
        meant = merge_by_copy(outputs)
        show_sentence(f"lessons.heads.merge_{way}", width=meant.shape[-1])
        made_column, meant_column = st.columns(2)
        with made_column:
            show_rows("merge_made", merge(outputs)[0].tolist())
        if way == "untransposed":
            with meant_column:
                show_rows("merge_right", meant[0].tolist())
    st.caption(say("lessons.heads.merge_numbers"))
    listing = function_listing(merge, {"x": outputs})
    st.code(say_code(listing), language="python", wrap_lines=True)


def show_rows(title: str, rows: list[list[float]]) -> None:
    """Shows a matrix as whole numbers, one token per line. title: the key, below lessons.heads, of the title's text."""
    lines = []
    for row in rows:
        numbers = [f"{number:.0f}" for number in row]
        lines.append(" ".join(numbers))
    st.markdown(say(f"lessons.heads.{title}"))
    st.code("\n".join(lines), language=None)


# ---- drawer "split", tab: what of a word's vector does each head read? -----------------------------------------------
def show_head_sight(setup: Setup) -> None:
    """Shows a word's vector, and the part of the vector that each head reads; the rest changes neither q nor k of that
    head.

    setup: the lesson's run with two heads.
    """
    trace = with_sights(trace_for(setup))
    words = list_place_names(trace, "T")
    word = pick_place("looked", words, len(words) - 1, width=160)
    show_sentence("lessons.heads.sight", word=quote_token(trace, "T", word), D=trace.sizes()["D"])
    show_read_parts(trace, word)
    for head in range(trace.sizes()["H"]):
        say_unseen(trace, head)
    show_sentence("lessons.heads.sight_values")


def show_read_parts(trace: Trace, word: int) -> None:
    """Draws the vector of a word, and below it, for each head, the component of the vector on which the head's q and k
    depend.
    """
    rows = [row_of(say("lessons.heads.sight_whole"), trace, "x", (0, word))]
    for head in range(trace.sizes()["H"]):
        title = say("lessons.heads.sight_part", head=place_name(trace, "H", head))
        rows.append(row_of(title, trace, seen_step(head), (0, word)))
    show_run_picture(make_cell_rows("sight", rows, list_place_names(trace, "D"), {"": trace}, trace))


def say_unseen(trace: Trace, head: int) -> None:
    """Shows how far q and k of a head move if the part of x that the head does not read is removed."""
    move = take_unseen(trace, head)
    show_sentence(
        "lessons.heads.sight_unseen",
        head=place_name(trace, "H", head),
        directions=move.directions,
        D=trace.sizes()["D"],
        taken=format_fixed(move.taken),
        q=format_gap(move.q),
        k=format_gap(move.k),
    )


# ---- drawer "split": how are heads split and merged again? -----------------------------------------------------------
LAYER_WIDTHS = (8, 12, 16, 18, 20, 24, 25, 32, 64)
HEAD_WIDTHS = (0, 1, 2, 3, 5, 16, 32)  # head widths to choose from; 0 is the default, d_model / heads


def choose_layer() -> Setup:
    """Shows controls for the sizes of a layer (width, heads, d_k and d_v), and returns its Setup."""
    of_width, of_heads, of_d_k, of_d_v = st.columns(4)
    with of_width:
        width = slide("width", (*LAYER_WIDTHS, EXAMPLE_WIDTH), EXAMPLE_WIDTH)
    with of_heads:
        heads = slide("h", (1, 2, 3, 4, 6, 8, 16), 8)
    with of_d_k:
        d_k = slide("d_k", HEAD_WIDTHS, 0, format_head_width)
    with of_d_v:
        d_v = slide("d_v", HEAD_WIDTHS, 0, format_head_width)
    return make_random_layer(width, heads, d_k or None, d_v or None)


def format_head_width(width: float) -> str:
    """Formats the width of a head; 0 means the default."""
    return f"{width}" if width else say("lessons.heads.fitting")


def show_layer_code(_: Setup) -> None:
    """Shows the code of a layer, from the linear projections to W_o, with the shape of each line's result."""
    layer = choose_layer()
    trace = trace_for(layer)
    sizes = trace.sizes()
    show_sentence(
        "lessons.heads.chain",
        D=sizes["D"],
        H=sizes["H"],
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        width=sizes["H·d_v"],
    )
    batch = int(choose_option("batch", ("1", "2"), words=format_batch))
    if batch > 1:
        st.caption(say("lessons.heads.same_twice"))
    matrices = {name: trace[name] for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    matrices["x"] = trace["x"].repeat(batch, 1, 1)  # (B, T, D)
    listing = function_listing(multi_head, matrices, {"heads": layer.run.heads})
    st.code(say_code(listing), language="python", wrap_lines=True)
    link_to_workbench(layer, "split")


def format_batch(count: str) -> str:
    """Formats the batch size."""
    return f"B = {count}"


def show_split_by_eighth(_: Setup) -> None:
    """Shows, with the code of a split, that d_model // 8 fixes the width of a head instead of the number of heads."""
    width = slide("eighth", (4, *LAYER_WIDTHS), 20)
    say_heads_by_eighth(width)
    layer = make_random_layer(width, heads=1)
    vectors = trace_for(layer)["x"]
    listing = function_listing(split_by_eighth, {"x": vectors})
    st.code(say_code(listing), language="python", wrap_lines=True)


def say_heads_by_eighth(width: int) -> None:
    """Shows how many heads result if 8 heads are meant, but the head width is set to d_model // 8, whatever the number
    of heads.

    Shows an error if torch refuses to split the width into such heads.
    """
    made = heads_by_eighth(width)
    if made is None:
        d_k = width // 8
        kind = "eighth_refused" if d_k else "eighth_none"
        st.error(say(f"lessons.heads.{kind}", D=width, d=d_k), icon=":material/error:")
        return
    heads, d_k = made
    kind = "eighth_right" if heads == 8 else "eighth"
    show_sentence(f"lessons.heads.{kind}", D=width, H=heads, d=d_k)


# ---- drawer "share", tab: do more heads make training more stable? ---------------------------------------------------
def show_stability(_: Setup) -> None:
    """Shows the results of training small networks with 1 to 8 heads, over several seeds and learning rates."""
    runs = STABILITY.rows
    one = runs[HEAD_COUNTS[0], RATES[-1]].failed
    most = runs[HEAD_COUNTS[-1], RATES[-1]].failed
    show_sentence(
        "lessons.heads.stable",
        seeds=len(SEEDS),
        steps=STEPS,
        rate=RATES[-1],
        one=sum(one),
        most=sum(most),
        heads=HEAD_COUNTS[-1],
        chance=format_percent(chance_of_difference(one, most)),
    )
    show_sentence("lessons.heads.stable_head")
    st.markdown(make_stability_table(runs))
    show_sentence("lessons.heads.stable_limits")
    show_overfitting()


def show_overfitting() -> None:
    """Shows how far small networks overfit: accuracy on training and held-out texts, by number of training texts."""
    runs = OVERFITTING.rows
    values = {}
    for name, count in zip(("few", "some", "many"), TEXT_COUNTS, strict=True):
        one, most = runs[HEAD_COUNTS[0], count].unseen, runs[HEAD_COUNTS[-1], count].unseen
        values[name] = count
        values[f"{name}_one"] = format_percent(fmean(one))
        values[f"{name}_most"] = format_percent(fmean(most))
        values[f"{name}_chance"] = format_percent(chance_that_heads_are_alike(one, most))
    show_sentence("lessons.heads.overfit", steps=OVERFITTING_STEPS, seeds=len(SEEDS), heads=HEAD_COUNTS[-1], **values)
    show_sentence("lessons.heads.overfit_head")
    counts = [say("lessons.heads.overfit_texts", count=count) for count in TEXT_COUNTS]
    titles = [say("lessons.heads.stable_heads"), *counts]
    rows = []
    for heads in HEAD_COUNTS:
        cells = [describe_overfitting(runs[heads, count]) for count in TEXT_COUNTS]
        rows.append([str(heads), *cells])
    st.markdown(make_table(titles, rows, [NUMBERS] * len(titles)))


def describe_overfitting(row: OverfittingRow) -> str:
    """Returns the text of a cell in the table on overfitting: the mean accuracy on training texts and on held-out
    texts.
    """
    return say(
        "lessons.heads.overfit_cell",
        seen=format_percent(fmean(row.seen)),
        unseen=format_percent(fmean(row.unseen)),
    )


def make_stability_table(runs: dict[tuple[int, float], StabilityRow]) -> str:
    """Returns a Markdown table of the training results: a row per number of heads, a column per learning rate."""
    titles = [say("lessons.heads.stable_heads"), *[say("lessons.heads.stable_rate", rate=rate) for rate in RATES]]
    rows = []
    for heads in HEAD_COUNTS:
        cells = [describe_runs(runs[heads, rate]) for rate in RATES]
        rows.append([str(heads), *cells])
    return make_table(titles, rows, [NUMBERS] * len(titles))


def describe_runs(row: StabilityRow) -> str:
    """Returns the text of a cell in the table of trainings: the mean accuracy, its spread, and how many trainings
    failed.
    """
    return say(
        "lessons.heads.stable_cell",
        mean=format_percent(row.mean),
        spread=format_percent(row.spread),
        failed=sum(row.failed),
    )


# ---- drawer "share": can heads share keys and values, and what do heads cost? ----------------------------------------
POSITION_EXAMPLES = {"en_colour": "en_it", "zh_colour": "zh_ta"}
COST_HEAD_COUNTS = (1, 2, 4, 8, 16)


def show_shared_heads(setup: Setup) -> None:
    """Shows how a head's weights and the output change if the head shares keys and values with other heads."""
    separate = choose_shared_run(setup)
    before = trace_for(separate)
    head_names = list_place_names(before, "H")
    counts = kv_choices(before.sizes()["H"])
    labels = [str(count) for count in counts]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = pick_place("kv", labels, len(counts) - 1, width=160)
        head = pick_place("head", head_names, len(head_names) - 1, width=160)
    grouped = separate.with_fields(kv_heads=counts[choice], head=head)
    now = trace_for(grouped)
    selection = selection_of(now, grouped)
    say_sharing(before, now, selection)
    show_weights_of_both(before, now, selection)
    link_to_workbench(grouped, "shared")


def choose_shared_run(setup: Setup) -> Setup:
    """Shows a choice of run for the accordion on shared heads; returns the run's Setup, in which no heads share keys
    yet.
    """
    runs = {
        "own": setup,
        "it": make_setup(example=POSITION_EXAMPLES[setup.run.example]),
        "eight": make_setup(example="eight_heads"),
    }
    chosen = choose_option("of", tuple(runs))
    return runs[chosen]


def say_sharing(before: Trace, now: Trace, selection: Selection) -> None:
    """Shows which key/value head a head uses, how far the output moves, and how many numbers of the keys are cached.

    before, now: the run in which each head has separate keys and values, and the run in which heads share them.
    """
    moved = find_moves(now, before).get("output")
    gap = format_or_scientific(moved.size) if moved else "0"
    show_sentence(
        "lessons.heads.shared",
        head=place_name(now, "H", selection.head),
        own=place_name(now, "H_kv", selection.kv),
        moved=gap,
        kept=format_grouped(now["k"].numel()),
        all=format_grouped(before["k"].numel()),
    )


def show_weights_of_both(before: Trace, now: Trace, selection: Selection) -> None:
    """Shows one query's weights in a head twice: with separate keys, and with shared keys."""
    word = name_token(now, "T", selection.query)
    index = (selection.batch, selection.head, selection.query)
    own_title = say("lessons.heads.own_keys", word=word)
    own = row_of(own_title, before, "weights", index, "before")
    shared_title = say("lessons.heads.shared_keys", word=word)
    shared = row_of(shared_title, now, "weights", index, "now")
    runs = {"before": before, "now": now}
    names = list_place_names(now, "S")
    show_cell_rows("shared", [own, shared], names, runs, now)


def show_head_costs(_: Setup) -> None:
    """Shows the costs of a layer by its number of heads: parameters, multiply-adds of the scores, and stored
    weights.
    """
    with st.container(horizontal=True):
        length = slide("length", (5, 10, 64, 256, 512), 10)
        width = slide("D", (64, 128, 256, 512), 64)
    lines = [say("lessons.heads.cost_head"), "|---:|---:|---:|---:|"]
    products_of_layer = set()
    for heads in COST_HEAD_COUNTS:
        cost = attention_cost(T=length, D=width, H=heads)
        totals = cost.totals()
        products = format_grouped(totals["multiply_adds"])
        products_of_layer.add(products)
        parameters = format_grouped(totals["parameters"])
        scores = format_grouped(cost.multiply_adds["scores"])
        weights = format_grouped(cost.stored["weights"])
        lines.append(f"| {heads} | {parameters} | {scores} | {weights} |")
    show_sentence("lessons.heads.cost", layer=join_with_commas(sorted(products_of_layer)))
    st.markdown("\n".join(lines))


# ---- drawer "explain", tab: gradient x input beside the weights ------------------------------------------------------
def show_gradient_times_input(setup: Setup) -> None:
    """Shows the attention weight of each word beside gradient x input for one component of the selected query's
    output.
    """
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    numbers = list_place_names(trace, "D_out")
    heads = list_place_names(trace, "H")
    with st.container(horizontal=True):
        number = pick_place("number", numbers, 0, width=220)
        head = pick_place("beside", heads, len(heads) - 1, width=160)
    cell = Ref("output", (selection.batch, selection.query, number))
    run = gradient_times_input(trace, cell)
    row = (selection.batch, head, selection.query)
    say_deepest_word(trace, run, row, numbers[number])
    show_weights_and_gradient(run, row, heads[head])


def say_deepest_word(trace: Trace, run: Trace, row: tuple[int, int, int], number: str) -> None:
    """Shows the word with the query's largest attention weight, and the word with the largest gradient x input for one
    output component.

    run: the trace with the added step gradient_x_input. row: the indices of batch, head and query. number: the name of
    the output component.
    """
    batch, head, query = row
    weights = run["weights"][row]  # (S,)
    slopes = run["gradient_x_input"][batch]  # (S,)
    most = int(weights.argmax())
    deepest = int(slopes.abs().argmax())
    names = list_place_names(trace, "S")
    kind = "same" if most == deepest else "other"
    if accident_at(trace, query, [most]):
        kind = "random"
    show_sentence(
        f"lessons.heads.gradient_{kind}",
        head=place_name(trace, "H", head),
        number=number,
        word=quote_token(trace, "T", query),
        most=escape_markdown(names[most]),
        share=format_fixed(weights[most].item()),
        deepest=escape_markdown(names[deepest]),
        slope=format_fixed(slopes[deepest].item()),
    )


def show_weights_and_gradient(run: Trace, row: tuple[int, int, int], head: str) -> None:
    """Shows the weights of a query, and below them gradient x input for the same words."""
    weights_title = say("lessons.heads.weights_of", head=head)
    weights = row_of(weights_title, run, "weights", row)
    gradient_title = say("lessons.heads.slopes")
    gradient = row_of(gradient_title, run, "gradient_x_input", row[:1])
    names = list_place_names(run, "S")
    show_cell_rows("gradient", [weights, gradient], names, {"": run}, run)


# ---- drawer "explain": does a weight explain the output? -------------------------------------------------------------
def show_even_weights(setup: Setup) -> None:
    """Shows how the output changes if the weights are replaced by uniform weights."""
    even = setup.with_fields(wiring=("even",))
    before = trace_for(setup)
    now = trace_for(even)
    runs = {"before": before, "now": now}
    change = relative_change(now, before)
    show_sentence(
        "lessons.heads.even",
        count=now.sizes()["S"],
        change=format_percent(change),
    )
    colour = now.labels["D_out"].index("colour")
    rows = []
    for name, run in runs.items():
        title = say(f"lessons.heads.even_{name}")
        row = column_of(title, run, "output", (0,), colour, name)
        rows.append(row)
    words = list_place_names(now, "T")
    show_cell_rows("even", rows, words, runs, now, made=colour_rows)
    link_to_workbench(even, "even")


def show_dropout(setup: Setup) -> None:
    """Shows the weights before and after dropout, and the sums of the rows after dropout."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    with st.container(horizontal=True):
        p = slide("p", (0.0, 0.1, 0.25, 0.5, 0.75), 0.25)
        seed = slide("seed", range(1, 21), 4)
    run = with_dropout(trace, p, seed)
    row_sums = run["row_sums"]
    show_sentence(
        "lessons.heads.dropout" if p else "lessons.heads.dropout_none",
        least=format_fixed(row_sums.min().item()),
        most=format_fixed(row_sums.max().item()),
    )
    rows = []
    for head, name in enumerate(list_place_names(trace, "H")):
        index = (selection.batch, head, selection.query)
        weights = row_of(name, run, "weights", index)
        rows.append(weights)
        dropped = make_dropped_row(run, index, name)
        rows.append(dropped)
    words = list_place_names(trace, "S")
    names = [*words, say("lessons.heads.row_sum")]
    show_cell_rows("dropout", rows, names, {"": run}, run)


def make_dropped_row(run: Trace, index: tuple[int, int, int], head: str) -> Row:
    """Returns a picture's row of attention weights after dropout, followed by their sum."""
    title = say("lessons.heads.dropped", head=head)
    dropped = row_of(title, run, "dropped_weights", index)
    row_sum = Ref("row_sums", index)
    return replace(dropped, refs=[*dropped.refs, row_sum])


LESSON = Lesson(
    "heads",
    drawers={
        "bring": Tabs("brings", {"ledger": show_ledger, "alike": show_head_likeness}, show_one_head),
        "split": Tabs(
            "cut",
            {"chain": show_layer_code, "merge": show_merges, "eighth": show_split_by_eighth, "sight": show_head_sight},
        ),
        "share": Tabs(
            "sharing",
            {
                "group": show_shared_heads,
                "cost": show_head_costs,
                "stable": show_stability,
            },
        ),
        "explain": Tabs(
            "doubt", {"even": show_even_weights, "gradient": show_gradient_times_input, "dropout": show_dropout}
        ),
    },
    code=("q", "scores", "weights", "head_outputs", "concat", "output"),
)
