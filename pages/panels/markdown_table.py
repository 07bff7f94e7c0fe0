"""A table in Markdown."""

from collections.abc import Sequence


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """A Markdown table of cells that are already Markdown. rule: under each column, "--:" aligns right.

    >>> make_table(["a", "b"], [["1", "2"]])
    '| a | b |\\n| --- | --- |\\n| 1 | 2 |'
    """
    lines = [head, [rule] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
