"""The lesson on distance, drawer "states", tab: a recurrence in both directions."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import median_low

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.explanation.layout import panel
from attention_core.variants.bidirectional import PASS_PLANNERS, passed_places, with_both_passes
from attention_core.variants.encoders import Encoder
from pages.lessons.encoders import get_word_names, setup_for_attention_encoder
from pages.lessons.pictures import show_cell_rows, show_panels
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MAX_STATES_ACROSS = 18  # most states side by side with readable numbers


def show_both_passes(sentence: Setup, encoders: Mapping[str, Encoder]) -> None:
    """Shows the states of both passes after some steps, and which words have states of both.

    encoders: by kind."""
    kind = choose_option("unit", tuple(PASS_PLANNERS), label_visibility="collapsed")
    words = get_word_names(sentence)
    count = len(words)
    counts = range(1, len(words) + 1)
    steps = slide("passed", counts, median_low(counts)) if count > 1 else count
    run = trace_for(setup_for_attention_encoder(encoders["attention"], sentence, 0))
    encoder = replace(encoders[kind], width=run.sizes()["D"], both=True)
    trace = with_both_passes(run, encoder, steps)
    passed = passed_places(count, steps)
    onward, back, complete = ([words[place] for place in places] for places in passed)
    show_sentence(
        "lessons.distance.passes",
        step=steps,
        count=count,
        onward=escape_markdown(onward[-1]),
        back=escape_markdown(back[0]),
        complete=join_with_commas(map(escape_markdown, complete)) or say("lessons.distance.no_word"),
    )
    show_sentence(f"lessons.distance.unit_{kind}", keep=f"{encoder.keep:g}")
    onward_title = say("lessons.distance.pass_onward", first=onward[0], last=onward[-1])
    back_title = say("lessons.distance.pass_back", first=back[0], last=back[-1])
    show_pass(trace, "states", {"T": passed[0][-1]}, onward_title)
    show_pass(trace, "states_back", {"T'": 0}, back_title)
    if kind == "lstm":
        show_gates(trace, onward[-1])


def show_pass(trace: Trace, step: str, newest: dict[str, int], title: str) -> None:
    """Shows the states of one pass side by side in word order, at most MAX_STATES_ACROSS around the newest."""
    drawn = panel(trace, step, newest, largest=MAX_STATES_ACROSS)
    show_panels(step, [drawn], trace, [title], title)


def show_gates(trace: Trace, word: str) -> None:
    """Shows how an LSTM's left-to-right pass computed its newest state: gates, candidate and cell, a row each."""
    state = trace.step("states").operation.reads[-1]
    out, cell = trace.step(state).operation.reads
    keep, before, let_in, new = trace.step(cell).operation.reads
    texts = {
        before: say("lessons.distance.gate_before", step=before),
        keep: say("lessons.distance.gate_keep", step=keep),
        new: say("lessons.distance.gate_new", step=new, word=word),
        let_in: say("lessons.distance.gate_in", step=let_in),
        cell: say("lessons.distance.gate_cell", step=cell),
        out: say("lessons.distance.gate_out", step=out),
        state: say("lessons.distance.gate_state", step=state, cell=cell),
    }
    rows = [row_of(text, trace, step, (0,)) for step, text in texts.items()]
    columns = [str(column) for column in range(1, len(rows[0].refs) + 1)]
    show_cell_rows("gates", rows, columns, {"": trace}, trace)
