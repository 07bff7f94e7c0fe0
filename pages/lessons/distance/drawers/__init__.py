"""The drawers of the lesson on distance."""

from pages.lessons.distance.drawers.encoder_costs import show_encoder_costs
from pages.lessons.distance.drawers.encoding_times import show_encoding_times
from pages.lessons.distance.drawers.fixed_weights import show_fixed_weights
from pages.lessons.distance.drawers.rnn_states import show_recurrence

__all__ = ["show_encoder_costs", "show_encoding_times", "show_fixed_weights", "show_recurrence"]
