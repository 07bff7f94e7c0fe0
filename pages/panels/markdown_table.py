"""Writes tables in Markdown."""

from collections.abc import Sequence

NUMBERS = "--:"  # Markdown rule of a right-aligned column of numbers, each of which page.css keeps on one line
WORDS = "---"


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]], rules: Sequence[str] = ()) -> str:
    """Returns a Markdown table of cells that are already Markdown.

    rules: the Markdown under each column's title, NUMBERS or WORDS; () for columns of words.

    >>> make_table(["a", "b"], [["x", "2"]], [WORDS, NUMBERS])
    '| a | b |\\n| --- | --: |\\n| x | 2 |'
    """
    lines = [head, rules or [WORDS] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
