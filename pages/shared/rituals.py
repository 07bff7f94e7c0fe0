"""What a reader does before the answer is shown: predicts it, builds it, finds the error."""

from collections.abc import Collection, Sequence

import streamlit as st

from pages.shared.choices import choose_place
from pages.shared.lesson import revealed
from pages.shared.words import say


def predict(labels: Sequence[str], right: Collection[int], question: str | None = None) -> bool:
    """Asks for one of several answers; after it says whether it was right, and whether the answer may be seen now.

    question: where it has numbers of the run in it; else it stands in the content as the label of the guess."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guess = choose_place("guess", labels, question)
        if guess is not None:
            st.markdown(say("ritual.right" if guess in right else "ritual.wrong"), width="content")
    return guess is not None or revealed()


def goal(reached: bool, done: str, still: str) -> None:
    """Says whether what was to be built is there. done, still: what is said then, and before."""
    if reached:
        st.success(done, icon=":material/check_circle:")
    else:
        st.info(still, icon=":material/flag:")
