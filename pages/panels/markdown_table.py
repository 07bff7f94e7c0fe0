"""A table in Markdown."""

from collections.abc import Sequence


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """A table of cells that are Markdown already. rule: what stands under each column, "--:" for those at the right.

    >>> make_table(["a", "b"], [["1", "2"]])
    '| a | b |\\n| --- | --- |\\n| 1 | 2 |'
    """
    lines = [head, [rule] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
