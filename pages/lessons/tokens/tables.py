"""Tables of the lesson on tokens, in Markdown: a line for each of a few properties."""

from collections.abc import Sequence

from pages.panels.markdown_table import make_table
from pages.site.words import escape_markdown, say


def draw_table(lines: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table whose lines are called by the lesson's words. lines: (name, its cells), all with as many cells."""
    head, *others = [draw_line(name, cells) for name, cells in lines]
    return make_table(head, others)


def draw_line(name: str, cells: Sequence[str]) -> list[str]:
    """One line, its name in bold."""
    title = say(f"lessons.tokens.line_{name}")
    return [f"**{title}**", *[escape_markdown(cell).replace("|", "\\|") for cell in cells]]
