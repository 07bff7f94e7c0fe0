"""Lists all pages of the app, in the order of the menu."""

from dataclasses import dataclass
from pathlib import Path

PAGES_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """A page of the app: its slug in the address, its section, its folder and its icon.

    The keys of the page's texts contain the slug.
    """

    slug: str
    section: str
    folder: str
    icon: str | None = None

    @property
    def path(self) -> Path:
        """The path of the script that draws the page."""
        return PAGES_FOLDER / self.folder / "page.py"


LESSONS = (
    *("bottleneck", "distance"),  # lessons on why attention was introduced
    "tokens",  # a lesson on the input of attention
    *("qkv", "softmax", "scale", "scores"),  # lessons on how attention is computed
    *("masks", "heads", "positions", "cross"),  # lessons on what else a layer has
    *("decoding", "cost"),  # lessons on memory and time
    *("induction", "explanation", "meaning"),  # lessons on what trained heads do
    *("encoder", "decoder"),  # lessons on the Transformer block
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
)  # pages that hide an answer until the visitor has guessed it
DOORS = {"see": "workbench", "learn": LESSONS[0], "teach": "present"}  # entry link of the start page -> its page
BESIDE_LESSONS = ("glossary", "history", "choice", "check", "puzzles", "bugs")  # on the start page under the lessons
