"""A page with nothing but formulas, for the test that asks KaTeX about them; ?show= says which."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.formulas import BROKEN, every_equation, every_sign, every_text

OF_AN_ELEMENT = 50  # equations: there are 1,300, and an element costs the page more than an equation

match st.query_params.get("show"):
    case "texts":
        for text in every_text():
            st.markdown(text)
    case "equations":
        equations = every_equation()
        for start in range(0, len(equations), OF_AN_ELEMENT):
            some = equations[start : start + OF_AN_ELEMENT]
            st.markdown("\n\n".join(f"$$\n{equation}\n$$" for equation in some))  # as st.latex writes one
    case "signs" | "broken" as shown:
        for formula in {"signs": every_sign(), "broken": BROKEN}[shown]:
            st.latex(formula)
