"""The drawers of the lesson on meaning, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.meaning.drawers.conclusion import show_conclusion
from pages.lessons.meaning.drawers.every_head import show_every_head
from pages.lessons.meaning.drawers.forced_look import show_forced_look
from pages.lessons.meaning.drawers.growing_head import show_growing_heads
from pages.lessons.prompts import after_guess

LESSON = Lesson(
    "meaning",
    drawers={
        "grow": after_guess(show_growing_heads),
        "every": after_guess(show_every_head),
        "why": after_guess(show_forced_look),
        "conclude": after_guess(show_conclusion),
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
