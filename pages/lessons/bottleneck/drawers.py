"""Lesson 13, further sights: an alignment grows, one step of the decoder, what was never trained, states that smear."""

from collections.abc import Mapping
from datetime import date

import streamlit as st

from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.learned.insight.state_influence import influence_of_symbols, mean_own_share
from attention_core.learned.tasks import dates, reversal
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.record.trace import Trace
from pages.export.doors import workbench_door
from pages.lessons.learned.learning import TrainingRecord, load_shipped_training, share_axis
from pages.lessons.learned.writers import cached_writing, network_colours, shorten_writing, write_at_step
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import make_weights_map, show_picture, show_side_by_side, show_step_picture
from pages.panels.chart import show_chart, show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, pick_place
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.labels import current_palette, picture_texts_for, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

TINY_MAP_CELL_PX = 20.0  # pixels: a cell of maps of which several stand beside each other
MAX_GROWING_MAPS = 5
EXAMPLE_DATE = date(2019, 3, 5)


# ---- the alignment grows ---------------------------------------------------------------------------------------------
def show_alignment_growing(of: TrainingRecord, text: str) -> None:
    """The map of the same text after several steps of the training."""
    steps = thin_steps(list(of.networks))
    shown = []
    for step in steps:
        writer = write_at_step(of, step, text)
        told = {"step": f"{step:,}", "written": shorten_writing(writer.written)}
        if writer.setup is None:
            st.caption(say("lessons.bottleneck.grown_nothing", **told))
            continue
        trace = trace_for(writer.setup)
        look = selection_of(trace, writer.setup)
        title = say("lessons.bottleneck.grown", **told)
        shown.append(
            make_weights_map(f"grown_{step}", trace, look, title, PAGE_WIDTH_PX, TINY_MAP_CELL_PX, outlined=False)
        )
    show_side_by_side(*shown)
    if not of.own:
        st.caption(say("lessons.bottleneck.shipped_steps"))


def thin_steps(steps: list[int]) -> list[int]:
    """At most so many of the steps as maps stand beside each other, the last among them."""
    every = len(range(0, len(steps), MAX_GROWING_MAPS))
    return steps[::-1][::every][::-1]


# ---- one step of the decoder -----------------------------------------------------------------------------------------
def show_decoder_step(setup: Setup) -> None:
    """From the decoder's state to the context vector: e_ti, alpha_ti, c_t, each down to its arithmetic."""
    trace = trace_for(setup)
    names, look = place_names(trace, "T", trace.sizes()["T"]), selection_of(trace, setup)
    with st.container(width=220):
        t = pick_place("t", names, look.query)
    keys = place_names(trace, "S", trace.sizes()["S"])
    at = (0, 0, t)
    best = int(trace["weights"][at].argmax())
    numbers = {"e": trace["scores"][at][best], "alpha": trace["weights"][at][best]}
    told = {name: format_fixed(number.item()) for name, number in numbers.items()}
    facts = {"written": escape_markdown(names[t]), "best": escape_markdown(keys[best]), **told}
    st.markdown(say(f"lessons.bottleneck.energy_{setup.score}", **facts))
    rows = [
        row_of(say("lessons.bottleneck.row_e"), trace, "scores", at),
        row_of(say("lessons.bottleneck.row_alpha"), trace, "weights", at),
    ]
    runs = {"": trace}
    picture = bar_rows(
        rows, keys, picture_texts_for(trace), current_palette(), get_opened_cell("one_step", runs), whole=True
    )
    show_picture("one_step", picture, runs, say("lessons.bottleneck.alt_step"))
    st.markdown(say("lessons.bottleneck.context", **facts))
    show_step_picture("context", trace, "head_outputs", selection_of(trace, setup))
    workbench_door(setup, "one_step")


# ---- what was never trained ------------------------------------------------------------------------------------------
def show_untrained(task: str, kinds: Mapping[str, TrainingRecord]) -> None:
    """Formats of dates, or lengths, that no network was trained on."""
    if choose_option("unseen", ("formats", "lengths"), "formats" if task == "dates" else "lengths") == "formats":
        show_untrained_formats(kinds)
    else:
        show_longer_texts()


@cache_by_setup
def measure_untrained_formats(network: str) -> dict[str, float]:
    """The share of dates that a network writes exactly, by format, none of which it was trained on."""
    return find_network(network).measure(dates.exact_in_untrained_formats)


def show_untrained_formats(kinds: Mapping[str, TrainingRecord]) -> None:
    """Formats that no network was trained on: one date, what is made of it, and the share of many."""
    networks = {kind: get_last_network(f"dates_{kind}", kinds) for kind in ("additive", "dot", "one")}
    rows = []
    for name, how in dates.UNTRAINED_FORMATS.items():
        text = how(EXAMPLE_DATE)
        row = {say("lessons.bottleneck.head_format"): text}
        for kind, network in networks.items():
            share = format_percent(measure_untrained_formats(network)[name])
            told = {"written": shorten_writing(cached_writing(network, text)), "share": share}
            row[option_labels("kind")(kind)] = say("lessons.bottleneck.never_cell", **told)
        rows.append(row)
    st.table(rows, hide_index=True, width="content")
    st.caption(say("lessons.bottleneck.never"))


def get_last_network(course: str, own: Mapping[str, TrainingRecord]) -> str:
    """The last network of a course, the visitor's where it is theirs that is shown."""
    found = next((each for each in own.values() if each.course == course), None) or load_shipped_training(course)
    return found.network_at(max(found.steps))


def show_longer_texts() -> None:
    """Reversal of texts longer than any that was trained."""
    shown = {kind: load_shipped_training(f"reversal_{kind}") for kind in ("additive", "one")}
    figures = {
        kind: dict(zip(reversal.MEASURED_LENGTHS, get_last_figures(each), strict=True)) for kind, each in shown.items()
    }
    told = {f"at_{length}": format_percent(figures["additive"][length]) for length in (40, 60, 100)}
    st.markdown(f"**{say('lessons.bottleneck.longer', **told)}**")
    drawn = [
        Curve(
            option_labels("short")(kind),
            reversal.MEASURED_LENGTHS,
            [*each.values()],
            network_colours(current_palette())[kind],
        )
        for kind, each in figures.items()
    ]
    x = whole_number_axis(say("lessons.bottleneck.axis_length"), reversal.MEASURED_LENGTHS)
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, current_palette(), reversal.LONGEST_TRAINED, height=220)
    show_curve_chart(picture, "bottleneck_longer", say("lessons.bottleneck.alt"))
    st.caption(say("lessons.bottleneck.longer_how", first=reversal.SHORTEST_TRAINED, last=reversal.LONGEST_TRAINED))


def get_last_figures(of: TrainingRecord) -> tuple[float, ...]:
    """The figures at the end of a training."""
    return of.figures_at(max(of.steps))


# ---- why an alignment smears -----------------------------------------------------------------------------------------
@cache_by_setup
def cached_state_influence(network: str, text: str) -> Trace:
    """Whom the encoder's states have heard of."""
    return influence_of_symbols(find_network(network), text)


def show_smeared_states(of: TrainingRecord, step: int, text: str) -> None:
    """Each state of the encoder, and how much of it comes from each symbol."""
    trace = cached_state_influence(of.network_at(step), text)
    reads = "smear_one" if of.course.endswith("_one") else "smear"
    st.markdown(say(f"lessons.bottleneck.{reads}", own=format_percent(mean_own_share(trace)), step=f"{step:,}"))
    title = say("lessons.bottleneck.smear_map")
    picture = single_picture([panel(trace, "heard")], trace, picture_texts_for(trace), current_palette(), [title], None)
    show_chart(picture, "bottleneck_smear", title, lambda _: None)
