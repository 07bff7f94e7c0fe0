"""The code of one step: the function that ran, and its NumPy twin beside it."""

import streamlit as st

from attention_core import Trace
from attention_core.export import call, source


def show_code(trace: Trace, step: str) -> None:
    """The function that ran and its NumPy twin, with the call of this step; nothing for an input."""
    operation = trace.step(step).operation
    if operation is None:
        return
    for column, language in zip(st.columns(2), ("torch", "numpy"), strict=True):
        text = source(operation, language) + "\n\n" + call(operation, language)
        column.code(text, language="python", wrap_lines=True)
