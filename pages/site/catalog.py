"""The list of all pages, in the order of the menu."""

from dataclasses import dataclass
from pathlib import Path

PAGES_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """A page: its slug in the address, its section, its folder, its icon. The keys of its texts contain the slug."""

    slug: str
    section: str
    folder: str
    icon: str | None = None

    @property
    def path(self) -> Path:
        """The path of the script that draws the page."""
        return PAGES_FOLDER / self.folder / "page.py"


LESSONS = (
    *("bottleneck", "distance"),  # why attention was introduced
    "tokens",  # the input
    *("qkv", "softmax", "scale", "scores"),  # how attention is computed
    *("masks", "heads", "positions", "cross"),  # what a layer adds
    *("decoding", "cost"),  # memory and time
    *("induction", "explanation", "meaning"),  # what trained heads do
    *("encoder", "decoder"),  # the Transformer block
    *("models", "printed"),
)
PAGES = (
    PageEntry("workbench", "explore", "workbench", ":material/grid_on:"),
    PageEntry("maps", "explore", "maps", ":material/apps:"),
    PageEntry("present", "explore", "presentation", ":material/slideshow:"),
    PageEntry("start", "learn", "lessons/start", ":material/flag:"),
    *(PageEntry(slug, "learn", f"lessons/{slug}") for slug in LESSONS),
    PageEntry("glossary", "learn", "lessons/glossary", ":material/menu_book:"),
    PageEntry("history", "learn", "lessons/history", ":material/history_edu:"),
    PageEntry("choice", "learn", "lessons/choice", ":material/rule:"),
    PageEntry("check", "practise", "practice/check", ":material/fact_check:"),
    PageEntry("puzzles", "practise", "practice/puzzles", ":material/extension:"),
    PageEntry("bugs", "practise", "practice/bugs", ":material/bug_report:"),
)
PAGES_BY_SLUG = {page.slug: page for page in PAGES}
PAGES_WITH_ANSWERS = (
    "start",
    *LESSONS,
    "check",
    "puzzles",
    "bugs",
)  # the pages that hide an answer until it is guessed
DOORS = {"see": "workbench", "learn": LESSONS[0], "teach": "present"}  # the entry links of the start page
BESIDE_LESSONS = ("glossary", "history", "choice", "check", "puzzles", "bugs")  # on the start page, under the lessons
