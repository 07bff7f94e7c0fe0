"""The drawers of the lesson on cross-attention, by the names that open them in a link."""

from pages.lessons.cross.drawers.context_vector import show_context_vector
from pages.lessons.cross.drawers.decoder import show_decoder
from pages.lessons.cross.drawers.lengths import show_lengths
from pages.lessons.cross.drawers.patches import show_patches
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "cross",
    drawers={
        "lengths": show_lengths,
        "decoder": show_decoder,
        "context_vector": show_context_vector,
        "patches": show_patches,
    },
    code=("q", "k", "scores", "scaled_scores", "weights", "head_outputs", "output"),
)
