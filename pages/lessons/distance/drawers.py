"""Lesson 9, further sights: the states of an RNN, steps and costs, measured time, weights that no word decides."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.receptive_field import reach
from attention_core.comparison.distances import apart
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import PAGE, Axis, single_picture
from attention_core.drawing.curves import Curve, curves, decades
from attention_core.explanation.layout import panel
from attention_core.inputs.matrix_edits import to_places
from attention_core.inputs.matrix_text import to_text
from attention_core.record.number_text import duration, exact, fixed
from attention_core.record.trace import Step
from attention_core.variants.convolution import attend_by_position, band, read_taps, with_convolution
from attention_core.variants.cost import encoder_cost, reads, receptive_field
from attention_core.variants.encoders import Encoder
from attention_core.variants.timing import encoding_time, fitted_slope
from pages.export.doors import workbench_door
from pages.lessons.encoders import PLAIN, WIDTH, Words, costs, names_of, run_with_states, vectors_of
from pages.lessons.pictures import SMALL, alike, map_shown, opened_in, show, show_beside
from pages.panels.chart import chart, curve_chart
from pages.panels.link_controls import choose, option, pick_place, sentence_box, slide, text_box
from pages.panels.progress import measured_on_request
from pages.panels.word_swaps import another, with_word
from pages.runs.cache import trace_of
from pages.session.labels import Look, looked_at, palette, place_name, place_names, words_for
from pages.setup.setup import Setup
from pages.site.words import literal, say

FEW = 12  # words of a map whose cells are to be seen one by one
ACROSS = 18  # states beside each other, so that their numbers can be read
LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
TIMED = LENGTHS[3:]
GROWTH = ("longest_path", "sequential_steps", "multiply_adds")

Encoders = Mapping[str, Encoder]  # by kind


def colours() -> dict[str, str]:
    """One a kind."""
    own = palette()
    return {"rnn": own.k, "gru": own.outline, "lstm": own.q, "cnn": own.v, "attention": own.share}


# ---- what does an RNN do, word by word? ------------------------------------------------------------------------------
def states(sentence: Setup, attention: Encoder, rnn: Encoder) -> None:
    """One state after the other: the word, the state before it, and what becomes of both."""
    names = names_of(sentence)
    numbers = [str(n) for n, _ in enumerate(names, 1)]
    t = slide("t", range(len(names)), min(3, max(range(len(names)))), numbers.__getitem__) if len(names) > 1 else 0
    trace = run_with_states(sentence, attention, rnn, t)
    before, after = trace.step("states").operation.reads[-2:] if t else ("h_0", "h_1")
    told = {"t": numbers[t], "before": before, "after": after, "waiting": len(names[t:][1:])}
    st.markdown(say("lessons.distance.step", word=literal(names[t]), **told))
    runs, words = {"": trace}, words_for(trace)
    opened = opened_in("states", runs)
    drawn = panel(trace, "states", {"T": t}, largest=ACROSS)
    title = say("lessons.distance.states_so_far", first=trace.step("states").operation.reads[drawn.first[1]], **told)
    picture = single_picture([drawn], trace, words, palette(), [title], opened and opened[1])
    show("states", picture, runs, title)
    rows = [
        row_of(say("lessons.distance.row_word", word=names[t], **told), trace, "x", (0, t)),
        row_of(say("lessons.distance.row_before", **told), trace, before, (0,)),
        row_of(say("lessons.distance.row_after", **told), trace, after, (0,)),
    ]
    columns = [str(n) for n, _ in enumerate(rows[0].refs, 1)]
    picture = bar_rows(rows, columns, words, palette(), opened_in("step", runs))
    show("step", picture, runs, say("lessons.distance.alt_states"))


# ---- how many steps, and how many must wait? -------------------------------------------------------------------------
def cost(encoders: Encoders, cnn: Encoder, words: Words, distance: int) -> None:
    """Steps between two words, steps that wait for each other, multiply-adds; and whom stacked convolutions hear."""
    T, D = vectors_of(words).shape
    found = {kind: costs(encoder, T, D, distance) for kind, encoder in encoders.items()}
    columns = ("kind", "path", "waiting", "products", "numbers")
    heads = [say(f"lessons.distance.head_{column}", T=T, distance=abs(distance)) for column in columns]
    rows = [
        (
            option("kinds")(kind),
            say("lessons.distance.unreached") if each.path is None else str(each.path),
            str(each.formula.sequential_steps),
            f"{each.formula.multiply_adds:,}",
            f"{each.formula.parameters:,}",
        )
        for kind, each in found.items()
    ]
    if rows:
        st.table([dict(zip(heads, row, strict=True)) for row in rows], hide_index=True, width="content")
    agree = all(each.agrees for each in found.values())
    st.caption(say("lessons.distance.twice" if agree else "lessons.distance.differ", D=D, width=WIDTH))
    growth = choose("growth", GROWTH)
    drawn = [
        Curve(option("kinds")(kind), LENGTHS, [getattr(encoder_cost(encoder, n, D), growth) for n in LENGTHS], colour)
        for (kind, encoder), colour in zip(encoders.items(), map(colours().get, encoders), strict=True)
    ]
    y = decades(option("growth")(growth), [number for curve in drawn for number in curve.y])
    curve_chart(
        curves(drawn, length_axis(LENGTHS), y, palette(), T, height=220), "distance_growth", option("growth")(growth)
    )
    field(cnn, words)


def length_axis(lengths: Sequence[int]) -> Axis:
    """Words of a sequence, each step twice as many."""
    return Axis(say("lessons.distance.axis_length"), lengths[0], lengths[-1], log=True, values=tuple(lengths))


def field(encoder: Encoder, words: Words) -> None:
    """Which words reach which position through a stack of convolutions."""
    names = names_of(words)[:FEW]
    layers = slide("deep", range(9), 2)
    reached = reach(reads(encoder, len(names)), layers)
    trace = Trace({"reached": Step("reached", reached, ("T", "S"))}, {"T": tuple(names), "S": tuple(names)})
    told = {"layers": layers, "window": encoder.window, "field": receptive_field(encoder, layers)}
    st.markdown(say("lessons.distance.field", **told, seen=int(reached.sum(-1).max())))
    title = say("lessons.distance.reached", **told)
    picture = single_picture([panel(trace, "reached")], trace, words_for(trace), palette(), [title], None)
    chart(picture, "distance_field", title, lambda _: None)


# ---- how long does it take? ------------------------------------------------------------------------------------------
def time(encoders: Encoders) -> None:
    """Measured here: the time of one forward pass against the length, and the power with which it grows."""
    tasks = [(encoder, length) for length in TIMED for encoder in encoders.values()]
    found = measured_on_request(
        "time", tasks, lambda task: encoding_time(*task).seconds, say("lessons.distance.measure")
    )
    lengths = [length for length in TIMED if all((encoder, length) in found for encoder in encoders.values())]
    if encoders and len(lengths) > 1:
        drawn, parts = [], []
        for kind, encoder in encoders.items():
            seconds = [found[encoder, length] for length in lengths]
            told = {"kind": option("kinds")(kind), "slope": fixed(fitted_slope(lengths, seconds))}
            drawn.append(Curve(say("lessons.distance.slope", **told), lengths, seconds, colours()[kind]))
            parts.append((seconds[-1], say("lessons.distance.took", time=duration(seconds[-1]), **told)))
        listed = say("fact.comma").join(text for _, text in sorted(parts))
        st.markdown(say("lessons.distance.timed", length=f"{lengths[-1]:,}", parts=listed))
        y = decades(say("lessons.distance.axis_seconds"), [number for curve in drawn for number in curve.y])
        curve_chart(curves(drawn, length_axis(TIMED), y, palette()), "distance_time", say("lessons.distance.alt_time"))
    st.caption(say("lessons.distance.machine", width=WIDTH))


# ---- is a convolution an attention? ----------------------------------------------------------------------------------
def fixed_weights(example: str) -> None:
    """Weights that no word decides, those of a kernel or of positions alone, beside weights that words decide."""
    kind = choose("fixed", tuple(MADE))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(Setup(example=example), "said")
        taps = text_box(kind, USUAL[kind], read_taps, width=220)
        free = trace_of(own)
        look, names = looked_at(free, own), place_names(free, "T", free.sizes()["T"])
        at = pick_place("changed", names, look.query, width=120)
        new = text_box("into", another(own, at), lambda text: with_word(own, at, text), width=120)
    setup, other = (MADE[kind](each, taps) for each in (own, with_word(own, at, new)))
    trace, head = trace_of(setup), look.head
    moved = {"fixed": changed(trace, trace_of(other)), "free": changed(free, trace_of(with_word(own, at, new)), head)}
    told = {"old": literal(names[at]), "new": literal(new), "count": trace["weights"].numel(), **moved}
    st.markdown(f"**{say('lessons.distance.moved', **told)}**")
    learned = say("lessons.distance.map_words", head=place_name(free, "H", head))
    band = map_shown("band", trace, Look(0, 0, 0, 0), say(f"lessons.distance.map_{kind}"), PAGE, SMALL, outlined=False)
    show_beside(*alike(band, map_shown("learned", free, look, learned, PAGE, SMALL)))
    if kind == "kernel":
        both = with_convolution(trace, read_taps(taps))
        gap = apart(both["output"], both["convolved"]).max().item()
        st.markdown(say("lessons.distance.nearly" if gap else "lessons.distance.exactly", gap=exact(gap)))
        panels = [panel(both, step) for step in ("output", "convolved")]
        titles = [say(f"lessons.distance.title_{part.step}") for part in panels]
        opened = opened_in("conv", {"": both})
        picture = single_picture(panels, both, words_for(both), palette(), titles, opened and opened[1])
        show("conv", picture, {"": both}, say("lessons.distance.alt_conv"))
    workbench_door(setup, "fixed")


def by_kernel(own: Setup, taps: str) -> Setup:
    """The run whose weights are a kernel's, in the place of computed ones."""
    weights = band(read_taps(taps), trace_of(own).sizes()["T"])
    return replace(
        own, **PLAIN, **dict.fromkeys(("w_q", "w_k", "w_v"), "none"), weights=to_places(weights[None, None].numpy())
    )


def by_position(own: Setup, scores: str) -> Setup:
    """The run whose scores are an offset's alone."""
    run = attend_by_position(trace_of(own)["x"][0], read_taps(scores))
    projections = {name: to_text(run.step(name).window()) for name in ("w_q", "w_k", "w_v")}
    return replace(own, **PLAIN, scale=1.0, x=to_text(run.step("x").window(B=0)), **projections)


MADE = {"kernel": by_kernel, "position": by_position}
USUAL = {"kernel": "0.2, 0.5, 0.3", "position": "4, 0, 0"}


def changed(trace: Trace, other: Trace, head: int = 0) -> int:
    """How many weights of a head are not the same in two runs, to the last bit."""
    return int(trace["weights"][0, head].ne(other["weights"][0, head]).sum())
