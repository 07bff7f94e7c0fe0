"""The drawers of the encoder's lesson, by the names that open them in a link."""

from pages.lessons.encoder.drawers.both_sides import show_both_sides
from pages.lessons.encoder.drawers.norms import show_norms
from pages.lessons.encoder.drawers.residuals import show_residuals
from pages.lessons.encoder.drawers.whole_block import show_whole_block
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "encoder",
    drawers={
        "residual": show_residuals,
        "norm": show_norms,
        "sides": show_both_sides,
        "code": show_whole_block,
    },
)
