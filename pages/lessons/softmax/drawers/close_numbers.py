"""The lesson on softmax, drawer "sharp": does the softmax sharpen numbers that are close together?"""

from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import row_fact
from attention_core.record.number_text import format_fixed
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import show_sentence
from pages.lessons.softmax.given_numbers import ONLY_ROW, ask_for_numbers, list_scores, setup_with_scores
from pages.runs.cache import trace_for
from pages.site.words import say


def show_close_numbers() -> None:
    """Shows two numbers close together: the softmax leaves them as even as they were."""
    setup = setup_with_scores(ask_for_numbers("close", "0, 0.1"))
    trace = trace_for(setup)
    fact = row_fact(trace, 0, 0)
    show_sentence(
        "lessons.softmax.sharp",
        share=format_fixed(fact.share, 3),
        even=format_fixed(fact.even, 3),
        ratio=format_fixed(fact.ratio),
    )
    title = say("lessons.softmax.row_weights", T="1")
    row = row_of(title, trace, "weights", ONLY_ROW, digits=3)
    alt = say("lessons.softmax.alt")
    show_bar_rows("close", [row], list_scores(trace), {"": trace}, trace, alt)
    link_to_workbench(setup, "sharp")
