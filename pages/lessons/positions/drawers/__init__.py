"""The drawers of the lesson on positions, by the names that open them in a link."""

from pages.lessons.positions.drawers.distance import show_distance
from pages.lessons.positions.drawers.order import show_order
from pages.lessons.positions.drawers.score_parts import show_score_parts
from pages.lessons.positions.drawers.sines import show_sines

DRAWERS = {
    "sines": show_sines,
    "order": show_order,
    "distance": show_distance,
    "parts": show_score_parts,
}
