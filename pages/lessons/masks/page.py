"""Shows the lesson on masks: a mask that the visitor draws or chooses, and the weights under it."""

import streamlit as st

from attention_core import Trace
from attention_core.analysis.target_leakage import compare_with_causal
from attention_core.explanation.facts import accident_at, allowed_pairs, count_allowed_pairs, row_fact
from attention_core.record.number_text import format_fixed, format_percent
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.masks.drawers import LESSON, Bits, mask_brush, pack_mask, read_bits
from pages.lessons.prompts import show_goal
from pages.lessons.sentences import list_place_names, quote_token, show_sentence
from pages.lessons.word_threads import Way, show_threads
from pages.panels.head_maps import fact_sentence
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, make_place_reader, pick_example, pick_place, sentence_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_each
from pages.runs.cache import trace_for
from pages.session.answers import are_answers_revealed
from pages.session.labels import Selection, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

MASK_PRESETS = ("none", "causal", "local", "sliding", "padding", "local_global", "custom")


def take_painted_mask(bits: Bits) -> None:
    """Stores the mask after a stroke of the visitor, and selects it.

    bits: the cells of the drawn mask.
    """
    store_choice("mask", "custom")
    store_choice("paint", bits)


def take_word(_: int, word: int) -> None:
    """Selects a word as the query, after a click on it in the picture.

    word: the index of the word.
    """
    store_choice("token", word)


def find_window(preset: str) -> LiveChoice | None:
    """Returns the slider that sets the window of a mask; None for a mask without a window.

    preset: one of MASK_PRESETS.
    """
    if preset in ("local", "local_global"):
        return find_live_choice("near", range(8), 1)
    if preset == "sliding":
        return find_live_choice("width", range(1, 9), 3)
    return None


def setup_under_mask(preset: str, setup: Setup, free: Trace, names: list[str], window: LiveChoice | None) -> Setup:
    """Shows the controls for a mask's parameters; returns the Setup (settings of a run) under this mask.

    preset: one of MASK_PRESETS. free: the run without a mask. names: the names of the words. window: the slider of the
    mask's window; None for a mask without a window.
    """
    if window:
        show_live_choice(window, width=400)
    match preset:
        case "causal":
            mask = "causal"
        case "local" | "sliding":
            mask = f"{preset}:{window.value}"
        case "padding":
            mask = f"padding:{pick_place('last', names, max(len(names) - 2, 0)) + 1}"
        case "local_global":
            mask = f"local_global:{window.value}:{pick_place('global', names, 0)}"
        case "custom":
            return setup.with_fields(allowed=pack_mask(get_choice("paint", (), read_bits), free))
        case _:
            return setup
    return setup.with_fields(masks=(mask,))


def list_runs(setup: Setup, window: LiveChoice) -> list[Trace]:
    """Returns the run for each position of the slider that sets the mask's window."""
    name, _, *others = setup.run.masks[0].split(":")
    runs = []
    for value in window.options:
        mask = ":".join([name, str(value), *others])
        runs.append(trace_for(setup.with_fields(masks=(mask,))))
    return runs


# ---- sentences about a mask: the selected query's weights, the allowed pairs, the mask to build ----------------------
def describe_pairs(trace: Trace, free: Trace, selection: Selection) -> str:
    """Returns the sentence about the pairs that a mask allows, and about the largest weight without and with the mask.

    trace: the run under the mask. free: the run without a mask.
    """
    pairs = count_allowed_pairs(trace)
    kept = "kept_random" if is_accident(free, selection) else "kept"  # the text says that random weights prove nothing
    return say(
        f"lessons.masks.{kept}",
        kept=pairs.kept,
        of=pairs.of,
        percent=format_percent(pairs.share),
        **compare_largest(trace, free, selection),
    )


def compare_largest(trace: Trace, free: Trace, selection: Selection) -> dict[str, str]:
    """Returns the query, the key with its largest weight without a mask, and this weight without and with the mask.

    The result is {placeholder of a sentence: text}.
    """
    key = largest_key(free, selection)
    cell = (selection.batch, selection.head, selection.query, key)
    return {
        "query": quote_token(trace, "T", selection.query),
        "key": quote_token(trace, "S", key),
        "free": format_fixed(free["weights"][cell].item(), 3),
        "now": format_fixed(trace["weights"][cell].item(), 3),
    }


def largest_key(free: Trace, selection: Selection) -> int:
    """Returns the index of the key to which the selected query gives its largest weight in a run without a mask."""
    return row_fact(free, selection.head, selection.query).keys[0]


def is_accident(free: Trace, selection: Selection) -> bool:
    """Returns whether the selected query's largest weight results from random numbers."""
    return accident_at(free, selection.query, [largest_key(free, selection)])


def show_mask_goal(trace: Trace, free: Trace, selection: Selection, preset: str) -> None:
    """Shows the goal of the exercise, a causal mask drawn by the visitor, and whether the visitor's mask reaches it."""
    if preset not in ("none", "custom"):
        st.caption(say("lessons.masks.build"))
        return
    done = "done_random" if is_accident(free, selection) else "done"
    show_causal_goal(trace, say(f"lessons.masks.{done}", **compare_largest(trace, free, selection)))


def show_causal_goal(trace: Trace, done: str) -> None:
    """Shows how many pairs the visitor's mask allows or blocks unlike the causal mask.

    done: the text to show if both masks are equal.
    """
    own_pairs = allowed_pairs(trace)[0, 0]  # (T, S)
    ahead = compare_with_causal(own_pairs)
    is_causal = ahead.later == 0 and ahead.missing == 0
    still = say("lessons.masks.still", later=ahead.later, missing=ahead.missing)
    answer = ""
    if are_answers_revealed():
        answer = say("lessons.masks.answer")
    show_goal(is_causal, done, f"{still} {answer}")


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        free = trace_for(own)
        names = list_place_names(free, "T")
        with st.container(width="content"):
            preset = choose_option("mask", MASK_PRESETS, "causal")
    usual = selection_of(free, own).query
    query = get_choice("token", usual, make_place_reader(len(names)))
    own = own.with_fields(token=query if query < len(names) else usual)
    selection = selection_of(free, own)
    window = find_window(preset)
    setup = setup_under_mask(preset, own, free, names, window)
    trace = trace_for(setup)
    runs = list_runs(setup, window) if window else [trace]
    tell_each(window, "masks_fact", [f"##### {fact_sentence(run, selection)}" for run in runs])
    words, painted = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with words:
        ways = [Way(str(position), run, 0, selection) for position, run in enumerate(runs)]
        lines = (say("lessons.masks.asking"), say("lessons.masks.asked"))
        show_threads("hero", ways, window.position if window else 0, lines, take_word, window)
    with painted:
        show_sentence("lessons.masks.control.paint")
        mask_brush(trace, take_painted_mask, window)
    tell_each(window, "masks_kept", [describe_pairs(run, free, selection) for run in runs])
    show_mask_goal(trace, free, selection, preset)
    show_lesson_run(setup, place)
    draw_drawers(LESSON, own, setup)
    show_lesson_code(LESSON, trace)
