"""The lesson on softmax, drawer "slope": how far does a weight move when one score moves?"""

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.drawing.bars import Row
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_term
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import FIRST_SELECTION, show_bar_rows, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.lessons.softmax.drawers.cross_entropy import show_cross_entropy
from pages.lessons.softmax.given_numbers import ONLY_ROW, list_scores, name_if_divided
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say


def show_slopes(setup: Setup) -> None:
    """Shows how the shares move with a score, or how a loss does."""
    show_sight = choose_sight("moves", {"shares": show_jacobian, "loss": show_cross_entropy})
    show_sight(setup)


def show_jacobian(setup: Setup) -> None:
    """Shows the Jacobian: how far each weight moves when one score moves."""
    trace = with_jacobian(trace_for(setup))
    scores = list_scores(trace)
    moved = pick_place("moved", scores, 0, width=240)
    own_slope = trace["jacobian"][(*ONLY_ROW, moved, moved)]
    divided = name_if_divided(setup)
    show_sentence(
        f"lessons.softmax.slope{divided}",
        score=scores[moved],
        T=format_term(setup.temperature),
        own=format_fixed(own_slope.item(), 3),
    )
    column = [Ref("jacobian", (*ONLY_ROW, weight, moved)) for weight in range(len(scores))]
    title = say(f"lessons.softmax.row_slope{divided}", score=scores[moved])
    row = Row(title, trace, column)
    alt = say("step.alt", step="jacobian")
    show_bar_rows("column", [row], scores, {"": trace}, trace, alt)
    show_step_picture("jacobian", trace, "jacobian", FIRST_SELECTION)
