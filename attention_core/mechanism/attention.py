"""attend and attend_qkv: from tensors and choices to a Trace. First the plan, a list of operations, then the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism import checks
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plan import (
    Plan,
    Shapes,
    check_mask_sizes,
    head_dims,
    head_step,
    input_dims,
    plan_attention,
    plan_heads,
    plan_inputs,
    positions_at,
    projected_dims,
    query_position,
)
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace


@dataclass(frozen=True, eq=False)
class PairInputs:
    """What may be given about pairs of tokens: see attend."""

    allowed: Tensor | None = None
    keep: Tensor | None = None
    replacement: Tensor | None = None
    what_if: Mapping[str, Tensor] = field(default_factory=dict)


def attend(
    query: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D_key"] | None = None,
    value: Float[Tensor, "*B S D_value"] | None = None,
    *,
    weights: Weights | None = None,
    config: AttentionConfig | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    keep: Bool[Tensor, "..."] | None = None,
    replacement: Float[Tensor, "..."] | None = None,
    what_if: Mapping[str, Float[Tensor, "..."]] | None = None,
) -> Trace:
    r"""Attention from the input on, every step kept.

    $Q = X_q W_q + b_q$ (likewise K, V), per head $A = \mathrm{softmax}(QK^\top/\sqrt{d_k})$, $Z = AV$,
    output $= \mathrm{concat}(Z) W_o + b_o$; score, scale, masks and positions as the config says.

    query (T, D) or (B, T, D); key (S, D_key), query where it is None; value (S, D_value), key where it is None.
    weights: see Weights; a projection that is None is left out. allowed: boolean (T, S) or (B, H, T, S), True = may
    attend, combined with the config's masks. keep: which weights dropout keeps (drawn from config.dropout_seed where it
    is None). replacement: weights to use instead of the softmax's. what_if: "scores" or "weights", each (T, S) or
    (B, H, T, S): numbers to use instead of the computed ones, NaN where the computed one stays.

    Returns a Trace; Trace["weights"] is (B, H, T, S). Raises AttentionError (a ValueError) that says what must hold and
    what was given. Source: Vaswani et al. 2017, equation 1 and section 3.2.2.

    >>> x = torch.eye(3)
    >>> trace = attend(x, weights=Weights(w_q=x, w_k=x, w_v=x), config=AttentionConfig(masks=["causal"]))
    >>> trace["weights"][0, 0, 0]
    tensor([1., 0., 0.])
    """
    pairs = PairInputs(allowed, keep, replacement, what_if or {})
    return run_plan(*prepare(query, key, value, weights or Weights(), config or AttentionConfig(), pairs))


def prepare(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[dict[str, Step], Plan]:
    """What attend runs: its inputs as steps and its plan, all of it checked, none of it computed.

    Raises AttentionError as attend does: a run that is prepared is refused no more.
    """
    checks.check_choices(weights, config)
    given = {"x": query} if key is None and value is None else {"query": query, "key": query if key is None else key}
    if value is not None:
        given["value"] = value
    checks.check_tensors({**given, **weights.given()})
    given = {name: checks.as_batch(name, tensor) for name, tensor in given.items()}
    sources = sources_of(given)
    checks.check_batch(given[sources["q"]], given)
    shapes = projected_shapes(given, sources, weights, config)

    query_offset = query_position(config, shapes)
    inputs = input_steps(given) | weight_steps(weights, shapes, given, sources)
    plan = plan_inputs(config, inputs, sources, shapes, query_offset)
    return run_from_qkv(config, weights, inputs, plan, shapes, query_offset, pairs)


def sources_of(given: dict[str, Tensor]) -> dict[str, str]:
    """Which of the inputs q, k and v are made of."""
    query, key = ("x", "x") if "x" in given else ("query", "key")
    return {"q": query, "k": key, "v": "value" if "value" in given else key}


def projected_shapes(
    given: dict[str, Tensor], sources: dict[str, str], weights: Weights, config: AttentionConfig
) -> Shapes:
    """The shapes of q, k and v once projected and cut into heads, checked."""
    kv_heads = config.kv_heads or config.heads
    heads = {"q": config.heads, "k": kv_heads, "v": kv_heads}
    shapes: Shapes = {}
    for role, source in sources.items():
        checks.check_projection(role, source, given[source], weights, heads[role])
        w = getattr(weights, f"w_{role}")
        B, length, width = given[source].shape
        shapes[role] = (B, heads[role], length, (width if w is None else w.shape[1]) // heads[role])
    checks.check_keys(config, *shapes.values())
    return shapes


def attend_qkv(
    q: Float[Tensor, "..."],
    k: Float[Tensor, "..."],
    v: Float[Tensor, "..."],
    *,
    config: AttentionConfig | None = None,
    weights: Weights | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    keep: Bool[Tensor, "..."] | None = None,
    replacement: Float[Tensor, "..."] | None = None,
    what_if: Mapping[str, Float[Tensor, "..."]] | None = None,
) -> Trace:
    r"""Attention where q, k and v are known and no input is: a checkpoint, a trained head, an engineer's tensors.

    $Z = \mathrm{softmax}(qk^\top/\sqrt{d_k})\,v$, then concat and, where given, $W_o$.

    q (T, d_k) or (B, H, T, d_k); k (S, d_k) or (B, H_kv, S, d_k); v (S, d_v) or (B, H_kv, S, d_v); three axes are
    refused, because they have two readings. weights: w_o, b_o and the score's own. The numbers of heads are the
    tensors'; the rest is as in attend. RoPE, where chosen, still turns q and k.

    Returns a Trace, as attend does. Raises AttentionError (a ValueError) that says what must hold and what was given.
    Source: Vaswani et al. 2017, equation 1; grouped keys and values: Ainslie et al. 2023.

    >>> trace = attend_qkv(torch.tensor([[0.0, 2**0.5]]), torch.eye(2), torch.eye(2))
    >>> trace["weights"].flatten()            # 1/(1 + e) and e/(1 + e)
    tensor([0.2689, 0.7311])
    """
    pairs = PairInputs(allowed, keep, replacement, what_if or {})
    return run_plan(*prepare_qkv(q, k, v, weights or Weights(), config or AttentionConfig(), pairs))


def prepare_qkv(
    q: Tensor, k: Tensor, v: Tensor, weights: Weights, config: AttentionConfig, pairs: PairInputs
) -> tuple[dict[str, Step], Plan]:
    """What attend_qkv runs, as prepare says it of attend. Raises AttentionError."""
    inputs, plan, shapes, query_offset = checked_qkv(q, k, v, weights, config)
    return run_from_qkv(config, weights, inputs, plan, shapes, query_offset, pairs)


def checked_qkv(
    q: Tensor, k: Tensor, v: Tensor, weights: Weights, config: AttentionConfig
) -> tuple[dict[str, Step], Plan, Shapes, int]:
    """q, k and v as inputs, checked; the plan up to them, which turns them where positions do so (RoPE); their shapes;
    and where query 0 stands among the keys."""
    checks.check_choices(weights, config)
    given = {"q": q, "k": k, "v": v}
    checks.check_tensors({**given, **weights.given()})
    given = {name: checks.as_heads(name, tensor) for name, tensor in given.items()}
    checks.check_batch(given["q"], given)
    for name in weights.given():
        if name in ("w_q", "w_k", "w_v", "b_q", "b_k", "b_v"):
            raise AttentionError("unused_weight", weight=name, why="q, k and v are given already projected")
    if positions_at(config, "input"):
        raise AttentionError("no_input_positions")
    shapes = {name: tuple(tensor.shape) for name, tensor in given.items()}
    check_head_counts(config, shapes)
    checks.check_keys(config, *shapes.values())

    query_offset = query_position(config, shapes)
    names = {role: head_step(config, role) for role in given}
    inputs = {names[role]: Step(names[role], given[role], head_dims(role, shapes)) for role in given}
    inputs |= weight_steps(weights, shapes, {}, {})
    return inputs, plan_heads(config, shapes, query_offset), shapes, query_offset


def check_head_counts(config: AttentionConfig, shapes: Shapes) -> None:
    """q, k and v carry their own numbers of heads; a config that names another number contradicts them."""
    (_, heads, *_), (_, kv_heads, *_), (_, v_heads, *_) = shapes.values()
    if config.heads not in (1, heads):
        raise AttentionError("heads_given", name="q", heads=heads, given=config.heads)
    if config.kv_heads not in (None, kv_heads):
        raise AttentionError("heads_given", name="k", heads=kv_heads, given=config.kv_heads)
    if v_heads != kv_heads:
        raise AttentionError("heads_given", name="v", heads=v_heads, given=kv_heads)
    if heads % kv_heads:
        raise AttentionError("heads_groups", heads=heads, kv_heads=kv_heads)


# ---- the inputs as steps ---------------------------------------------------------------------------------------------
def input_steps(given: dict[str, Tensor]) -> dict[str, Step]:
    """The given tensors as steps without an operation."""
    return {name: Step(name, tensor, input_dims(name, given)) for name, tensor in given.items()}


def weight_steps(
    weights: Weights, shapes: Shapes, given: dict[str, Tensor], sources: dict[str, str]
) -> dict[str, Step]:
    """Every given weight as an input, its axes named."""
    d_q, d_k = head_dims("q", shapes)[-1], head_dims("k", shapes)[-1]
    dims = {"w_o": ("H·d_v", "D_out"), "b_o": ("D_out",), "v_a": ("A",)}
    dims |= {"w_a": (d_q, d_k + "'" if d_q == d_k else d_k), "w_aq": (d_q, "A"), "w_ak": (d_k, "A")}
    for role, source in sources.items():
        width = projected_dims(role, shapes)[-1]
        dims |= {f"w_{role}": (input_dims(source, given)[-1], width), f"b_{role}": (width,)}
    steps = {}
    for name, tensor in weights.given().items():
        leading = ("H",) * (tensor.dim() - len(dims[name]))  # score weights may come one a head
        steps[name] = Step(name, tensor, leading + dims[name])
    return steps


# ---- the run ---------------------------------------------------------------------------------------------------------
def run_from_qkv(
    config: AttentionConfig,
    weights: Weights,
    inputs: dict[str, Step],
    plan: Plan,
    shapes: Shapes,
    query_offset: int,
    given: PairInputs,
) -> tuple[dict[str, Step], Plan]:
    """What both entrances share, from q, k and v on: the rest of the inputs and of the plan."""
    like = next(iter(inputs.values()))
    checks.check_score_weights(config, weights, shapes["q"], shapes["k"], like.value.element_size())
    checks.check_output_weights(weights, shapes["q"][1] * shapes["v"][-1])
    pairs = (shapes["q"][0], shapes["q"][1], shapes["q"][2], shapes["k"][2])  # (B, H, T, S)
    inputs |= pair_steps(config, given, pairs, like)

    check_mask_sizes(config, shapes, query_offset)
    return inputs, plan_attention(config, inputs, plan, shapes, query_offset)


def pair_steps(config: AttentionConfig, given: PairInputs, pairs: tuple[int, ...], like: Step) -> dict[str, Step]:
    """What is given about pairs of tokens, as steps (B, H, T, S) on the device of `like`."""
    found: dict[str, Tensor] = {}
    if given.allowed is not None:
        name = "allowed_custom" if config.masks else "allowed"
        found[name] = checks.as_pairs("allowed", given.allowed, pairs)
    if given.replacement is not None:
        if config.replace:
            raise AttentionError("replacement_twice", given=config.replace)
        checks.check_tensors({like.name: like.value, "replacement": given.replacement})
        found["replacement"] = checks.as_pairs("replacement", given.replacement, pairs, boolean=False)
    if "weights" in given.what_if and (config.replace or given.replacement is not None):
        raise AttentionError("replacement_twice", given=config.replace or "replacement")
    for name, numbers in given.what_if.items():
        found |= checks.split_chosen_numbers(name, numbers, pairs, like.value)
    if given.keep is not None and not config.dropout:
        raise AttentionError("keep_without_dropout")
    if config.dropout:
        keep = draw_dropout_keep(config, pairs) if given.keep is None else checks.as_pairs("keep", given.keep, pairs)
        found["keep"] = keep
    return {name: Step(name, tensor.to(like.value.device), SCORE_DIMS) for name, tensor in found.items()}


def draw_dropout_keep(config: AttentionConfig, pairs: tuple[int, ...]) -> Bool[Tensor, "B H T S"]:
    """Which weights dropout keeps, drawn on the CPU so that a seed means the same everywhere."""
    generator = torch.Generator().manual_seed(config.dropout_seed)
    return torch.rand(pairs, generator=generator, dtype=torch.float64) >= config.dropout


def run_plan(inputs: dict[str, Step], plan: Plan) -> Trace:
    """Every operation applied in order, every value kept."""
    return Trace(inputs).then(*plan)
