"""The lesson on positions, drawer "distance": what do RoPE and ALiBi do at a distance?"""

from pages.lessons.frame import choose_sight
from pages.lessons.positions.drawers.alibi_slopes import show_alibi_slopes
from pages.lessons.positions.drawers.rotation import show_rotation
from pages.lessons.positions.drawers.score_decay import show_score_decay
from pages.setup.setup import Setup


def show_distance(setup: Setup) -> None:
    """Shows RoPE as a rotation, its score against the distance, or ALiBi's slopes."""
    sights = {
        "turn": show_rotation,
        "curve": show_score_decay,
        "alibi": show_alibi_slopes,
    }
    show_sight = choose_sight("by", sights)
    show_sight(setup)
