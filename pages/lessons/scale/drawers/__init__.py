"""The drawers of the lesson on the scale."""

from pages.lessons.scale.drawers.broken_assumptions import show_broken_assumptions
from pages.lessons.scale.drawers.score_histogram import show_score_histogram
from pages.lessons.scale.drawers.softmax_gradient import show_softmax_gradient
from pages.lessons.scale.drawers.variance import show_variance

__all__ = ["show_broken_assumptions", "show_score_histogram", "show_softmax_gradient", "show_variance"]
