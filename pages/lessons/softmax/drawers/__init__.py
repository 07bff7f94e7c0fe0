"""The drawers of the lesson on softmax."""

from pages.lessons.softmax.drawers.close_numbers import show_close_numbers
from pages.lessons.softmax.drawers.jacobian import show_slopes
from pages.lessons.softmax.drawers.many_numbers import show_many_numbers
from pages.lessons.softmax.drawers.stable_softmax import show_stable_softmax

__all__ = ["show_close_numbers", "show_many_numbers", "show_slopes", "show_stable_softmax"]
