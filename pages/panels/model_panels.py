"""Collects the panels of a language model, draws the open panel, and proves all numbers that this panel shows."""

from importlib import import_module

import streamlit as st

from attention_core.learned.language.batches import START
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_grouped
from attention_core.transformer.stack import Stack
from attention_core.verification.proof import StackFault, StackProof, prove_stack, put_beside
from pages.panels.markdown_table import NUMBERS, WORDS, make_table
from pages.panels.model import OWN, Panel, ShownRuns
from pages.panels.model_guess import tell_sign
from pages.panels.model_look import LOOK_KEY, name_cell_part
from pages.panels.model_rail import words_of_model
from pages.panels.proof import PANEL_WIDTH_PX, TABLE_HEIGHT_PX, describe_worst
from pages.panels.second_sentence import second_words_of
from pages.panels.setup_controls import field_control
from pages.runs.cache import inputs_of
from pages.runs.model_runs import model_of, model_sentences_of
from pages.session.fragments import page_part, redraw, select_and_redraw
from pages.session.labels import current_palette, describe_cell, inline_step_name
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import PANEL_NAMES, Setup
from pages.site.words import escape_markdown, say, strip_markup

RECORDS: dict[str, Panel] = {name: import_module(f"pages.panels.model.{name}").PANEL for name in PANEL_NAMES}
PANELS = dict(sorted(RECORDS.items(), key=lambda each: each[1].place))  # name -> record of the panel, in tab order
FIRST_PANEL = next(iter(PANELS))


def open_panel(screen: ScreenState) -> str | None:
    """Returns the name of the open panel; None if no model with all its layers reads the sentence.

    If the panel in the link cannot be drawn for the model, the first panel that can be drawn is open.
    """
    if words_of_model(screen) is None:
        return None
    suitable, wanted = list_suitable(screen), screen.setup.view.panel or FIRST_PANEL
    return wanted if wanted in suitable else suitable[0]


def list_suitable(screen: ScreenState) -> list[str]:
    """Returns the names of the panels that can be drawn for the model that reads the sentence."""
    model = model_of(screen.setup.run)
    return [name for name, panel in PANELS.items() if panel.find_lack(model) is None]


def choice_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the tabs depend: the open panel, and the recorded model if there is one."""
    return (open_panel(screen), screen.setup.run.recorded)


@page_part(choice_dependencies)
def show_panel_choice(screen: ScreenState) -> None:
    """Shows the tabs of the panels, if a model with all its layers reads the sentence, and the reasons why some panels
    are absent.
    """
    panel = open_panel(screen)
    if panel is None:
        return
    suitable = list_suitable(screen)

    def choose_panel(chosen: str | None) -> None:
        select_and_redraw(panel=None if chosen == FIRST_PANEL else chosen)

    control = field_control("panel", panel, choose_panel, option_text=lambda name: say(f"model.panel.{name}"))
    control.draw(st.segmented_control, suitable, required=True, help=say("help.panel"))
    model = model_of(screen.setup.run)
    lacks = {name: PANELS[name].find_lack(model) for name in PANELS if name not in suitable}
    told = [say(f"model.absent.{name}.{lack}", panel=say(f"model.panel.{name}")) for name, lack in lacks.items()]
    if told:
        st.caption(" ".join(told))


def panel_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the panel depends.

    These are the open panel, its run, the selected word, the opened number, the colours, and the fields in
    Panel.depends_on.
    """
    name = open_panel(screen)
    if name is None:
        return ()
    panel = PANELS[name]
    run = panel.run_key(screen) if panel.run_key else screen.setup.run
    declared = tuple(screen.setup.value_of(field) for field in panel.depends_on)
    word = (screen.selection.batch, screen.selection.query)
    return (name, run, word, declared, st.session_state.get(LOOK_KEY), current_palette().ground)


@page_part(panel_dependencies)
def show_panel(screen: ScreenState) -> None:
    """Draws the open panel of the model, if a model with all its layers reads the sentence."""
    name = open_panel(screen)
    if name is not None:
        PANELS[name].draw(screen)


def tell_run_guess(setup: Setup) -> str:
    """Returns the warning that the model guesses, as plain text for exported files and for the presentation view.

    The warning names each sentence of a run that is unlike the training sentences. Returns "" if no language model is
    used, or if the model does not guess.
    """
    if resolve_run(setup.run).model is None:
        return ""
    inputs = inputs_of(setup)
    own = [each.words for each in inputs.batch] or [inputs.queries]
    sentences = [words for words in (*own, second_words_of(setup)) if words[:1] == (START,)]
    predicts_words = PANELS[setup.view.panel or FIRST_PANEL].predicts_words
    signs = dict.fromkeys(tell_sign(setup, words, predicts_words) for words in sentences)
    return strip_markup(" ".join(filter(None, signs)))


# ---- the proof of the open panel's runs ------------------------------------------------------------------------------
PROOFS_KEY = "model_proofs"  # session key of the proofs, as {key of the proven runs: proof}
MOST_PROOFS = 16  # most proofs that a session stores


def shown_runs(screen: ScreenState) -> ShownRuns | None:
    """Returns the runs of the open panel; None if the panel has no runs.

    The key of the result includes the panel's name, the model and the sentence.
    """
    panel = open_panel(screen)
    own = None if panel is None else PANELS[panel].runs(screen)
    if own is None:
        return None
    kind, words = model_sentences_of(screen.setup.run), words_of_model(screen)
    return ShownRuns((panel, kind.model, words, kind.read(words), *own.key), own.find)


# ---- the part of the page --------------------------------------------------------------------------------------------
def proof_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the display of the proof depends: the key of the shown runs, and whether they are
    proven.
    """
    runs = shown_runs(screen)
    return () if runs is None else (runs.key, runs.key in kept_proofs())


def kept_proofs() -> dict[tuple, StackProof]:
    """Returns the proofs of this session, by the key of their runs."""
    return st.session_state.get(PROOFS_KEY, {})


@page_part(proof_dependencies)
def show_model_proof(screen: ScreenState) -> None:
    """Shows a button that proves every number of the open panel, or the result of the proof.

    Shows nothing if the panel has no runs.
    """
    runs = shown_runs(screen)
    if runs is None:
        return
    proof = kept_proofs().get(runs.key)
    said = PANELS[open_panel(screen)].checked_as
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
    """Checks all numbers of the runs, and stores the proof in the session."""
    proof = prove_stack(put_beside(runs.find()))
    latest = list(kept_proofs().items())[1 - MOST_PROOFS :]
    st.session_state[PROOFS_KEY] = {**dict(latest), runs.key: proof}
    redraw()


def format_whole_badge(proof: StackProof, said: str) -> str:
    """Returns the result of the proof in a few words.

    said: the panel's `checked_as`, which selects how the text names its runs.
    """
    if not proof.passed:
        return f":red[:material/error: {say('proof.failed', step=name_run_part(proof.fault.part))}]"
    text = say(f"proof.whole.checked.{said}", count=format_grouped(proof.number_count))
    return f":gray[:material/check: {text}]"


def show_parts(proof: StackProof) -> None:
    """Shows the largest difference, and a table of the model's components: checked numbers, differences, witnesses."""
    with st.container(width=PANEL_WIDTH_PX):
        if proof.passed:
            st.markdown(describe_worst(proof.worst))
        st.markdown(say("proof.how"))
        columns = ("proof.whole.part", "proof.whole.numbers", "proof.difference", "proof.witness")
        rows = [make_part_row(proof, part) for part in proof.parts]
        with st.container(height=TABLE_HEIGHT_PX):
            st.markdown(make_table(["", *map(say, columns)], rows, [WORDS, WORDS, NUMBERS, NUMBERS, WORDS]))


def make_part_row(proof: StackProof, part: str) -> list[str]:
    """Returns the table row of a component of the model."""
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
    """Returns the name that the page shows for a component, with its run's name if that is not the panel's main run."""
    run, _, own = part.partition("/")
    name = name_cell_part(own)
    return name if run == OWN else say(f"proof.whole.of.{run}", part=name)


def describe_fault(stack: Stack, fault: StackFault) -> str:
    """Returns the text that says what is wrong, and in which cell."""
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
