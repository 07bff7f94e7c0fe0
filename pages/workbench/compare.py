"""Compares the pinned run A with the current run B: the largest change, the settings that differ, attention maps."""

from collections.abc import Callable

import streamlit as st

from attention_core.drawing.specifications import Picture
from pages.panels.flow_data import shows_heads
from pages.panels.head_maps import LARGE_MAPS_LIMITS
from pages.panels.run_differences import describe_setting_differences, describe_size_differences
from pages.panels.setup_controls import field_control, show_refusal
from pages.panels.thumbnails import select_head, show_all_heads, show_strip
from pages.runs.cache import trace_for
from pages.session import setup_history
from pages.session.fragments import redraw, select_and_redraw
from pages.session.view import ScreenState
from pages.site.words import say
from pages.workbench import change
from pages.workbench.colour_switch import has_long_rows, ramp_switch
from pages.workbench.compared_maps import show_compared_maps


def show_comparison(screen: ScreenState, pictures: list[Picture]) -> None:
    """Shows the comparison of the runs A and B.

    From top to bottom: the largest change as heading, the buttons, the settings that differ, the maps, and the steps of
    B. If the view of all heads is open above, it names the differing settings itself, and says why maps are not
    subtracted.
    """
    is_told_above = shows_heads(screen.setup.view.stop)
    if screen.before is not None or not is_told_above:
        st.markdown(f"##### {compared_heading(screen)}")
    show_comparison_buttons(screen)
    if not is_told_above:
        st.markdown(describe_setting_differences(screen))
    show_compared_maps(screen, pictures)
    if not has_few_heads(screen):
        show_all_heads(screen)
    show_strip(screen)


def has_few_heads(screen: ScreenState) -> bool:
    """Returns whether there are so few heads that the comparison has a button for each of them.

    With more heads, small maps are shown instead.
    """
    max_heads, _ = LARGE_MAPS_LIMITS
    return screen.trace.sizes()["H"] <= max_heads


# ---- in words --------------------------------------------------------------------------------------------------------
def compared_heading(screen: ScreenState) -> str:
    """Returns the sentence about what changed most from A to B, or about why their cells cannot be compared at all."""
    if screen.before is not None:
        return change.describe_change(screen)
    if screen.a is None:
        return say("compare.lost")
    step_a, step_b = (run.step("weights") for run in (screen.a, screen.trace))
    pairs = zip(step_a.value.shape, step_b.value.shape, strict=True)
    return describe_size_differences(dict(zip(step_b.dims, pairs, strict=True)))


# ---- the buttons -----------------------------------------------------------------------------------------------------
def swap_and_redraw() -> None:
    """Swaps the compared runs A and B, and redraws the page."""
    setup_history.swap_a_and_b(trace_for)
    redraw()


def reset_b_and_redraw() -> None:
    """Resets run B of the comparison to the settings of run A, and redraws the page."""
    setup_history.reset_b_to_a(trace_for)
    redraw()


def end_comparison() -> None:
    """Ends the comparison, so that the screen shows B alone."""
    select_and_redraw(against=None, pinned=None)


COMPARISON_BUTTONS: dict[str, tuple[str, Callable[[], None]]] = {
    "pin": ("keep", change.pin_and_redraw),
    "swap": ("swap_horiz", swap_and_redraw),
    "back": ("undo", reset_b_and_redraw),
    "end": ("close", end_comparison),
}


def show_comparison_buttons(screen: ScreenState) -> None:
    """Shows the buttons of a comparison: pin another A, swap, reset B, end.

    Also shows the controls for the difference, the head and the colours.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for name, (icon, handle_click) in COMPARISON_BUTTONS.items():
            st.button(
                say(f"compare.{name}"),
                key=name,
                on_click=handle_click,
                disabled=screen.a is None and name in ("swap", "back"),
                icon=f":material/{icon}:",
                type="tertiary",
                help=say(f"compare.{name}_help"),
            )
        difference_switch(screen)
        if screen.trace.sizes()["H"] > 1 and has_few_heads(screen):
            head_picker(screen)
        if has_long_rows(screen):
            ramp_switch(screen)
    show_refusal(setup_history.COMPARISON_CONTROL)


def difference_switch(screen: ScreenState) -> None:
    """Shows the switch that makes the maps of single steps show the difference B - A, too."""
    can_compare = screen.before is not None and screen.exchange.compared
    control = field_control(
        "pinned",
        screen.setup.comparison.pinned == "difference" and can_compare,
        lambda is_on: select_and_redraw(pinned="difference" if is_on else "values"),
        key="c_apart",
        label="compare.apart",
    )
    control.draw(st.toggle, width="content", disabled=not can_compare)


def head_picker(screen: ScreenState) -> None:
    """Shows the buttons that choose the head whose attention maps are compared."""
    control = field_control(
        "head",
        screen.selection.head,
        select_head,
        key="c_compared_head",
        label="axis.H",
        option_text=lambda head: say("place.head", number=head + 1),
    )
    heads = range(screen.trace.sizes()["H"])
    control.draw(st.segmented_control, heads, required=True, label_visibility="collapsed")
