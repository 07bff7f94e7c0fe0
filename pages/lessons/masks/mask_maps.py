"""Masks side by side as maps of ticks: those that have names, and the reader's own."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.receptive_field import reachable_inputs
from attention_core.drawing.charts import single_picture
from attention_core.drawing.specifications import Picture
from attention_core.explanation.layout import panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step
from pages.lessons.masks.painted_mask import allowed_text, mask_bits_of
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import RunPicture, show_weights_map
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, picture_texts_for, place_name
from pages.setup.setup import Setup
from pages.site.words import say

CUSTOM_MASK = "custom"  # the reader's own mask: the core calls its step allowed_custom
TICK_CELL_PX = 24.0  # pixels: a tick needs less than a number


def named_mask_texts(window: int) -> dict[str, str]:
    """The masks that have names, as a Setup says them. window: how many words away the ones with a window reach."""
    return {
        "causal": "causal",
        "local": f"local:{window}",
        "sliding": f"sliding:{window + 1}",  # which counts the query's own
        "local_global": f"local_global:{window}:0",
    }


def list_shown_masks(masks: Trace) -> list[str]:
    """The masks that get a map each. The reader's own is one of them only where no mask with a name is the same."""
    names = list(named_mask_texts(1))
    own = masks[f"allowed_{CUSTOM_MASK}"].squeeze()
    for name in names:
        if own.equal(masks[f"allowed_{name}"].squeeze()):
            return names
    return [*names, CUSTOM_MASK]


def run_all_masks(own: Setup, masked: Setup, window: int) -> Trace:
    """One run in which every mask is a step: those that have names, with this window, and that of another run.

    masked: the other run, whose mask becomes the step allowed_custom."""
    masks = tuple(named_mask_texts(window).values())
    other = trace_for(masked)
    custom = allowed_text(mask_bits_of(other), other)
    return trace_for(replace(own, masks=masks, allowed=custom))


def reach_after_layers(masks: Trace, layers: int) -> Trace:
    """Who has heard from whom after so many layers under each of these masks."""
    steps = {}
    for name in list_shown_masks(masks):
        step = f"allowed_{name}"
        one_layer = masks[step][0, 0]  # (T, S)
        steps[step] = Step(step, reachable_inputs(one_layer, layers), ("T", "S"))
    return Trace(steps, masks.labels)


def label_mask(name: str) -> str:
    """What a mask is called; the reader's own is the one above."""
    return say("lessons.masks.above") if name == CUSTOM_MASK else say(f"lessons.masks.option.mask.{name}")


def make_tick_map(masks: Trace, step: str, title: str, chosen: Ref | None = None) -> Picture:
    """Draws one of the masks as a map of ticks. chosen: the cell that is opened."""
    words = picture_texts_for(masks)
    return single_picture(
        [panel(masks, step)],
        masks,
        words,
        current_palette(),
        [title],
        chosen,
        most=TICK_CELL_PX,
    )


def make_tick_picture(name: str, masks: Trace, step: str, title: str) -> RunPicture:
    """Draws one of the masks as a map of ticks, whose cells open to the comparison that decided them."""
    picture = make_tick_map(masks, step, title, get_opened_ref(name, masks))
    return RunPicture(name, picture, {"": masks}, title)


def show_runs_side_by_side(name: str, runs: Mapping[str, Trace], selection: Selection) -> None:
    """Shows the weights of one head of two runs as maps."""
    with st.container(horizontal=True):
        for part, run in runs.items():
            head = place_name(run, "H", selection.head)
            title = say(f"lessons.masks.title_{part}", head=head)
            with st.container(width="content"):
                show_weights_map(f"{name}_{part}", run, selection, title)
