"""One word of the sentence becomes another: who is meant then?"""

from dataclasses import replace

from attention_core.drawing.bars import row_of
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names
from pages.panels.word_swaps import exchange_word, list_swap_offers
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def find_exchange(setup: Setup) -> tuple[str, str] | None:
    """The word that is worth exchanging, and what for; None where there is none."""
    return next(iter(list_swap_offers(setup, inputs_of(setup))), None)


def ask_exchange(old: str, new: str) -> str:
    """The question."""
    return say("lessons.start.ask", old=escape_markdown(old), new=escape_markdown(new))


def show_exchanged_word(setup: Setup, old: str, new: str) -> None:
    """Shows the row of the word that asks, and after a guess that of the other word."""
    trace = trace_for(setup)
    changed = trace_for(replace(setup, text=exchange_word(setup, inputs_of(setup), old, new)))
    selection = selection_of(trace, setup)
    weights = changed.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
    pairs = list(zip(list_place_names(trace, "T"), list_place_names(changed, "T"), strict=True))
    names = [name_both(*pair) for pair in pairs]
    known = predict(names, {int(weights.argmax())}, say("lessons.start.guess"))
    place = (0, selection.head, selection.query)
    rows = []
    for run, word, trace_of_run in (("now", pairs[selection.query][0], trace), ("then", new, changed)):
        title = say("lessons.start.row", word=word)
        rows.append(row_of(title, trace_of_run, "weights", place, run, hidden=run == "then" and not known))
    show_bar_rows("hero", rows, names, {"now": trace, "then": changed}, trace, say("lessons.start.alt"))


def name_both(name: str, changed_name: str) -> str:
    """What stands under a column: one name, or both."""
    return name if name == changed_name else say("lessons.start.either", was=name, now=changed_name)
