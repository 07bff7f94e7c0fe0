"""Words of the sentence that are worth exchanging, one click each: the heavy cell moves."""

import streamlit as st

from attention_core.examples import EXAMPLES
from pages.shared.input_controls import spelled
from pages.shared.material import Material
from pages.shared.setup import Setup, mode
from pages.shared.widgets import try_change
from pages.shared.words import literal, say

OFFERED = 2


def show_swaps(setup: Setup, material: Material) -> None:
    """it -> she: the dictionary's exchanges whose word stands in the sentence."""
    if mode(setup) != "sentence":
        return
    words = material.queries
    offers = [swap for swap in EXAMPLES[setup.example].dictionary().swaps if swap[0] in words][:OFFERED]
    for old, new in offers:
        text = spelled(tuple(new if word == old else word for word in words), setup)
        label = f"{literal(old)} → {literal(new)}"
        st.button(
            label, key=f"swap_{old}", help=say("help.swap"), on_click=try_change, args=("text",), kwargs={"text": text}
        )
