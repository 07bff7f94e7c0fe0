"""Masks side by side as maps of ticks: those that have names, and the reader's own."""

from dataclasses import replace

from attention_core import Trace
from attention_core.analysis.receptive_field import reach
from attention_core.drawing.charts import Picture, single_picture
from attention_core.explanation.layout import panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step
from pages.lessons.masks.painted_mask import allowed_text, bits_of
from pages.lessons.pictures import opened_in, show
from pages.runs.cache import trace_of
from pages.session.labels import palette, words_for
from pages.setup.setup import Setup

CUSTOM = "custom"  # the reader's own mask: the core calls its step allowed_custom
CELL = 24.0  # pixels: a tick needs less than a number


def shown(masks: Trace) -> list[str]:
    """The masks that are worth a map each, the reader's own only where it is none of those that have names."""
    names = [*named(1)]
    own = masks[f"allowed_{CUSTOM}"].squeeze()
    known = any(own.equal(masks[f"allowed_{name}"].squeeze()) for name in names)
    return names if known else [*names, CUSTOM]


def named(window: int) -> dict[str, str]:
    """The masks that have names, as a Setup says them. window: how many words away the ones with a window reach."""
    return {
        "causal": "causal",
        "local": f"local:{window}",
        "sliding": f"sliding:{window + 1}",  # which counts the query's own
        "local_global": f"local_global:{window}:0",
    }


def all_masks(own: Setup, masked: Setup, window: int) -> Trace:
    """One run in which every mask is a step: the named ones with this window, and as custom one that of another run."""
    trace = trace_of(masked)
    masks = tuple(named(window).values())
    return trace_of(replace(own, masks=masks, allowed=allowed_text(bits_of(trace), trace)))


def after_layers(masks: Trace, layers: int) -> Trace:
    """Who has heard from whom after so many layers under each of these masks."""
    names = [f"allowed_{name}" for name in shown(masks)]
    steps = {name: Step(name, reach(masks[name][0, 0], layers), ("T", "S")) for name in names}
    return Trace(steps, masks.labels)


def ticks(masks: Trace, step: str, title: str, chosen: Ref | None = None) -> Picture:
    """One of the masks as a map of ticks."""
    return single_picture([panel(masks, step)], masks, words_for(masks), palette(), [title], chosen, most=CELL)


def show_ticks(name: str, masks: Trace, step: str, title: str) -> None:
    """The same, whose cells open to the comparison that decided them."""
    opened = opened_in(name, {"": masks})
    show(name, ticks(masks, step, title, opened and opened[1]), {"": masks}, title)
