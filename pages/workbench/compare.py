"""The comparison of the pinned run A with the current run B: the largest change, the settings, the maps."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.drawing.specifications import Picture
from pages.panels.head_maps import LARGE_MAPS_LIMITS
from pages.panels.setup_controls import field_control, show_refusal
from pages.panels.thumbnails import select_head, show_all_heads, show_strip
from pages.runs.cache import inputs_of, trace_for
from pages.session import setup_history
from pages.session.fragments import redraw, select_and_redraw
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say
from pages.workbench import change
from pages.workbench.colour_switch import has_long_rows, ramp_switch
from pages.workbench.compared_maps import show_compared_maps
from pages.workbench.setting_differences import find_setting_differences


def show_comparison(screen: ScreenState, pictures: list[Picture]) -> None:
    """Shows the largest change as heading, the buttons, the settings that differ, the maps, and B's steps."""
    st.markdown(f"##### {compared_heading(screen)}")
    show_comparison_buttons(screen)
    st.markdown(describe_setting_differences(screen))
    show_compared_maps(screen, pictures)
    if not has_few_heads(screen):
        show_all_heads(screen)
    show_strip(screen)


def has_few_heads(screen: ScreenState) -> bool:
    """Whether there are few enough heads for a button for each; otherwise small maps are shown."""
    max_heads, _ = LARGE_MAPS_LIMITS
    return screen.trace.sizes()["H"] <= max_heads


# ---- in words --------------------------------------------------------------------------------------------------------
def compared_heading(screen: ScreenState) -> str:
    """Returns the sentence about what changed most; if cells cannot be compared, the sentence about why."""
    if screen.before is not None:
        return change.describe_change(screen)
    if screen.a is None:
        return say("compare.lost")
    dims = screen.trace.step("weights").dims
    sizes_a = screen.a["weights"].shape
    sizes_b = screen.trace.step("weights").shape
    differing_sizes = []
    for dim, size_a, size_b in zip(dims, sizes_a, sizes_b, strict=True):
        if size_a != size_b:
            differing_sizes.append(say(f"compare.count.{dim}", a=size_a, b=size_b))
    return say("compare.sizes", sizes=say("fact.comma").join(differing_sizes))


def describe_setting_differences(screen: ScreenState) -> str:
    """Returns the sentence about the settings that differ, with the values in A and B; "" if there is no run A."""
    if screen.a is None:
        return ""
    setup_a = replace(screen.setup, run=screen.setup.comparison.run_a)
    run_a = (setup_a, screen.a, inputs_of(setup_a))
    run_b = (screen.setup, screen.trace, screen.inputs)
    differences = find_setting_differences(run_a, run_b)
    if not differences:
        return say("compare.alike")
    sentences = [describe_setting_difference(*difference) for difference in differences]
    return say("compare.settings", settings=say("compare.between").join(sentences))


def describe_setting_difference(name: str, value_a: str, value_b: str) -> str:
    """Returns the phrase about one setting that differs, with the values in A and B. If value_a is "", value_b is text
    that describes the difference.
    """
    return say(
        "compare.differs" if value_a else "compare.differ",
        name=escape_markdown(name),
        a=escape_markdown(value_a),
        b=escape_markdown(value_b),
    )


# ---- the buttons -----------------------------------------------------------------------------------------------------
def swap_and_redraw() -> None:
    """Swaps A and B and redraws."""
    setup_history.swap_a_and_b(trace_for)
    redraw()


def reset_b_and_redraw() -> None:
    """Sets B to the Setup of A and redraws."""
    setup_history.reset_b_to_a(trace_for)
    redraw()


def end_comparison() -> None:
    """Ends the comparison: the screen shows B alone."""
    select_and_redraw(against=None, pinned=None)


COMPARISON_BUTTONS: dict[str, tuple[str, Callable[[], None]]] = {
    "pin": ("keep", change.pin_and_redraw),
    "swap": ("swap_horiz", swap_and_redraw),
    "back": ("undo", reset_b_and_redraw),
    "end": ("close", end_comparison),
}


def show_comparison_buttons(screen: ScreenState) -> None:
    """Shows the buttons to pin another A, swap, reset B and end, and the controls for difference, head and colours."""
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
    """Shows the switch that makes the other maps show B - A."""
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
    """Shows the choice of a head."""
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
