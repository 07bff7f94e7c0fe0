"""The drawers of the decoder's lesson, by the names that open them in a link."""

from pages.lessons.decoder.drawers.decoder_alone import show_decoder_alone
from pages.lessons.decoder.drawers.shapes import show_shapes
from pages.lessons.decoder.drawers.sum_of_parts import show_sum_of_parts
from pages.lessons.decoder.drawers.whole_block import show_whole_block
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "decoder",
    drawers={
        "sum": show_sum_of_parts,
        "alone": show_decoder_alone,
        "shapes": show_shapes,
        "code": show_whole_block,
    },
)
