"""Lesson 15, further sights: three witnesses, other weights for the same text, heads to spare, what to conclude."""

from collections.abc import Callable, Mapping

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.learned.tasks.evidence import answer
from attention_core.record.number_text import percent
from pages.export.doors import workbench_door
from pages.lessons.learned.classifiers import EXAMPLES, other_run, right_by_heads, setup_of, verdict_of, witnesses_of
from pages.lessons.learned.learning import learning
from pages.lessons.pictures import opened_in, show
from pages.panels.link_controls import choose, option
from pages.runs.cache import trace_of
from pages.session.labels import palette, place_names, words_for
from pages.site.words import say

HEADS = 4
KINDS = ("uniform", "permuted", "random", "adversarial")  # of weights in the place of the learned ones

Texts = Mapping[str, tuple[str, str]]  # the network and the text, by task


def after_the_guess(known: bool, draw: Callable[[Texts], None], texts: Texts) -> None:
    """What would give the answer away."""
    draw(texts) if known else st.info(say("lessons.explanation.first"), icon=":material/psychology_alt:")


# ---- three witnesses -------------------------------------------------------------------------------------------------
def witness(texts: Texts) -> None:
    """Weights, gradient x input and leave-one-out of the same text, one below the other."""
    task = choose("witness_task", tuple(EXAMPLES), words=option("task"))
    network, text = texts[task]
    trace, verdict = witnesses_of(task, network, text), verdict_of(task, network, text)
    names, runs = place_names(trace, "S", trace.sizes()["S"]), {"": trace}
    told = {"name": verdict.name, "share": percent(verdict.share)}
    known = task if answer(task, text) else "guess"
    st.markdown(say(f"lessons.explanation.witness_{known}", **told))
    rows = [
        row_of(say("lessons.explanation.row_weights"), trace, "weights", (0, 0, 0)),
        row_of(say("lessons.explanation.row_gradient", **told), trace, "gradient_x_input", (0,)),
    ]
    left_out = [row_of(say("lessons.explanation.row_left_out", **told), trace, "left_out", (0,))]
    for name, drawn in (("witness", rows), ("left_out", left_out)):  # a logit and a share have no scale in common
        picture = bar_rows(drawn, names, words_for(trace), palette(), opened_in(name, runs), whole=True)
        show(name, picture, runs, say("lessons.explanation.alt_witness"))


# ---- other weights for one text --------------------------------------------------------------------------------------
def others(texts: Texts) -> None:
    """The learned weights of a text and those that were put in their place, with what the prediction does."""
    task = choose("other_task", tuple(EXAMPLES), words=option("task"))
    network, text = texts[task]
    runs = {"learned": trace_of(setup_of(task, network, text))}
    names = place_names(runs["learned"], "S", runs["learned"].sizes()["S"])
    rows = [row_of(say("lessons.explanation.row_learned"), runs["learned"], "weights", (0, 0, 0), "learned")]
    for kind in KINDS:
        runs[kind], shift = other_run(network, text, kind)
        title = say("lessons.explanation.row_other", kind=option("shift")(kind), shift=percent(shift))
        rows.append(row_of(title, runs[kind], "weights", (0, 0, 0), kind))
    words = words_for(runs["learned"])
    picture = bar_rows(rows, names, words, palette(), opened_in("others", runs), whole=True)
    show("others", picture, runs, say("lessons.explanation.alt_others"))


# ---- heads to spare --------------------------------------------------------------------------------------------------
def spare(texts: Texts) -> None:
    """Four heads that learned the same: what is lost without one, and what one alone can do."""
    of = learning("lookup_heads")
    network, (_, text) = of.network_at(max(of.steps)), texts["lookup"]
    right, heads = right_by_heads(network, HEADS), range(HEADS)
    column = say("lessons.explanation.head_left")
    rows = [{column: say("lessons.explanation.all_heads"), **shares(right[()], right[()])}]
    for head in heads:
        others = tuple(other for other in heads if other != head)
        rows.append({column: head_called(head), **shares(right[(head,)], right[others])})
    st.markdown(say("lessons.explanation.spare", all=percent(right[()])))
    st.table(rows, hide_index=True, width="content")
    setup = setup_of("lookup", network, text, HEADS)
    trace = trace_of(setup)
    names, runs = place_names(trace, "S", trace.sizes()["S"]), {"": trace}
    drawn = [row_of(head_called(head), trace, "weights", (0, head, 0)) for head in heads]
    picture = bar_rows(drawn, names, words_for(trace), palette(), opened_in("spare", runs), height=60, whole=True)
    show("spare", picture, runs, say("lessons.explanation.alt_spare"))
    workbench_door(setup, "spare")


def shares(without: float, alone: float) -> dict[str, str]:
    """Two columns of a row."""
    told = {"head_without": without, "head_alone": alone}
    return {say(f"lessons.explanation.{name}"): say("train.percent", much=percent(each)) for name, each in told.items()}


def head_called(head: int) -> str:
    """A head by its number."""
    return say("place.head", number=range(1, 9)[head])


# ---- what to conclude ------------------------------------------------------------------------------------------------
def conclude(_: Texts) -> None:
    """What such a test allows to say, and what not."""
    st.markdown(say("lessons.explanation.conclude"))
