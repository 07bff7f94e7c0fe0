"""The drawers of the lesson on explanation, by the names that open them in a link."""

from pages.lessons.explanation.drawers.conclusion import show_conclusion
from pages.lessons.explanation.drawers.other_weights import show_other_weights
from pages.lessons.explanation.drawers.spare_heads import show_spare_heads
from pages.lessons.explanation.drawers.witnesses import show_witnesses

DRAWERS = {
    "witness": show_witnesses,
    "others": show_other_weights,
    "spare": show_spare_heads,
    "conclude": show_conclusion,
}
