"""The lesson on masks, drawer "future", one of its sights: the mask as a matrix of 0 and −∞ that is added."""

from attention_core.analysis.additive_mask import count_equal_scores, with_additive_mask
from attention_core.explanation.layout import panel
from pages.lessons.pictures import show_panels
from pages.lessons.sentences import show_sentence
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_added_mask(own: Setup, setup: Setup) -> None:
    """Shows the matrix that a mask adds to the scores, and what comes out of it: the same as filling.

    own: the run without a mask; setup: the run under the reader's mask."""
    masked = trace_for(setup)
    if "allowed" not in masked:
        show_sentence("lessons.masks.same")
        return
    trace = with_additive_mask(masked)
    selection = selection_of(trace_for(own), own)
    equal, count = count_equal_scores(trace)
    show_sentence("lessons.masks.added", equal=equal, of=count)
    panels = [panel(trace, step, selection.at) for step in ("additive_mask", "added_scores")]
    head = place_name(trace, "H", selection.head)
    titles = [say(f"lessons.masks.title_{part.step}", head=head) for part in panels]
    show_panels("added", panels, trace, titles, say("lessons.masks.added_alt"))
