"""Parses Python source one thread at a time, because each session of the app runs in its own thread."""

import ast
from threading import Lock

# CPython 3.11: ast.parse may raise "recursion depth mismatch" if two threads parse at once (python/cpython#106905).
PARSING = Lock()


def parse_source(text: str, mode: str = "exec") -> ast.Module | ast.Expression:
    """Parse Python source, one thread at a time, and raise the errors of ast.parse.

    mode: "exec" for statements, "eval" for a single expression.

    >>> [type(statement).__name__ for statement in parse_source("x = 1").body]
    ['Assign']
    """
    with PARSING:
        return ast.parse(text, mode=mode)
