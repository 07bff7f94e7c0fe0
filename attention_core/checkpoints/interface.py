"""Records the attention layers of models that select their attention function through the interface of transformers.

During a recording, such a model runs its "eager" function, which computes the weights step by step. The function is
wrapped only in the context (thread or task) that records, so that other contexts are unchanged. transformers is not
imported here, because a model of that library has imported it.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall, as_four_axes
from attention_core.checkpoints.layer_proof import miss_output

CallList = list[tuple[torch.nn.Module | None, AttentionCall]]
Heads = frozenset[tuple[int, int]]  # heads as (index of the attention call in the run, index of the head), both from 0
RECORDED: ContextVar[CallList | None] = ContextVar("recorded attention calls", default=None)
SWITCHED_OFF: ContextVar[Heads] = ContextVar("heads that are switched off", default=frozenset())
OPERANDS = ("module", "query", "key", "value", "attention_mask")


@contextmanager
def recorded_calls() -> Iterator[CallList]:
    """Collect (module, AttentionCall) of each call through transformers' attention interface in this context.

    Until the context ends, all models in it use their eager attention. The list stays empty if transformers is not
    imported.
    """
    if "transformers" in sys.modules:
        wrap_interface()
    calls: CallList = []
    token = RECORDED.set(calls)
    try:
        yield calls
    finally:
        RECORDED.reset(token)


@contextmanager
def switched_off(heads: Heads) -> Iterator[None]:
    """Context manager that ablates heads in the recorded runs of this context: their outputs become 0."""
    token = SWITCHED_OFF.set(heads)
    try:
        yield
    finally:
        SWITCHED_OFF.reset(token)


@contextmanager
def run_without(heads: Heads) -> Iterator[None]:
    """Context manager that ablates heads in one run of a model: their outputs become 0; without heads, the run is
    unchanged."""
    if not heads:
        yield
        return
    with recorded_calls(), switched_off(heads):
        yield


@cache
def wrap_interface() -> None:
    """Wrap transformers' interface once per process, so that it returns a recording eager function in contexts that
    record.

    Two lookups are wrapped: the implementation that a model's config names, which also determines the form of its
    masks, and the function of this implementation.
    """
    from transformers.configuration_utils import PreTrainedConfig
    from transformers.modeling_utils import AttentionInterface

    find_plain, implementation = AttentionInterface.get_interface, PreTrainedConfig._attn_implementation

    def get_interface(self, attn_implementation: str, default: Callable) -> Callable:
        calls = RECORDED.get()
        if calls is None:
            return find_plain(self, attn_implementation, default)
        return record_into(calls, find_plain(self, "eager", default))

    def read_implementation(config) -> str | None:
        return implementation.fget(config) if RECORDED.get() is None else "eager"

    AttentionInterface.get_interface = get_interface
    PreTrainedConfig._attn_implementation = property(read_implementation, implementation.fset)


def record_into(calls: CallList, eager: Callable) -> Callable:
    """Return a function that calls a model's eager attention function, and appends each call to `calls`."""

    def attention(*given, **named):
        result = eager(*given, **named)
        output, weights = result[:2]
        operands = name_operands(eager, given, named)
        call = read_call(operands, output, weights)
        off = [head for number, head in SWITCHED_OFF.get() if number == len(calls)]
        calls.append((operands.get("module"), call))
        return (silence(output, call, off), *result[1:]) if off else result

    return attention


def silence(output: Tensor, call: AttentionCall, heads: list[int]) -> Tensor:
    """Return the output of an attention function with the outputs of some heads replaced by 0 (ablation). call: the
    call that gave it."""
    by_head = call.output.clone()  # (B, T, H, d_v)
    by_head[:, :, heads] = 0
    return by_head.reshape(output.shape)


def name_operands(function: Callable, given: tuple, named: dict) -> dict[str, Any]:
    """Return {name: argument} of a call; the first five have the names of OPERANDS, whatever the function calls
    them.
    """
    signature = inspect.signature(function)
    values = dict(signature.bind(*given, **named).arguments)
    rest: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.VAR_KEYWORD:
            rest = values.pop(parameter.name, {})
    first = dict(zip(OPERANDS, values.values(), strict=False))
    return {**rest, **values, **first}


def read_call(operands: dict[str, Any], output: Tensor, weights: Tensor | None) -> AttentionCall:
    """Return an AttentionCall made of the arguments that a model passed to an attention function, and of the function's
    results."""
    q, k, v = (with_batch(operands[name]) for name in ("query", "key", "value"))
    module = operands.get("module")
    scale = operands.get("scaling")
    if scale is None:
        scale = getattr(module, "scaling", None)
    cap, window = operands.get("softcap"), operands.get("sliding_window")
    output = output.reshape(q.shape[0], q.shape[2], q.shape[1], v.shape[-1])
    sinks, bias = split_sinks(find_sinks(operands, module, heads=q.shape[1]), operands.get("position_bias"))
    weights = None if weights is None else with_batch(weights)
    if sinks is not None and weights is not None and miss_output(weights, v, output):
        weights = None  # these weights were computed without the sink, so they differ from those that mix the values
    return AttentionCall(
        name="",
        q=q,
        k=k,
        v=v,
        output=output,
        weights=weights,
        mask=operands.get("attention_mask"),
        scale=None if scale is None else float(scale),
        bias=bias,
        cap=float(cap) if cap else None,
        sinks=sinks,
        window=window if isinstance(window, int) and window > 0 else None,
    )


def with_batch(tensor: Tensor) -> Tensor:
    """Return a tensor of heads with a batch axis, which is added if missing."""
    return tensor if tensor.dim() == 4 else tensor[None]


def find_sinks(operands: dict[str, Any], module: torch.nn.Module | None, heads: int) -> Tensor | None:
    """Return the attention sinks of a call, (1, H, 1, 1), or (B, H, T, 1) if each query has a separate sink; None
    without sinks."""
    for sinks in (operands.get("s_aux"), operands.get("sinks"), getattr(module, "sinks", None)):
        if isinstance(sinks, Tensor) and sinks.numel() >= heads:
            return sinks.detach() if sinks.dim() == 4 else sinks.detach().reshape(1, heads, 1, 1)
    return None


def split_sinks(sinks: Tensor | None, bias: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Return one sink per head, and a bias that has the same effect as sinks that differ between queries.

    A row with the sink σ has the same weights as a row with the sink 0 whose scores are all lower by σ. So sinks that
    differ between queries become a bias.

    >>> split_sinks(torch.tensor([[[[1.0], [3.0]]]]), None)
    (tensor([0.]), tensor([[[[-1.],
              [-3.]]]], dtype=torch.float64))
    """
    if sinks is None:
        return None, bias
    by_head = sinks[0, :, 0, 0]
    if torch.equal(sinks, by_head[:, None, None].expand_as(sinks)):
        return by_head, bias
    lower = -sinks.double()
    return torch.zeros_like(by_head), lower if bias is None else as_four_axes(bias) + lower
