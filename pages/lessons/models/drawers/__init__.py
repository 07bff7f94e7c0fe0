"""The drawers of the lesson on today's models, by the names that open them in a link, after the list of all models."""

from pages.lessons.frame import Lesson
from pages.lessons.models.drawers.cache_growth import show_cache_growth
from pages.lessons.models.drawers.layer_kinds import show_layer_kinds
from pages.lessons.models.drawers.model_list import show_model_list
from pages.lessons.models.drawers.one_change import show_one_change

LESSON = Lesson(
    "models",
    drawers={
        "read": show_model_list,
        "one": show_one_change,
        "cache": show_cache_growth,
        "layers": show_layer_kinds,
    },
    code=("q", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs"),
)
