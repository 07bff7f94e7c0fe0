"""Decoding: one token after the other, the keys and values of those before it kept in a cache.

A query sees no later key, so the keys and values of a token never change once they are there: each step projects one
token, puts its key and its value behind those that were kept, and attends with one query. It gives row t of the full
causal pass. What that saves, and what it takes, is counted here as well (Shazeer 2019).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism import checks
from attention_core.mechanism.attention import input_steps, projected_shapes, run_plan, sources_of, weight_steps
from attention_core.mechanism.config import (
    AttentionConfig,
    Weights,
    require_not_negative,
    require_one_of,
    require_positive,
)
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.plan import (
    Inputs,
    Plan,
    Shapes,
    check_mask_sizes,
    config_for_keys_from,
    head_dims,
    plan_attention,
    plan_inputs,
)
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- append: the new key or value behind those that were kept -------------------------------------------------------
def append(cache: Float[Tensor, "B H_kv kept d"], new: Float[Tensor, "B H_kv T d"]) -> Float[Tensor, "B H_kv S d"]:
    return torch.cat([cache, new], dim=-2)  # (B, H_kv, kept, d) and (B, H_kv, T, d) -> (B, H_kv, kept + T, d)


def append_numpy(cache, new):
    return np.concatenate([cache, new], axis=-2)


def append_formula(cache, new):
    return rf"[\,{cache}\,;\;{new}\,]"


def append_cell(index, cache: Operand, new: Operand) -> Cell:
    b, g, s, m = index
    kept = cache.shape[2]
    return Cell(((cache[b, g, s, m] if s < kept else new[b, g, s - kept, m],),))


APPEND = Faces(append, append_numpy, append_formula, append_cell)


# ---- the steps -------------------------------------------------------------------------------------------------------
def decode(
    x: Float[Tensor, "*B T D"], *, weights: Weights | None = None, config: AttentionConfig | None = None
) -> Iterator[Trace]:
    r"""Self-attention token by token with a cache: one Trace a token, in order.

    $k_{\le t} = [k_{<t}; x_t W_k]$ (likewise v), $z_t = \mathrm{softmax}(q_t k_{\le t}^\top/\sqrt{d_k})\,v_{\le t}$.

    x (T, D) or (B, T, D), the tokens. weights: see Weights. config: as for attend, with a mask that keeps later tokens
    out (causal or sliding; causal alone where it is None).

    A step's x, q and output have T = 1. `k_cache` and `v_cache` are its inputs, `k_new` and `v_new` what it computed
    (turned by their position, where RoPE is chosen), `k` and `v` both together; the first step has no cache. Under a
    sliding mask of w the last w keys are all that is kept: `first_key` says which token key 0 of a step is.

    Raises AttentionError (a ValueError) as attend does, and for a config without a causal mask, with an offset or with
    dropout. Source: Vaswani et al. 2017, section 3.2.3 (the mask); Shazeer 2019 (keys and values kept).

    >>> x = torch.eye(3)
    >>> steps = list(decode(x, weights=Weights(w_q=x, w_k=x, w_v=x)))
    >>> [tuple(step["k"].shape) for step in steps]
    [(1, 1, 1, 3), (1, 1, 2, 3), (1, 1, 3, 3)]
    >>> steps[2]["k_projected"].shape
    torch.Size([1, 1, 3])
    """
    weights, config = weights or Weights(), config or AttentionConfig(masks=["causal"])
    checks.check_choices(weights, config)
    check_decodable(config)
    checks.check_tensors({"x": x, **weights.given()})
    given = {"x": checks.as_batch("x", x)}
    sources = sources_of(given)
    shapes = projected_shapes(given, sources, weights, config)
    checks.check_score_weights(config, weights, shapes["q"], shapes["k"], x.element_size())
    checks.check_output_weights(weights, shapes["q"][1] * shapes["v"][-1])
    check_mask_sizes(config, shapes, 0)
    return decode_steps(config, input_steps(given) | weight_steps(weights, shapes, given, sources), sources, shapes)


def check_decodable(config: AttentionConfig) -> None:
    """The config lets every query see itself and what was before, and leaves nothing to chance."""
    offsets = [params.get("offset") or 0 for name, params in config.masks if MASKS[name].is_causal]
    if not offsets or any(offsets):
        raise AttentionError("decoding_not_causal")
    if config.dropout:
        raise AttentionError("decoding_drops")


def decode_steps(config: AttentionConfig, inputs: Inputs, sources: dict[str, str], shapes: Shapes) -> Iterator[Trace]:
    """The steps of `decode`, its inputs checked."""
    x, cache, window = inputs["x"], {}, sliding_window(config)
    for t in range(shapes["q"][2]):
        token = replace(x, value=x.value[:, t : t + 1])  # (B, 1, D)
        trace = decode_token(config, inputs | {"x": token} | cache, sources, shapes, t)
        yield trace
        dropped = first_key(t + 1, window) - first_key(t, window)  # of the keys at hand, by the next step
        kept = {f"{role}_cache": trace[role][:, :, dropped:] for role in "kv"}  # (B, H_kv, kept, d)
        cache = {name: Step(name, value, trace.step(name[0]).dims) for name, value in kept.items() if value.numel()}


def decode_token(config: AttentionConfig, inputs: Inputs, sources: dict[str, str], shapes: Shapes, t: int) -> Trace:
    """One token, the t-th: attend's own plan for it, with the cache put before its key and its value."""
    first = first_key(t, sliding_window(config))
    kept = t - first
    one, whole = ({role: (B, H, S, d) for role, (B, H, _, d) in shapes.items()} for S in (1, kept + 1))
    plan = [move_to_position(operation, t) for operation in plan_inputs(config, inputs, sources, one, 0)]
    plan = put_behind_cache(plan, whole) if kept else plan
    shapes = whole | {"q": one["q"]}
    return run_plan(inputs, plan_attention(config_for_keys_from(config, first), inputs, plan, shapes, kept))


def move_to_position(operation: Operation, t: int) -> Operation:
    """The operation where the one token of x is the t-th of its sequence."""
    if "first_position" not in operation.params:
        return operation
    return replace(operation, params={**operation.params, "first_position": t})


def put_behind_cache(plan: Plan, shapes: Shapes) -> Plan:
    """The plan up to q, k and v, where the token's own key and value are appended to those that were kept."""
    plan = [
        replace(
            operation,
            output=f"{operation.output}_new" if operation.output in ("k", "v") else operation.output,
            dims=tuple("T" if dim == "S" else dim for dim in operation.dims),  # one key: that of the query's token
        )
        for operation in plan
    ]
    reads = {role: (f"{role}_cache", f"{role}_new") for role in "kv"}
    return plan + [Operation(role, head_dims(role, shapes), reads[role], APPEND) for role in "kv"]


def sliding_window(config: AttentionConfig) -> int | None:
    """How many keys a query sees at most, itself included: the window of a sliding mask; None where there is none."""
    return dict(config.masks).get("sliding", {}).get("window")


def first_key(t: int, window: int | None = None) -> int:
    """Which token is the first whose key step t reads; those before it have left the cache.

    >>> first_key(5), first_key(5, window=3), first_key(1, window=3)
    (0, 3, 0)
    """
    return 0 if window is None else max(0, t + 1 - require_positive("window", window))


def gap_to_full(steps: Sequence[Trace], full: Trace, name: str) -> float:
    """How far the steps of `decode` are from the full pass of the same tokens: the largest difference in any cell.

    steps: all of them, in order. full: attend's run. name: a step that is called the same in both, with an axis T or S,
    such as "weights", "output" or "k"; what a step's mask keeps out of its sight is not compared. Golden numbers: s46.

    >>> from attention_core import attend
    >>> x = torch.eye(3, dtype=torch.float64)
    >>> gap_to_full([*decode(x)], attend(x, config=AttentionConfig(masks=["causal"])), "output") < 1e-15
    True
    """
    gaps = []
    for t, trace in enumerate(steps):
        seen = {"T": slice(t, t + 1), "S": slice(t + 1 - trace["k"].shape[2], t + 1)}
        part = full[name][tuple(seen.get(dim, slice(None)) for dim in full.step(name).dims)]
        gaps.append(abs_difference(trace[name], part).max().item())
    return max(gaps)


# ---- what a step computes, and what it finds -------------------------------------------------------------------------
STATE_COMPUTED, STATE_KEPT, STATE_AGAIN, STATE_UNNEEDED, STATE_ABSENT = (
    "computed",
    "kept",
    "again",
    "unneeded",
    "absent",
)


def cache_states(
    tokens: int, role: str = "k", *, cached: bool = True, window: int | None = None
) -> tuple[tuple[str, ...], ...]:
    """What becomes of token s's q, k or v in step t, as states[t][s].

    "computed": for the first time. "kept": read from the cache. "again": computed once more, because there is no cache.
    "unneeded": computed before, and not read. "absent": the token is not there yet.
    Without a cache every step runs the whole prefix again, as a stack of layers must. With one, no query is needed
    twice, and a key not after it has left the window.

    tokens: how many steps, 1 or more. role: "q", "k" or "v". window: of a sliding mask.

    >>> for row in cache_states(3): print(row)
    ('computed', 'absent', 'absent')
    ('kept', 'computed', 'absent')
    ('kept', 'kept', 'computed')
    """
    require_positive("tokens", tokens)
    require_one_of("role", role, ("q", "k", "v"))
    return tuple(tuple(cache_state(t, s, role, cached, window) for s in range(tokens)) for t in range(tokens))


def cache_state(t: int, s: int, role: str, cached: bool, window: int | None) -> str:
    """The state of one token's q, k or v in one step."""
    if s >= t:
        return STATE_COMPUTED if s == t else STATE_ABSENT
    if not cached:
        return STATE_AGAIN
    return STATE_UNNEEDED if role == "q" or s < first_key(t, window) else STATE_KEPT


@dataclass(frozen=True)
class DecodingWork:
    """What was computed: keys (and as many values), queries, and scores, which are pairs that the mask allows; per
    layer, head and sequence. `read`: keys that came out of the cache."""

    keys: int
    queries: int
    scores: int
    read: int

    def __add__(self, other: "DecodingWork") -> "DecodingWork":
        """Both together."""
        return DecodingWork(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def work_of_step(t: int, *, cached: bool = True, window: int | None = None) -> DecodingWork:
    """What step t computes.

    With a cache one key, one query, and a score for every key in sight; without one, all keys, queries and scores of
    the prefix of t + 1 tokens, as a stack of layers must.

    t: the step, 0 or more. window: of a sliding mask. Raises AttentionError (a ValueError) for another number.

    >>> work_of_step(4), work_of_step(4, cached=False)
    (DecodingWork(keys=1, queries=1, scores=5, read=4), DecodingWork(keys=5, queries=5, scores=15, read=0))
    """
    prefix = require_not_negative("t", t) + 1
    if not cached:
        return DecodingWork(keys=prefix, queries=prefix, scores=causal_pairs(prefix, window), read=0)
    seen = prefix - first_key(t, window)
    return DecodingWork(keys=1, queries=1, scores=seen, read=seen - 1)


def total_work(tokens: int, *, cached: bool = True, window: int | None = None) -> DecodingWork:
    r"""What all steps compute together up to a length T.

    Keys: T with a cache, $T(T + 1)/2$ without. Scores where there is no window: $T(T + 1)/2$ with a cache,
    $T(T + 1)(T + 2)/6$ without.

    tokens: T, 1 or more. window: of a sliding mask. Raises AttentionError (a ValueError) for another number.

    >>> total_work(256).keys, total_work(256, cached=False).keys
    (256, 32896)
    """
    each = (work_of_step(t, cached=cached, window=window) for t in range(require_positive("tokens", tokens)))
    return sum(each, DecodingWork(0, 0, 0, 0))


def guess_key_counts(tokens: int) -> tuple[int, int, int, int]:
    """What one may guess that decoding T tokens without a cache projects, T, 2 T, T(T + 1)/2 or T² keys: the third.

    >>> guess_key_counts(256)
    (256, 512, 32896, 65536)
    """
    return tokens, 2 * tokens, total_work(tokens, cached=False).keys, tokens**2


def causal_pairs(tokens: int, window: int | None = None) -> int:
    """The pairs of tokens that a causal mask allows, or a sliding one with its window.

    >>> causal_pairs(4), causal_pairs(4, window=2)
    (10, 7)
    """
    w = tokens if window is None else min(tokens, require_positive("window", window))
    return w * (w + 1) // 2 + (tokens - w) * w  # the first w queries see 1, 2, ..., w keys, the others w


# ---- what the cache takes --------------------------------------------------------------------------------------------
def cache_bytes(
    tokens: int,
    *,
    kv_heads: int,
    d_k: int,
    d_v: int,
    dtype: torch.dtype,
    layers: int = 1,
    batch: int = 1,
    window: int | None = None,
) -> int:
    r"""The bytes of all keys and values that are kept after T tokens.

    $L\,B\,H_{kv}\,(d_k + d_v)\,\min(T, w)$ numbers, each of so many bytes; where keys and values are both d wide and
    there is no window, that is $2\,L\,B\,H_{kv}\,d\,T$.

    tokens: T, 1 or more; kv_heads, layers, batch: so many; d_k, d_v: widths per head; window: of a sliding mask. Raises
    AttentionError (a ValueError) for another number. Source: Shazeer 2019; Ainslie et al. 2023 (H_kv).

    >>> cache_bytes(4096, layers=32, kv_heads=32, d_k=128, d_v=128, dtype=torch.float16) // 2**20
    2048
    """
    counts = {"tokens": tokens, "kv_heads": kv_heads, "d_k": d_k, "d_v": d_v, "layers": layers, "batch": batch}
    for name, count in counts.items():
        require_positive(name, count)
    kept = tokens if window is None else min(tokens, require_positive("window", window))
    return layers * batch * kv_heads * (d_k + d_v) * kept * dtype.itemsize


def kv_bytes(trace: Trace) -> int:
    """The bytes of a run's own keys and values: what a layer keeps after a step of `decode`.

    >>> [kv_bytes(step) for step in decode(torch.zeros(3, 2, dtype=torch.float16))]
    [8, 16, 24]
    """
    return sum(trace[role].element_size() * trace[role].numel() for role in "kv")
