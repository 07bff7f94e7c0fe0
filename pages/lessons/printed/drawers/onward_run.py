"""The lesson on the worked example, drawer "onward": what follows from the printed Q, K and V?"""

import streamlit as st

from attention_core.exercises.stages import STAGES
from attention_core.exercises.worked_example import CheckedWork, count_agreeing
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import count_marked_numbers
from pages.panels.link_controls import choose_option
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal


def show_onward_run(checked: CheckedWork, _: Setup) -> None:
    """Shows the run that begins with the printed Q, K and V."""
    stage = choose_option("onward", ("scores", "weights", "output"))
    try:
        matrices = write_printed_projections(checked)
    except AttentionError as refusal:  # more than a matrix may hold
        st.error(say_refusal(refusal), icon=":material/error:")
        return
    setup = Setup(example="one_query", score="scaled_dot", **matrices)
    trace = trace_for(setup)
    step = STAGES[stage]
    counts = count_marked_numbers(checked.marked[step])
    show_sentence(
        "lessons.printed.onward",
        printed=say(f"lessons.printed.control.{stage}"),
        agree=count_agreeing(checked, step, trace[step]),
        **counts,
    )
    show_step_picture("onward", trace, step, FIRST_SELECTION)
    link_to_workbench(setup, "onward")


def write_printed_projections(checked: CheckedWork) -> dict[str, str]:
    """Writes the printed Q, K and V as a Setup says them. Raises AttentionError for too large numbers."""
    texts = {}
    for name in ("q", "k", "v"):
        printed = checked.written[STAGES[name]][0]  # (T, d)
        texts[name] = to_text(printed.numpy(), name)
    return texts
