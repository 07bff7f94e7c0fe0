"""The drawers of the lesson on query, key and value, by the names that open them in a link."""

from pages.lessons.frame import Lesson
from pages.lessons.qkv.drawers.matrix_change import show_matrix_change
from pages.lessons.qkv.drawers.roles import show_roles
from pages.lessons.qkv.drawers.row_alone import show_row_alone
from pages.lessons.qkv.drawers.shapes import show_shapes

LESSON = Lesson(
    "qkv",
    drawers={
        "roles": show_roles,
        "shapes": show_shapes,
        "change": show_matrix_change,
        "row": show_row_alone,
    },
    code=("q_projected", "q", "scores", "scaled_scores", "weights", "head_outputs", "concat", "output"),
)
