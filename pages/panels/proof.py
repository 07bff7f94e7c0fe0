"""Shows whether a run is proven: a badge that opens to a list of checks, each with its witness and the difference
found.
"""

import streamlit as st

from attention_core import Trace
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_power_bound
from attention_core.verification.proof import MAX_AUTOMATIC_PROOF_NUMBERS, Proof, ProofCheck
from pages.panels.markdown_table import NUMBERS, WORDS, make_table
from pages.runs.cache import proof_for
from pages.session.labels import describe_cell, spoken_step_name
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

PANEL_WIDTH_PX = 520
TABLE_HEIGHT_PX = 280


def get_wanted_proof(trace: Trace, setup: Setup) -> Proof | None:
    """Returns the proof of a run; None if the run is large and the visitor has not requested its proof."""
    is_small = trace.count_numbers() <= MAX_AUTOMATIC_PROOF_NUMBERS
    if not is_small and st.session_state.get("prove") != setup.run:
        return None
    return proof_for(setup.run)


def show_proof(trace: Trace, setup: Setup) -> None:
    """Shows the badge of a run's proof, which opens to the checks."""
    proof = get_wanted_proof(trace, setup)
    opened = st.popover(format_badge(trace, setup, proof), type="tertiary", key="proof", on_change="rerun")
    if not opened.open:
        return
    with opened:
        if proof is not None:
            show_checks(trace, setup, proof)
        elif st.button(say("proof.run")):
            st.session_state["prove"] = setup.run
            st.rerun()


def show_checks(trace: Trace, setup: Setup, proof: Proof) -> None:
    """Shows the checks of a proof, each with its witness (an independent computation) and difference; and rounding
    effects.
    """
    with st.container(width=PANEL_WIDTH_PX):
        st.markdown(describe_agreement(proof))
        st.markdown(say("proof.how"))
        if resolve_run(setup.run).model is not None:
            st.caption(say("proof.layer", layer=resolve_run(setup.run).layer))
        show_check_table(proof)
        if setup.run.dtype != "float64":
            st.caption(describe_rounding(setup, proof))
        if proof.overflow:
            cell = describe_overflow(trace, proof)
            st.warning(say("proof.overflow", dtype=setup.run.dtype, cell=cell))


def describe_agreement(proof: Proof) -> str:
    """Returns the text about the largest difference between the run and independent computations, or about the step
    that failed.
    """
    if not proof.passed:
        return say("proof.failed", step=name_step(proof.failed.step))
    return describe_worst(proof.worst)


def describe_worst(worst: float) -> str:
    """Returns the text about the largest difference that any check of a proof found, if every check passed.

    worst: the largest relative difference between the run and its witnesses.
    """
    return say("proof.within", figure=format_power_bound(worst)) if worst else say("proof.exact")


def show_check_table(proof: Proof) -> None:
    """Shows every check in a table, failed checks first.

    The table is text, because it then appears without delay.
    """
    failed_first = sorted(proof.checks, key=lambda check: (check.passed, -check.difference))
    heading = ["", say("proof.step"), say("proof.difference"), say("proof.witness")]
    table = make_table(heading, [make_check_row(check) for check in failed_first], [WORDS, WORDS, NUMBERS, WORDS])
    with st.container(height=TABLE_HEIGHT_PX):
        st.markdown(table)


def describe_rounding(setup: Setup, proof: Proof) -> str:
    """Returns the text about the step that rounding changes most, compared with a run in float64."""
    step, rounding = max(proof.rounding.items(), key=lambda item: item[1])
    return say(
        "proof.rounding",
        dtype=setup.run.dtype,
        step=name_step(step),
        figure=f"{rounding:.1e}",
    )


def make_check_row(check: ProofCheck) -> list[str]:
    """Returns the row of a check in the table."""
    return [
        "✓" if check.passed else "✗",
        name_step(check.step),
        f"{check.difference:.1e}",
        say(f"proof.by.{check.witness}"),
    ]


def name_step(step: str) -> str:
    """Returns a step's name in the session's language, in Markdown."""
    return escape_markdown(spoken_step_name(step))


def describe_overflow(trace: Trace, proof: Proof) -> str:
    """Returns the text that names the cell whose number overflowed in the run's precision."""
    step, index = proof.overflow
    return escape_markdown(describe_cell(trace, Ref(step, index)))


def proof_badge(trace: Trace, setup: Setup) -> str:
    """Returns the text of the badge of a run's proof."""
    return format_badge(trace, setup, get_wanted_proof(trace, setup))


def format_badge(trace: Trace, setup: Setup, proof: Proof | None) -> str:
    """Returns the text of the badge; a run does not count as proven if numbers overflow in its precision.

    proof: the proof of the run; None if the run is not proven yet.
    """
    if proof is None:
        return f":gray[{say('proof.unchecked')}]"
    if proof.overflow and (proof.passed or proof.failed.witness == "held"):
        text = say("proof.overflows", dtype=setup.run.dtype, cell=describe_overflow(trace, proof))
        return f":orange[:material/warning: {text}]" if proof.passed else f":red[:material/error: {text}]"
    if not proof.passed:
        text = say("proof.failed", step=name_step(proof.failed.step))
        return f":red[:material/error: {text}]"
    # the colour is grey instead of green, so as not to distract
    return f":gray[:material/check: {say('proof.checked')}]"
