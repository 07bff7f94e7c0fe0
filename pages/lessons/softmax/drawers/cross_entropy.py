"""The lesson on softmax, drawer "slope", one of its sights: the loss that training makes smaller, and its gradient."""

from attention_core.analysis.cross_entropy import with_cross_entropy
from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_fixed, format_term
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import show_sentence
from pages.lessons.softmax.given_numbers import ONLY_ROW, list_scores, name_if_divided
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say


def show_cross_entropy(setup: Setup) -> None:
    """Shows how much each score must move so that the right one gets more, and how large the loss is."""
    run = trace_for(setup)
    scores = list_scores(run)
    right = pick_place("right", scores, 0, width=240)
    trace = with_cross_entropy(run, right)
    divided = name_if_divided(setup)
    show_sentence(
        f"lessons.softmax.loss{divided}",
        score=scores[right],
        T=format_term(setup.temperature),
        share=format_fixed(trace["weights"][(*ONLY_ROW, right)].item(), 3),
        loss=format_fixed(trace["loss"][ONLY_ROW].item(), 3),
        slope=format_fixed(trace["loss_gradient"][(*ONLY_ROW, right)].item(), 3),
    )
    rows = [
        row_of(say("lessons.softmax.row_shares"), trace, "weights", ONLY_ROW),
        row_of(say(f"lessons.softmax.row_loss_slopes{divided}"), trace, "loss_gradient", ONLY_ROW),
    ]
    show_bar_rows("loss", rows, scores, {"": trace}, trace, say("step.alt", step="loss_gradient"))
