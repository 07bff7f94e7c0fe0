"""The proof of all that a panel of a language model shows: every number of every layer, checked when somebody asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.language.what_if import run_changed
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_grouped
from attention_core.transformer.stack import Stack
from attention_core.variants.cached_model import run_cached
from attention_core.verification.stack_proof import StackFault, StackProof, prove_stack, put_beside
from pages.panels.markdown_table import make_table
from pages.panels.model_circuits import added_words, view_circuit
from pages.panels.model_look import view_block
from pages.panels.model_number import name_cell_part
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import words_of_model
from pages.panels.model_what_if import take_changes
from pages.panels.model_words import current_writing, view_blank, view_words
from pages.panels.proof import PANEL_WIDTH_PX, TABLE_HEIGHT_PX, describe_worst
from pages.panels.second_sentence import second_words_of
from pages.runs.model_runs import model_sentences_of, model_stack
from pages.session.fragments import page_part, redraw
from pages.session.labels import describe_cell, inline_step_name
from pages.session.view import ScreenState
from pages.setup.setup import WORD_CHOICE_ENDS, layer_of
from pages.site.words import escape_markdown, say

PROOFS_KEY = "model_proofs"  # of the session: what was proven, by what decides the numbers
MOST_PROOFS = 16  # that are kept
OWN, CACHED, SECOND, WHOLE = "own", "cached", "second", "whole"  # runs that one panel shows


@dataclass(frozen=True)
class ShownRuns:
    """The runs whose numbers a panel shows. key: all that decides them. find: gives each by its name."""

    key: tuple
    find: Callable[[], Mapping[str, Stack]]


# ---- what each panel shows -------------------------------------------------------------------------------------------
def runs_of_sum(screen: ScreenState) -> ShownRuns:
    """The model and the sums of its parts."""
    return ShownRuns((screen.setup.word_temperature,), lambda: {OWN: view_block(screen).stack})


def runs_of_heads(screen: ScreenState) -> ShownRuns:
    """The model, and its run on a second sentence."""
    kind, second = model_sentences_of(screen.setup), second_words_of(screen.setup)

    def find() -> dict[str, Stack]:
        own = {OWN: model_stack(screen.setup, words_of_model(screen))}
        return own | {SECOND: run_model(kind.model, kind.read(second)).labelled(second)} if second else own

    return ShownRuns((second,), find)


def runs_of_words(screen: ScreenState) -> ShownRuns | None:
    """The run out of which the next word comes, whole and with a cache; or that on a sentence with a hidden word, None
    where there is no word."""
    choices = tuple(getattr(screen.setup, name) for name in WORD_CHOICE_ENDS)
    if not load_recipe(model_sentences_of(screen.setup).model).causal:
        at, is_empty = screen.selection.query, len(words_of_model(screen)) < 2
        return None if is_empty else ShownRuns((choices, at), lambda: {OWN: view_blank(screen).stack})
    writing = current_writing(screen)

    def find() -> dict[str, Stack]:
        view = view_words(screen, writing.words, writing.words)
        return {OWN: view.stack, CACHED: run_cached(view.name, view.tokens).stack}

    return ShownRuns((choices, writing.words), find)


def runs_of_what_if(screen: ScreenState) -> ShownRuns:
    """The changed run out of which the word comes; and that on the whole sentence, where a word is hidden in it."""
    shown = take_changes(screen)

    def find() -> dict[str, Stack]:
        shown = take_changes(screen)
        own = {OWN: shown.view.stack}
        if shown.view.tokens == shown.tokens:
            return own
        return own | {WHOLE: run_changed(shown.name, shown.tokens, shown.changes).labelled(shown.words)}

    return ShownRuns((shown.changes, shown.at), find)


def runs_of_circuits(screen: ScreenState) -> ShownRuns:
    """The heads of a layer on words alone."""
    added = added_words(screen, model_sentences_of(screen.setup).model)
    key = (layer_of(screen.setup), screen.selection.query, added)
    return ShownRuns(key, lambda: {OWN: view_circuit(screen).stack})


RUNS = {
    "sum": runs_of_sum,
    "heads": runs_of_heads,
    "words": runs_of_words,
    "what_if": runs_of_what_if,
    "circuits": runs_of_circuits,
}
SAID = {"what_if": "changed", "circuits": "alone"}  # how the runs of a panel are called; those of others are the layers


def shown_runs(screen: ScreenState) -> ShownRuns | None:
    """The runs of the panel that is open, its name, the model and the sentence in their key; None where none is."""
    panel = open_panel(screen)
    own = None if panel is None else RUNS[panel](screen)
    if own is None:
        return None
    kind, words = model_sentences_of(screen.setup), words_of_model(screen)
    return ShownRuns((panel, kind.model, words, kind.read(words), *own.key), own.find)


# ---- the part of the page --------------------------------------------------------------------------------------------
def proof_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """What is shown, and whether it is proven."""
    runs = shown_runs(screen)
    return () if runs is None else (runs.key, runs.key in kept_proofs())


def kept_proofs() -> dict[tuple, StackProof]:
    """What this session has proven."""
    return st.session_state.get(PROOFS_KEY, {})


@page_part(proof_dependencies)
def show_model_proof(screen: ScreenState) -> None:
    """A button that checks every number of what the open panel shows, or what came of it; nothing without a panel."""
    runs = shown_runs(screen)
    if runs is None:
        return
    proof = kept_proofs().get(runs.key)
    said = SAID.get(open_panel(screen), "layers")
    if proof is None:
        ask = say(f"proof.whole.ask.{said}")
        st.button(
            ask, key="prove_model", icon=":material/verified:", type="tertiary", on_click=prove_runs, args=(runs,)
        )
        return
    with st.popover(format_whole_badge(proof, said), type="tertiary", key="model_proof"):
        show_parts(proof)
    if proof.fault is not None:
        st.error(describe_fault(put_beside(runs.find()), proof.fault), icon=":material/error:")


def prove_runs(runs: ShownRuns) -> None:
    """Checks the runs, and keeps what came of it."""
    proof = prove_stack(put_beside(runs.find()))
    latest = list(kept_proofs().items())[1 - MOST_PROOFS :]
    st.session_state[PROOFS_KEY] = {**dict(latest), runs.key: proof}
    redraw()


def format_whole_badge(proof: StackProof, said: str) -> str:
    """The proof in a few words."""
    if not proof.passed:
        return f":red[:material/error: {say('proof.failed', step=name_run_part(proof.fault.part))}]"
    text = say(f"proof.whole.checked.{said}", count=format_grouped(proof.number_count))
    return f":gray[:material/check: {text}]"


def show_parts(proof: StackProof) -> None:
    """How far apart it was; of each part how many numbers were checked, against what, and how far apart those were."""
    with st.container(width=PANEL_WIDTH_PX):
        if proof.passed:
            st.markdown(describe_worst(proof.worst))
        st.markdown(say("proof.how"))
        columns = ("proof.whole.part", "proof.whole.numbers", "proof.difference", "proof.witness")
        rows = [make_part_row(proof, part) for part in proof.parts]
        with st.container(height=TABLE_HEIGHT_PX):
            st.markdown(make_table(["", *map(say, columns)], rows))


def make_part_row(proof: StackProof, part: str) -> list[str]:
    """A part of the run in the table."""
    own = proof.parts[part]
    is_linked = part not in dict(proof.broken_links)
    witnesses = dict.fromkeys(check.witness for check in own.checks)
    return [
        "✓" if own.passed and is_linked else "✗",
        name_run_part(part),
        format_grouped(proof.numbers[part]),
        f"{own.worst:.1e}",
        say("fact.comma").join(say(f"proof.by.{witness}") for witness in witnesses),
    ]


def name_run_part(part: str) -> str:
    """What a part is called, with its run where that is not the panel's own."""
    run, _, own = part.partition("/")
    name = name_cell_part(own)
    return name if run == OWN else say(f"proof.whole.of.{run}", part=name)


def describe_fault(stack: Stack, fault: StackFault) -> str:
    """What is wrong, and where."""
    trace, part = stack[fault.part], name_run_part(fault.part)
    if fault.cell is None:
        step = escape_markdown(inline_step_name(fault.step))
        return say("proof.whole.fault.step", part=part, step=step)
    told = {
        "part": part,
        "cell": escape_markdown(describe_cell(trace, Ref(fault.step, fault.cell.index))),
        "shown": format_exact(fault.cell.shown),
        "expected": format_exact(fault.cell.expected),
    }
    if fault.source is None:
        return say("proof.whole.fault.cell", **told)
    return say("proof.whole.fault.link", source=name_run_part(fault.source), **told)
