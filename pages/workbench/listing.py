"""Shows the source code of an example, as in a course: a class or function that computes the numbers on the screen."""

import streamlit as st

from attention_core import Trace
from attention_core.examples.code_examples import LISTINGS, largest_listing_difference
from attention_core.examples.examples import EXAMPLES
from pages.session.fragments import page_part
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState
from pages.site.code_words import say_code
from pages.site.words import say

LISTING_DRAWER_KEY = "listing"
MOST_ROUNDING = 1e-10  # largest difference between two ways of computing the same in float64 that counts as rounding


def listing_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the source code of the example.

    These are the name of the example's listing, if it has one, and the run if the accordion is open.
    """
    name = EXAMPLES[screen.setup.run.example].code
    if name is None:
        return ()
    # the accordion is open by default, because these examples are about code
    st.session_state.setdefault(LISTING_DRAWER_KEY, True)
    if not st.session_state[LISTING_DRAWER_KEY]:
        return (name,)
    return (name, screen.setup.run)


@page_part(listing_dependencies)
def show_example_listing(screen: ScreenState) -> None:
    """Shows the listing (source code) of the example, if it has one."""
    name = EXAMPLES[screen.setup.run.example].code
    if name is not None:
        show_drawer(
            say("listing.title"), ":material/data_object:", LISTING_DRAWER_KEY, lambda: show_listing(name, screen.trace)
        )


def show_listing(name: str, trace: Trace) -> None:
    """Shows the description of a listing, how its numbers compare with the run, and its source."""
    st.markdown(say(f"listing.about.{name}"))
    st.caption(compare_with_listing(name, trace))
    st.code(say_code(LISTINGS[name].source), language="python", wrap_lines=True)


def compare_with_listing(name: str, trace: Trace) -> str:
    """Returns the sentence about the largest difference between the numbers of a listing and the numbers of a run."""
    difference = largest_listing_difference(name, trace)
    if difference is None:
        return say("listing.other_sizes")
    if difference > MOST_ROUNDING:
        return say("listing.changed", figure=f"{difference:.2g}")
    if difference == 0:
        return say("listing.exact")
    return say("listing.same", figure=f"{difference:.0e}")
