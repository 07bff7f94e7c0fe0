"""The drawers of the lesson on cost, by the names that open them in a link."""

from pages.lessons.cost.drawers.batch import show_batch
from pages.lessons.cost.drawers.online_softmax import show_online_softmax
from pages.lessons.cost.drawers.precision import show_precision
from pages.lessons.cost.drawers.skipped_pairs import show_skipped_pairs
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "cost",
    drawers={
        "stored": show_online_softmax,
        "skip": show_skipped_pairs,
        "precision": show_precision,
        "batch": show_batch,
    },
    code=("scores", "weights", "head_outputs", "maximum_2", "powers_2", "faded_2", "total_2", "mixed_2"),
)
