"""Shows the history page: a timeline of milestones, each with authors, contribution and a link to a page."""

from pages.components import timeline
from pages.lessons.frame import draw_page_frame, show_question
from pages.lessons.history.milestone_pictures import draw_milestone
from pages.session.labels import current_palette
from pages.session.linked_state import open_page
from pages.site.milestones import MILESTONES
from pages.site.words import current_language, say, say_title

FIRST_SHOWN = "2017_vaswani"  # the milestone that is selected at first: the attention that this app computes


def show_timeline() -> None:
    """Shows the timeline of milestones; a click on a milestone's link opens its page."""
    data = {
        "start": [*MILESTONES].index(FIRST_SHOWN),
        "entries": [describe_milestone(milestone) for milestone in MILESTONES],
        "text": {word: say(f"lessons.history.{word}") for word in ("line", "seen")},
        "palette": vars(current_palette()),
    }
    opened = timeline(data=data, key="timeline", given={"milestones": MILESTONES}).opened
    if opened is not None:
        slug, link = MILESTONES[opened]
        open_page(slug, link)


def describe_milestone(milestone: str) -> dict:
    """Returns the timeline's data of a milestone: year, authors, text, picture and link."""
    slug, link = MILESTONES[milestone]
    text = say(f"lessons.history.{milestone}")
    _, who, _ = text.split("**", 2)
    address = "&".join(f"{name}={choice}" for name, choice in {"lang": current_language(), **link}.items())
    return {
        "key": milestone,
        "year": milestone.partition("_")[0],
        "who": who,
        "text": text,
        "drawn": say(f"lessons.history.drawn.{milestone}"),
        "shapes": draw_milestone(milestone),
        "address": f"{slug}?{address}",
        "place": say_title(slug),
    }


with draw_page_frame("history"):
    show_question("history")
    show_timeline()
