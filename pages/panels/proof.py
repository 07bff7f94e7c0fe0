"""The badge, which opens to what was checked, against what, and how far apart it was."""

import streamlit as st

from attention_core import Trace
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_power_bound
from attention_core.verification.proof import MAX_AUTOMATIC_PROOF_NUMBERS, Proof
from pages.runs.cache import proof_for
from pages.session.labels import describe_cell
from pages.setup.setup import Setup, without_view
from pages.site.words import escape_markdown, say


def get_wanted_proof(trace: Trace, setup: Setup) -> Proof | None:
    """The proof of a run; None where it is large and nobody asked for it."""
    numbers = sum(step.value.numel() for step in trace.steps.values())
    wanted = numbers <= MAX_AUTOMATIC_PROOF_NUMBERS or st.session_state.get("prove") == without_view(setup)
    return proof_for(without_view(setup)) if wanted else None


def show_proof(trace: Trace, setup: Setup) -> None:
    """The badge, which opens to what was checked."""
    proof = get_wanted_proof(trace, setup)
    opened = st.popover(format_badge(trace, setup, proof), type="tertiary", key="proof", on_change="rerun")
    if not opened.open:
        return
    with opened:
        if proof is None:
            if st.button(say("proof.run")):
                st.session_state["prove"] = without_view(setup)
                st.rerun()
            return
        st.markdown(say("proof.how"))
        rows = [
            {
                "": "✓" if check.passed else "✗",
                say("proof.step"): check.step,
                say("proof.difference"): f"{check.difference:.1e}",
                say("proof.witness"): say(f"proof.by.{check.witness}"),
            }
            for check in sorted(proof.checks, key=lambda check: (check.passed, -check.difference))
        ]
        st.dataframe(rows, hide_index=True, height=280)
        worst = max(proof.rounding.items(), key=lambda item: item[1])
        if setup.dtype != "float64":
            st.caption(
                say("proof.rounding", dtype=setup.dtype, step=escape_markdown(worst[0]), figure=f"{worst[1]:.1e}")
            )
        if proof.overflow:
            step, index = proof.overflow
            st.warning(
                say("proof.overflow", dtype=setup.dtype, cell=escape_markdown(describe_cell(trace, Ref(step, index))))
            )


def proof_badge(trace: Trace, setup: Setup) -> str:
    """The proof of a run in a few words."""
    return format_badge(trace, setup, get_wanted_proof(trace, setup))


def format_badge(trace: Trace, setup: Setup, proof: Proof | None) -> str:
    """The proof in a few words; a precision that cannot hold the numbers is no proven screen."""
    if proof is None:
        return f":gray[{say('proof.unchecked')}]"
    if not proof.passed:
        return f":red[:material/error: {say('proof.failed', step=escape_markdown(proof.failed.step))}]"
    if proof.overflow:
        cell = escape_markdown(describe_cell(trace, Ref(*proof.overflow)))
        return f":orange[:material/warning: {say('proof.overflows', dtype=setup.dtype, cell=cell)}]"
    text = say("proof.badge", figure=format_power_bound(proof.worst)) if proof.worst else say("proof.badge_exact")
    if setup.dtype != "float64":  # whose rounding is by far the larger figure
        text = say("proof.rounded", dtype=setup.dtype, figure=f"{max(proof.rounding.values()):.0e}")
    return f":green[:material/verified: {text}]"
