"""What 16 bits lose in a training: whole trainings beside each other, gradients that are 0, updates that are lost."""

import math
import statistics
from collections.abc import Sequence

import streamlit as st

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.curves import Curve, curves, histogram_picture
from attention_core.learned.training.mixed_precision import (
    EVERY,
    LOSS_SCALE,
    SCHEMES,
    SEEDS,
    STEPS,
    SchemeFigures,
    bytes_of_steps,
    bytes_per_weight,
    count_powers,
    last_loss,
    late_shares,
    read_precision_figures,
    share_of_zeros,
    trained_gradients,
)
from attention_core.record.number_text import format_fixed, format_grouped, format_percent, format_small
from attention_core.verification.small_updates import (
    add_updates,
    repeat_update,
    smallest_number,
    spacing_after_one,
)
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import say_bytes, show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, slide
from pages.panels.markdown_table import make_table
from pages.session.labels import current_palette
from pages.site.words import say

CURVES_WIDTH_PX, CURVES_HEIGHT_PX = 460, 250  # pixels of the field of the losses
FAMILIES = {
    "weights": ("float32", "scaled", "alone", "bfloat16", "bfloat16_alone"),
    "scale": ("float32", "scaled", "unscaled", "small", "small_scaled"),
}  # the trainings that are told beside each other, by what they differ in
DRAWN = {
    "weights": ("scaled", "alone", "bfloat16_alone"),
    "scale": ("scaled", "unscaled", "small"),
}  # those with a curve: the others would lie on the first
STEP_TICKS = tuple(range(0, STEPS + 1, 100))
GRADIENT_SCALES = (1, 8, 64, 1024, 2**15, 2**20)
POWERS = range(-64, 17)  # of two, on the axis of the gradients
UPDATE_PARTS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)  # of 1: how large the updates are
REPEATED, REPEATED_PART = 1024, 4096  # so often that update is made
UPDATE_DIGITS = 5  # behind the point


def write_part(part: int) -> str:
    """One over a whole number."""
    return f"1/{format_grouped(part)}"


# ---- whole trainings -------------------------------------------------------------------------------------------------
def show_trainings() -> None:
    """Shows the same training in several precisions: its loss, what was lost on the way, and the memory."""
    family = choose_option("differ", tuple(FAMILIES))
    measured = read_precision_figures()
    rows = {name: measured[name] for name in FAMILIES[family]}
    say_trainings(family, rows)
    show_losses({name: measured[name] for name in DRAWN[family]})
    st.markdown(make_training_table(rows))
    show_memory()
    show_sentence(
        "lessons.cost.trained", steps=STEPS, seeds=len(SEEDS), every=EVERY, scale=format_grouped(int(LOSS_SCALE))
    )


def show_memory() -> None:
    """Says what masters take, and what a run in 16 bits saves."""
    whole, mixed, alone = (SCHEMES[name] for name in ("float32", "scaled", "alone"))
    show_sentence(
        "lessons.cost.memory",
        whole=bytes_per_weight(whole),
        mixed=bytes_per_weight(mixed),
        alone=bytes_per_weight(alone),
        whole_run=say_bytes(bytes_of_steps(whole)),
        run=say_bytes(bytes_of_steps(mixed)),
    )


def say_trainings(family: str, rows: dict[str, SchemeFigures]) -> None:
    """Says what is lost, and what it costs at the end."""
    values = {}
    for name, figures in rows.items():
        values[f"{name}_loss"] = format_small(last_loss(figures))
        values[f"{name}_still"] = format_middle(late_shares(figures.still))
        least, *_, most = shares = late_shares(figures.zero)
        values[f"{name}_zero"] = format_middle(shares)
        values[f"{name}_zeros"] = f"{format_percent(least)} – {format_percent(most)}"
    show_sentence(f"lessons.cost.train_{family}", **values)


def format_middle(shares: Sequence[float]) -> str:
    """The middle one of some shares in percent."""
    return format_percent(statistics.median(shares))


def show_losses(rows: dict[str, SchemeFigures]) -> None:
    """Shows the loss of held-out texts against the step of training, the middle one of the seeds."""
    palette = current_palette()
    colours = (palette.q, palette.k, palette.share)
    steps = range(EVERY, STEPS + 1, EVERY)
    drawn = []
    for (name, figures), colour in zip(rows.items(), colours, strict=True):
        middle = [statistics.median(losses) for losses in zip(*figures.losses, strict=True)]
        drawn.append(Curve(say(f"lessons.cost.scheme.{name}"), steps, middle, colour))
    axes = (
        Axis(say("lessons.cost.axis_step"), 0, STEPS, values=STEP_TICKS),
        decade_axis(say("lessons.cost.axis_loss"), [loss for curve in drawn for loss in curve.y]),
    )
    picture = curves(drawn, *axes, palette, None, CURVES_WIDTH_PX, CURVES_HEIGHT_PX)
    show_curve_chart(picture, f"cost_losses_{'_'.join(rows)}", say("lessons.cost.losses_alt"))


def make_training_table(rows: dict[str, SchemeFigures]) -> str:
    """A row for each training: how it ended, and what was lost on the way."""
    columns = ("scheme", "loss", "zero", "still")
    titles = [say(f"lessons.cost.column.{column}") for column in columns]
    lines = []
    for name, figures in rows.items():
        lines.append(
            [
                say(f"lessons.cost.scheme.{name}"),
                format_small(last_loss(figures)),
                say("lessons.cost.percent", share=format_middle(late_shares(figures.zero))),
                say("lessons.cost.percent", share=format_middle(late_shares(figures.still))),
            ]
        )
    return make_table(titles, lines, "--:")


# ---- gradients -------------------------------------------------------------------------------------------------------
def show_lost_gradients() -> None:
    """Shows how small the gradients are at the end of a training, and which of them are 0 in float16."""
    with st.container(width=300):
        scale = slide("scale", GRADIENT_SCALES, 1, format_grouped)
    exact = trained_gradients("float32", scale)
    rounded = trained_gradients("float16", scale)
    smallest = smallest_number("float16")
    show_sentence(
        "lessons.cost.gradients",
        scale=format_grouped(scale),
        count=format_grouped(rounded.numel()),
        zero=format_percent(share_of_zeros([rounded])),
        exact=format_percent(share_of_zeros([exact])),
        smallest=format_small(smallest),
    )
    show_gradient_sizes(count_powers(exact), math.log2(smallest / 2))
    show_sentence("lessons.cost.gradients_colours")


def show_gradient_sizes(counts: dict[int, int], lost_below: float) -> None:
    """Shows how many gradients lie at each power of two, and which of them are lost."""
    lost = [counts.get(power, 0) if power < lost_below else 0 for power in POWERS[:-1]]
    held = [counts.get(power, 0) if power >= lost_below else 0 for power in POWERS[:-1]]
    palette = current_palette()
    axes = (
        Axis(say("lessons.cost.axis_power"), POWERS[0], POWERS[-1], values=tuple(POWERS[::8])),
        Axis(say("lessons.cost.axis_count"), 0, max(counts.values())),
    )
    picture = histogram_picture(POWERS, (lost, held), (palette.minus, palette.q), *axes, palette)
    show_curve_chart(picture, "cost_gradients", say("lessons.cost.gradients_alt"))


# ---- updates ---------------------------------------------------------------------------------------------------------
def show_lost_updates() -> None:
    """Shows which updates leave the weight 1 as it is, and what a float32 master keeps of many of them."""
    dtype = choose_option("number", ("float16", "bfloat16", "float32"), "float16", lambda name: say(f"dtype.{name}"))
    trace = add_updates(1.0, [1 / part for part in UPDATE_PARTS], dtype)
    update = 1 / REPEATED_PART
    show_sentence(
        "lessons.cost.updates",
        dtype=say(f"dtype.{dtype}"),
        spacing=write_part(round(1 / spacing_after_one(dtype))),
        lost=int((trace["moved"] == 1).sum()),
        count=len(UPDATE_PARTS),
        times=format_grouped(REPEATED),
        update=write_part(REPEATED_PART),
        alone=format_fixed(repeat_update(1.0, update, REPEATED, dtype, dtype)),
        master=format_fixed(repeat_update(1.0, update, REPEATED, dtype, "float32")),
    )
    rows = [
        row_of(say(f"lessons.cost.update.{step}"), trace, step, (), digits=UPDATE_DIGITS)
        for step in ("weight", "update", "moved")
    ]
    show_cell_rows("updates", rows, [write_part(part) for part in UPDATE_PARTS], {"": trace}, trace, sums=1)
