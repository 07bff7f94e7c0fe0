"""Lesson 5, further sights: the future, the pairs that are kept, what goes wrong, and the wirings of whole models."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace, to_mha_mask
from attention_core.analysis.empty_rows import TREATMENTS, treated
from attention_core.analysis.future_leakage import moved_rows, share_ahead
from attention_core.comparison.batch_alone import farthest_from_alone
from attention_core.comparison.differences import moves
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import kept_pairs, pairs_at, received, row_fact
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import fixed, percent, row_text, told
from attention_core.variants.cost import counted_cost
from attention_core.verification.mask_conventions import damage, inverted, misplaced, padding_seen, torchs_answer
from pages.export.doors import workbench_door
from pages.lessons.masks.mask_maps import CUSTOM, after_layers, all_masks, named, show_ticks, shown, ticks
from pages.lessons.masks.painted_mask import allowed_text, bits_of, blocked_row, without_column, without_row
from pages.lessons.pictures import opened_in, show, show_map, show_step
from pages.panels.chart import chart
from pages.panels.link_controls import check_tokens, choose, pick_place, sentence_box, slide, switch, text_box
from pages.panels.word_swaps import another, with_word
from pages.runs.cache import material_of, trace_of
from pages.runs.compute import sentences_alone
from pages.runs.run_inputs import PAD
from pages.session.labels import Look, looked_at, palette, place_name, place_names, token, words_for
from pages.setup.mask_spec import read_mask
from pages.setup.setup import Setup
from pages.site.words import literal, say, sentence

Sights = Mapping[str, Callable[[Setup, Setup], None]]


def sight(name: str, sights: Sights, own: Setup, setup: Setup) -> None:
    """One of several sights of a drawer. own: the run without a mask; setup: the run under the reader's mask."""
    sights[choose(name, tuple(sights))](own, setup)


def quoted(trace: Trace, axis: str, position: int) -> str:
    """A token in a sentence."""
    return literal(token(trace, axis, position))


def apart(gap: float) -> str:
    """How far apart numbers are; a 0 is no rounding."""
    return told(gap) if gap else "0"


def option(name: str) -> str:
    """What a mask is called; the reader's own is the one above."""
    return say("lessons.masks.above") if name == CUSTOM else say(f"lessons.masks.option.mask.{name}")


# ---- can a word learn of its future? ---------------------------------------------------------------------------------
def future(own: Setup, setup: Setup) -> None:
    """What a later word changes before it; which step a mask changes; how far news travels in several layers."""
    sight("future", {"change": later_word, "step": one_step, "layers": layers}, own, setup)


def later_word(own: Setup, setup: Setup) -> None:
    """A word is exchanged: how far each output moves, without a mask and with the reader's."""
    free = trace_of(own)
    names = place_names(free, "T", free.sizes()["T"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = pick_place("changed", names, max(range(len(names))))
        new = text_box("into", another(own, at), lambda text: with_word(own, at, text))
    runs = {
        name: moved_rows(trace_of(with_word(run, at, new)), trace_of(run))
        for name, run in (("free", own), ("masked", setup))
    }
    rows = [row_of(say(f"lessons.masks.moved_{name}"), run, "moved", (0,), name) for name, run in runs.items()]
    moved = {row.run: sum(value > 0 for value in row.values[:at]) for row in rows}
    words = {"old": quoted(free, "T", at), "new": literal(new)}
    st.markdown(say("lessons.masks.leaked" if at else "lessons.masks.leaked_none", before=at, **words, **moved))
    names = place_names(runs["masked"], "T", len(names))
    picture = bar_rows(rows, names, words_for(runs["masked"]), palette(), opened_in("leak", runs))
    show("leak", picture, runs, say("lessons.masks.leak_alt"))
    workbench_door(with_word(setup, at, new), "leak")


def one_step(own: Setup, setup: Setup) -> None:
    """The steps of the run under the mask beside those of the run without: where they part."""
    now, before = trace_of(setup), trace_of(own)
    moved, comma = moves(now, before), say("fact.comma")
    same = [step for step in now.computed() if step in before and step not in moved]
    pairs = kept_pairs(now)
    if not moved:
        st.markdown(say("lessons.masks.same"))
        return
    first, *later = moved
    words = {"same": literal(comma.join(same)), "first": literal(first), "later": literal(comma.join(later))}
    st.markdown(say("lessons.masks.parts", blocked=pairs.blocked, of=pairs.of, **words))
    show_step("step", now, "masked_scores", looked_at(before, own))


def layers(own: Setup, setup: Setup) -> None:
    """Who has heard from whom after several layers, under every mask."""
    count = slide("layers", range(1, 9), 2)
    masks = all_masks(own, setup, 1)
    names = place_names(masks, "T", masks.sizes()["T"])
    heard = after_layers(masks, count)
    last = {name: heard[f"allowed_{name}"][-1] for name in shown(masks)}  # (S,): from whom the last word has heard
    reached = [literal(option(name)) for name, row in last.items() if row[0]]
    words = {"first": literal(names[0]), "last": literal(names[-1])}
    under = say("fact.comma").join(reached) or say("lessons.masks.nobody")
    st.markdown(say("lessons.masks.heard", layers=count, under=under, **words))
    with st.container(horizontal=True, gap=None):
        for name, row in last.items():
            title = say("lessons.masks.hears", name=option(name), count=int(row.sum()), T=len(names))
            chart(ticks(heard, f"allowed_{name}", title), f"masks_layers_{name}", title, lambda _: None)


# ---- which pairs are kept? -------------------------------------------------------------------------------------------
def pairs(own: Setup, setup: Setup) -> None:
    """How many pairs each mask keeps, here and in longer sequences; sentences of different lengths in one batch."""
    sight("pairs", {"patterns": patterns, "batch": batch}, own, setup)


def patterns(own: Setup, setup: Setup) -> None:
    """The masks beside each other, the pairs that they keep, and the work that this does not save."""
    with st.container(horizontal=True):
        window = slide("window", range(1, 9), 1)
        length = slide("length", (8, 16, 32, 64, 128, 256, 512), 64)
    masks, choices = all_masks(own, setup, window), named(window)
    T = masks.sizes()["T"]
    here = {name: pairs_at(T, read_mask(text)) for name, text in choices.items()}
    here[CUSTOM] = kept_pairs(trace_of(setup))
    with st.container(horizontal=True, gap=None):
        for name in shown(masks):
            with st.container(width="content"):
                title = say("lessons.masks.pairs", name=option(name), kept=here[name].kept, of=here[name].of)
                show_ticks(f"pattern_{name}", masks, f"allowed_{name}", title)
    runs = {"free": trace_of(own), "masked": trace_of(setup)}
    work = {name: sum(counted_cost(run).multiply_adds.values()) for name, run in runs.items()}
    st.markdown(say("lessons.masks.work", **work))
    there = {name: pairs_at(length, read_mask(text)) for name, text in choices.items()}
    lines = [
        say("lessons.masks.row", name=option(name), kept=f"{fact.kept:,}", of=f"{fact.of:,}", share=f"{fact.share:.2%}")
        for name, fact in there.items()
    ]
    st.markdown("\n".join([say("lessons.masks.head", length=length), *lines]))


def batch(own: Setup, setup: Setup) -> None:
    """Two sentences of different lengths in one batch, what fills up the shorter one hidden or not."""
    shipped = EXAMPLES[own.example].batch.splitlines()[-1]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = text_box("other", shipped, lambda text: check_tokens(material_of(replace(own, more=text)).queries))
        kind = choose("with", ("padding", "both"))
        hidden = switch("hidden", True)
    together = replace(own, more=other, masks=("causal",) if kind == "both" else None)
    trace = trace_of(together)
    alone = sentences_alone(together)
    step, gap = farthest_from_alone(trace if hidden else padding_seen(trace), alone)
    found = ("alone" if hidden else "seen") if gap else "exact"
    st.markdown(say(f"lessons.masks.{found}", step=literal(step), gap=apart(gap)))
    head = looked_at(trace_of(own), own).head
    with st.container(horizontal=True):
        for number in range(2):
            seen = replace(together, sentence=number, head=head, token=own.token if number == 0 else None)
            with st.container(width="content"):
                filled_up(f"batch_{number}", seen, hidden)
    workbench_door(together, "batch")


def filled_up(name: str, seen: Setup, hidden: bool) -> None:
    """One sentence of the batch as a map, and what its word that asks gives to what fills it up."""
    run = trace_of(seen)
    trace, look = run if hidden else padding_seen(run), looked_at(run, seen)
    row = trace.step("weights").window(B=look.batch, H=look.head, T=look.query)
    lost = sum(share for share, word in zip(row, trace.labels["S"], strict=True) if word == PAD)
    show_map(name, trace, look, place_name(trace, "B", look.batch))
    st.caption(say("lessons.masks.to_padding", query=quoted(trace, "T", look.query), percent=percent(lost)))


# ---- what if a row may look at nothing? ------------------------------------------------------------------------------
def nothing(own: Setup, setup: Setup) -> None:
    """A row without an allowed key in five treatments; a mask read by the other convention; an axis misplaced."""
    sight("nothing", {"row": blocked, "conventions": conventions, "axes": axes}, own, setup)


def blocked(own: Setup, setup: Setup) -> None:
    """One row of the reader's mask blocked as a whole, as five kinds of code treat it."""
    trace, look = trace_of(setup), looked_at(trace_of(own), own)
    names, empty = place_names(trace, "T", trace.sizes()["T"]), blocked_row(trace)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = pick_place("row", names, look.query if empty is None else empty)
        dtype = choose("dtype", ("float64", "float32", "float16"))
    bits = without_row(bits_of(trace), row)
    masked = replace(own, allowed=allowed_text(bits, trace), dtype=dtype)
    runs = {name: treated(trace_of(masked), name) for name in TREATMENTS}
    rows = [
        row_of(say(f"lessons.masks.treated_{name}", dtype=dtype), run, "weights", (0, look.head, row), name)
        for name, run in runs.items()
    ]
    lost = [each for each in rows if any(value != value for value in each.values)]
    seen = [each for each in rows if any(value > 0 for value in each.values)]
    st.markdown(say("lessons.masks.treated", seen=len(seen), lost=len(lost), word=literal(names[row])))
    picture = bar_rows(rows, names, words_for(trace), palette(), opened_in("row", runs), height=46.0)
    show("row", picture, runs, say("lessons.masks.treated_alt"))
    moved = [moved_rows(run, runs["zero"])["moved"][0].tolist() for run in runs.values()]
    others = [gaps[n] for gaps in moved for n, text in enumerate(bits) if "1" in text]
    st.markdown(say("lessons.masks.others", gap=apart(max(others, default=0.0))))
    workbench_door(masked, "row")


def conventions(own: Setup, setup: Setup) -> None:
    """The same matrix for code in which True means blocked, and what torch's own layer makes of it."""
    trace, look = trace_of(setup), looked_at(trace_of(own), own)
    if "allowed" not in trace:
        st.markdown(say("lessons.masks.no_mask"))
        return
    wrong = inverted(trace)
    tell_damage("lessons.masks.inverted", wrong, trace)
    side_by_side("conventions", {"kept": trace, "blocked": wrong}, look)
    theirs = torchs_answer(trace, trace["allowed"], wrong)
    mended = torchs_answer(trace, to_mha_mask(trace["allowed"]), trace)
    if theirs is None:
        st.markdown(say("lessons.masks.no_torch"))
        return
    answers = {"gap": apart(theirs.gap), "lost": theirs.lost, "mended": apart(mended.gap), "empty": mended.lost}
    st.markdown(say("lessons.masks.torch", rows=theirs.rows, **answers))


def axes(own: Setup, setup: Setup) -> None:
    """A mask of two axes with the heads' axis put into the wrong place: refused, or taken without a word."""
    trace, look = trace_of(setup), looked_at(trace_of(own), own)
    if "allowed" not in trace:
        st.markdown(say("lessons.masks.no_mask"))
        return
    T, widths = trace.sizes()["T"], {f"d_{name}": trace[name].shape[-1] for name in "kv"}
    many = replace(setup, heads=slide("heads", range(1, 17), T), **widths)
    run = trace_of(many)
    try:
        wrong = misplaced(run)
    except AttentionError as refusal:
        st.error(sentence(refusal), icon=":material/error:")
        st.markdown(say("lessons.masks.refused", T=T, heads=many.heads))
        return
    tell_damage("lessons.masks.misplaced", wrong, run)
    side_by_side(
        "axes", {"intended": run, "applied": wrong}, replace(look, head=min(look.head, max(range(many.heads))))
    )
    workbench_door(many, "axes")


def tell_damage(key: str, wrong: Trace, right: Trace) -> None:
    """How many pairs and weights a wrong mask moved, and the weight that it moved most."""
    found = damage(wrong, right)
    if found.largest is None:
        st.markdown(say("lessons.masks.no_damage"))
        return
    _, head, query, key_at = found.largest.index
    at = found.largest.index
    _, head, query, key_at = at
    place = {"head": place_name(right, "H", head)}
    words = {"query": quoted(right, "T", query), "key": quoted(right, "S", key_at)}
    shares = {"before": fixed(right["weights"][at].item()), "now": fixed(wrong["weights"][at].item())}
    st.markdown(say(key, pairs=found.pairs, of=found.of, weights=found.weights, **place, **words, **shares))


def side_by_side(name: str, runs: Mapping[str, Trace], look: Look) -> None:
    """One head of two runs as maps."""
    with st.container(horizontal=True):
        for part, run in runs.items():
            title = say(f"lessons.masks.title_{part}", head=place_name(run, "H", look.head))
            with st.container(width="content"):
                show_map(f"{name}_{part}", run, look, title)


# ---- encoder, decoder, masked words ----------------------------------------------------------------------------------
def wirings(own: Setup, setup: Setup) -> None:
    """How whole models are wired: both directions; causal, then across; words hidden, not pairs; and the first word."""
    sight("wiring", {"encoder": encoder, "decoder": decoder, "masked": masked_word, "first": first_word}, own, setup)


def encoder(own: Setup, _: Setup) -> None:
    """Both directions: no mask."""
    trace = trace_of(own)
    look, kept = looked_at(trace, own), kept_pairs(trace)
    ahead = percent(share_ahead(trace["weights"][0, look.head]))
    st.markdown(say("lessons.masks.encoder", kept=kept.kept, of=kept.of, percent=ahead))
    show_map("encoder", trace, look, place_name(trace, "H", look.head))


def decoder(_: Setup, __: Setup) -> None:
    """Causal attention to the own words, then attention to all words of another sentence."""
    with st.container(horizontal=True):
        across = sentence_box(Setup(example="cross_en_zh"), "target")
        across = sentence_box(across, "source", "context_text")
    within = replace(across, cross=False, context_text=None, masks=("causal",))
    runs = {"self": within, "cross": across}
    facts = {name: kept_pairs(trace_of(run)) for name, run in runs.items()}
    words = {f"{name}_{part}": getattr(fact, part) for name, fact in facts.items() for part in ("kept", "of")}
    st.markdown(say("lessons.masks.decoder", **words))
    with st.container(horizontal=True):
        for name, run in runs.items():
            trace = trace_of(run)
            with st.container(width="content"):
                show_map(f"decoder_{name}", trace, looked_at(trace, run), say(f"lessons.masks.title_{name}"))
    workbench_door(across, "decoder")


def masked_word(own: Setup, _: Setup) -> None:
    """A word replaced by [MASK], which is attended to as any other; beside it, the pairs blocked instead."""
    free = trace_of(own)
    look, names = looked_at(free, own), place_names(free, "T", free.sizes()["T"])
    at = pick_place("gone", names, row_fact(free, look.head, look.query).keys[0])
    runs = {
        "token": with_word(own, at, MASK_TOKEN),
        "column": replace(own, allowed=allowed_text(without_column(bits_of(free), at), free)),
    }
    traces = {name: trace_of(run) for name, run in runs.items()}
    kept = {name: kept_pairs(trace) for name, trace in traces.items()}
    shares = {name: percent(received(trace, look.head, at)) for name, trace in traces.items()}
    words = {f"{name}_kept": fact.kept for name, fact in kept.items()}
    st.markdown(say("lessons.masks.masked", word=literal(names[at]), of=kept["token"].of, **words, **shares))
    side_by_side("masked", traces, look)
    workbench_door(runs["token"], "masked")


MASK_TOKEN = "[MASK]|"  # between bars one token


def first_word(_: Setup, __: Setup) -> None:
    """A head in which words that ask for nothing rest on the first one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sink = sentence_box(Setup(example="en_it_sink"), "sink")
        sink = replace(sink, masks=("causal",)) if switch("causal") else sink
    trace = trace_of(sink)
    look, T = looked_at(trace, sink), trace.sizes()["T"]
    value = trace.step("v").window(B=0, H_kv=look.kv, S=0)
    words = {"first": quoted(trace, "T", 0), "percent": percent(received(trace, look.head, 0))}
    resting = [query for query in range(T) if row_fact(trace, look.head, query).keys == (0,)]
    if resting:
        share = fixed(trace["weights"][0, look.head, resting[-1], 0].item())
        word = quoted(trace, "T", resting[-1])
        st.markdown(say("lessons.masks.sink", count=len(resting), T=T, share=share, word=word, **words))
    effect = "costs" if value.any() else "free"
    st.markdown(say(f"lessons.masks.{effect}", first=words["first"], value=row_text(value)))
    show_map("sink", trace, look, place_name(trace, "H", look.head))
    workbench_door(sink, "sink")
