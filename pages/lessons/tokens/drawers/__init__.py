"""The drawers of the lesson on tokens, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.tokens.drawers.chinese_cuts import show_chinese_cuts
from pages.lessons.tokens.drawers.lengths import show_lengths
from pages.lessons.tokens.drawers.merges import show_merges
from pages.lessons.tokens.drawers.vectors import show_vectors

LESSON = Lesson(
    "tokens",
    drawers={
        "merges": show_merges,
        "vectors": show_vectors,
        "chinese": show_chinese_cuts,
        "lengths": show_lengths,
    },
)
