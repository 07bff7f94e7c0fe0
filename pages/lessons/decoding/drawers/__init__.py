"""The drawers of the lesson on decoding, by the names that open them in a link."""

from pages.lessons.decoding.drawers.cache_contents import show_cache_contents
from pages.lessons.decoding.drawers.cache_size import show_cache_size
from pages.lessons.decoding.drawers.linear_state import show_linear_state
from pages.lessons.decoding.drawers.same_attention import show_same_attention

DRAWERS = {
    "same": show_same_attention,
    "size": show_cache_size,
    "kept": show_cache_contents,
    "state": show_linear_state,
}
