"""RoPE's rotation of a pair of numbers, and a run with every position shifted."""

from dataclasses import dataclass, replace

from attention_core.mechanism.plain_checks import require_whole
from attention_core.mechanism.positions import ROPE, SINUSOIDAL, pair_columns, rope_frequency
from attention_core.record.trace import Operation, Trace

Point = tuple[float, float]


@dataclass(frozen=True)
class Rotation:
    """Two numbers of q or k as a point of a plane, before and after its rotation; `angle` is in radians."""

    before: Point
    after: Point
    angle: float


def rope_rotation(trace: Trace, role: str, index: tuple[int, int, int], pair: int) -> Rotation:
    r"""Return RoPE's rotation of one pair of a query or a key: $R_p$ turns it by $p\,/\,base^{2i/d_k}$.

    trace: a run with RoPE. role: "q" or "k". index: batch, head and token. pair: i, from 0. Source: Su et al. 2021,
    equations 13 and 15.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> found = rope_rotation(attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"])), "q", (0, 0, 1), 0)
    >>> found.before, [round(number, 3) for number in found.after], found.angle  # cos 1, sin 1
    ((1.0, 0.0), [0.54, 0.841], 1.0)
    """
    operation = trace.step(role).operation
    params = operation.params
    width = trace.step(role).shape[-1]
    columns = pair_columns(pair, width, params["style"])
    vector_before = trace[operation.reads[0]][index]  # (d_k,)
    vector_after = trace[role][index]
    before = [vector_before[column].item() for column in columns]
    after = [vector_after[column].item() for column in columns]
    position = index[-1] + params["first_position"]
    frequency = rope_frequency(pair, width, **{name: params[name] for name in ("base", "scaling", "factor", "trained")})
    return Rotation(
        before=tuple(before),
        after=tuple(after),
        angle=position * frequency,
    )


def with_shifted_positions(trace: Trace, by: int) -> Trace:
    r"""Compute a run again with all its positions shifted by `by`.

    Scores with RoPE stay the same up to rounding, since $(R_m q)^\top R_n k$ depends on n - m alone; with ALiBi
    they stay exactly, since only distances count; with sinusoids, which are added to the words, they move.

    trace: any run. by: a whole number, which may be below 0. Raises AttentionError (a ValueError) if `by` is not whole.
    Source: Su et al. 2021, equation 16.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).double()
    >>> trace = attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"]))
    >>> further = with_shifted_positions(trace, 7)
    >>> torch.equal(further["q"], trace["q"]), torch.allclose(further["scores"], trace["scores"])
    (False, True)
    """
    require_whole("by", by)
    steps = {}
    values = {}
    for name, step in trace.steps.items():
        if step.operation is None:
            values[name] = step.value
            steps[name] = step
            continue
        operation = shift_operation(step.operation, by)
        values[name] = operation.apply(values)
        steps[name] = replace(step, value=values[name], operation=operation)
    return replace(trace, steps=steps)


def shift_operation(operation: Operation, by: int) -> Operation:
    """Return an operation that uses positions (RoPE, sinusoidal) with its positions shifted; any other unchanged."""
    if operation.faces not in (ROPE, SINUSOIDAL):
        return operation
    first_position = operation.params["first_position"] + by
    params = {**operation.params, "first_position": first_position}
    return replace(operation, params=params)
