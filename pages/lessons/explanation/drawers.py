"""Lesson 15, further sights: three witnesses, other weights for the same text, heads to spare, what to conclude."""

from collections.abc import Callable, Mapping

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.learned.tasks.evidence import answer
from attention_core.record.number_text import format_percent
from pages.export.doors import workbench_door
from pages.lessons.learned.classifiers import (
    CLASSIFIER_EXAMPLES,
    measure_accuracy_by_heads,
    predict_text_class,
    run_with_other_weights,
    setup_for_classifier,
    trace_with_attributions,
)
from pages.lessons.learned.learning import get_training_record
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import show_picture
from pages.panels.link_controls import choose_option, option_labels
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, place_names, spoken_share
from pages.site.words import say

SPARE_HEADS = 4
SHOWN_SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")  # of weights in the place of the learned ones

TaskTexts = Mapping[str, tuple[str, str]]  # the network and the text, by task


def draw_after_guess(known: bool, draw: Callable[[TaskTexts], None], texts: TaskTexts) -> None:
    """What would give the answer away."""
    draw(texts) if known else st.info(say("lessons.explanation.first"), icon=":material/psychology_alt:")


# ---- three witnesses -------------------------------------------------------------------------------------------------
def show_witness(texts: TaskTexts) -> None:
    """Weights, gradient x input and leave-one-out of the same text, one below the other."""
    task = choose_option("witness_task", tuple(CLASSIFIER_EXAMPLES), words=option_labels("task"))
    network, text = texts[task]
    trace, verdict = trace_with_attributions(task, network, text), predict_text_class(task, network, text)
    names, runs = place_names(trace, "S", trace.sizes()["S"]), {"": trace}
    told = {"name": verdict.name, "share": spoken_share(verdict.share)}
    known = task if answer(task, text) else "guess"
    st.markdown(say(f"lessons.explanation.witness_{known}", **told))
    rows = [
        row_of(say("lessons.explanation.row_weights"), trace, "weights", (0, 0, 0)),
        row_of(say("lessons.explanation.row_gradient", **told), trace, "gradient_x_input", (0,)),
    ]
    left_out = [row_of(say("lessons.explanation.row_left_out", **told), trace, "left_out", (0,))]
    for name, drawn in (("witness", rows), ("left_out", left_out)):  # a logit and a share have no scale in common
        picture = bar_rows(
            drawn, names, picture_texts_for(trace), current_palette(), get_opened_cell(name, runs), whole=True
        )
        show_picture(name, picture, runs, say("lessons.explanation.alt_witness"))


# ---- other weights for one text --------------------------------------------------------------------------------------
def show_others(texts: TaskTexts) -> None:
    """The learned weights of a text and those that were put in their place, with what the prediction does."""
    task = choose_option("other_task", tuple(CLASSIFIER_EXAMPLES), words=option_labels("task"))
    network, text = texts[task]
    runs = {"learned": trace_for(setup_for_classifier(task, network, text))}
    names = place_names(runs["learned"], "S", runs["learned"].sizes()["S"])
    rows = [row_of(say("lessons.explanation.row_learned"), runs["learned"], "weights", (0, 0, 0), "learned")]
    for kind in SHOWN_SWAP_KINDS:
        runs[kind], shift = run_with_other_weights(network, text, kind)
        title = say("lessons.explanation.row_other", kind=option_labels("shift")(kind), shift=format_percent(shift))
        rows.append(row_of(title, runs[kind], "weights", (0, 0, 0), kind))
    words = picture_texts_for(runs["learned"])
    picture = bar_rows(rows, names, words, current_palette(), get_opened_cell("others", runs), whole=True)
    show_picture("others", picture, runs, say("lessons.explanation.alt_others"))


# ---- heads to spare --------------------------------------------------------------------------------------------------
def show_spare(texts: TaskTexts) -> None:
    """Four heads that learned the same: what is lost without one, and what one alone can do."""
    of = get_training_record("lookup_heads")
    network, (_, text) = of.network_at(max(of.steps)), texts["lookup"]
    right, heads = measure_accuracy_by_heads(network, SPARE_HEADS), range(SPARE_HEADS)
    column = say("lessons.explanation.head_left")
    rows = [{column: say("lessons.explanation.all_heads"), **make_share_columns(right[()], right[()])}]
    for head in heads:
        others = tuple(other for other in heads if other != head)
        rows.append({column: name_head(head), **make_share_columns(right[(head,)], right[others])})
    st.markdown(say("lessons.explanation.spare", all=format_percent(right[()])))
    st.table(rows, hide_index=True, width="content")
    setup = setup_for_classifier("lookup", network, text, SPARE_HEADS)
    trace = trace_for(setup)
    names, runs = place_names(trace, "S", trace.sizes()["S"]), {"": trace}
    drawn = [row_of(name_head(head), trace, "weights", (0, head, 0)) for head in heads]
    picture = bar_rows(
        drawn, names, picture_texts_for(trace), current_palette(), get_opened_cell("spare", runs), height=60, whole=True
    )
    show_picture("spare", picture, runs, say("lessons.explanation.alt_spare"))
    workbench_door(setup, "spare")


def make_share_columns(without: float, alone: float) -> dict[str, str]:
    """Two columns of a row."""
    told = {"head_without": without, "head_alone": alone}
    return {
        say(f"lessons.explanation.{name}"): say("train.percent", much=format_percent(each))
        for name, each in told.items()
    }


def name_head(head: int) -> str:
    """A head by its number."""
    return say("place.head", number=range(1, 9)[head])


# ---- what to conclude ------------------------------------------------------------------------------------------------
def show_conclude(_: TaskTexts) -> None:
    """What such a test allows to say, and what not."""
    st.markdown(say("lessons.explanation.conclude"))
