"""Parsing of Python source that is safe in threads, which sessions are."""

import ast
from threading import Lock

# CPython 3.11 counts the depth of a tree in one place for all threads. A collection of garbage in the middle may let
# another thread in, and both counts are wrong then: "AST constructor recursion depth mismatch", python/cpython#106905.
PARSING = Lock()


def parse_source(text: str, mode: str = "exec") -> ast.Module | ast.Expression:
    """Parse Python source, one thread at a time. mode: "eval" for one expression. Raises what ast.parse does.

    >>> [type(statement).__name__ for statement in parse_source("x = 1").body]
    ['Assign']
    """
    with PARSING:
        return ast.parse(text, mode=mode)
