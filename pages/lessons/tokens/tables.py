"""Tables of the lesson on tokens, in Markdown: a line for each of a few properties."""

from collections.abc import Sequence

from pages.site.words import escape_markdown, say


def draw_table(lines: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table whose lines are called by the lesson's words. lines: (name, its cells), all with as many cells."""
    (name, cells), *others = lines
    rule = "|---" * (len(cells) + 1)
    drawn = [draw_line(name, cells), f"{rule}|"]
    drawn += [draw_line(name, cells) for name, cells in others]
    return "\n".join(drawn)


def draw_line(name: str, cells: Sequence[str]) -> str:
    """One line, its name in bold."""
    title = say(f"lessons.tokens.line_{name}")
    escaped = [escape_markdown(cell).replace("|", "\\|") for cell in cells]
    return f"| **{title}** | {' | '.join(escaped)} |"
