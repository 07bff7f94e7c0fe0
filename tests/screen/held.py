"""What a session holds when its visitor has left: every object that its state leads to."""

import gc
import sys
import threading
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType

import torch
from streamlit.testing.v1 import AppTest

# Of the process: they are there without the session, too. What a thread keeps goes with the thread that draws.
NOT_HELD = (type, ModuleType, BuiltinFunctionType, threading.local)


def reached(*roots: object) -> Iterator[tuple[object, tuple[object, ...]]]:
    """Every object that roots lead to, once, with the way to it. Of a function what it closes over, not its module."""
    waiting, seen = [(root, ()) for root in roots], set()
    while waiting:
        each, way = waiting.pop()
        if id(each) in seen or isinstance(each, NOT_HELD):
            continue
        seen.add(id(each))
        yield each, way
        if isinstance(each, FunctionType):
            parts = [each.__closure__, each.__defaults__, each.__kwdefaults__]
        else:
            parts = gc.get_referents(each)
        waiting += [(part, (*way, each)) for part in parts]


def size_of(each: object) -> int:
    """Bytes of one object, with the numbers of a tensor."""
    numbers = each.untyped_storage().nbytes() if isinstance(each, torch.Tensor) else 0
    return sys.getsizeof(each) + numbers


def held_by(session: AppTest) -> list[tuple[object, tuple[object, ...]]]:
    """What the server keeps of a session: its state, what its widgets call, and the parts of its page."""
    return list(reached(session._session_state._state, session._fragment_storage))
