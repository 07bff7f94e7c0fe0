"""The drawers of the lesson on the scale."""

from pages.lessons.frame import Lesson
from pages.lessons.scale.drawers.broken_assumptions import show_broken_assumptions
from pages.lessons.scale.drawers.score_histogram import show_score_histogram
from pages.lessons.scale.drawers.softmax_gradient import show_softmax_gradient
from pages.lessons.scale.drawers.variance import show_variance

LESSON = Lesson(
    "scale",
    drawers={
        "variance": show_variance,
        "gradient": show_softmax_gradient,
        "breaks": show_broken_assumptions,
        "scores": show_score_histogram,
    },
    code=("scores", "scaled_scores", "weights", "jacobian"),
)
