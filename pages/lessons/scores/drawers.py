"""Lesson 4, further sights: inside the additive score, other widths, the cosine's ceiling, what each score costs."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.score_bounds import additive_bound, cosine_ceiling
from attention_core.drawing.axes import Axis
from attention_core.drawing.bar_grid import bar_columns
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.facts import accident, row_fact
from attention_core.inputs.matrix_edits import scale_to_text
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact, format_fixed, format_row
from attention_core.variants.cost import count_cost, score_cost
from pages.export.doors import workbench_door
from pages.lessons.pictures import get_opened_cell, show_picture, show_step_picture
from pages.panels.chart import show_curve_chart
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, option_labels, slide, text_box
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection, current_palette, name_token, picture_texts_for, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

# The additive score's layer, built by hand: two units, tanh(2 (q + k)), each of which reads one number of q and of k.
# A bias of -3 closes both, near -1. A query of 3 opens the unit of what it asks for, and there the keys count.
HANDMADE_ADDITIVE_LAYER = {"w_aq": "2,0;0,2", "w_ak": "2,0;0,2", "v_a": "4,4", "b_q": "-3,-3,-3,-3"}
SCORE_SETTINGS = {
    "cosine": {"score": "cosine"},
    "scaled_dot": {"score": "scaled_dot"},
    "dot": {"score": "dot"},
    "general": {"score": "general"},
    "additive": {"score": "additive", **HANDMADE_ADDITIVE_LAYER},
}


def describe_score(trace: Trace, look: Selection, score: str) -> str:
    """What a score makes of the asking word and of the word that gets the most, with the score's own limit."""
    at = (look.batch, look.head, look.query)
    key = int(trace["weights"][at].argmax())
    return say(
        f"lessons.scores.remark_{score}",
        query=escape_markdown(name_token(trace, "T", look.query)),
        key=escape_markdown(name_token(trace, "S", key)),
        score=format_fixed(trace["scores"][at][key].item()),
        scaled=format_fixed(trace["scaled_scores"][at][key].item()),
        d_k=trace.sizes()["d_k"],
        keys=trace.sizes()["S"],
        ceiling=format_fixed(cosine_ceiling(trace.sizes()["S"])),
        bound=format_fixed(get_additive_bound(trace)),
    )


def get_additive_bound(trace: Trace) -> float:
    """What no additive score of a run exceeds; 0 where it has another score."""
    return additive_bound(trace["v_a"]).item() if "v_a" in trace else 0.0


# ---- inside the additive score ---------------------------------------------------------------------------------------
GROWTH_FACTORS = (1, 2, 5, 10, 100)


def show_inside(setup: Setup, look: Selection) -> None:
    """The tanh layer of the asking word with every word, and its scores against their bound as q and k grow."""
    with st.container(width=420):
        factor = slide("grow", GROWTH_FACTORS, 1)
    matrices = inputs_of(replace(setup, **SCORE_SETTINGS["additive"])).matrices
    larger = {name: scale_to_text(matrices[name], factor, name) for name in ("w_q", "w_k")}
    grown = replace(setup, head=look.head, **SCORE_SETTINGS["additive"], **larger)
    grown = replace(grown, b_q=scale_to_text(matrices["b_q"], factor, "b_q"))
    units = (say("lessons.scores.unit_person"), say("lessons.scores.unit_animal"))
    trace, product = trace_for(grown).labelled(A=units), trace_for(replace(setup, **SCORE_SETTINGS["dot"], **larger))
    at = (look.batch, look.head, look.query)
    bound, largest = get_additive_bound(trace), trace["scores"][at].abs().max().item()
    st.markdown(
        say(
            "lessons.scores.bounded",
            largest=format_fixed(largest),
            bound=format_fixed(bound),
            product=format_fixed(product["scores"][at].abs().max().item()),
        )
    )
    names = place_names(trace, "S", trace.sizes()["S"])
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_step_picture("hidden", trace, "hidden", look)
        with st.container(width="content"):
            title = say("lessons.scores.row_additive", v=format_row(trace["v_a"].tolist()), bound=format_fixed(bound))
            row = row_of(title, trace, "scores", at)
            opened = get_opened_cell("bounded", {"": trace})
            picture = bar_rows(
                [row], names, picture_texts_for(trace), current_palette(), opened, height=150, reach=bound
            )
            show_picture("bounded", picture, {"": trace}, say("step.alt", step="scores"))
    workbench_door(grown, "inside")


# ---- other widths, and W_a -------------------------------------------------------------------------------------------
SCORED_HEAD_WIDTHS = (1, 2, 3, 4)
HANDMADE_LAYER_UNITS = ("2,0", "0,2", "0,0", "0,0")  # of the layer, for up to four numbers of q or of k


def show_widths(setup: Setup, _: Selection) -> None:
    """Queries and keys of different widths: which scores take them, and what another W_a does."""
    left, middle, right = st.columns(3)
    with left:
        d_q = slide("d_q", SCORED_HEAD_WIDTHS, 4)
    with middle:
        d_k = slide("d_k", SCORED_HEAD_WIDTHS, 3)
    with right:
        kind = choose_option("w_a", ("identity", "crossed", "own"))
    tried = narrow_to_widths(setup, d_q, d_k)
    runs, refused = {}, {}
    w_a = choose_w_a(kind, d_q, d_k)
    for score in SCORE_SETTINGS:
        own = {"general": {"w_a": w_a}, "additive": additive_layer_for(d_q, d_k)}.get(score, {})
        one = replace(tried, score=score, **own)
        try:
            runs[score] = trace_for(one)
        except AttentionError as error:
            refused.setdefault(say_refusal(error), []).append(option_labels("score")(score))
        if score == "general":
            chosen = one
    for trouble, names in refused.items():
        scores = say("fact.comma").join(names)
        st.warning(say("lessons.scores.refused", scores=scores, why=trouble), icon=":material/block:")
    if "general" in runs:
        told = fact_sentence(runs["general"], selection_of(runs["general"], tried))
        st.markdown(f"**{say('lessons.scores.by', score=option_labels('score')('general'), fact=told)}**")
    show_score_rows("widths", runs, tried)
    if "general" in runs:
        workbench_door(chosen, "widths")


def narrow_to_widths(setup: Setup, d_q: int, d_k: int) -> Setup:
    """One head that keeps the first columns of W_q and of W_k."""
    matrices = inputs_of(setup).matrices
    w_q, w_k = matrices["w_q"][:, :d_q], matrices["w_k"][:, :d_k]
    return replace(setup, heads=1, head=None, w_q=to_text(w_q), w_k=to_text(w_k))


def choose_w_a(kind: str, d_q: int, d_k: int) -> str:
    """W_a: each number of q meets the same number of k, or the first the last, or as the reader has it."""
    if kind != "own":
        return {"identity": "identity~", "crossed": write_crossed_w_a(d_q, d_k)}[kind]
    return to_text(
        parse_matrix(text_box("own", write_crossed_w_a(d_q, d_k), lambda text: parse_matrix(text, "w_a")), "w_a")
    )


def write_crossed_w_a(d_q: int, d_k: int) -> str:
    """W_a with ones from the first number of q to the last of k, and so on."""
    return ";".join(",".join("1" if other == one else "0" for other in reversed(range(d_k))) for one in range(d_q))


def additive_layer_for(d_q: int, d_k: int) -> Mapping[str, str]:
    """The additive score's layer for these widths."""
    biases = ["-3", "-3", "-3", "-3"]
    return {
        "w_aq": ";".join(HANDMADE_LAYER_UNITS[:d_q]),
        "w_ak": ";".join(HANDMADE_LAYER_UNITS[:d_k]),
        "v_a": "4,4",
        "b_q": ",".join(biases[:d_q]),
    }


def show_score_rows(name: str, runs: Mapping[str, Trace], setup: Setup) -> None:
    """One word's rows under several scores."""
    first = next(iter(runs.values()))
    query = selection_of(first, setup).query
    rows = [row_of(option_labels("score")(score), run, "weights", (0, 0, query), score) for score, run in runs.items()]
    names = place_names(first, "S", first.sizes()["S"])
    picture = bar_columns(rows, names, picture_texts_for(first), current_palette(), get_opened_cell(name, runs))
    show_picture(name, picture, runs, say("lessons.scores.alt", word=names[query]))


# ---- the cosine's ceiling --------------------------------------------------------------------------------------------
COSINE_TEMPERATURES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
CEILING_KEY_COUNTS = (2, 3, 4, 5, 7, 10, 16, 32, 64, 128, 256, 512)


def show_ceiling(setup: Setup, look: Selection) -> None:
    """The largest weight that a cosine can give against the number of keys, and what the asking word gives."""
    with st.container(width=420):
        temperature = slide("temperature", COSINE_TEMPERATURES, 1.0)
    cool = replace(setup, head=look.head, temperature=temperature, **SCORE_SETTINGS["cosine"])
    trace = trace_for(cool)
    fact, keys = row_fact(trace, look.head, look.query), trace.sizes()["S"]
    told = {
        "keys": keys,
        "ceiling": format_fixed(cosine_ceiling(keys, temperature)),
        "share": format_fixed(fact.share),
        "temperature": format_exact(temperature),
        "key": escape_markdown(name_token(trace, "S", fact.keys[0])),
    }
    sentence = say("lessons.scores.ceiling_random" if accident(trace, fact) else "lessons.scores.ceiling", **told)
    st.markdown(sentence)
    colours = current_palette()
    lines = {1.0: colours.x, temperature: colours.q}
    drawn = [
        Curve(
            say("lessons.scores.most", temperature=format_exact(each)),
            CEILING_KEY_COUNTS,
            [cosine_ceiling(count, each) for count in CEILING_KEY_COUNTS],
            colour,
            dashed=True,
        )
        for each, colour in lines.items()
    ]
    drawn.append(Curve(name_token(trace, "T", look.query), [keys], [fact.share], colours.share))
    axes = (
        Axis(say("lessons.scores.keys"), 2, 512, log=True, values=CEILING_KEY_COUNTS[::2]),
        Axis(say("lessons.scores.share"), 0, 1),
    )
    show_curve_chart(curves(drawn, *axes, colours, at=keys), "scores_ceiling", sentence)
    names = place_names(trace, "S", keys)
    row = row_of(say("lessons.scores.row_cosine"), trace, "weights", (0, look.head, look.query))
    picture = bar_rows([row], names, picture_texts_for(trace), current_palette(), get_opened_cell("cool", {"": trace}))
    show_picture("cool", picture, {"": trace}, say("step.alt", step="weights"))
    workbench_door(cool, "ceiling")


# ---- what each costs -------------------------------------------------------------------------------------------------
COST_TOKEN_COUNTS = (7, 16, 64, 256, 1024, 4096)
COSTED_WIDTHS = (2, 8, 64, 128, 512)


def show_cost(setup: Setup, _: Selection) -> None:
    """Multiply-adds, tanh and learned numbers of each score, worked out for any size and counted on this sentence."""
    left, right = st.columns(2)
    with left:
        tokens = slide("tokens", COST_TOKEN_COUNTS, 64)
    with right:
        width = slide("width", COSTED_WIDTHS, 64)
    heads = {name: say(f"lessons.scores.cost_{name}") for name in ("score", "counted", "adds", "tanh", "learned")}
    rows = []
    for score, changes in SCORE_SETTINGS.items():
        counted = count_cost(trace_for(replace(setup, **changes)))
        worked_out = score_cost(score, width, width)
        own = {name: worked_out.products[name].total(tokens, tokens) for name in worked_out.products}
        numbers = {
            "counted": sum(counted.multiply_adds[name] for name in own),
            "adds": sum(own.values()),
            "tanh": own["scores"] if "hidden" in own else 0,
            "learned": sum(worked_out.parameters.values()),
        }
        told = {"score": option_labels("score")(score), **{name: f"{number:,}" for name, number in numbers.items()}}
        rows.append({heads[name]: told[name] for name in heads})
    st.table(rows, hide_index=True, width="content")
    sizes = trace_for(setup).sizes()
    told = {"T": sizes["T"], "H": sizes["H"], "d_k": sizes["d_k"], "tokens": tokens, "width": width}
    st.markdown(say("lessons.scores.cost_says", **told))
