"""The one list of pages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PageEntry:
    """A page: its file's name, its section, its icon. Its words stand in the content under its name."""

    slug: str
    section: str
    icon: str


PAGES = (PageEntry("workbench", "explore", ":material/grid_on:"),)
