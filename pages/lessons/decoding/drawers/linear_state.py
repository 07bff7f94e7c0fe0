"""The lesson on decoding, drawer "kept": must a query meet every key?"""

from dataclasses import replace

from attention_core import Trace
from attention_core.explanation.layout import panel
from attention_core.record.number_text import format_grouped, format_or_scientific
from attention_core.variants.linear_recurrence import count_seen, count_state_numbers, gap_to_map, with_linear_states
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_panels
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.session.labels import Selection, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

LINEAR = {"score": "linear", "normaliser": "share", "masks": ("causal",)}


def show_linear_state(setup: Setup) -> None:
    """Shows linear attention twice: as a map of weights, and as a state of fixed size that each token is added to."""
    setup = replace(setup, **LINEAR)
    trace = trace_for(setup)
    query = pick_place("reads", list_place_names(trace, "T"), selection_of(trace, setup).query)
    setup = replace(setup, token=query)
    seen = count_seen(query)
    longer = with_linear_states(trace, seen)
    say_what_is_kept(longer, seen)
    show_state(longer, seen, selection_of(trace, setup))
    link_to_workbench(setup, "state")


def say_what_is_kept(longer: Trace, seen: int) -> None:
    """Shows the size of the state, and the largest gap between its output and that of the map."""
    sizes = longer.sizes()
    show_sentence(
        "lessons.decoding.linear_state",
        seen=seen,
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        numbers=format_grouped(count_state_numbers(sizes["d_k"], sizes["d_v"])),
        gap=format_or_scientific(gap_to_map(longer, seen)),
    )


def show_state(longer: Trace, seen: int, selection: Selection) -> None:
    """Shows the state after a word, and what the word reads from it; a click opens any number."""
    at = {"B": selection.batch, "H": selection.head, "H_kv": selection.kv}
    alt = say("lessons.decoding.state_alt")
    memory = [panel(longer, f"memory_{seen}", at)]
    show_panels("memory", memory, longer, [say("lessons.decoding.title_memory", seen=seen)], alt)
    outputs = [panel(longer, f"{name}_{seen}", at) for name in ("read", "linear_output")]
    titles = [say(f"lessons.decoding.title_{name}", seen=seen) for name in ("read", "linear_output")]
    show_panels("linear_output", outputs, longer, titles, alt)
