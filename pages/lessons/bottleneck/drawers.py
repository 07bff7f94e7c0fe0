"""Lesson 13, further sights: an alignment grows, one step of the decoder, what was never trained, states that smear."""

from collections.abc import Mapping
from datetime import date

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import PAGE, single_picture
from attention_core.drawing.curves import Curve, curves, wholes
from attention_core.explanation.layout import panel
from attention_core.learned.insight.state_influence import heard, mean_own_share
from attention_core.learned.tasks import dates, reversal
from attention_core.record.number_text import fixed, percent
from attention_core.record.trace import Trace
from pages.export.doors import workbench_door
from pages.lessons.learned.learning import Learning, share_axis, shipped_learning
from pages.lessons.learned.writers import colours, cut_off, writer_of, written_by
from pages.lessons.pictures import map_shown, opened_in, show, show_beside, show_step
from pages.panels.chart import chart, curve_chart
from pages.panels.link_controls import choose, option, pick_place
from pages.runs.cache import kept, trace_of
from pages.runs.network_store import find
from pages.session.labels import looked_at, palette, place_names, words_for
from pages.setup.setup import Setup
from pages.site.words import literal, say

TINY = 20.0  # pixels: a cell of maps of which several stand beside each other
MOST_MAPS = 5
EXAMPLE = date(2019, 3, 5)


# ---- the alignment grows ---------------------------------------------------------------------------------------------
def growing(of: Learning, text: str) -> None:
    """The map of the same text after several steps of the training."""
    steps = some(list(of.networks))
    shown = []
    for step in steps:
        writer = writer_of(of, step, text)
        told = {"step": f"{step:,}", "written": cut_off(writer.written)}
        if writer.setup is None:
            st.caption(say("lessons.bottleneck.grown_nothing", **told))
            continue
        trace = trace_of(writer.setup)
        look = looked_at(trace, writer.setup)
        title = say("lessons.bottleneck.grown", **told)
        shown.append(map_shown(f"grown_{step}", trace, look, title, PAGE, TINY, outlined=False))
    show_beside(*shown)
    if not of.own:
        st.caption(say("lessons.bottleneck.shipped_steps"))


def some(steps: list[int]) -> list[int]:
    """At most so many of the steps as maps stand beside each other, the last among them."""
    every = len(range(0, len(steps), MOST_MAPS))
    return steps[::-1][::every][::-1]


# ---- one step of the decoder -----------------------------------------------------------------------------------------
def one_step(setup: Setup) -> None:
    """From the decoder's state to the context vector: e_ti, alpha_ti, c_t, each down to its arithmetic."""
    trace = trace_of(setup)
    names, look = place_names(trace, "T", trace.sizes()["T"]), looked_at(trace, setup)
    with st.container(width=220):
        t = pick_place("t", names, look.query)
    keys = place_names(trace, "S", trace.sizes()["S"])
    at = (0, 0, t)
    best = int(trace["weights"][at].argmax())
    numbers = {"e": trace["scores"][at][best], "alpha": trace["weights"][at][best]}
    told = {name: fixed(number.item()) for name, number in numbers.items()}
    facts = {"written": literal(names[t]), "best": literal(keys[best]), **told}
    st.markdown(say(f"lessons.bottleneck.energy_{setup.score}", **facts))
    rows = [
        row_of(say("lessons.bottleneck.row_e"), trace, "scores", at),
        row_of(say("lessons.bottleneck.row_alpha"), trace, "weights", at),
    ]
    runs = {"": trace}
    picture = bar_rows(rows, keys, words_for(trace), palette(), opened_in("one_step", runs), whole=True)
    show("one_step", picture, runs, say("lessons.bottleneck.alt_step"))
    st.markdown(say("lessons.bottleneck.context", **facts))
    show_step("context", trace, "head_outputs", looked_at(trace, setup))
    workbench_door(setup, "one_step")


# ---- what was never trained ------------------------------------------------------------------------------------------
def untrained(task: str, kinds: Mapping[str, Learning]) -> None:
    """Formats of dates, or lengths, that no network was trained on."""
    if choose("unseen", ("formats", "lengths"), "formats" if task == "dates" else "lengths") == "formats":
        never(kinds)
    else:
        longer()


@kept
def never_exact(network: str) -> dict[str, float]:
    """The share of dates that a network writes exactly, by format, none of which it was trained on."""
    return find(network).measure(dates.exact_in_formats_never_trained)


def never(kinds: Mapping[str, Learning]) -> None:
    """Formats that no network was trained on: one date, what is made of it, and the share of many."""
    networks = {kind: last_network(f"dates_{kind}", kinds) for kind in ("additive", "dot", "one")}
    rows = []
    for name, how in dates.NEVER.items():
        text = how(EXAMPLE)
        row = {say("lessons.bottleneck.head_format"): text}
        for kind, network in networks.items():
            share = percent(never_exact(network)[name])
            told = {"written": cut_off(written_by(network, text)), "share": share}
            row[option("kind")(kind)] = say("lessons.bottleneck.never_cell", **told)
        rows.append(row)
    st.table(rows, hide_index=True, width="content")
    st.caption(say("lessons.bottleneck.never"))


def last_network(course: str, own: Mapping[str, Learning]) -> str:
    """The last network of a course, the visitor's where it is theirs that is shown."""
    found = next((each for each in own.values() if each.course == course), None) or shipped_learning(course)
    return found.network_at(max(found.steps))


def longer() -> None:
    """Reversal of texts longer than any that was trained."""
    shown = {kind: shipped_learning(f"reversal_{kind}") for kind in ("additive", "one")}
    figures = {kind: dict(zip(reversal.MEASURED, last_figures(each), strict=True)) for kind, each in shown.items()}
    told = {f"at_{length}": percent(figures["additive"][length]) for length in (40, 60, 100)}
    st.markdown(f"**{say('lessons.bottleneck.longer', **told)}**")
    drawn = [
        Curve(option("short")(kind), reversal.MEASURED, [*each.values()], colours(palette())[kind])
        for kind, each in figures.items()
    ]
    x = wholes(say("lessons.bottleneck.axis_length"), reversal.MEASURED)
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, palette(), reversal.LONGEST, height=220)
    curve_chart(picture, "bottleneck_longer", say("lessons.bottleneck.alt"))
    st.caption(say("lessons.bottleneck.longer_how", first=reversal.SHORTEST, last=reversal.LONGEST))


def last_figures(of: Learning) -> tuple[float, ...]:
    """The figures at the end of a training."""
    return of.figures_at(max(of.steps))


# ---- why an alignment smears -----------------------------------------------------------------------------------------
@kept
def heard_by(network: str, text: str) -> Trace:
    """Whom the encoder's states have heard of."""
    return heard(find(network), text)


def smear(of: Learning, step: int, text: str) -> None:
    """Each state of the encoder, and how much of it comes from each symbol."""
    trace = heard_by(of.network_at(step), text)
    reads = "smear_one" if of.course.endswith("_one") else "smear"
    st.markdown(say(f"lessons.bottleneck.{reads}", own=percent(mean_own_share(trace)), step=f"{step:,}"))
    title = say("lessons.bottleneck.smear_map")
    picture = single_picture([panel(trace, "heard")], trace, words_for(trace), palette(), [title], None)
    chart(picture, "bottleneck_smear", title, lambda _: None)
