"""The lesson on the worked example, drawer "rounding": did rounding do it?"""

from attention_core.comparison.distances import abs_difference
from attention_core.exercises.rounding import find_farthest_from, rounding_reach, with_rounded_weights
from attention_core.exercises.worked_example import CheckedWork, largest_written_error, rounding_explains
from attention_core.record.number_text import format_fixed
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import count_marked_numbers
from pages.panels.link_controls import slide
from pages.setup.setup import Setup


def show_rounding(checked: CheckedWork, _: Setup) -> None:
    """Writes the weights with a few decimals: what becomes of Z, and how far it can move at most."""
    digits = slide("digits", range(4), 2)
    trace = with_rounded_weights(checked.trace, digits)
    moved = abs_difference(trace["rounded_outputs"], trace["head_outputs"]).max()
    reach = rounding_reach(trace, "head_outputs", "weights", digits).max()
    row_sums = trace["rounded_weights"].sum(-1)
    written_error = largest_written_error(checked, "head_outputs")
    values = {
        "digits": digits,
        "moved": format_fixed(moved.item(), 4),
        "most": format_fixed(reach.item(), 4),
        "off": format_fixed(written_error),
        "sum": format_fixed(find_farthest_from(row_sums, 1.0), digits),
    }
    show_sentence("lessons.printed.rounded", **values)
    counts = count_marked_numbers(checked.marked["head_outputs"])
    if counts["count"]:
        is_explained = rounding_explains(checked, "head_outputs", "weights", digits)
        verdict = "rounding_may" if is_explained else "rounding_not"
        show_sentence(f"lessons.printed.{verdict}", **values)
    show_step_picture("rounding", trace, "rounded_outputs", FIRST_SELECTION)
