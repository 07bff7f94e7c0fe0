"""Curves of what was measured of deep networks with and without residuals and norms."""

from collections.abc import Sequence
from itertools import chain

from attention_core.drawing.axes import Axis, decade_axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.depth.block_figures import EVERY, STEPS, read_block_figures
from pages.panels.chart import show_curve_chart
from pages.session.labels import current_palette
from pages.site.words import say

WIDTH_PX, HEIGHT_PX = 280, 220  # pixels of a field, two beside each other
STEP_TICKS = tuple(range(0, STEPS + 1, 100))


def colour_of(kind: str) -> str:
    """The colour of a kind of block in all charts."""
    palette = current_palette()
    return {
        "before": palette.share,
        "after": palette.q,
        "no_norm": palette.k,
        "no_residual": palette.v,
        "bare": palette.x,
    }[kind]


def make_curve(kind: str, x: Sequence[float], y: Sequence[float], band: Sequence[tuple[float, float]] = ()) -> Curve:
    """The curve of a kind of block."""
    return Curve(say(f"lessons.encoder.kind.{kind}"), x, y, colour_of(kind), band=band)


def show_losses(kinds: Sequence[str]) -> None:
    """Shows the loss against the step of training: the middle one of the seeds, and a band from the least to the
    most."""
    steps = range(EVERY, STEPS + 1, EVERY)
    drawn = []
    for kind in kinds:
        by_step = [sorted(losses) for losses in zip(*read_block_figures()[kind].losses, strict=True)]
        middle = [losses[len(losses) // 2] for losses in by_step]
        drawn.append(make_curve(kind, steps, middle, [(losses[0], losses[-1]) for losses in by_step]))
    losses = [loss for curve in drawn for loss in chain(*curve.band)]
    axes = (
        Axis(say("lessons.encoder.axis_step"), 0, STEPS, values=STEP_TICKS),
        decade_axis(say("lessons.encoder.axis_loss"), losses),
    )
    show_curves("losses", drawn, axes)


def show_alikeness(kinds: Sequence[str]) -> None:
    """Shows how alike the vectors of different words are behind each block."""
    drawn = []
    for kind in kinds:
        alike = read_block_figures()[kind].alike
        drawn.append(make_curve(kind, range(len(alike)), alike))
    axes = (blocks_axis(len(alike) - 1), Axis(say("lessons.encoder.axis_alike"), 0.0, 1.0))
    show_curves("alike", drawn, axes)


def show_sizes(kinds: Sequence[str]) -> None:
    """Shows how large the numbers of the vectors are behind each block."""
    drawn = []
    for kind in kinds:
        sizes = read_block_figures()[kind].sizes
        drawn.append(make_curve(kind, range(len(sizes)), sizes))
    largest = max(max(curve.y) for curve in drawn)
    axes = (blocks_axis(len(sizes) - 1), Axis(say("lessons.encoder.axis_size"), 0.0, largest))
    show_curves("sizes", drawn, axes)


def show_gradients(kinds: Sequence[str]) -> None:
    """Shows how long the gradient is that reaches the first block, by the number of blocks."""
    drawn, lengths = [], []
    for kind in kinds:
        gradients = read_block_figures()[kind].gradients
        depths = [int(depth) for depth in gradients]
        drawn.append(make_curve(kind, depths, list(gradients.values())))
        lengths += gradients.values()
    axes = (blocks_axis(max(depths)), decade_axis(say("lessons.encoder.axis_gradient"), lengths))
    show_curves("gradients", drawn, axes)


def blocks_axis(most: int) -> Axis:
    """The axis of the number of blocks."""
    return whole_number_axis(say("lessons.encoder.axis_blocks"), (0, most))


def show_curves(name: str, drawn: Sequence[Curve], axes: tuple[Axis, Axis]) -> None:
    """Shows curves under their name, which says what a screen reader hears."""
    picture = curves(drawn, *axes, current_palette(), None, WIDTH_PX, HEIGHT_PX)
    show_curve_chart(picture, f"encoder_{name}_{len(drawn)}", say(f"lessons.encoder.alt.{name}"))
