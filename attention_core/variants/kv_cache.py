"""Decodes with a KV cache: token by token, with the keys and values of earlier tokens cached.

A query attends to no later key, so the keys and values of a token never change after they are computed. Each step
projects one token, appends its key and its value to the cache, and attends with one query. Step t gives row t of the
full causal pass. decoding_work.py counts how much work and memory this takes (Shazeer 2019).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.arguments import Inputs, check_arguments
from attention_core.mechanism.checks import Shapes, check_choices
from attention_core.mechanism.config import AttentionConfig, Weights, config_for_keys_from
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.plan import Plan, plan_attention, plan_qkv, plan_run, run_plan
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- append: the new key or value behind those that were kept -------------------------------------------------------
def append(cache: Float[Tensor, "*axes kept d"], new: Float[Tensor, "*axes T d"]) -> Float[Tensor, "*axes S d"]:
    return torch.cat([cache, new], dim=-2)  # (B, H_kv, kept, d) and (B, H_kv, T, d) -> (B, H_kv, kept + T, d)


def append_numpy(cache, new):
    return np.concatenate([cache, new], axis=-2)


def append_formula(cache, new):
    return rf"[\,{cache}\,;\;{new}\,]"


def append_cell(index, cache: Operand, new: Operand) -> Cell:
    *row, s, m = index
    kept = cache.shape[-2]
    number = cache[index] if s < kept else new[(*row, s - kept, m)]
    return Cell(((number,),))


APPEND = Faces(append, append_numpy, append_formula, append_cell)


# ---- the cached steps ------------------------------------------------------------------------------------------------
KEY_SOURCES = ("x", "key", "value")  # the inputs from which k and v may be projected
MADE_OF_SOURCES = [entry.steps["sources"] for entry in MODIFIERS.values() if "sources" in entry.steps]
LATENTS = [steps[-1].output.format(thing=thing) for steps in MADE_OF_SOURCES for thing in KEY_SOURCES]


def kept_steps(steps: Collection[str]) -> tuple[str, ...]:
    """Return the names of the steps that decoding caches: k and v (in differential attention both maps' k), or their
    latent vector.

    Steps of position encodings with a row per key are cached too, such as the part rotated by a decoupled RoPE. steps:
    the names of a run's steps.

    >>> kept_steps(["latent_x", "q", "k", "v", "weights"])
    ('latent_x',)
    """
    latents = [name for name in LATENTS if name in steps]
    kept = latents or ["k", "k_2", "v"]
    of_positions = [name for position in POSITIONS.values() for name in position.key_steps]
    return tuple(name for name in [*kept, *of_positions] if name in steps)


# ---- the steps -------------------------------------------------------------------------------------------------------
def decode(
    x: Float[Tensor, "*B T D"], *, weights: Weights | None = None, config: AttentionConfig | None = None
) -> Iterator[Trace]:
    r"""Run self-attention token by token with a cache; yield one Trace per token, in order.

    $k_{\le t} = [k_{<t}; x_t W_k]$ (likewise v), $z_t = \mathrm{softmax}(q_t k_{\le t}^\top/\sqrt{d_k})\,v_{\le t}$.

    x: the tokens, (T, D) or (B, T, D). weights: see Weights. config: as for attend, with a mask that blocks later
    tokens (causal or sliding; None: causal).

    A step's x, q and output have T = 1. `k_cache` and `v_cache` are its inputs, `k_new` and `v_new` its key and value
    (rotated by their position, if RoPE is chosen), `k` and `v` both concatenated; the first step has no cache. With a
    latent, `latent_x_cache` is the input instead, and all keys and values are recomputed from the latents. Under a
    sliding mask of w only the last w keys are cached: `first_key` returns the token of a step's key 0.

    Raises AttentionError (a ValueError) as attend does, and for a config without a causal mask, with an offset or with
    dropout. Source: Vaswani et al. 2017, section 3.2.3 (the mask); Shazeer 2019 (keys and values kept).

    >>> x = torch.eye(3)
    >>> steps = list(decode(x, weights=Weights(w_q=x, w_k=x, w_v=x)))
    >>> [tuple(step["k"].shape) for step in steps]
    [(1, 1, 1, 3), (1, 1, 2, 3), (1, 1, 3, 3)]
    >>> steps[2]["k_projected"].shape
    torch.Size([1, 1, 3])
    """
    weights = weights or Weights()
    config = config or AttentionConfig(masks=["causal"])
    check_choices(weights, config)
    check_decodable(config)
    arguments = check_arguments(x, None, None, weights, config, PairInputs())
    inputs, _ = plan_run(arguments, config)  # only for its error, if positions do not fit the text
    return decode_steps(config, inputs, arguments.sources, arguments.shapes)


def check_decodable(config: AttentionConfig) -> None:
    """Raise AttentionError if a config does not allow decoding token by token.

    It must have a causal mask without an offset, so that no query attends to a later token, and no dropout.
    """
    causal_masks = []
    for name, params in config.masks:
        if MASKS[name].is_causal:
            causal_masks.append(params)
    has_offset = any(params.get("offset") for params in causal_masks)
    if not causal_masks or has_offset:
        raise AttentionError("decoding_not_causal")
    if config.dropout:
        raise AttentionError("decoding_drops")


def decode_steps(config: AttentionConfig, inputs: Inputs, sources: dict[str, str], shapes: Shapes) -> Iterator[Trace]:
    """Yield the Trace of each step of decoding with a cache, token by token, from inputs that were checked."""
    x = inputs["x"]
    T = shapes["q"][2]
    window = sliding_window(config)
    cache: Inputs = {}
    for t in range(T):
        token = replace(x, value=x.value[:, t : t + 1])  # (B, 1, D)
        trace = decode_token(
            config,
            inputs | {"x": token} | cache,
            sources,
            shapes,
            t,
        )
        yield trace
        next_first = first_key(t + 1, window)
        dropped = next_first - first_key(t, window)
        cache = keep_tokens(trace, dropped)


def keep_tokens(trace: Trace, dropped: int) -> Inputs:
    """Return the cache for the next decoding step: this step's keys and values (or latents) without the first `dropped`
    tokens.
    """
    cache = {}
    for role in kept_steps(trace.steps):
        name = f"{role}_cache"
        kept = trace[role][..., dropped:, :]  # (B, H_kv, kept, d)
        if kept.numel():
            cache[name] = Step(name, kept, trace.step(role).dims)
    return cache


def decode_token(config: AttentionConfig, inputs: Inputs, sources: dict[str, str], shapes: Shapes, t: int) -> Trace:
    """Run decoding step t by the operations of attend, with the token's key and value appended to the cache."""
    first = first_key(t, sliding_window(config))
    kept = t - first
    new_shapes = set_lengths(shapes, 1)
    seen_shapes = set_lengths(shapes, kept + 1)

    plan = plan_qkv(config, inputs, sources, new_shapes, 0)
    plan = [move_to_position(operation, t) for operation in plan]
    if kept:
        plan = put_behind_cache(plan, first)
    plan = plan_attention(
        config_for_keys_from(config, first),
        inputs,
        plan,
        {**seen_shapes, "q": new_shapes["q"]},
        kept,
    )
    return run_plan(inputs, plan)


def set_lengths(shapes: Shapes, length: int) -> Shapes:
    """Return the shapes of q, k and v for `length` tokens each."""
    changed = {}
    for role, shape in shapes.items():
        B, heads, _, width = shape
        changed[role] = (B, heads, length, width)
    return changed


def move_to_position(operation: Operation, t: int) -> Operation:
    """Return an operation with its parameter `first_position` set to t; unchanged if it has no such parameter."""
    if "first_position" not in operation.params:
        return operation
    params = {**operation.params, "first_position": t}
    return replace(operation, params=params)


def put_behind_cache(plan: Plan, first: int) -> Plan:
    """Return the operations up to q, k and v in which the new token's keys and values are appended to the caches.

    plan: the operations up to q, k and v of a run without a cache. first: the first cached token, from which positions
    are counted.
    """
    steps = kept_steps([operation.output for operation in plan])
    longer: Plan = []
    of_all_tokens: set[str] = set()
    for operation in plan:
        if of_all_tokens & set(operation.reads):
            longer.append(move_to_position(operation, first))
            of_all_tokens.add(operation.output)
            continue
        new = make_new_step(operation, steps)
        longer.append(new)
        if operation.output in steps:
            reads = (f"{operation.output}_cache", new.output)
            longer.append(Operation(operation.output, operation.dims, reads, APPEND))
            of_all_tokens.add(operation.output)
    return longer


def make_new_step(operation: Operation, steps: tuple[str, ...]) -> Operation:
    """Return an operation that computes only the new token: its key axis S becomes the token axis T.

    steps: the names of the cached steps; if the operation's step is one of these, its name gets the ending _new.
    """
    output = operation.output
    if output in steps:
        output = f"{output}_new"
    dims = ["T" if dim == "S" else dim for dim in operation.dims]
    return replace(operation, output=output, dims=tuple(dims))


def sliding_window(config: AttentionConfig) -> int | None:
    """Return the window of a sliding mask, the largest number of keys per query; None if there is no such mask."""
    params = dict(config.masks).get("sliding", {})
    return params.get("window")


def first_key(t: int, window: int | None = None) -> int:
    """Return the index of the first token whose key decoding step t reads; with a sliding window, earlier keys are
    dropped.

    window: the window of a sliding mask; None without one.

    >>> first_key(5), first_key(5, window=3), first_key(1, window=3)
    (0, 3, 0)
    """
    if window is None:
        return 0
    return max(0, t + 1 - require_positive("window", window))


def gap_to_full(steps: Sequence[Trace], full: Trace, name: str) -> float:
    """Return the largest difference between the steps of `decode` and those of a full pass over the same tokens.

    steps: the Traces of `decode`, in order. full: attend's run. name: a step that both have, with an axis T or S, such
    as "weights", "output" or "k"; blocked keys are not compared. Reference numbers: tests/golden/s46.

    >>> from attention_core import attend
    >>> x = torch.eye(3, dtype=torch.float64)
    >>> gap_to_full([*decode(x)], attend(x, config=AttentionConfig(masks=["causal"])), "output") < 1e-15
    True
    """
    dims = full.step(name).dims
    gaps = []
    for t, trace in enumerate(steps):
        stop = t + 1
        first = stop - trace.step("k").shape[2]
        seen = {"T": slice(t, stop), "S": slice(first, stop)}
        ranges = [seen.get(dim, slice(None)) for dim in dims]
        part = full[name][tuple(ranges)]
        differences = abs_difference(trace[name], part)
        gaps.append(differences.max().item())
    return max(gaps)
