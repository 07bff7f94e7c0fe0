"""The drawers of the lesson on heads, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.heads.drawers.contributions import show_contributions
from pages.lessons.heads.drawers.explaining_weights import show_explaining_weights
from pages.lessons.heads.drawers.head_split import show_head_split
from pages.lessons.heads.drawers.sharing import show_sharing

LESSON = Lesson(
    "heads",
    drawers={
        "bring": show_contributions,
        "split": show_head_split,
        "share": show_sharing,
        "explain": show_explaining_weights,
    },
    code=("q", "scores", "weights", "head_outputs", "concat", "output"),
)
