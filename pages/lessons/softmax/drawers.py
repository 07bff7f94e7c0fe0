"""Draws the accordions of the lesson on softmax, and provides functions that its page uses too."""

from collections.abc import Sequence

import streamlit as st

from attention_core import Trace
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX, with_cross_entropy, with_jacobian
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import Row, row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import row_fact
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent, format_term
from attention_core.verification.proof import find_overflow
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import FIRST_SELECTION, show_bar_rows, show_step_picture
from pages.lessons.sentences import format_gap, show_sentence
from pages.panels.link_controls import choose_option, pick_place, slide, text_box
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.setup.setup import DTYPES, Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- the reader's numbers, as the scores of a run with one query -----------------------------------------------------
ONLY_ROW = (0, 0, 0)  # index (sentence, head, query) of the only row of weights
MAX_TYPED_LOGITS = 16  # most numbers that can be typed: as many as fit side by side


def ask_for_numbers(name: str, start: str) -> Sequence[float]:
    """Shows a text input, and returns the numbers that the visitor typed.

    name: the name of the text input. start: its default text.
    """
    return read_typed_numbers(text_box(name, start, read_typed_numbers))


def read_typed_numbers(text: str) -> Sequence[float]:
    """Parses typed numbers. Raises AttentionError for any other text, and for more than MAX_TYPED_LOGITS numbers."""
    return read_logits(text, MAX_TYPED_LOGITS)


def setup_with_scores(numbers: Sequence[float], shift: float = 0.0, **choices) -> Setup:
    """Returns the Setup whose scores are these numbers.

    shift: a number that is added to each of these numbers. choices: other fields of the Setup.
    """
    return make_setup(example="one_query", score="dot", **as_scores(numbers, shift), **choices)


def name_if_divided(setup: Setup) -> str:
    """Returns the end of a text key: "_divided" for a temperature other than 1, which divides the softmax's gradients,
    else "".
    """
    return "" if setup.run.temperature == 1 else "_divided"


def list_scores(trace: Trace) -> list[str]:
    """Returns the formatted scores of the only query of a run."""
    scores = trace.step("scores").window(B=0, H=0, T=0)  # (S,)
    return [format_term(score) for score in scores]


# ---- drawer "stable": why is the largest number subtracted first? ----------------------------------------------------
LARGE_NUMBERS = {"thousand": "1001, 1002, 1003", "tens": "10000, 9999.21875, 0, -10000"}
NUMBER_SHIFTS = (0, 1, 10, 100, 500, 1000)


def show_stable_softmax(own: Sequence[float]) -> None:
    """Shows the softmax computed in two ways: directly by its formula, and after the largest number is subtracted."""
    numbers = choose_numbers(own)
    with st.columns(2)[0]:
        shift = slide("shift", NUMBER_SHIFTS, 0)
    dtype = choose_option("dtype", DTYPES, words=lambda name: say(f"dtype.{name}"))
    setup = setup_with_scores(numbers, shift, dtype=dtype)
    trace = trace_for(setup).then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    unshifted = trace_for(setup_with_scores(numbers, dtype=dtype))
    moved = abs_difference(trace["weights"], unshifted["weights"]).max()
    values = {"dtype": dtype, "shift": shift, "gap": format_gap(moved.item())}
    verdict = "overflows" if find_overflow(trace) else "holds"
    show_sentence(f"lessons.softmax.{verdict}", **values)
    weights = trace["stable_weights"]
    zeros = int(weights.eq(0).sum())
    if zeros:
        show_sentence("lessons.softmax.underflows", dtype=dtype, zeros=zeros, count=weights.numel())
    show_sentence(f"lessons.softmax.shifted{'_rounded' if moved > 0 else ''}", **values)
    for step in ("naive_weights", "stable_weights"):
        show_step_picture(step, trace, step, FIRST_SELECTION)
    link_to_workbench(setup, "stable")


def choose_numbers(own: Sequence[float]) -> Sequence[float]:
    """Shows a choice of large numbers and returns it; the option "own" stands for the visitor's numbers."""
    name = choose_option("numbers", (*LARGE_NUMBERS, "own"))
    if name == "own":
        return own
    return read_typed_numbers(LARGE_NUMBERS[name])


# ---- drawer "slope": how far does a weight move when one score moves? ------------------------------------------------
def show_jacobian(setup: Setup) -> None:
    """Shows the Jacobian of the softmax: how much each weight changes with each score."""
    trace = with_jacobian(trace_for(setup))
    scores = list_scores(trace)
    moved = pick_place("moved", scores, 0, width=240)
    own_slope = trace["jacobian"][(*ONLY_ROW, moved, moved)]
    divided = name_if_divided(setup)
    show_sentence(
        f"lessons.softmax.slope{divided}",
        score=scores[moved],
        T=format_term(setup.run.temperature),
        own=format_fixed(own_slope.item(), 3),
    )
    column = [Ref("jacobian", (*ONLY_ROW, weight, moved)) for weight in range(len(scores))]
    title = say(f"lessons.softmax.row_slope{divided}", score=scores[moved])
    row = Row(title, trace, column)
    alt = say("step.alt", step="jacobian")
    show_bar_rows("column", [row], scores, {"": trace}, trace, alt)
    show_step_picture("jacobian", trace, "jacobian", FIRST_SELECTION)


# ---- drawer "slope", tab: the loss that training makes smaller, and its gradient -------------------------------------
def show_cross_entropy(setup: Setup) -> None:
    """Shows the cross-entropy loss of the softmax, and its gradient with respect to each score."""
    run = trace_for(setup)
    scores = list_scores(run)
    right = pick_place("right", scores, 0, width=240)
    trace = with_cross_entropy(run, right)
    divided = name_if_divided(setup)
    show_sentence(
        f"lessons.softmax.loss{divided}",
        score=scores[right],
        T=format_term(setup.run.temperature),
        share=format_fixed(trace["weights"][(*ONLY_ROW, right)].item(), 3),
        loss=format_fixed(trace["loss"][ONLY_ROW].item(), 3),
        slope=format_fixed(trace["loss_gradient"][(*ONLY_ROW, right)].item(), 3),
    )
    rows = [
        row_of(say("lessons.softmax.row_shares"), trace, "weights", ONLY_ROW),
        row_of(say(f"lessons.softmax.row_loss_slopes{divided}"), trace, "loss_gradient", ONLY_ROW),
    ]
    show_bar_rows("loss", rows, scores, {"": trace}, trace, say("step.alt", step="loss_gradient"))


# ---- drawer "sharp": does the softmax sharpen numbers that are close together? ---------------------------------------
def show_close_numbers() -> None:
    """Shows the softmax of two numbers close together: their weights are nearly equal."""
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


# ---- drawer "many": what becomes of a hundred numbers? ---------------------------------------------------------------
SHOWN_COUNTS = (5, 10, 20, 50, 100)  # options for the count of numbers that the picture shows


def show_many_numbers(temperature: float) -> None:
    """Shows the softmax of the hundred numbers of a printed worked example, or of the first few of them."""
    count = slide("count", SHOWN_COUNTS, SHOWN_COUNTS[-1])
    numbers = EXAMPLES["softmax_100"].tensor("k")[:count, 0].numpy()
    are_all = count == SHOWN_COUNTS[-1]
    setup = make_setup(example="softmax_100") if are_all else setup_with_scores(numbers)
    setup = setup.with_fields(temperature=temperature)
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


LESSON = Lesson(
    "softmax",
    drawers={
        "stable": show_stable_softmax,
        "slope": Tabs("moves", {"shares": show_jacobian, "loss": show_cross_entropy}),
        "sharp": show_close_numbers,
        "many": show_many_numbers,
    },
    code=("weights", "exponentials", "naive_weights", "stable_exponentials"),
)
