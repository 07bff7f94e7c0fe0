"""The one list of pages."""

from dataclasses import dataclass
from pathlib import Path

PAGES_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """A page: its file's name, its section, its icon. Its words stand in the content under its name."""

    slug: str
    section: str
    icon: str | None = None

    @property
    def path(self) -> Path:
        """Its file."""
        return PAGES_FOLDER / f"{self.slug}.py"


LESSONS = (
    "qkv",
    "softmax",
    "scale",
    "scores",
    "masks",
    "heads",
    "positions",
    "cross",
    "distance",
    "decoding",
    "cost",
    "printed",
    "bottleneck",
    "induction",
    "explanation",
)
PAGES = (
    PageEntry("workbench", "explore", ":material/grid_on:"),
    PageEntry("present", "explore", ":material/slideshow:"),
    PageEntry("start", "learn", ":material/flag:"),
    *(PageEntry(slug, "learn") for slug in LESSONS),
    PageEntry("glossary", "learn", ":material/menu_book:"),
    PageEntry("history", "learn", ":material/history_edu:"),
    PageEntry("check", "practise", ":material/fact_check:"),
    PageEntry("puzzles", "practise", ":material/extension:"),
    PageEntry("bugs", "practise", ":material/bug_report:"),
)
PAGE = {page.slug: page for page in PAGES}
ASKING = ("start", *LESSONS, "check", "puzzles", "bugs")  # the pages that hide an answer until it is guessed
DOORS = {"explore": "workbench", "learn": LESSONS[0], "practise": "check", "history": "history"}  # of the start
