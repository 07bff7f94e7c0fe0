"""The drawers of the lesson on meaning, by the names that open them in a link."""

from pages.lessons.meaning.drawers.conclusion import show_conclusion
from pages.lessons.meaning.drawers.every_head import show_every_head
from pages.lessons.meaning.drawers.forced_look import show_forced_look
from pages.lessons.meaning.drawers.growing_head import show_growing_heads

DRAWERS = {
    "grow": show_growing_heads,
    "every": show_every_head,
    "why": show_forced_look,
    "conclude": show_conclusion,
}
