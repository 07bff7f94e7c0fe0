"""What RoPE turns, and by how much; the same words further on, every position moved by as much."""

from dataclasses import dataclass, replace

from attention_core.mechanism.config import require_whole
from attention_core.mechanism.positions import ROPE, SINUSOIDAL, pair_columns
from attention_core.record.trace import Step, Trace

Point = tuple[float, float]


@dataclass(frozen=True)
class Rotation:
    """Two numbers of q or k as a point of a plane, before it was turned and after; angle: by how much, in radians."""

    before: Point
    after: Point
    angle: float


def rope_rotation(trace: Trace, role: str, index: tuple[int, int, int], pair: int) -> Rotation:
    r"""What RoPE does to one pair of a query or a key: $R_p$ turns it by $p\,/\,base^{2i/d_k}$.

    trace: a run with RoPE. role: "q" or "k". index: batch, head and token. pair: i, from 0. Source: Su et al. 2021,
    equations 13 and 15.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> found = rope_rotation(attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"])), "q", (0, 0, 1), 0)
    >>> found.before, [round(number, 3) for number in found.after], found.angle  # cos 1, sin 1
    ((1.0, 0.0), [0.54, 0.841], 1.0)
    """
    params, width = trace.step(role).operation.params, trace[role].shape[-1]
    columns = pair_columns(pair, width, params["style"])
    before, after = (
        tuple(trace[step][(*index, column)].item() for column in columns) for step in (f"{role}_heads", role)
    )
    return Rotation(before, after, (index[-1] + params["first_position"]) * params["base"] ** (-2 * pair / width))


def with_shifted_positions(trace: Trace, by: int) -> Trace:
    """The run as it would be if its first word stood `by` positions further on, and all others with it.

    Scores with RoPE stay as they are but for rounding, since $(R_m q)^\\top R_n k$ depends on n - m alone; with ALiBi
    they stay exactly, since only distances count; with sinusoids, which are added to the words, they move.

    trace: any run. by: a whole number, may be below 0. Raises AttentionError (a ValueError) for another. Source: Su et
    al. 2021, equation 16.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).double()
    >>> trace = attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"]))
    >>> further = with_shifted_positions(trace, 7)
    >>> torch.equal(further["q"], trace["q"]), torch.allclose(further["scores"], trace["scores"])
    (False, True)
    """
    require_whole("by", by)
    steps, values = trace.inputs(), {name: step.value for name, step in trace.inputs().items()}
    for name, step in trace.computed().items():
        operation = step.operation
        if operation.faces in (ROPE, SINUSOIDAL):
            moved = {"first_position": operation.params["first_position"] + by}
            operation = replace(operation, params={**operation.params, **moved})
        values[name] = operation.apply(values)
        steps[name] = Step(name, values[name], step.dims, operation)
    return replace(trace, steps={name: steps[name] for name in trace.steps})
