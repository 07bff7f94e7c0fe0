"""The drawers of the lesson on scores, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.scores.drawers.additive_layer import show_additive_layer
from pages.lessons.scores.drawers.cosine_ceiling import show_cosine_ceiling
from pages.lessons.scores.drawers.score_costs import show_score_costs
from pages.lessons.scores.drawers.widths import show_widths

LESSON = Lesson(
    "scores",
    drawers={
        "inside": show_additive_layer,
        "widths": show_widths,
        "ceiling": show_cosine_ceiling,
        "cost": show_score_costs,
    },
    code=("hidden", "scores", "scaled_scores", "weights"),
)
