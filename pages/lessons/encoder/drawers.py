"""Draws the accordions of the lesson on the encoder block, and provides functions that the lesson's page uses too."""

from collections.abc import Sequence
from itertools import chain

import streamlit as st

from attention_core.drawing.axes import Axis, decade_axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.depth.block_figures import BLOCK_FIGURES, DEPTHS, EVERY, LAYERS, RATES, SEEDS, STEPS
from attention_core.learned.language.reading import read_tokens
from attention_core.learned.language.readout import sum_model
from attention_core.learned.language.shipped import other_form
from attention_core.record.number_text import format_fixed, format_or_scientific, format_percent
from attention_core.transformer.stack import UNEMBEDDING
from attention_core.variants.textbook_code import EncoderBlock, block_source
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import show_word_shares
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.panels.chart import show_curve_chart
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.runs.model_runs import model_vocabulary
from pages.session.labels import current_palette
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- curves measured on deep networks with and without residuals and norms -------------------------------------------
WIDTH_PX, HEIGHT_PX = 280, 220  # px: size of a plot, so that two fit side by side
STEP_TICKS = tuple(range(0, STEPS + 1, 100))


def colour_of(kind: str) -> str:
    """Returns the colour of a kind of Transformer block (such as pre-norm, or without residuals), the same in all
    charts.
    """
    palette = current_palette()
    return {
        "before": palette.share,
        "after": palette.q,
        "no_norm": palette.k,
        "no_residual": palette.v,
        "bare": palette.x,
    }[kind]


def make_curve(kind: str, x: Sequence[float], y: Sequence[float], band: Sequence[tuple[float, float]] = ()) -> Curve:
    """Returns the curve of a kind of Transformer block (such as pre-norm, or without residuals), with its name and
    colour.
    """
    return Curve(say(f"lessons.encoder.kind.{kind}"), x, y, colour_of(kind), band=band)


def show_losses(kinds: Sequence[str]) -> None:
    """Shows the loss by training step for each kind of block: the median over the seeds, and a band of all seeds."""
    steps = range(EVERY, STEPS + 1, EVERY)
    drawn = []
    for kind in kinds:
        by_step = [sorted(losses) for losses in zip(*BLOCK_FIGURES.rows[kind].losses, strict=True)]
        middle = [losses[len(losses) // 2] for losses in by_step]
        drawn.append(make_curve(kind, steps, middle, [(losses[0], losses[-1]) for losses in by_step]))
    losses = [loss for curve in drawn for loss in chain(*curve.band)]
    axes = (
        Axis(say("lessons.encoder.axis_step"), 0, STEPS, values=STEP_TICKS),
        decade_axis(say("lessons.encoder.axis_loss"), losses),
    )
    show_curves("losses", drawn, axes)


def show_alikeness(kinds: Sequence[str]) -> None:
    """Shows the mean cosine similarity between the vectors of different words, after each block."""
    drawn = []
    for kind in kinds:
        alike = BLOCK_FIGURES.rows[kind].alike
        drawn.append(make_curve(kind, range(len(alike)), alike))
    axes = (blocks_axis(len(alike) - 1), Axis(say("lessons.encoder.axis_alike"), 0.0, 1.0))
    show_curves("alike", drawn, axes)


def show_sizes(kinds: Sequence[str]) -> None:
    """Shows the root mean square of the vectors' components after each block, as a curve for each kind of block."""
    drawn = []
    for kind in kinds:
        sizes = BLOCK_FIGURES.rows[kind].sizes
        drawn.append(make_curve(kind, range(len(sizes)), sizes))
    largest = max(max(curve.y) for curve in drawn)
    axes = (blocks_axis(len(sizes) - 1), Axis(say("lessons.encoder.axis_size"), 0.0, largest))
    show_curves("sizes", drawn, axes)


def show_gradients(kinds: Sequence[str]) -> None:
    """Shows the norm of the loss gradient at the first block's parameters by the number of blocks, as a curve for each
    kind of block.
    """
    drawn, lengths = [], []
    for kind in kinds:
        gradients = BLOCK_FIGURES.rows[kind].gradients
        depths = [int(depth) for depth in gradients]
        drawn.append(make_curve(kind, depths, list(gradients.values())))
        lengths += gradients.values()
    axes = (blocks_axis(max(depths)), decade_axis(say("lessons.encoder.axis_gradient"), lengths))
    show_curves("gradients", drawn, axes)


def blocks_axis(most: int) -> Axis:
    """Returns the axis for the number of blocks."""
    return whole_number_axis(say("lessons.encoder.axis_blocks"), (0, most))


def show_curves(name: str, drawn: Sequence[Curve], axes: tuple[Axis, Axis]) -> None:
    """Shows curves as a chart.

    name: the last part of the key of the chart's alternative text. axes: the horizontal and the vertical axis.
    """
    picture = curves(drawn, *axes, current_palette(), None, WIDTH_PX, HEIGHT_PX)
    show_curve_chart(picture, f"encoder_{name}_{len(drawn)}", say(f"lessons.encoder.alt.{name}"))


# ---- drawer "residual": why are the parts added? ---------------------------------------------------------------------
DEEP = 16  # number of blocks in the deepest trained network
LOSS_DIGITS = 4  # decimal places of a shown loss


def show_lost_words(_: Setup) -> None:
    """Shows that without residuals the vectors of all words become alike, and training fails."""
    whole, without, bare = (BLOCK_FIGURES.rows[kind] for kind in ("before", "no_residual", "bare"))
    show_sentence(
        "lessons.encoder.residual",
        whole=format_fixed(last_loss(whole), LOSS_DIGITS),
        without=format_fixed(last_loss(without)),
        bare=format_fixed(last_loss(bare)),
        alike=format_fixed(without.alike[4]),
        alike_whole=format_fixed(whole.alike[4]),
    )
    with st.container(horizontal=True, gap="medium"):
        show_losses(("before", "no_residual", "bare"))
        show_alikeness(("before", "no_residual"))
    show_how()


def show_lost_gradient(_: Setup) -> None:
    """Shows how much of the gradient reaches the first block, with and without residuals and norms."""
    figures = BLOCK_FIGURES.rows
    bare, whole, without = (figures[kind].gradients for kind in ("bare", "before", "no_residual"))
    show_sentence(
        "lessons.encoder.gradient",
        deep=DEEP,
        bare=format_or_scientific(bare[str(DEEP)]),
        one=format_or_scientific(bare[str(DEPTHS[0])]),
        whole=format_fixed(whole[str(DEEP)]),
        whole_one=format_fixed(whole[str(DEPTHS[0])]),
        without=format_fixed(without[str(DEEP)]),
        layers=LAYERS,
        last=format_or_scientific(figures["no_residual"].last_word),
        last_whole=format_fixed(figures["before"].last_word),
    )
    show_gradients(("before", "no_residual", "bare"))


def last_loss(figures: object) -> float:
    """Returns the final loss of the networks of one kind of block, at their best learning rate, averaged over all
    seeds.
    """
    return figures.tried[str(figures.rate)]


def show_how() -> None:
    """Shows the sentence that says how the networks were trained."""
    rates = join_with_commas(f"{rate:g}" for rate in RATES)
    best = {kind: f"{figures.rate:g}" for kind, figures in BLOCK_FIGURES.rows.items()}
    show_sentence(
        "lessons.encoder.trained", layers=LAYERS, steps=STEPS, seeds=len(SEEDS), rates=rates, every=EVERY, **best
    )


# ---- drawer "norm": why a norm, and where? ---------------------------------------------------------------------------
NORM_PLACES = ("before", "after", "no_norm")


def show_norms(_: Setup) -> None:
    """Shows the losses and vector sizes of one network with pre-norm, with post-norm, and without norms."""
    values = {}
    for kind in NORM_PLACES:
        figures = BLOCK_FIGURES.rows[kind]
        values[kind] = format_fixed(last_loss(figures), LOSS_DIGITS)
        values[f"{kind}_size"] = format_fixed(figures.sizes[-1])
        values[f"{kind}_worst"] = format_fixed(max(figures.tried.values()), LOSS_DIGITS)
    show_sentence("lessons.encoder.norm", blocks=len(figures.sizes) - 1, first=format_fixed(figures.sizes[0]), **values)
    with st.container(horizontal=True, gap="medium"):
        show_losses(NORM_PLACES)
        show_sizes(NORM_PLACES)
    show_how()


# ---- drawer "sides": what does a model that reads only one side predict? ---------------------------------------------
DECODERS = {"model_en": "model_en_decoder", "model_zh": "model_zh_decoder"}


def show_both_sides(setup: Setup) -> None:
    """Shows the likeliest words for a hidden word, predicted by the encoder and by a decoder.

    The decoder reads only the words before the hidden one. setup: the sentence with the hidden word selected.
    """
    words, at = inputs_of(setup).queries, setup.view.token
    kind = sentences_of(setup.run)
    decoder = other_form(kind.model)
    left = words[:at]
    right = words[len(left) + 1 :]
    seen = {
        "encoder": likeliest(kind.model, kind.read(words), at),
        "decoder": likeliest(decoder, read_tokens(decoder, left, {}), len(left) - 1),
    }
    show_sentence(
        "lessons.encoder.sides",
        left=escape_markdown(kind.spell(left) or "…"),
        right=escape_markdown(kind.spell(right) or "…"),
        **{name: escape_markdown(shares[0][0]) for name, shares in seen.items()},
        **{f"{name}_share": format_percent(shares[0][1]) for name, shares in seen.items()},
    )
    with st.container(horizontal=True, gap="large"):
        for name, shares in seen.items():
            with st.container(width=380):
                st.markdown(f"**{say(f'lessons.encoder.{name}')}**")
                show_word_shares(shares, f"encoder_sides_{name}")
    example = DECODERS[setup.run.example]
    door = make_setup(example=example)
    if len(left) > 1:  # the hidden word has a word before it, besides the start token
        door = door.with_fields(text=kind.spell(left), token=len(left) - 1)
    link_to_workbench(door, "sides", say("lessons.encoder.sides_door"))


def likeliest(name: str, tokens: tuple[str, ...], at: int) -> list[tuple[str, float]]:
    """Returns the six likeliest words at an index for a model, each with its probability."""
    shares, numbers = sum_model(name, tokens)[UNEMBEDDING]["probabilities"][0, at].topk(6)
    vocabulary = model_vocabulary(name)
    return list(zip([vocabulary[number] for number in numbers.tolist()], shares.tolist(), strict=True))


# ---- drawer "code": the source of a whole block ----------------------------------------------------------------------
def show_whole_block(_: Setup) -> None:
    """Shows the source code of a Transformer block, which a test compares with torch's own layer."""
    show_sentence("lessons.encoder.block_code")
    st.code(block_source(EncoderBlock), "python")


LESSON = Lesson(
    "encoder",
    drawers={
        "residual": Tabs("lost", {"words": show_lost_words, "gradient": show_lost_gradient}),
        "norm": show_norms,
        "sides": show_both_sides,
        "code": show_whole_block,
    },
)
