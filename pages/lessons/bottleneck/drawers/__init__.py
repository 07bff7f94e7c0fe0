"""The drawers of the lesson on one vector."""

from pages.lessons.bottleneck.drawers.decoder_step import show_decoder_step
from pages.lessons.bottleneck.drawers.growing_alignment import show_growing_alignment
from pages.lessons.bottleneck.drawers.smeared_states import show_smeared_states
from pages.lessons.bottleneck.drawers.untrained_texts import show_untrained
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "bottleneck",
    drawers={
        "growing": show_growing_alignment,
        "one_step": show_decoder_step,
        "untrained": show_untrained,
        "smear": show_smeared_states,
    },
    code=("hidden", "scores", "weights", "head_outputs"),
)
