"""The drawers of the lesson on explanation, by the names that open them in a link."""

from pages.lessons.explanation.drawers.conclusion import show_conclusion
from pages.lessons.explanation.drawers.other_weights import show_other_weights
from pages.lessons.explanation.drawers.spare_heads import show_spare_heads
from pages.lessons.explanation.drawers.witnesses import show_witnesses
from pages.lessons.frame import Lesson
from pages.lessons.prompts import after_guess

LESSON = Lesson(
    "explanation",
    drawers={
        "witness": show_witnesses,
        "others": after_guess(show_other_weights),
        "spare": after_guess(show_spare_heads),
        "conclude": after_guess(show_conclusion),
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
