"""The lesson on softmax, drawer "many": what becomes of a hundred numbers?"""

from dataclasses import replace

from attention_core.drawing.bars import row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import row_fact
from attention_core.record.number_text import format_fixed, format_percent, format_term
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import show_sentence
from pages.lessons.softmax.given_numbers import ONLY_ROW, setup_with_scores
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

SHOWN_COUNTS = (5, 10, 20, 50, 100)  # of the hundred numbers


def show_many_numbers(temperature: float) -> None:
    """Shows the hundred numbers of lecture notes 001, or the first of them."""
    count = slide("count", SHOWN_COUNTS, SHOWN_COUNTS[-1])
    numbers = EXAMPLES["softmax_100"].tensor("k")[:count, 0].numpy()
    are_all = count == SHOWN_COUNTS[-1]
    setup = Setup(example="softmax_100") if are_all else setup_with_scores(numbers)
    setup = replace(setup, temperature=temperature)
    trace = trace_for(setup)
    fact = row_fact(trace, 0, 0)
    largest = numbers[fact.keys[0]]
    total = trace["weights"].sum()
    show_sentence(
        "lessons.softmax.many",
        key=escape_markdown(format_term(largest)),
        count=count,
        percent=spoken_share(fact.share, fact.rest),
        even=format_percent(fact.even),
        total=format_fixed(total.item(), 6),
    )
    rows = []
    for step in ("scores", "weights"):
        title = say(f"lessons.softmax.row_{step}", T=format_term(temperature))
        rows.append(row_of(title, trace, step, ONLY_ROW))
    no_names = ["" for _ in numbers]
    show_bar_rows("many", rows, no_names, {"": trace}, trace, say("lessons.softmax.alt"))
    link_to_workbench(setup, "many")
