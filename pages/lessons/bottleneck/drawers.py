"""Draws the accordions of the lesson on the bottleneck, and the picture on the lesson's page."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.palette import shade_cells
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.learned.insight.attributions import influence_of_symbols, mean_own_share
from attention_core.learned.insight.views import context_vector, symbol_labels
from attention_core.learned.tasks import dates, reversal
from attention_core.record.number_text import format_fixed, format_percent
from pages import components
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.learned.learning import TrainingRecord, load_shipped_training, share_axis
from pages.lessons.learned.writers import (
    MAX_WRITTEN_ROWS,
    WRITING_TASKS,
    WritingResult,
    cached_writing,
    network_colours,
    shorten_writing,
    write_at_step,
)
from pages.lessons.opened_cell import get_opened_ref, handle_picture_click
from pages.lessons.pictures import (
    SMALL_MAP_CELL_PX,
    RunPicture,
    make_weights_map,
    show_arithmetic_under,
    show_bar_rows,
    show_run_picture,
    show_side_by_side,
    show_step_picture,
)
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.chart import show_chart, show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, pick_place
from pages.panels.live_choice import LiveChoice, describe_followed
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.collected import show_moving
from pages.session.labels import current_palette, picture_texts_for, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, get_text_template, say

# ---- the picture of the lesson on one vector: letters through one neck of numbers, beside attention's threads --------
NECK_PICTURE = "neck"  # name of the picture in which all letters pass through one context vector
NECK_KEY = "bottleneck_neck"
NECK_TEXTS = ("label", "at", "from_one", "from_all", "ended")


@cache_by_setup
def find_context_vector(network: str, text: str) -> list[float]:
    """Returns the context vector that the encoder passes to the decoder, for a network without attention."""
    return context_vector(find_network(network), text).tolist()


def show_neck(
    task: str,
    symbols: tuple[str, ...],
    step: LiveChoice,
    networks: Mapping[str, str],
    results: Mapping[str, WritingResult],
) -> None:
    """Shows an animation of how each network generates its letters, and below it the arithmetic of a clicked weight.

    symbols: the input. networks: the name of each network, by its kind, such as "one". results: the output of each
    network, by the same kind.
    """
    ways = [describe_way(task, symbols, kind, networks[kind], result) for kind, result in results.items()]
    ways = ways[::-1]  # shows the network with one context vector first
    trace = next((trace_for(result.setup) for result in results.values() if result.setup), None)
    data = {
        "run": repr((task, symbols, networks)),
        "read": symbol_labels(symbols),
        "ways": ways,
        "start": find_start(ways),
        "slider": describe_followed(step),
        "palette": vars(current_palette()),
        "text": {name: get_text_template(f"lessons.bottleneck.neck.{name}") for name in NECK_TEXTS}
        | {"play": say("walk.play"), "pause": say("walk.pause")},
    }
    show_moving(components.neck, data=data, key=NECK_KEY, on_opened=lambda place: take_opened(trace, *place))
    opened = trace and get_opened_ref(NECK_PICTURE, trace)
    if opened:
        with st.container(border=True):
            show_arithmetic_under(NECK_PICTURE, {"": trace}, "", opened)


def take_opened(trace: Trace | None, row: int, column: int) -> None:
    """Selects the attention weight that the visitor clicked in the picture, so that its arithmetic is shown."""
    if trace:
        handle_picture_click(NECK_PICTURE, {"": trace}, {"step": "weights", "index": (0, 0, row, column)})


def describe_way(
    task: str, symbols: tuple[str, ...], kind: str, network: str, result: WritingResult
) -> dict[str, object]:
    """Returns a network's data for the picture: the letters, and the colours of its context vector or its attention
    weights.
    """
    written = result.written[:MAX_WRITTEN_ROWS]
    wanted = WRITING_TASKS[task].answer("".join(symbols))
    way = {
        "name": option_labels("kind")(kind),
        "written": symbol_labels(tuple(written)),
        "right": mark_letters(written, wanted),
    }
    if kind == "one":
        return way | {"fills": shade_vector(find_context_vector(network, "".join(symbols)))}
    weights = trace_for(result.setup)["weights"][0, 0].tolist() if result.setup else []  # (T, S)
    return way | {"weights": weights}


def mark_letters(written: str, wanted: str | None) -> list[bool | None]:
    """Returns whether each generated letter is right; a list of None if the right answer is unknown.

    >>> mark_letters("cbb", "cba")
    [True, True, False]
    """
    if wanted is None:
        return [None] * len(written)
    return [wanted[i : i + 1] == letter for i, letter in enumerate(written)]


def shade_vector(vector: list[float]) -> list[str]:
    """Returns the colour of each number of a vector."""
    values = np.array(vector)
    colours, _ = shade_cells(values, float(abs(values).max()), is_share=False, palette=current_palette())
    return colours


def find_start(ways: list[dict]) -> int:
    """Returns the index of the letter that the picture shows first: the first error of any network, else the last
    letter.
    """
    wrong = [i for way in ways for i, right in enumerate(way["right"]) if right is False]
    last = max((len(way["written"]) for way in ways), default=0) - 1
    return min(wrong, default=max(last, 0))


# ---- drawer "growing": how does the alignment form in training? ------------------------------------------------------
TINY_MAP_CELL_PX = 20.0  # px: side of a cell, so that several maps fit side by side
MAX_GROWING_MAPS = 5


def show_growing_alignment(record: TrainingRecord, text: str) -> None:
    """Shows the attention maps of one text, each after a different number of training steps."""
    pictures = []
    for step in thin_steps(record.steps):
        result = write_at_step(record, step, text)
        step_text = f"{step:,}"
        written = shorten_writing(result.written)
        if result.setup is None:
            st.caption(say("lessons.bottleneck.grown_nothing", step=step_text))
            continue
        title = say("lessons.bottleneck.grown", step=step_text, written=written)
        picture = make_tiny_map(f"grown_{step}", result.setup, title)
        pictures.append(picture)
    show_side_by_side(*pictures)
    if not record.own:
        st.caption(say("lessons.bottleneck.shipped_steps"))


def thin_steps(steps: Sequence[int]) -> list[int]:
    """Returns at most MAX_GROWING_MAPS of the steps, evenly spaced, including the last."""
    every = len(range(0, len(steps), MAX_GROWING_MAPS))
    from_the_last = steps[::-1][::every]
    return from_the_last[::-1]


def make_tiny_map(name: str, setup: Setup, title: str) -> RunPicture:
    """Makes an attention map of a run with tiny cells."""
    trace = trace_for(setup)
    return make_weights_map(
        name,
        trace,
        selection_of(trace, setup),
        title,
        PAGE_WIDTH_PX,
        TINY_MAP_CELL_PX,
        outlined=False,
    )


# ---- drawer "one_step": what happens in one decoder step? ------------------------------------------------------------
def show_decoder_step(setup: Setup, step: str) -> None:
    """Shows all attention weights, and the arithmetic of one decoder step's context vector: e_ti, alpha_ti, c_t.

    step: the training step as text.
    """
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    title = say("lessons.bottleneck.map", step=step)
    show_run_picture(make_weights_map("alignment", trace, selection, title, most=SMALL_MAP_CELL_PX))
    names = list_place_names(trace, "T")
    with st.container(width=220):
        t = pick_place("t", names, selection.query)
    weights = trace["weights"][0, 0, t]  # (S,)
    best = int(weights.argmax())
    energy = trace["scores"][0, 0, t, best].item()
    alpha = format_fixed(weights[best].item())
    key = escape_markdown(list_place_names(trace, "S")[best])
    show_sentence(
        f"lessons.bottleneck.energy_{setup.run.score}",
        written=escape_markdown(names[t]),
        best=key,
        e=format_fixed(energy),
        alpha=alpha,
    )
    show_energies_and_weights(trace, t)
    show_sentence("lessons.bottleneck.context", best=key, alpha=alpha)
    show_step_picture("context", trace, "head_outputs", selection)
    link_to_workbench(setup, "one_step")


def show_energies_and_weights(trace: Trace, t: int) -> None:
    """Shows the scores of decoder step t, and below them the weights."""
    energy_title = say("lessons.bottleneck.row_e")
    energies = row_of(energy_title, trace, "scores", (0, 0, t))
    weight_title = say("lessons.bottleneck.row_alpha")
    weights = row_of(weight_title, trace, "weights", (0, 0, t))
    symbols = list_place_names(trace, "S")
    alt = say("lessons.bottleneck.alt_step")
    show_bar_rows("one_step", [energies, weights], symbols, {"": trace}, trace, alt, whole=True)


# ---- one vector, drawer "untrained", tab: reversal of texts longer than every training text --------------------------
SharesByLength = Mapping[int, float]  # length of a text -> share of texts that are reversed exactly


def show_longer_texts() -> None:
    """Draws the share of exactly reversed texts by text length, with attention and with one context vector."""
    shares = {kind: load_shares_by_length(f"reversal_{kind}") for kind in ("additive", "one")}
    additive = {f"at_{length}": format_percent(shares["additive"][length]) for length in (40, 60, 100)}
    st.markdown(f"**{say('lessons.bottleneck.longer', **additive)}**")
    show_shares_by_length(shares)
    st.caption(
        say(
            "lessons.bottleneck.longer_how",
            first=reversal.SHORTEST_TRAINED,
            last=reversal.LONGEST_TRAINED,
        )
    )


def load_shares_by_length(course: str) -> SharesByLength:
    """Loads the shares of exactly reversed texts by length, after the last step of a course's supplied training."""
    record = load_shipped_training(course)
    figures = record.figures_at(max(record.steps))
    return dict(zip(reversal.MEASURED_LENGTHS, figures, strict=True))


def show_shares_by_length(shares: Mapping[str, SharesByLength]) -> None:
    """Draws the share of exactly reversed texts by length, one curve per kind of network.

    A vertical line marks the longest length in the training texts.
    """
    palette = current_palette()
    drawn = []
    for kind, share_by_length in shares.items():
        name = option_labels("short")(kind)
        values = list(share_by_length.values())
        colour = network_colours(palette)[kind]
        drawn.append(Curve(name, reversal.MEASURED_LENGTHS, values, colour))
    x = whole_number_axis(say("lessons.bottleneck.axis_length"), reversal.MEASURED_LENGTHS)
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, palette, reversal.LONGEST_TRAINED, height=220)
    show_curve_chart(picture, "bottleneck_longer", say("lessons.bottleneck.alt"))


# ---- drawer "untrained": what happens with formats or lengths that were not in training? -----------------------------
EXAMPLE_DATE = date(2019, 3, 5)
DATE_NETWORK_KINDS = ("additive", "dot", "one")


def show_untrained(task: str, records: Mapping[str, TrainingRecord]) -> None:
    """Shows outputs for date formats, or for text lengths, that did not occur in the training of any network.

    records: the lesson's training records, by kind of network.
    """
    usual = "formats" if task == "dates" else "lengths"
    if choose_option("unseen", ("formats", "lengths"), usual) == "formats":
        show_untrained_formats(records)
    else:
        show_longer_texts()


@cache_by_setup
def measure_untrained_formats(network: str) -> dict[str, float]:
    """Returns the share of dates that a network converts exactly, for each format that was not in its training."""
    return find_network(network).measure(dates.exact_in_untrained_formats)


def show_untrained_formats(records: Mapping[str, TrainingRecord]) -> None:
    """Shows one date in each untrained format, with the output of each network and its share of exact outputs."""
    networks = {kind: get_last_network(f"dates_{kind}", records) for kind in DATE_NETWORK_KINDS}
    rows = []
    for name, write in dates.UNTRAINED_FORMATS.items():
        row = make_format_row(name, write, networks)
        rows.append(row)
    st.table(rows, hide_index=True, width="content")
    st.caption(say("lessons.bottleneck.never"))


def make_format_row(name: str, write: Callable[[date], str], networks: Mapping[str, str]) -> dict[str, str]:
    """Returns the table row of a format, keyed by column title: each network's output for the example date.

    write: a function that formats a date in this format.
    """
    text = write(EXAMPLE_DATE)
    row = {say("lessons.bottleneck.head_format"): text}
    for kind, network in networks.items():
        share = measure_untrained_formats(network)[name]
        written = shorten_writing(cached_writing(network, text))
        head = option_labels("kind")(kind)
        row[head] = say("lessons.bottleneck.never_cell", written=written, share=format_percent(share))
    return row


def get_last_network(course: str, records: Mapping[str, TrainingRecord]) -> str:
    """Returns the name of a course's last network, from the lesson's training record or from the supplied training."""
    shown = {record.course: record for record in records.values()}
    record = shown.get(course) or load_shipped_training(course)
    return record.network_at(max(record.steps))


# ---- drawer "smear": why is the alignment blurred? -------------------------------------------------------------------
@cache_by_setup
def cached_state_influence(network: str, text: str) -> Trace:
    """Computes how much each encoder state depends on each input symbol, as the step `heard` of a Trace."""
    return influence_of_symbols(find_network(network), text)


def show_smeared_states(record: TrainingRecord, step: int, text: str) -> None:
    """Shows how much each encoder state depends on each input symbol."""
    network = record.network_at(step)
    trace = cached_state_influence(network, text)
    key = "smear_one" if record.course.endswith("_one") else "smear"
    if trace["heard"].shape[-1] == 1:
        show_sentence("lessons.bottleneck.smear_alone")
    else:
        own = format_percent(mean_own_share(trace))
        show_sentence(f"lessons.bottleneck.{key}", own=own, step=f"{step:,}")
    title = say("lessons.bottleneck.smear_map")
    picture = single_picture(
        [panel(trace, "heard")],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        chosen=None,
    )
    show_chart(picture, "bottleneck_smear", title, lambda _: None)


LESSON = Lesson(
    "bottleneck",
    drawers={
        "growing": show_growing_alignment,
        "one_step": show_decoder_step,
        "untrained": show_untrained,
        "smear": show_smeared_states,
    },
    code=("hidden", "scores", "weights", "head_outputs"),
)
