"""Lesson 5, further sights: the future, the pairs that are kept, what goes wrong, and the wirings of whole models."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace, to_mha_mask
from attention_core.analysis.empty_rows import EMPTY_ROW_POLICIES, with_empty_row_policy
from attention_core.analysis.future_leakage import share_ahead, with_moved_rows
from attention_core.comparison.batch_alone import largest_batch_difference
from attention_core.comparison.differences import find_moves
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import count_allowed_pairs, count_mask_pairs, mean_received_share, row_fact
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed, format_or_scientific, format_percent, format_row
from attention_core.variants.cost import count_cost
from attention_core.verification.mask_conventions import (
    compare_with_torch_layer,
    measure_mask_damage,
    with_inverted_mask,
    with_misplaced_mask,
    without_padding_mask,
)
from pages.export.doors import workbench_door
from pages.lessons.masks.mask_maps import (
    CUSTOM_MASK,
    list_shown_masks,
    make_tick_map,
    named_mask_texts,
    reach_after_layers,
    run_all_masks,
    show_tick_map,
)
from pages.lessons.masks.painted_mask import allowed_text, block_key, block_query, find_empty_row, mask_bits_of
from pages.lessons.pictures import get_opened_cell, show_picture, show_step_picture, show_weights_map
from pages.panels.chart import show_chart
from pages.panels.link_controls import (
    check_lesson_tokens,
    choose_option,
    pick_place,
    sentence_box,
    slide,
    switch,
    text_box,
)
from pages.panels.word_swaps import suggest_word, with_word
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import run_sentences_alone
from pages.runs.run_inputs import PAD_WORD
from pages.session.labels import (
    Selection,
    current_palette,
    name_token,
    picture_texts_for,
    place_name,
    place_names,
    selection_of,
)
from pages.setup.mask_spec import read_mask
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

SightFunctions = Mapping[str, Callable[[Setup, Setup], None]]


def show_chosen_sight(name: str, sights: SightFunctions, own: Setup, setup: Setup) -> None:
    """One of several sights of a drawer. own: the run without a mask; setup: the run under the reader's mask."""
    sights[choose_option(name, tuple(sights))](own, setup)


def quote_token(trace: Trace, axis: str, position: int) -> str:
    """A token in a sentence."""
    return escape_markdown(name_token(trace, axis, position))


def format_mask_gap(gap: float) -> str:
    """How far apart numbers are; a 0 is no rounding."""
    return format_or_scientific(gap) if gap else "0"


def label_mask(name: str) -> str:
    """What a mask is called; the reader's own is the one above."""
    return say("lessons.masks.above") if name == CUSTOM_MASK else say(f"lessons.masks.option.mask.{name}")


# ---- can a word learn of its future? ---------------------------------------------------------------------------------
def show_future(own: Setup, setup: Setup) -> None:
    """What a later word changes before it; which step a mask changes; how far news travels in several layers."""
    show_chosen_sight(
        "future", {"change": show_later_word, "step": show_changed_steps, "layers": show_reach_by_layers}, own, setup
    )


def show_later_word(own: Setup, setup: Setup) -> None:
    """A word is exchanged: how far each output moves, without a mask and with the reader's."""
    free = trace_for(own)
    names = place_names(free, "T", free.sizes()["T"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = pick_place("changed", names, max(range(len(names))))
        new = text_box("into", suggest_word(own, at), lambda text: with_word(own, at, text))
    runs = {
        name: with_moved_rows(trace_for(with_word(run, at, new)), trace_for(run))
        for name, run in (("free", own), ("masked", setup))
    }
    rows = [row_of(say(f"lessons.masks.moved_{name}"), run, "moved", (0,), name) for name, run in runs.items()]
    moved = {row.run: sum(value > 0 for value in row.values[:at]) for row in rows}
    words = {"old": quote_token(free, "T", at), "new": escape_markdown(new)}
    st.markdown(say("lessons.masks.leaked" if at else "lessons.masks.leaked_none", before=at, **words, **moved))
    names = place_names(runs["masked"], "T", len(names))
    picture = bar_rows(rows, names, picture_texts_for(runs["masked"]), current_palette(), get_opened_cell("leak", runs))
    show_picture("leak", picture, runs, say("lessons.masks.leak_alt"))
    workbench_door(with_word(setup, at, new), "leak")


def show_changed_steps(own: Setup, setup: Setup) -> None:
    """The steps of the run under the mask beside those of the run without: where they part."""
    now, before = trace_for(setup), trace_for(own)
    moved, comma = find_moves(now, before), say("fact.comma")
    same = [step for step in now.computed() if step in before and step not in moved]
    pairs = count_allowed_pairs(now)
    if not moved:
        st.markdown(say("lessons.masks.same"))
        return
    first, *later = moved
    words = {
        "same": escape_markdown(comma.join(same)),
        "first": escape_markdown(first),
        "later": escape_markdown(comma.join(later)),
    }
    st.markdown(say("lessons.masks.parts", blocked=pairs.blocked, of=pairs.of, **words))
    show_step_picture("step", now, "masked_scores", selection_of(before, own))


def show_reach_by_layers(own: Setup, setup: Setup) -> None:
    """Who has heard from whom after several layers, under every mask."""
    count = slide("layers", range(1, 9), 2)
    masks = run_all_masks(own, setup, 1)
    names = place_names(masks, "T", masks.sizes()["T"])
    heard = reach_after_layers(masks, count)
    last = {
        name: heard[f"allowed_{name}"][-1] for name in list_shown_masks(masks)
    }  # (S,): from whom the last word has heard
    reached = [escape_markdown(label_mask(name)) for name, row in last.items() if row[0]]
    words = {"first": escape_markdown(names[0]), "last": escape_markdown(names[-1])}
    under = say("fact.comma").join(reached) or say("lessons.masks.nobody")
    st.markdown(say("lessons.masks.heard", layers=count, under=under, **words))
    with st.container(horizontal=True, gap=None):
        for name, row in last.items():
            title = say("lessons.masks.hears", name=label_mask(name), count=int(row.sum()), T=len(names))
            show_chart(make_tick_map(heard, f"allowed_{name}", title), f"masks_layers_{name}", title, lambda _: None)


# ---- which pairs are kept? -------------------------------------------------------------------------------------------
def show_pairs(own: Setup, setup: Setup) -> None:
    """How many pairs each mask keeps, here and in longer sequences; sentences of different lengths in one batch."""
    show_chosen_sight("pairs", {"patterns": show_patterns, "batch": show_padded_batch}, own, setup)


def show_patterns(own: Setup, setup: Setup) -> None:
    """The masks beside each other, the pairs that they keep, and the work that this does not save."""
    with st.container(horizontal=True):
        window = slide("window", range(1, 9), 1)
        length = slide("length", (8, 16, 32, 64, 128, 256, 512), 64)
    masks, choices = run_all_masks(own, setup, window), named_mask_texts(window)
    T = masks.sizes()["T"]
    here = {name: count_mask_pairs(T, read_mask(text)) for name, text in choices.items()}
    here[CUSTOM_MASK] = count_allowed_pairs(trace_for(setup))
    with st.container(horizontal=True, gap=None):
        for name in list_shown_masks(masks):
            with st.container(width="content"):
                title = say("lessons.masks.pairs", name=label_mask(name), kept=here[name].kept, of=here[name].of)
                show_tick_map(f"pattern_{name}", masks, f"allowed_{name}", title)
    runs = {"free": trace_for(own), "masked": trace_for(setup)}
    work = {name: sum(count_cost(run).multiply_adds.values()) for name, run in runs.items()}
    st.markdown(say("lessons.masks.work", **work))
    there = {name: count_mask_pairs(length, read_mask(text)) for name, text in choices.items()}
    lines = [
        say(
            "lessons.masks.row",
            name=label_mask(name),
            kept=f"{fact.kept:,}",
            of=f"{fact.of:,}",
            share=f"{fact.share:.2%}",
        )
        for name, fact in there.items()
    ]
    st.markdown("\n".join([say("lessons.masks.head", length=length), *lines]))


def show_padded_batch(own: Setup, setup: Setup) -> None:
    """Two sentences of different lengths in one batch, what fills up the shorter one hidden or not."""
    shipped = EXAMPLES[own.example].batch.splitlines()[-1]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = text_box("other", shipped, lambda text: check_lesson_tokens(inputs_of(replace(own, more=text)).queries))
        kind = choose_option("with", ("padding", "both"))
        hidden = switch("hidden", True)
    together = replace(own, more=other, masks=("causal",) if kind == "both" else None)
    trace = trace_for(together)
    alone = run_sentences_alone(together)
    step, gap = largest_batch_difference(trace if hidden else without_padding_mask(trace), alone)
    found = ("alone" if hidden else "seen") if gap else "exact"
    st.markdown(say(f"lessons.masks.{found}", step=escape_markdown(step), gap=format_mask_gap(gap)))
    head = selection_of(trace_for(own), own).head
    with st.container(horizontal=True):
        for number in range(2):
            seen = replace(together, sentence=number, head=head, token=own.token if number == 0 else None)
            with st.container(width="content"):
                show_padded_sentence(f"batch_{number}", seen, hidden)
    workbench_door(together, "batch")


def show_padded_sentence(name: str, seen: Setup, hidden: bool) -> None:
    """One sentence of the batch as a map, and what its word that asks gives to what fills it up."""
    run = trace_for(seen)
    trace, look = run if hidden else without_padding_mask(run), selection_of(run, seen)
    row = trace.step("weights").window(B=look.batch, H=look.head, T=look.query)
    lost = sum(share for share, word in zip(row, trace.labels["S"], strict=True) if word == PAD_WORD)
    show_weights_map(name, trace, look, place_name(trace, "B", look.batch))
    st.caption(say("lessons.masks.to_padding", query=quote_token(trace, "T", look.query), percent=format_percent(lost)))


# ---- what if a row may look at nothing? ------------------------------------------------------------------------------
def show_nothing(own: Setup, setup: Setup) -> None:
    """A row without an allowed key in five treatments; a mask read by the other convention; an axis misplaced."""
    show_chosen_sight(
        "nothing",
        {"row": show_empty_row, "conventions": show_mask_conventions, "axes": show_misplaced_axis},
        own,
        setup,
    )


def show_empty_row(own: Setup, setup: Setup) -> None:
    """One row of the reader's mask blocked as a whole, as five kinds of code treat it."""
    trace, look = trace_for(setup), selection_of(trace_for(own), own)
    names, empty = place_names(trace, "T", trace.sizes()["T"]), find_empty_row(trace)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = pick_place("row", names, look.query if empty is None else empty)
        dtype = choose_option("dtype", ("float64", "float32", "float16"))
    bits = block_query(mask_bits_of(trace), row)
    masked = replace(own, allowed=allowed_text(bits, trace), dtype=dtype)
    runs = {name: with_empty_row_policy(trace_for(masked), name) for name in EMPTY_ROW_POLICIES}
    rows = [
        row_of(say(f"lessons.masks.treated_{name}", dtype=dtype), run, "weights", (0, look.head, row), name)
        for name, run in runs.items()
    ]
    lost = [each for each in rows if any(value != value for value in each.values)]
    seen = [each for each in rows if any(value > 0 for value in each.values)]
    st.markdown(say("lessons.masks.treated", seen=len(seen), lost=len(lost), word=escape_markdown(names[row])))
    picture = bar_rows(
        rows, names, picture_texts_for(trace), current_palette(), get_opened_cell("row", runs), height=46.0
    )
    show_picture("row", picture, runs, say("lessons.masks.treated_alt"))
    moved = [with_moved_rows(run, runs["zero"])["moved"][0].tolist() for run in runs.values()]
    others = [gaps[n] for gaps in moved for n, text in enumerate(bits) if "1" in text]
    st.markdown(say("lessons.masks.others", gap=format_mask_gap(max(others, default=0.0))))
    workbench_door(masked, "row")


def show_mask_conventions(own: Setup, setup: Setup) -> None:
    """The same matrix for code in which True means blocked, and what torch's own layer makes of it."""
    trace, look = trace_for(setup), selection_of(trace_for(own), own)
    if "allowed" not in trace:
        st.markdown(say("lessons.masks.no_mask"))
        return
    wrong = with_inverted_mask(trace)
    show_mask_damage("lessons.masks.inverted", wrong, trace)
    show_runs_side_by_side("conventions", {"kept": trace, "blocked": wrong}, look)
    theirs = compare_with_torch_layer(trace, trace["allowed"], wrong)
    mended = compare_with_torch_layer(trace, to_mha_mask(trace["allowed"]), trace)
    if theirs is None:
        st.markdown(say("lessons.masks.no_torch"))
        return
    answers = {
        "gap": format_mask_gap(theirs.gap),
        "lost": theirs.lost,
        "mended": format_mask_gap(mended.gap),
        "empty": mended.lost,
    }
    st.markdown(say("lessons.masks.torch", rows=theirs.rows, **answers))


def show_misplaced_axis(own: Setup, setup: Setup) -> None:
    """A mask of two axes with the heads' axis put into the wrong place: refused, or taken without a word."""
    trace, look = trace_for(setup), selection_of(trace_for(own), own)
    if "allowed" not in trace:
        st.markdown(say("lessons.masks.no_mask"))
        return
    T, widths = trace.sizes()["T"], {f"d_{name}": trace[name].shape[-1] for name in "kv"}
    many = replace(setup, heads=slide("heads", range(1, 17), T), **widths)
    run = trace_for(many)
    try:
        wrong = with_misplaced_mask(run)
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        st.markdown(say("lessons.masks.refused", T=T, heads=many.heads))
        return
    show_mask_damage("lessons.masks.misplaced", wrong, run)
    show_runs_side_by_side(
        "axes", {"intended": run, "applied": wrong}, replace(look, head=min(look.head, max(range(many.heads))))
    )
    workbench_door(many, "axes")


def show_mask_damage(key: str, wrong: Trace, right: Trace) -> None:
    """How many pairs and weights a wrong mask moved, and the weight that it moved most."""
    found = measure_mask_damage(wrong, right)
    if found.largest is None:
        st.markdown(say("lessons.masks.no_damage"))
        return
    _, head, query, key_at = found.largest.index
    at = found.largest.index
    _, head, query, key_at = at
    place = {"head": place_name(right, "H", head)}
    words = {"query": quote_token(right, "T", query), "key": quote_token(right, "S", key_at)}
    shares = {"before": format_fixed(right["weights"][at].item()), "now": format_fixed(wrong["weights"][at].item())}
    st.markdown(say(key, pairs=found.pairs, of=found.of, weights=found.weights, **place, **words, **shares))


def show_runs_side_by_side(name: str, runs: Mapping[str, Trace], look: Selection) -> None:
    """One head of two runs as maps."""
    with st.container(horizontal=True):
        for part, run in runs.items():
            title = say(f"lessons.masks.title_{part}", head=place_name(run, "H", look.head))
            with st.container(width="content"):
                show_weights_map(f"{name}_{part}", run, look, title)


# ---- encoder, decoder, masked words ----------------------------------------------------------------------------------
def show_wirings(own: Setup, setup: Setup) -> None:
    """How whole models are wired: both directions; causal, then across; words hidden, not pairs; and the first word."""
    show_chosen_sight(
        "wiring",
        {
            "encoder": show_encoder_wiring,
            "decoder": show_decoder_wiring,
            "masked": show_masked_word,
            "first": show_attention_sink,
        },
        own,
        setup,
    )


def show_encoder_wiring(own: Setup, _: Setup) -> None:
    """Both directions: no mask."""
    trace = trace_for(own)
    look, kept = selection_of(trace, own), count_allowed_pairs(trace)
    ahead = format_percent(share_ahead(trace["weights"][0, look.head]))
    st.markdown(say("lessons.masks.encoder", kept=kept.kept, of=kept.of, percent=ahead))
    show_weights_map("encoder", trace, look, place_name(trace, "H", look.head))


def show_decoder_wiring(_: Setup, __: Setup) -> None:
    """Causal attention to the own words, then attention to all words of another sentence."""
    with st.container(horizontal=True):
        across = sentence_box(Setup(example="cross_en_zh"), "target")
        across = sentence_box(across, "source", "context_text")
    within = replace(across, cross=False, context_text=None, masks=("causal",))
    runs = {"self": within, "cross": across}
    facts = {name: count_allowed_pairs(trace_for(run)) for name, run in runs.items()}
    words = {f"{name}_{part}": getattr(fact, part) for name, fact in facts.items() for part in ("kept", "of")}
    st.markdown(say("lessons.masks.decoder", **words))
    with st.container(horizontal=True):
        for name, run in runs.items():
            trace = trace_for(run)
            with st.container(width="content"):
                show_weights_map(f"decoder_{name}", trace, selection_of(trace, run), say(f"lessons.masks.title_{name}"))
    workbench_door(across, "decoder")


def show_masked_word(own: Setup, _: Setup) -> None:
    """A word replaced by [MASK], which is attended to as any other; beside it, the pairs blocked instead."""
    free = trace_for(own)
    look, names = selection_of(free, own), place_names(free, "T", free.sizes()["T"])
    at = pick_place("gone", names, row_fact(free, look.head, look.query).keys[0])
    runs = {
        "token": with_word(own, at, MASK_TOKEN),
        "column": replace(own, allowed=allowed_text(block_key(mask_bits_of(free), at), free)),
    }
    traces = {name: trace_for(run) for name, run in runs.items()}
    kept = {name: count_allowed_pairs(trace) for name, trace in traces.items()}
    shares = {name: format_percent(mean_received_share(trace, look.head, at)) for name, trace in traces.items()}
    words = {f"{name}_kept": fact.kept for name, fact in kept.items()}
    st.markdown(say("lessons.masks.masked", word=escape_markdown(names[at]), of=kept["token"].of, **words, **shares))
    show_runs_side_by_side("masked", traces, look)
    workbench_door(runs["token"], "masked")


MASK_TOKEN = "[MASK]|"  # between bars one token


def show_attention_sink(_: Setup, __: Setup) -> None:
    """A head in which words that ask for nothing rest on the first one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sink = sentence_box(Setup(example="en_it_sink"), "sink")
        sink = replace(sink, masks=("causal",)) if switch("causal") else sink
    trace = trace_for(sink)
    look, T = selection_of(trace, sink), trace.sizes()["T"]
    value = trace.step("v").window(B=0, H_kv=look.kv, S=0)
    words = {"first": quote_token(trace, "T", 0), "percent": format_percent(mean_received_share(trace, look.head, 0))}
    resting = [query for query in range(T) if row_fact(trace, look.head, query).keys == (0,)]
    if resting:
        share = format_fixed(trace["weights"][0, look.head, resting[-1], 0].item())
        word = quote_token(trace, "T", resting[-1])
        st.markdown(say("lessons.masks.sink", count=len(resting), T=T, share=share, word=word, **words))
    effect = "costs" if value.any() else "free"
    st.markdown(say(f"lessons.masks.{effect}", first=words["first"], value=format_row(value)))
    show_weights_map("sink", trace, look, place_name(trace, "H", look.head))
    workbench_door(sink, "sink")
