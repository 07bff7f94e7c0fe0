"""Weight updates in low precision: an update much smaller than the weight leaves it unchanged by rounding."""

from collections.abc import Sequence

import torch

from attention_core.mechanism.operations import ADD
from attention_core.mechanism.plan import run_plan
from attention_core.record.trace import Operation, Step, Trace
from attention_core.verification.precision import PRECISIONS

UPDATE_DIMS = ("update",)


def add_updates(weight: float, updates: Sequence[float], dtype: str) -> Trace:
    r"""Return a Trace that adds each update to a weight in a precision: the steps `weight`, `update` and `moved`.

    $w' = \mathrm{round}(w + u)$

    dtype: one of PRECISIONS. An update of at most half the gap to the next number of the precision changes nothing
    (Micikevicius et al. 2018, Mixed Precision Training, section 3.1).

    >>> add_updates(1.0, (2.0**-10, 2.0**-12), "float16")["moved"].tolist()
    [1.0009765625, 1.0]
    """
    number = PRECISIONS[dtype]
    update = torch.tensor(updates, dtype=number)  # (n,)
    inputs = {
        "weight": Step("weight", torch.full_like(update, weight), UPDATE_DIMS),
        "update": Step("update", update, UPDATE_DIMS),
    }
    return run_plan(inputs, [Operation("moved", UPDATE_DIMS, ("weight", "update"), ADD)])


def repeat_update(weight: float, update: float, times: int, dtype: str, kept: str) -> float:
    """Add an update to a weight many times; return the weight in the precision of the run.

    dtype: the precision of the run; kept: that in which the weight is kept between two updates. Both are of PRECISIONS.

    >>> [repeat_update(1.0, 2.0**-12, 1024, "float16", kept) for kept in ("float16", "float32")]
    [1.0, 1.25]
    """
    moved = torch.tensor(weight, dtype=PRECISIONS[kept])
    for _ in range(times):
        moved = moved + update
    return moved.to(PRECISIONS[dtype]).item()


def spacing_after_one(dtype: str) -> float:
    """Return the gap between 1 and the next larger number of a precision.

    >>> spacing_after_one("float16") == 2.0**-10
    True
    """
    return torch.finfo(PRECISIONS[dtype]).eps


def smallest_number(dtype: str) -> float:
    """Return the smallest positive number of a precision; half of it or less is rounded to 0.

    >>> smallest_number("float16") == 2.0**-24
    True
    """
    return torch.finfo(PRECISIONS[dtype]).smallest_normal * spacing_after_one(dtype)
