"""The drawers of the lesson on one vector."""

from pages.lessons.bottleneck.drawers.decoder_step import show_decoder_step
from pages.lessons.bottleneck.drawers.growing_alignment import show_growing_alignment
from pages.lessons.bottleneck.drawers.smeared_states import show_smeared_states
from pages.lessons.bottleneck.drawers.untrained_texts import show_untrained

__all__ = ["show_decoder_step", "show_growing_alignment", "show_smeared_states", "show_untrained"]
