"""Names masks that were given as a tensor, so that a mistake has the same name however the mask was given."""

from dataclasses import replace

import torch
from torch import Tensor

from attention_core.mechanism.masks import ALL_ALLOW, CAUSAL, LOCAL, PADDING, SLIDING
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.trace import Operation, Step, Trace


def with_named_masks(trace: Trace) -> Trace:
    """Return the same run with a mask tensor replaced by those of MASKS that give it: causal, sliding, local, padding.

    trace: any run. A tensor that is a window and a mask of keys together becomes two masks; a mask of keys that is no
    padding at the end stays a tensor, allowed_custom. A run whose mask has another form, or that has such a mask by
    name already, is returned unchanged.

    >>> from attention_core import attend_qkv
    >>> q = torch.eye(3)
    >>> trace = attend_qkv(q, q, q, allowed=torch.ones(3, 3).tril().bool())
    >>> with_named_masks(trace).step("allowed").operation.formula(str)
    'j \\\\le i'
    """
    given = next((name for name in ("allowed_custom", "allowed") if name in trace.inputs()), None)
    if given is None:
        return trace
    device = trace[given].device
    parts = split_mask(trace[given].cpu(), trace["scores"].shape)
    others = [name for name in trace.steps if name.startswith("allowed_") and name != given]
    if not parts or set(parts) & set(others):
        return trace
    names = [*others, *parts]
    if len(names) == 1:
        parts = {"allowed": parts[names[0]]}
    here = trace.step("masked_scores").operation.reads[0]
    inputs = {name: step for name, step in trace.inputs().items() if name != given}
    plan = [operation_on(here, name, part) for name, part in parts.items() if not isinstance(part, Tensor)]
    inputs |= {
        name: Step(name, part.to(device), SCORE_DIMS) for name, part in parts.items() if isinstance(part, Tensor)
    }
    if len(names) > 1:
        plan.append(Operation("allowed", SCORE_DIMS, tuple(names), ALL_ALLOW))
    operations = []
    for name, step in trace.computed().items():
        if name == "allowed":
            continue
        if name == "masked_scores":
            operations += plan
        operations.append(step.operation)
    return replace(trace, steps=inputs).then(*operations)


def operation_on(here: str, name: str, part: tuple) -> Operation:
    """Return a named mask as an operation. here: the scores whose shape it has. part: its faces and parameters."""
    faces, params = part
    return Operation(name, SCORE_DIMS, (here,), faces, params)


def split_mask(mask: Tensor, pairs: tuple[int, ...]) -> dict[str, object]:
    """Split a mask into a window of keys around each query and a mask of keys; {} if it is not both together.

    mask: boolean (B, H, T, S); axes may be 1. pairs: (B, H, T, S) of the run. Returns {name of the step: (faces,
    parameters), or the tensor of a mask of keys}.
    """
    T, S = pairs[-2:]
    mask = mask.expand(*mask.shape[:2], T, S)
    if mask.all() or not mask.any():
        return {}
    keys = mask.any(-2, keepdim=True)  # (B, H, 1, S)
    if torch.equal(mask, keys.expand_as(mask)):
        return name_keys(keys, pairs)
    window = find_window(mask.flatten(0, 1).any(0))
    if window is None:
        return {}
    name, faces, params = window
    band = faces.torch(torch.zeros(1, 1, T, S), **params)  # (1, 1, T, S)
    if torch.equal(mask, band.expand_as(mask)):
        return {f"allowed_{name}": (faces, params)}
    if torch.equal(mask, band & keys):
        return {f"allowed_{name}": (faces, params), **name_keys(keys | ~band.any(-2, keepdim=True), pairs)}
    return {}


def find_window(union: Tensor) -> tuple[str, object, dict[str, int]] | None:
    """Find the window of keys around each query that the masks of all sentences and heads together fill.

    union: boolean (T, S), True where any sentence and head may attend. Returns (name in MASKS, faces, parameters); None
    if no window blocks a key.
    """
    T, S = union.shape
    ahead = torch.arange(S) - torch.arange(T)[:, None]  # (T, S): key minus query
    last, first = int(ahead[union].max()), int(ahead[union].min())
    has_end = last < S - 1
    has_start = first > -(T - 1)
    if not has_end and not has_start:
        return None
    if not has_start:
        return "causal", CAUSAL, {"query_offset": last}
    if last == -first and last > 0:
        return "local", LOCAL, {"window": last, "query_offset": 0}
    return "sliding", SLIDING, {"window": last - first + 1, "query_offset": last}


def name_keys(keys: Tensor, pairs: tuple[int, ...]) -> dict[str, object]:
    """Return a mask of keys, (B, H, 1, S), as padding at the end of each sentence, or as it is."""
    B, _, T, _ = pairs
    lengths = keys[:, 0, 0].sum(-1)  # (B,)
    at_end = torch.arange(keys.shape[-1]) < lengths[:, None]
    if keys.shape[1] == 1 and torch.equal(keys[:, 0, 0], at_end):
        counts = lengths.expand(B).tolist()
        return {"allowed_padding": (PADDING, {"lengths": tuple(counts)})}
    return {"allowed_custom": keys.expand(-1, -1, T, -1)}
