"""The accordions of the lesson on decoding, by the names that open them in a link."""

from pages.lessons.decoding.drawers.cache_contents import show_what_is_kept
from pages.lessons.decoding.drawers.cache_size import show_cache_size
from pages.lessons.decoding.drawers.counted_keys import show_counted_keys
from pages.lessons.decoding.drawers.filled_gap import show_filled_gap
from pages.lessons.frame import Lesson

LESSON = Lesson(
    "decoding",
    drawers={
        "count": show_counted_keys,
        "size": show_cache_size,
        "kept": show_what_is_kept,
        "middle": show_filled_gap,
    },
    code=("k", "k_new", "v", "scores", "weights", "head_outputs", "output"),
)
