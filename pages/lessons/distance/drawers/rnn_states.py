"""The lesson on distance, drawer "states": what does an RNN do, word by word?"""

from collections.abc import Mapping

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.explanation.layout import panel
from attention_core.variants.encoders import Encoder
from pages.lessons.distance.drawers.both_passes import MAX_STATES_ACROSS, show_both_passes
from pages.lessons.encoders import get_word_names, run_with_states
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import show_bar_rows, show_panels
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import slide
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_recurrence(sentence: Setup, encoders: Mapping[str, Encoder]) -> None:
    """Asks for one direction or both, and shows that recurrence word by word. encoders: by kind."""
    show_sight = choose_sight("passes", {"onward": show_rnn_states, "both": show_both_passes})
    show_sight(sentence, encoders)


def show_rnn_states(sentence: Setup, encoders: Mapping[str, Encoder]) -> None:
    """Shows one step of the RNN: the word, the previous state, and the new state computed from both."""
    words = get_word_names(sentence)
    numbers = [str(number) for number in range(1, len(words) + 1)]
    t = 0
    if len(words) > 1:
        t = slide("t", range(len(words)), min(3, len(words) - 1), numbers.__getitem__)
    trace = run_with_states(sentence, encoders["attention"], encoders["rnn"], t)
    states = ("h_0", *trace.step("states").operation.reads)
    before, after = states[-2:]
    show_sentence(
        "lessons.distance.step",
        word=escape_markdown(words[t]),
        t=numbers[t],
        before=before,
        after=after,
        waiting=len(words[t:]) - 1,
    )
    show_states_so_far(trace, t)
    show_state_step(trace, t, words[t], numbers[t])


def show_states_so_far(trace: Trace, t: int) -> None:
    """Shows the states up to step t side by side, at most MAX_STATES_ACROSS."""
    drawn = panel(trace, "states", {"T": t}, largest=MAX_STATES_ACROSS)
    states = trace.step("states").operation.reads
    first = states[drawn.first[1]]
    title = say("lessons.distance.states_so_far", first=first, after=states[-1])
    show_panels("states", [drawn], trace, [title], title)


def show_state_step(trace: Trace, t: int, word: str, number: str) -> None:
    """Shows a word's vector, the state before it and the state after it as bars.

    number: of the word, counted from 1."""
    states = ("h_0", *trace.step("states").operation.reads)
    before, after = states[-2:]
    word_title = say("lessons.distance.row_word", word=word, t=number)
    before_title = say("lessons.distance.row_before", before=before)
    after_title = say("lessons.distance.row_after", t=number, before=before, after=after)
    rows = [
        row_of(word_title, trace, "x", (0, t)),
        row_of(before_title, trace, before, (0,)),
        row_of(after_title, trace, after, (0,)),
    ]
    columns = [str(column) for column in range(1, len(rows[0].refs) + 1)]
    alt = say("lessons.distance.alt_states")
    show_bar_rows("step", rows, columns, {"": trace}, trace, alt)
