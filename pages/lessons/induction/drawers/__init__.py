"""The drawers of the lesson on copying."""

from pages.lessons.frame import Lesson
from pages.lessons.induction.drawers.appearing_heads import show_appearing_heads
from pages.lessons.induction.drawers.layers import show_layers
from pages.lessons.induction.drawers.one_layer import show_one_layer
from pages.lessons.induction.drawers.predicted_text import show_predicted_text

LESSON = Lesson(
    "induction",
    drawers={
        "one_layer": show_one_layer,
        "layers": show_layers,
        "appear": show_appearing_heads,
        "typed": show_predicted_text,
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
