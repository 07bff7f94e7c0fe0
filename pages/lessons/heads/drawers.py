"""Lesson 6, further sights: what each head brings, how heads are cut, what they share, what weights explain."""

from dataclasses import replace

import streamlit as st

from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.analysis.head_contributions import with_contributions, with_likeness, without_head
from attention_core.comparison.differences import find_moves, relative_change
from attention_core.drawing.bars import row_of
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import accident_at, find_most_alike_heads
from attention_core.explanation.traced_source import function_listing
from attention_core.inputs.handmade_heads import HEAD_KINDS
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.mechanism.config import kv_choices
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.variants.cost import attention_cost
from attention_core.variants.textbook_code import eighth_of, heads_by_eighth, multi_head, split_by_eighth
from pages.export.doors import workbench_door
from pages.lessons.pictures import show_cell_rows
from pages.panels.head_maps import head_name
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import name_token, place_name, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

UNLABELLED = {"label_visibility": "collapsed"}  # what a drawer shows: its question stands above


# ---- what does each head bring to the output? ------------------------------------------------------------------------
def show_bring(setup: Setup) -> None:
    """The output as a sum over the heads, and without each of them; how alike the heads are."""
    if choose_option("brings", ("ledger", "alike"), **UNLABELLED) == "ledger":
        show_ledger(setup)
    else:
        show_head_likeness(setup)


def show_ledger(setup: Setup) -> None:
    """What each head adds to the output of the word that asks, and the output without it."""
    trace = trace_for(setup)
    look, names = selection_of(trace, setup), place_names(trace, "H", trace.sizes()["H"])
    whole, at = with_contributions(trace), (look.batch, look.query)
    runs, brought, moved = {"all": whole}, [], []
    sums = [row_of(say("lessons.heads.all"), whole, "output", at, "all")]
    for head, name in enumerate(names):
        part, left_out = (look.batch, head, look.query), f"no{head}"
        runs[left_out] = without_head(trace, head)
        brought.append(row_of(name, whole, "contributions", part, "all"))
        without = say("lessons.heads.without", head=name)
        sums.append(row_of(without, runs[left_out], "without_head", at, left_out))
        size = float(whole["contributions"][part].abs().max())
        moved.append(say("lessons.heads.moves", head=name, size=format_fixed(size)))
    said = {"word": escape_markdown(name_token(trace, "T", look.query)), "parts": say("fact.comma").join(moved)}
    st.markdown(say("lessons.heads.ledger", **said))
    dims = place_names(trace, "D_out", trace.sizes()["D_out"])
    show_cell_rows("ledger", [*brought, *sums], dims, runs, runs["no0"], sums=len(sums))


def show_head_likeness(setup: Setup) -> None:
    """How much of their attention each two heads give to the same words."""
    which = choose_option("which", ("these", "five"))
    drawn = setup if which == "these" else Setup(example=setup.example, text=setup.text, built=HEAD_KINDS, score="dot")
    trace = with_likeness(trace_for(drawn))
    one, other, share = find_most_alike_heads(trace["likeness"][0])
    pair = {"one": place_name(trace, "H", one), "other": place_name(trace, "H", other)}
    st.markdown(
        say(
            "lessons.heads.alike_random" if trace.chance else "lessons.heads.alike", share=format_percent(share), **pair
        )
    )
    heads, material = range(trace.sizes()["H"]), inputs_of(drawn)
    rows = [row_of(head_name(drawn, material, head), trace, "likeness", (0, head)) for head in heads]
    show_cell_rows("alike", rows, place_names(trace, "H", len(heads)), {"": trace}, trace)
    workbench_door(drawn, "alike")


# ---- how are heads cut apart and put together again? -----------------------------------------------------------------
LAYER_WIDTHS = (8, 12, 16, 18, 20, 24, 25, 32, 64)
RANDOM_LAYER_TOKENS = 10


def show_split(_: Setup) -> None:
    """A layer line by line with shapes and strides, for any sizes; the head count that changes unseen."""
    if choose_option("cut", ("chain", "eighth"), **UNLABELLED) == "chain":
        show_layer_code()
    else:
        show_split_by_eighth()


def make_random_layer(width: int, **sizes) -> Setup:
    """Ten tokens of a width with a random layer; 512 wide it is the example's own. sizes: heads, d_k, d_v."""
    x = None if width == 512 else to_text(random_matrix("x", (RANDOM_LAYER_TOKENS, width), 0))
    return Setup(example="eight_heads", x=x, **sizes)


def show_layer_code() -> None:
    """From the linear projections to W_o."""
    boxes = st.columns(4)
    with boxes[0]:
        width = slide("width", (*LAYER_WIDTHS, 512), 512)
    with boxes[1]:
        heads = slide("h", (1, 2, 3, 4, 6, 8, 16), 8)
    with boxes[2]:
        d_k = slide("d_k", (0, 1, 2, 3, 5, 16, 32), 0, format_head_width)
    with boxes[3]:
        d_v = slide("d_v", (0, 1, 2, 3, 5, 16, 32), 0, format_head_width)
    layer = make_random_layer(width, heads=heads, d_k=d_k or None, d_v=d_v or None)
    try:
        trace = trace_for(layer)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    sizes = trace.sizes()
    st.markdown(say("lessons.heads.chain", D=width, H=heads, d_k=sizes["d_k"], d_v=sizes["d_v"], width=sizes["H·d_v"]))
    given = {name: trace[name] for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    st.code(function_listing(multi_head, given, {"heads": heads}), language="python", wrap_lines=True)
    workbench_door(layer, "split")


def format_head_width(width: float) -> str:
    """A width of a head; 0 stands for the one that fits."""
    return f"{width}" if width else say("lessons.heads.fitting")


def show_split_by_eighth() -> None:
    """d_model // 8 is a width of a head, and no number of heads."""
    width = slide("eighth", (4, *LAYER_WIDTHS), 20)
    made = heads_by_eighth(width)
    if made is None:
        d_k = eighth_of(width)
        kind = "eighth_refused" if d_k else "eighth_none"
        st.error(say(f"lessons.heads.{kind}", D=width, d=d_k), icon=":material/error:")
    else:
        heads, d_k = made
        kind = "eighth_right" if heads == 8 else "eighth"
        st.markdown(say(f"lessons.heads.{kind}", D=width, H=heads, d=d_k))
    x = trace_for(make_random_layer(width, heads=1))["x"]
    st.code(function_listing(split_by_eighth, {"x": x}), language="python", wrap_lines=True)


# ---- can heads share keys and values, and what do heads cost? --------------------------------------------------------
POSITION_EXAMPLES = {"en_colour": "en_it", "zh_colour": "zh_ta"}


def show_share(setup: Setup) -> None:
    """Fewer key/value heads than query heads; what heads cost."""
    if choose_option("sharing", ("group", "cost"), **UNLABELLED) == "group":
        show_shared_heads(setup)
    else:
        show_head_costs()


def show_shared_heads(setup: Setup) -> None:
    """A head that reads the keys and values of another: what becomes of its weights and of the output."""
    of = choose_option("of", ("own", "it", "eight"))
    each = {"own": setup, "it": Setup(example=POSITION_EXAMPLES[setup.example]), "eight": Setup(example="eight_heads")}[
        of
    ]
    before = trace_for(each)
    counts = kv_choices(before.sizes()["H"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kept = counts[pick_place("kv", [*map(str, counts)], len(counts[1:]), width=160)]
        heads = place_names(before, "H", before.sizes()["H"])
        head = pick_place("head", heads, len(heads[1:]), width=160)
    grouped = replace(each, kv_heads=kept, head=head)
    now = trace_for(grouped)
    look = selection_of(now, grouped)
    moved = find_moves(now, before).get("output")
    st.markdown(
        say(
            "lessons.heads.shared",
            head=heads[head],
            own=place_name(now, "H_kv", look.kv),
            moved=format_fixed(moved.size) if moved else "0",
            kept=f"{now['k'].numel():,}",
            all=f"{before['k'].numel():,}",
        )
    )
    runs, at = {"before": before, "now": now}, (look.batch, head, look.query)
    word = name_token(now, "T", look.query)
    rows = [
        row_of(say("lessons.heads.own_keys", word=word), before, "weights", at, "before"),
        row_of(say("lessons.heads.shared_keys", word=word), now, "weights", at, "now"),
    ]
    show_cell_rows("shared", rows, place_names(now, "S", now.sizes()["S"]), runs, now)
    workbench_door(grouped, "shared")


def show_head_costs() -> None:
    """The same layer cut into more and more heads."""
    with st.container(horizontal=True):
        length, width = slide("length", (5, 10, 64, 256, 512), 10), slide("D", (64, 128, 256, 512), 64)
    lines, layers = [say("lessons.heads.cost_head"), "|---:|---:|---:|---:|"], set()
    for heads in (1, 2, 4, 8, 16):
        each = attention_cost(T=length, D=width, H=heads)
        figures = (heads, each.totals()["parameters"], each.multiply_adds["scores"], each.stored["weights"])
        lines.append(f"| {' | '.join(f'{figure:,}' for figure in figures)} |")
        layers.add(f"{each.totals()['multiply_adds']:,}")
    st.markdown(say("lessons.heads.cost", layer=say("fact.comma").join(sorted(layers))))
    st.markdown("\n".join(lines))


# ---- does a weight explain the output? -------------------------------------------------------------------------------
def show_explain(setup: Setup) -> None:
    """Even weights in their place, dropout on them, and gradient x input beside them."""
    sight = choose_option("doubt", ("even", "gradient", "dropout"), **UNLABELLED)
    {"even": show_even_weights, "gradient": show_gradient_times_input, "dropout": show_dropout}[sight](setup)


def show_even_weights(setup: Setup) -> None:
    """Every weight replaced by an even share: what the output does."""
    flat = replace(setup, wiring=("even",))
    runs = {"before": trace_for(setup), "now": trace_for(flat)}
    trace = runs["now"]
    colour = trace.labels["D_out"].index("colour")
    change = format_percent(relative_change(trace, runs["before"]))
    st.markdown(say("lessons.heads.even", count=trace.sizes()["S"], change=change))
    rows = [
        column_of(say(f"lessons.heads.even_{name}"), run, "output", (0,), colour, name) for name, run in runs.items()
    ]
    show_cell_rows("even", rows, place_names(trace, "T", trace.sizes()["T"]), runs, trace, made=colour_rows)
    workbench_door(flat, "even")


def show_gradient_times_input(setup: Setup) -> None:
    """One number of the output: the weight of each word, and what the number would do if the word changed."""
    trace = trace_for(setup)
    look, heads = selection_of(trace, setup), place_names(trace, "H", trace.sizes()["H"])
    numbers = place_names(trace, "D_out", trace.sizes()["D_out"])
    with st.container(horizontal=True):
        number = pick_place("number", numbers, 0, width=220)
        head = pick_place("beside", heads, len(heads[1:]), width=160)
    run = gradient_times_input(trace, Ref("output", (look.batch, look.query, number)))
    names = place_names(trace, "S", trace.sizes()["S"])
    weights, slopes = run["weights"][look.batch, head, look.query], run["gradient_x_input"][look.batch]
    most, deepest = int(weights.argmax()), int(slopes.abs().argmax())
    kind = "same" if most == deepest else "other"
    kind = "random" if accident_at(trace, look.query, [most]) else kind
    st.markdown(
        say(
            f"lessons.heads.gradient_{kind}",
            head=heads[head],
            number=numbers[number],
            word=escape_markdown(name_token(trace, "T", look.query)),
            most=escape_markdown(names[most]),
            share=format_fixed(float(weights[most])),
            deepest=escape_markdown(names[deepest]),
            slope=format_fixed(float(slopes[deepest])),
        )
    )
    rows = [
        row_of(say("lessons.heads.weights_of", head=heads[head]), run, "weights", (look.batch, head, look.query)),
        row_of(say("lessons.heads.slopes"), run, "gradient_x_input", (look.batch,)),
    ]
    show_cell_rows("gradient", rows, names, {"": run}, run)


def show_dropout(setup: Setup) -> None:
    """Weights that are dropped, and what is left of a row's 1."""
    trace = trace_for(setup)
    look, heads = selection_of(trace, setup), place_names(trace, "H", trace.sizes()["H"])
    with st.container(horizontal=True):
        p = slide("p", (0.0, 0.1, 0.25, 0.5, 0.75), 0.25)
        seed = slide("seed", range(1, 21), 4)
    run = with_dropout(trace, p, seed)
    names = [*place_names(trace, "S", trace.sizes()["S"]), say("lessons.heads.row_sum")]
    sums, rows = run["row_sums"], []
    for head, name in enumerate(heads):
        at = (look.batch, head, look.query)
        rows.append(row_of(name, run, "weights", at))
        dropped = row_of(say("lessons.heads.dropped", head=name), run, "dropped_weights", at)
        rows.append(replace(dropped, refs=[*dropped.refs, Ref("row_sums", at)]))
    st.markdown(
        say("lessons.heads.dropout", least=format_fixed(float(sums.min())), most=format_fixed(float(sums.max())))
    )
    show_cell_rows("dropout", rows, names, {"": run}, run)
