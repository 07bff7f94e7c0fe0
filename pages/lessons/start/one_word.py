"""Drawer of the start page: one word of the sentence is replaced, and the reader guesses what its row becomes."""

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
    """The first word exchange that the dictionary offers for a sentence, as (old, new); None if there is none."""
    return next(iter(list_swap_offers(setup, inputs_of(setup))), None)


def ask_exchange(old: str, new: str) -> str:
    """The question about an exchange, which is the drawer's title."""
    return say("lessons.start.ask", old=escape_markdown(old), new=escape_markdown(new))


def show_exchanged_word(setup: Setup, old: str, new: str) -> None:
    """Shows the selected query's weights before the exchange, and after a guess those after it."""
    trace = trace_for(setup)
    changed_text = exchange_word(setup, inputs_of(setup), old, new)
    changed = trace_for(replace(setup, text=changed_text))
    selection = selection_of(trace, setup)
    weights = changed.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
    pairs = list(zip(list_place_names(trace, "T"), list_place_names(changed, "T"), strict=True))
    names = [name_both(*pair) for pair in pairs]
    known = predict(names, {int(weights.argmax())}, say("lessons.start.guess"))
    place = (0, selection.head, selection.query)
    asking_word, _ = pairs[selection.query]
    title = say("lessons.start.row", word=asking_word)
    changed_title = say("lessons.start.row", word=new)
    rows = [
        row_of(title, trace, "weights", place, "now"),
        row_of(changed_title, changed, "weights", place, "then", hidden=not known),
    ]
    show_bar_rows("hero", rows, names, {"now": trace, "then": changed}, trace, say("lessons.start.alt"))


def name_both(name: str, changed_name: str) -> str:
    """The label of a column: one name, or both if they differ."""
    return name if name == changed_name else say("lessons.start.either", was=name, now=changed_name)
