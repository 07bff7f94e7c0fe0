"""The lesson on heads, drawer "split", one of its sights: what of a word's vector does each head read?"""

from attention_core import Trace
from attention_core.analysis.head_sight import seen_step, take_unseen, with_sights
from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_fixed
from pages.lessons.pictures import make_cell_rows, show_run_picture
from pages.lessons.sentences import format_gap, list_place_names, quote_token, show_sentence
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.session.labels import place_name
from pages.setup.setup import Setup
from pages.site.words import say


def show_head_sight(setup: Setup) -> None:
    """Shows one vector, the part of it that each head reads, and that the rest moves neither its q nor its k.

    setup: the lesson's run with two heads."""
    trace = with_sights(trace_for(setup))
    words = list_place_names(trace, "T")
    word = pick_place("looked", words, len(words) - 1, width=160)
    show_sentence("lessons.heads.sight", word=quote_token(trace, "T", word), D=trace.sizes()["D"])
    show_read_parts(trace, word)
    for head in range(trace.sizes()["H"]):
        say_unseen(trace, head)
    show_sentence("lessons.heads.sight_values")


def show_read_parts(trace: Trace, word: int) -> None:
    """Draws the vector of a word, and below it what each head reads of it."""
    rows = [row_of(say("lessons.heads.sight_whole"), trace, "x", (0, word))]
    for head in range(trace.sizes()["H"]):
        title = say("lessons.heads.sight_part", head=place_name(trace, "H", head))
        rows.append(row_of(title, trace, seen_step(head), (0, word)))
    show_run_picture(make_cell_rows("sight", rows, list_place_names(trace, "D"), {"": trace}, trace))


def say_unseen(trace: Trace, head: int) -> None:
    """Says how far a head's q and k move without all that it cannot read."""
    move = take_unseen(trace, head)
    show_sentence(
        "lessons.heads.sight_unseen",
        head=place_name(trace, "H", head),
        directions=move.directions,
        D=trace.sizes()["D"],
        taken=format_fixed(move.taken),
        q=format_gap(move.q),
        k=format_gap(move.k),
    )
