"""Draws the accordions of the lesson on scores, and provides functions that its page uses too."""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.analysis.score_bounds import additive_bound, cosine_ceiling
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import bar_columns, row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.inputs.matrix_edits import pack_matrix, scale_matrix
from attention_core.inputs.matrix_link import write_matrix
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_values import ChangedCells, MatrixValue, WholeMatrix
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact, format_fixed, format_grouped, format_row
from attention_core.variants.cost import count_cost, score_cost
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.pictures import (
    RunPicture,
    draw_bar_rows,
    make_live,
    show_bar_rows,
    show_run_picture,
    show_step_picture,
)
from pages.lessons.sentences import join_with_commas, list_place_names, quote_token, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, option_labels, slide, text_box
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_curves, tell_live
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection, current_palette, name_token, selection_of
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal

# ---- the five scores: settings, sentences, and a word's rows under several scores ------------------------------------
# The additive score's layer, built by hand: two of its units, tanh(2 (q + k)), read one number of q and of k each.
# A bias of -3 keeps units near -1; where x W_q is 3, it cancels the bias, and the unit depends on the key.
HANDMADE_UNITS = ((2, 0), (0, 2), (0, 0), (0, 0))  # a row per number of q or of k, a column per unit
HANDMADE_BIASES = (-3, -3, -3, -3)


def make_additive_layer(d_q: int, d_k: int, biases: int) -> Mapping[str, WholeMatrix]:
    """Returns {name: matrix} of the additive score's layer, built by hand.

    d_q, d_k: the widths of q and of k. biases: the width of b_q.
    """
    return {
        "w_aq": pack_matrix(HANDMADE_UNITS[:d_q]),
        "w_ak": pack_matrix(HANDMADE_UNITS[:d_k]),
        "v_a": pack_matrix([[4, 4]]),
        "b_q": pack_matrix([HANDMADE_BIASES[:biases]]),
    }


def make_crossed_w_a(d_q: int, d_k: int) -> WholeMatrix:
    """Returns W_a with ones on its antidiagonal: the first number of q is multiplied by the last of k, and so on."""
    rows = []
    for query_number in range(d_q):
        rows.append([key_number == query_number for key_number in reversed(range(d_k))])
    return pack_matrix(rows)


SCORE_SETTINGS: Mapping[str, Mapping[str, str | MatrixValue]] = {
    "cosine": {"score": "cosine"},
    "scaled_dot": {"score": "scaled_dot"},
    "dot": {"score": "dot"},
    "general": {"score": "general", "w_a": make_crossed_w_a(2, 2)},
    "additive": {"score": "additive", **make_additive_layer(d_q=2, d_k=2, biases=4)},
}
USUAL_SCORE = "scaled_dot"


def name_score(score: str) -> str:
    """Returns the name of a score in the page's language."""
    label = option_labels("score")
    return label(score)


def describe_row(trace: Trace, selection: Selection, score: str) -> str:
    """Returns the sentence about the selected query's weights under one of the five scores."""
    fact = fact_sentence(trace, selection)
    return say("lessons.scores.by", score=name_score(score), fact=fact)


def describe_score(trace: Trace, selection: Selection, score: str) -> str:
    """Returns the sentence about the selected query's score with its most attended key, and about the score's limit."""
    row = (selection.batch, selection.head, selection.query)
    key = int(trace["weights"][row].argmax())
    others = [score for place, score in enumerate(trace["scores"][row].tolist()) if place != key]
    sizes = trace.sizes()
    return say(
        f"lessons.scores.remark_{score}",
        query=quote_token(trace, "T", selection.query),
        key=quote_token(trace, "S", key),
        score=format_fixed(trace["scores"][row][key].item()),
        scaled=format_fixed(trace["scaled_scores"][row][key].item()),
        other=format_fixed(max(others, default=0.0)),
        d_k=sizes["d_k"],
        keys=sizes["S"],
        ceiling=format_fixed(cosine_ceiling(sizes["S"])),
        bound=format_fixed(get_additive_bound(trace)),
    )


def get_additive_bound(trace: Trace) -> float:
    """Returns the largest possible magnitude of a run's additive scores; 0 for a run with another score."""
    if "v_a" not in trace:
        return 0.0
    return additive_bound(trace["v_a"]).item()


# ---- drawer "inside": what happens inside the additive score? --------------------------------------------------------
GROWTH_FACTORS = (1, 2, 5, 10, 100)
BOUNDED_BARS_HEIGHT_PX = 150  # px: height of the bars beside the additive layer


def show_additive_layer(setup: Setup, selection: Selection) -> None:
    """Shows the additive score's tanh layer for the selected query: its scores stay bounded, however large
    q and k are.
    """
    with st.container(width=420):
        factor = slide("grow", GROWTH_FACTORS, 1)
    additive = setup.with_fields(**SCORE_SETTINGS["additive"])
    matrices = inputs_of(additive).matrices
    larger = {name: scale_matrix(matrices[name], factor, name) for name in ("w_q", "w_k")}
    larger_bias = scale_matrix(matrices["b_q"], factor, "b_q")
    grown = additive.with_fields(head=selection.head, b_q=larger_bias, **larger)
    units = (say("lessons.scores.unit_person"), say("lessons.scores.unit_animal"))
    trace = trace_for(grown).labelled(A=units)
    product = trace_for(setup.with_fields(**SCORE_SETTINGS["dot"], **larger))
    row = (selection.batch, selection.head, selection.query)
    largest = trace["scores"][row].abs().max()
    largest_product = product["scores"][row].abs().max()
    show_sentence(
        "lessons.scores.bounded",
        largest=format_fixed(largest.item()),
        bound=format_fixed(get_additive_bound(trace)),
        product=format_fixed(largest_product.item()),
    )
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_step_picture("hidden", trace, "hidden", selection)
        with st.container(width="content"):
            show_bounded_scores(trace, row)
    link_to_workbench(grown, "inside")


def show_bounded_scores(trace: Trace, row: tuple[int, int, int]) -> None:
    """Shows a row of additive scores as bars, on a scale that ends at their bound."""
    bound = get_additive_bound(trace)
    v_a = format_row(trace["v_a"].tolist())
    title = say("lessons.scores.row_additive", v=v_a, bound=format_fixed(bound))
    show_bar_rows(
        "bounded",
        [row_of(title, trace, "scores", row)],
        list_place_names(trace, "S"),
        {"": trace},
        trace,
        say("step.alt", step="scores"),
        height=BOUNDED_BARS_HEIGHT_PX,
        reach=bound,
    )


# ---- drawer "widths", control of W_a: which number of q is multiplied by which number of k ---------------------------
def choose_w_a(kind: str, d_q: int, d_k: int) -> MatrixValue:
    """Returns W_a by kind: "identity", "crossed" (ones on the antidiagonal), or the matrix that the visitor types."""
    crossed = make_crossed_w_a(d_q, d_k)
    if kind == "crossed":
        return crossed
    if kind == "identity":
        return ChangedCells("identity")
    typed = text_box("own", write_matrix(crossed), read_w_a)
    return pack_matrix(read_w_a(typed))


def read_w_a(text: str):
    """Parses a typed W_a. Raises AttentionError for a text that is not a matrix."""
    return parse_matrix(text, "w_a")


# ---- drawer "widths": may queries and keys have different widths? ----------------------------------------------------
SCORED_HEAD_WIDTHS = (1, 2, 3, 4)


def show_widths(setup: Setup, _: Selection) -> None:
    """Shows queries and keys of different widths, the scores that accept them, and the effect of another matrix W_a."""
    left, middle, right = st.columns(3)
    with left:
        d_q = slide("d_q", SCORED_HEAD_WIDTHS, 4)
    with middle:
        d_k = slide("d_k", SCORED_HEAD_WIDTHS, 3)
    with right:
        kind = choose_option("w_a", ("identity", "crossed", "own"))
    narrow = narrow_to_widths(setup, d_q, d_k)
    setups = {score: narrow.with_fields(score=score) for score in SCORE_SETTINGS}
    setups["general"] = setups["general"].with_fields(w_a=choose_w_a(kind, d_q, d_k))
    setups["additive"] = setups["additive"].with_fields(**make_additive_layer(d_q, d_k, biases=d_q))
    runs = run_scores_that_fit(setups)
    if "general" in runs:
        general = runs["general"]
        sentence = describe_row(general, selection_of(general, narrow), "general")
        st.markdown(f"**{sentence}**")
    show_score_rows("widths", runs, narrow)
    if "general" in runs:
        link_to_workbench(setups["general"], "widths")


def narrow_to_widths(setup: Setup, d_q: int, d_k: int) -> Setup:
    """Returns the Setup with a single head that uses the first d_q columns of W_q and the first d_k columns of W_k."""
    matrices = inputs_of(setup).matrices
    w_q = matrices["w_q"][:, :d_q]  # (D, d_q)
    w_k = matrices["w_k"][:, :d_k]  # (D, d_k)
    return setup.with_fields(
        heads=1,
        head=None,
        w_q=pack_matrix(w_q),
        w_k=pack_matrix(w_k),
    )


def run_scores_that_fit(setups: Mapping[str, Setup]) -> dict[str, Trace]:
    """Returns {score: its run}; shows a warning for each score whose Setup raises AttentionError."""
    runs = {}
    scores_by_refusal = {}
    for score, setup in setups.items():
        try:
            runs[score] = trace_for(setup)
        except AttentionError as refusal:
            refused = scores_by_refusal.setdefault(say_refusal(refusal), [])
            refused.append(name_score(score))
    for sentence, refused in scores_by_refusal.items():
        scores = join_with_commas(refused)
        st.warning(say("lessons.scores.refused", scores=scores, why=sentence), icon=":material/block:")
    return runs


def show_score_rows(name: str, runs: Mapping[str, Trace], setup: Setup) -> None:
    """Shows the weights of the selected query as bars, one row for each score.

    runs: {score: its run}.
    """
    first = next(iter(runs.values()))
    query = selection_of(first, setup).query
    rows = []
    for score, run in runs.items():
        row = row_of(name_score(score), run, "weights", (0, 0, query), score)
        rows.append(row)
    names = list_place_names(first, "S")
    alt = say("lessons.scores.alt", word=name_token(first, "T", query))
    show_bar_rows(name, rows, names, runs, first, alt, made=bar_columns)


# ---- drawer "ceiling": how large can a weight of the cosine become? --------------------------------------------------
COSINE_TEMPERATURES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
CEILING_KEY_COUNTS = (2, 3, 4, 5, 7, 10, 16, 32, 64, 128, 256, 512)


def show_cosine_ceiling(setup: Setup, selection: Selection) -> None:
    """Shows the largest weight that the cosine score allows, by number of keys, and the query's own largest weight."""
    temperature = find_live_choice("temperature", COSINE_TEMPERATURES, 1.0)
    show_live_choice(temperature, width=420)
    cosine = setup.with_fields(head=selection.head, **SCORE_SETTINGS["cosine"])
    setups = [cosine.with_fields(temperature=each) for each in temperature.options]
    traces = [trace_for(each) for each in setups]
    facts = [row_fact(trace, selection.head, selection.query) for trace in traces]
    told = [tell_ceiling(*each) for each in zip(traces, facts, temperature.options, strict=True)]
    tell_live(temperature, "scores_ceiling_told", told)
    axes = ceiling_axes()
    pictures = []
    for one, fact, each in zip(traces, facts, temperature.options, strict=True):
        pictures.append(draw_ceilings(one, selection, each, fact.share, axes))
    show_live_curves(temperature, "scores_ceiling", pictures, axes, say("lessons.scores.ceiling_alt"))
    bars = [draw_weights(one, selection) for one in traces]
    show_run_picture(make_live(temperature, bars, say("step.alt", step="weights")))
    link_to_workbench(setups[temperature.position], "ceiling")


def tell_ceiling(trace: Trace, fact: RowFact, temperature: float) -> str:
    """Returns the sentence about the query's largest weight at a temperature, and the largest possible weight."""
    keys = trace.sizes()["S"]
    text = "ceiling_random" if accident(trace, fact) else "ceiling"
    return say(
        f"lessons.scores.{text}",
        keys=keys,
        ceiling=format_fixed(cosine_ceiling(keys, temperature)),
        share=format_fixed(fact.share),
        temperature=format_exact(temperature),
        key=quote_token(trace, "S", fact.keys[0]),
    )


def draw_weights(trace: Trace, selection: Selection) -> RunPicture:
    """Draws the weights of the selected query, and nothing else."""
    row = row_of(say("lessons.scores.row_cosine"), trace, "weights", (0, selection.head, selection.query))
    picture = draw_bar_rows("cool", [row], list_place_names(trace, "S"), {"": trace})
    return RunPicture("cool", picture, {"": trace}, row.title)


def draw_ceilings(
    trace: Trace, selection: Selection, temperature: float, share: float, axes: tuple[Axis, Axis]
) -> Picture:
    """Draws the largest possible weight by number of keys, at temperatures 1 and `temperature`, and a word's weight.

    share: the word's weight. axes: the axes of the chart.
    """
    palette = current_palette()
    keys = trace.sizes()["S"]
    ceilings = {
        1.0: make_ceiling_curve(1.0, palette.x),
        temperature: make_ceiling_curve(temperature, palette.q),  # replaces the curve of temperature 1
    }
    word = name_token(trace, "T", selection.query)
    point = Curve(word, [keys], [share], palette.share)
    return curves([*ceilings.values(), point], *axes, palette, at=keys)


def ceiling_axes() -> tuple[Axis, Axis]:
    """Returns the axes of the chart: the number of keys, and the weight."""
    x = Axis(
        say("lessons.scores.keys"),
        CEILING_KEY_COUNTS[0],
        CEILING_KEY_COUNTS[-1],
        log=True,
        values=CEILING_KEY_COUNTS[::2],
    )
    return x, Axis(say("lessons.scores.share"), 0, 1)


def make_ceiling_curve(temperature: float, colour: str) -> Curve:
    """Returns the curve of the largest possible weight of the cosine score, by number of keys."""
    return Curve(
        say("lessons.scores.most", temperature=format_exact(temperature)),
        CEILING_KEY_COUNTS,
        [cosine_ceiling(count, temperature) for count in CEILING_KEY_COUNTS],
        colour,
        dashed=True,
    )


# ---- drawer "cost": what does each score cost? -----------------------------------------------------------------------
COST_TOKEN_COUNTS = (7, 16, 64, 256, 1024, 4096)
COSTED_WIDTHS = (2, 8, 64, 128, 512)


def show_score_costs(setup: Setup, _: Selection) -> None:
    """Shows how many multiply-adds, tanh and parameters each score needs: by formula for any size, and for this run."""
    left, right = st.columns(2)
    with left:
        tokens = slide("tokens", COST_TOKEN_COUNTS, 64)
    with right:
        width = slide("width", COSTED_WIDTHS, 64)
    rows = [count_score_cost(setup, score, tokens, width) for score in SCORE_SETTINGS]
    st.table(rows, hide_index=True, width="content")
    sizes = trace_for(setup).sizes()
    show_sentence(
        "lessons.scores.cost_says",
        T=sizes["T"],
        H=sizes["H"],
        d_k=sizes["d_k"],
        tokens=format_grouped(tokens),
        width=width,
    )


def count_score_cost(setup: Setup, score: str, tokens: int, width: int) -> dict[str, str]:
    """Returns the costs of a score as {column title: text}."""
    scored = setup.with_fields(**SCORE_SETTINGS[score])
    counted = count_cost(trace_for(scored)).multiply_adds
    cost = score_cost(score, width, width)
    worked_out = {step: products.total(tokens, tokens) for step, products in cost.products.items()}
    numbers = {
        "counted": sum(counted[step] for step in worked_out),
        "adds": sum(worked_out.values()),
        "tanh": worked_out["scores"] if "hidden" in worked_out else 0,
        "learned": sum(cost.parameters.values()),
    }
    row = {say("lessons.scores.cost_score"): name_score(score)}
    for name, number in numbers.items():
        row[say(f"lessons.scores.cost_{name}")] = f"{number:,}"
    return row


LESSON = Lesson(
    "scores",
    drawers={
        "inside": show_additive_layer,
        "widths": show_widths,
        "ceiling": show_cosine_ceiling,
        "cost": show_score_costs,
    },
    code=("hidden", "scores", "scaled_scores", "weights"),
)
