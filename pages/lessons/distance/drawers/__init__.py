"""The accordions of the lesson on distance."""

from pages.lessons.distance.drawers.encoder_costs import show_encoder_costs
from pages.lessons.distance.drawers.encoding_times import show_encoding_times
from pages.lessons.distance.drawers.fixed_weights import show_fixed_weights
from pages.lessons.distance.drawers.rnn_states import show_recurrence
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "distance",
    drawers={
        "states": show_recurrence,
        "cost": show_encoder_costs,
        "time": show_encoding_times,
        "fixed": show_fixed_weights,
    },
    code=("h_1", "scores", "weights", "head_outputs"),
)
