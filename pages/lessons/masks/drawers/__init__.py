"""The drawers of the lesson on masks, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.masks.drawers.empty_rows import show_nothing
from pages.lessons.masks.drawers.future import show_future
from pages.lessons.masks.drawers.pairs import show_pairs
from pages.lessons.masks.drawers.wirings import show_wirings

LESSON = Lesson(
    "masks",
    drawers={
        "future": show_future,
        "wirings": show_wirings,
        "pairs": show_pairs,
        "nothing": show_nothing,
    },
    code=("masked_scores", "weights", "allowed", "head_outputs"),
)
