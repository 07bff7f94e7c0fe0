"""The lesson on heads, drawer "bring": what does each head add to the output?"""

from collections.abc import Mapping, Sequence

from attention_core import Trace
from attention_core.analysis.head_contributions import with_contributions, with_likeness, without_head
from attention_core.drawing.bars import Row, row_of
from attention_core.explanation.facts import find_most_alike_heads
from attention_core.inputs.handmade_heads import HEAD_KINDS
from attention_core.record.number_text import format_fixed, format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import join_with_commas, list_place_labels, list_place_names, quote_token, show_sentence
from pages.lessons.trained_model import show_one_head
from pages.panels.head_maps import head_name
from pages.panels.link_controls import choose_option
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection, place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_contributions(setup: Setup) -> None:
    """Shows the output as a sum over the heads, or how alike the heads are."""
    sights = {"ledger": show_ledger, "alike": show_head_likeness}
    choose_sight("brings", sights)(setup)
    show_one_head()


def show_ledger(setup: Setup) -> None:
    """Shows what each head adds to the output of the word that asks, and the output without it."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    heads = list_place_names(trace, "H")
    whole = with_contributions(trace)
    runs = {"all": whole}
    for head, _ in enumerate(heads):
        runs[f"no{head}"] = without_head(trace, head)
    say_contributions(whole, selection, heads)
    parts = make_contribution_rows(whole, selection, heads)
    sums = make_rows_without_heads(runs, selection, heads)
    show_cell_rows(
        "ledger",
        [*parts, *sums],
        list_place_labels(trace, "D_out"),
        runs,
        runs["no0"],
        sums=len(sums),
    )


def say_contributions(whole: Trace, selection: Selection, heads: Sequence[str]) -> None:
    """Says how far the output of the word that asks moves without each head."""
    contributions = whole["contributions"][selection.batch, :, selection.query]  # (H, D_out)
    largest = contributions.abs().amax(-1)  # (H,)
    moves = []
    for name, size in zip(heads, largest.tolist(), strict=True):
        move = say("lessons.heads.moves", head=name, size=format_fixed(size))
        moves.append(move)
    show_sentence(
        "lessons.heads.ledger",
        word=quote_token(whole, "T", selection.query),
        parts=join_with_commas(moves),
    )


def make_contribution_rows(whole: Trace, selection: Selection, heads: Sequence[str]) -> list[Row]:
    """Makes a row of what each head adds to the output of the word that asks."""
    rows = []
    for head, name in enumerate(heads):
        index = (selection.batch, head, selection.query)
        row = row_of(name, whole, "contributions", index, "all")
        rows.append(row)
    return rows


def make_rows_without_heads(runs: Mapping[str, Trace], selection: Selection, heads: Sequence[str]) -> list[Row]:
    """Makes a row of the output of the word that asks, and one of the output without each head.

    runs: the whole run as "all", that without head h as "no" and its number."""
    index = (selection.batch, selection.query)
    title = say("lessons.heads.all")
    rows = [row_of(title, runs["all"], "output", index, "all")]
    for head, name in enumerate(heads):
        run = f"no{head}"
        title = say("lessons.heads.without", head=name)
        row = row_of(title, runs[run], "without_head", index, run)
        rows.append(row)
    return rows


def show_head_likeness(setup: Setup) -> None:
    """Shows how much of their attention each two heads give to the same words."""
    compared = setup
    if choose_option("which", ("these", "five")) == "five":
        compared = Setup(
            example=setup.example,
            text=setup.text,
            built=HEAD_KINDS,
            score="dot",
        )
    trace = with_likeness(trace_for(compared))
    one, other, share = find_most_alike_heads(trace["likeness"][0])
    key = "alike_random" if trace.chance else "alike"
    show_sentence(
        f"lessons.heads.{key}",
        share=format_percent(share),
        one=place_name(trace, "H", one),
        other=place_name(trace, "H", other),
    )
    names = list_place_names(trace, "H")
    inputs = inputs_of(compared)
    rows = []
    for head, _ in enumerate(names):
        title = head_name(compared, inputs, head)
        row = row_of(title, trace, "likeness", (0, head))
        rows.append(row)
    show_cell_rows("alike", rows, names, {"": trace}, trace)
    link_to_workbench(compared, "alike")
