"""Masks side by side as maps of ticks: those that have names, and the reader's own."""

from dataclasses import replace

from attention_core import Trace
from attention_core.analysis.receptive_field import reachable_inputs
from attention_core.drawing.charts import Picture, single_picture
from attention_core.explanation.layout import panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step
from pages.lessons.masks.painted_mask import allowed_text, mask_bits_of
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for
from pages.setup.setup import Setup

CUSTOM_MASK = "custom"  # the reader's own mask: the core calls its step allowed_custom
TICK_CELL_PX = 24.0  # pixels: a tick needs less than a number


def list_shown_masks(masks: Trace) -> list[str]:
    """The masks that are worth a map each, the reader's own only where it is none of those that have names."""
    names = [*named_mask_texts(1)]
    own = masks[f"allowed_{CUSTOM_MASK}"].squeeze()
    known = any(own.equal(masks[f"allowed_{name}"].squeeze()) for name in names)
    return names if known else [*names, CUSTOM_MASK]


def named_mask_texts(window: int) -> dict[str, str]:
    """The masks that have names, as a Setup says them. window: how many words away the ones with a window reach."""
    return {
        "causal": "causal",
        "local": f"local:{window}",
        "sliding": f"sliding:{window + 1}",  # which counts the query's own
        "local_global": f"local_global:{window}:0",
    }


def run_all_masks(own: Setup, masked: Setup, window: int) -> Trace:
    """One run in which every mask is a step: the named ones with this window, and as custom one that of another run."""
    trace = trace_for(masked)
    masks = tuple(named_mask_texts(window).values())
    return trace_for(replace(own, masks=masks, allowed=allowed_text(mask_bits_of(trace), trace)))


def reach_after_layers(masks: Trace, layers: int) -> Trace:
    """Who has heard from whom after so many layers under each of these masks."""
    names = [f"allowed_{name}" for name in list_shown_masks(masks)]
    steps = {name: Step(name, reachable_inputs(masks[name][0, 0], layers), ("T", "S")) for name in names}
    return Trace(steps, masks.labels)


def make_tick_map(masks: Trace, step: str, title: str, chosen: Ref | None = None) -> Picture:
    """One of the masks as a map of ticks."""
    return single_picture(
        [panel(masks, step)], masks, picture_texts_for(masks), current_palette(), [title], chosen, most=TICK_CELL_PX
    )


def show_tick_map(name: str, masks: Trace, step: str, title: str) -> None:
    """The same, whose cells open to the comparison that decided them."""
    opened = get_opened_cell(name, {"": masks})
    show_picture(name, make_tick_map(masks, step, title, opened and opened[1]), {"": masks}, title)
