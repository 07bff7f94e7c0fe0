"""Lists all pages of the app, in the order of the menu."""

from dataclasses import dataclass
from pathlib import Path

PAGES_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """A page of the app: its slug in the address, its section, its folder and its icon.

    The keys of the page's texts contain the slug. is_in_menu: False for a page that only links and the search open.
    """

    slug: str
    section: str
    folder: str
    icon: str | None = None
    is_in_menu: bool = True

    @property
    def path(self) -> Path:
        """The path of the script that draws the page."""
        return PAGES_FOLDER / self.folder / "page.py"


# The lessons for beginners: the first asks which word a word attends to, before queries and keys are introduced.
PATH = ("start", "qkv", "softmax", "scale", "masks", "heads", "positions", "decoding")
ADVANCED = (
    *("tokens", "scores", "cross"),  # lessons on tokens, scores, and attention to a second sequence
    *("bottleneck", "distance", "cost"),  # lessons on what attention replaced, and what it costs
    *("induction", "explanation", "meaning"),  # lessons on what trained heads do
    *("encoder", "decoder", "models"),  # lessons on whole models: encoder, decoder, published ones
)
COURSE = (*PATH, *ADVANCED)  # all lessons, in the order in which they link to the next
LESSONS = (*COURSE[1:], "printed")  # pages with the layout of a lesson; the start page has a different one
PAGES = (
    PageEntry("workbench", "explore", "workbench", ":material/grid_on:"),
    PageEntry("maps", "explore", "maps", ":material/apps:"),
    PageEntry("present", "explore", "presentation", ":material/slideshow:"),
    PageEntry("start", "learn", "lessons/start"),
    *(PageEntry(slug, "learn", f"lessons/{slug}") for slug in COURSE[1:]),
    PageEntry("glossary", "learn", "lessons/glossary", ":material/menu_book:"),
    PageEntry("history", "learn", "lessons/history", ":material/history_edu:"),
    # the lesson on cost links to this page
    PageEntry("choice", "learn", "lessons/choice", ":material/rule:", is_in_menu=False),
    PageEntry("check", "practise", "practice/check", ":material/fact_check:"),
    PageEntry("printed", "practise", "lessons/printed", ":material/find_in_page:"),
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
)  # pages with answers that stay hidden until the visitor has guessed
# Query parameters of a link to the start page -> the page that it opens instead.
DOORS = {"see": "workbench", "model": "workbench", "learn": PATH[1], "teach": "present"}
BESIDE_LESSONS = ("glossary", "history", "choice", "check", "puzzles", "bugs")  # pages without the layout of a lesson
