"""The code of one step: the function that ran, with the shapes that its lines made, and its NumPy twin beside it."""

import streamlit as st

from attention_core import Trace
from attention_core.explanation.scripts import call
from attention_core.explanation.traced_source import listing


def show_code(trace: Trace, step: str) -> None:
    """Both functions, run once more on the operands of this step, and its call; nothing for an input."""
    operation = trace.step(step).operation
    if operation is None:
        return
    operands = {name: trace[name] for name in operation.reads}
    for column, language in zip(st.columns(2), ("torch", "numpy"), strict=True):
        text = listing(operation, operands, language) + "\n\n\n" + call(operation, language)
        column.code(text, language="python", wrap_lines=True)
