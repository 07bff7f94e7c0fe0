"""Writes tables in Markdown."""

from collections.abc import Sequence


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """Returns a Markdown table of cells that are already Markdown.

    rule: the Markdown under each column's title, which sets the alignment; "--:" aligns the column right.

    >>> make_table(["a", "b"], [["1", "2"]])
    '| a | b |\\n| --- | --- |\\n| 1 | 2 |'
    """
    lines = [head, [rule] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
