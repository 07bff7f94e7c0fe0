"""The drawers of the lesson on copying."""

from pages.lessons.induction.drawers.appearing_heads import show_appearing_heads
from pages.lessons.induction.drawers.layers import show_layers
from pages.lessons.induction.drawers.one_layer import show_one_layer
from pages.lessons.induction.drawers.predicted_text import show_predicted_text

__all__ = ["show_appearing_heads", "show_layers", "show_one_layer", "show_predicted_text"]
