"""A page with nothing but formulas, for the test that asks KaTeX about them; ?show= says which."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.formulas import BROKEN, every_equation, every_sign, every_text

EQUATIONS = {"equations": every_equation, "signs": every_sign, "broken": lambda: BROKEN}

shown = st.query_params.get("show")
if shown == "texts":
    for text in every_text():
        st.markdown(text)
elif shown in EQUATIONS:
    for equation in EQUATIONS[shown]():
        st.latex(equation)
