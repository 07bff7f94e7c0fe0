"""The plan of a run: from shapes and choices to the list of operations, nothing computed yet."""

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.masks import ALL_ALLOW, MASKS
from attention_core.mechanism.operations import (
    ADD,
    DROP,
    EVEN_WEIGHTS,
    MASK,
    MERGE,
    MIX,
    PASS_ON,
    PROJECT,
    PUT,
    ROOT_SCALE,
    SCALE,
    SOFTMAX,
    SPLIT,
    TAKE,
)
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORE_DIMS, SCORES
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step

Plan = list[Operation]
Inputs = dict[str, Step]
Shapes = dict[str, tuple[int, ...]]  # of q (B, H, T, d_q), k (B, H_kv, S, d_k) and v (B, H_kv, S, d_v)


def query_position(config: AttentionConfig, shapes: Shapes) -> int:
    """Where query 0 stands among the keys: the causal masks' offset (S - T where none is set), else 0."""
    offsets = [params.get("offset") for name, params in config.masks if MASKS[name].is_causal]
    given = {offset for offset in offsets if offset is not None}
    if len(given) > 1:
        raise AttentionError("offsets_differ", given=sorted(given))
    if given:
        return given.pop()
    return shapes["k"][-2] - shapes["q"][-2] if offsets else 0


# ---- names of axes ---------------------------------------------------------------------------------------------------
def head_dims(role: str, shapes: Shapes) -> tuple[str, ...]:
    """The axes of q, k and v: q's width is d_k too, unless the score compares different widths."""
    if role == "q":
        return ("B", "H", "T", "d_k" if shapes["q"][-1] == shapes["k"][-1] else "d_q")
    return ("B", "H_kv", "S", f"d_{role}")


def projected_dims(role: str, shapes: Shapes) -> tuple[str, ...]:
    """The axes of a projection before it is cut into heads."""
    B, heads, length, width = head_dims(role, shapes)
    return (B, length, f"{heads}·{width}")


def input_dims(source: str, given: dict[str, Tensor]) -> tuple[str, ...]:
    """The axes of an input: its width is D unless it differs from the query's."""
    same = given[source].shape[-1] == next(iter(given.values())).shape[-1]
    return ("B", "T" if source in ("x", "query") else "S", "D" if same else f"D_{source}")


# ---- the plan --------------------------------------------------------------------------------------------------------
def positions_at(config: AttentionConfig, place: str) -> dict[str, Mapping[str, object]]:
    """The chosen positions that act at a place, one of PLACES: their parameters by name."""
    return {name: params for name, params in config.positions if POSITIONS[name].place == place}


def plan_sum(names: list[str], output: str, dims: tuple[str, ...]) -> Plan:
    """The step `output`, the sum of several of the same shape; nothing where there is only one."""
    plan, total = [], names[0]
    for count, name in enumerate(names[1:], 2):
        partial = output if count == len(names) else f"{output}_{count}"
        plan.append(Operation(partial, dims, (total, name), ADD))
        total = partial
    return plan


def plan_heads(config: AttentionConfig, shapes: Shapes, query_offset: int) -> Plan:
    """q and k with the positions that act in the heads, where any are chosen."""
    chosen, plan = positions_at(config, "heads"), []
    for role, first in (("q", query_offset), ("k", 0)):
        _, heads, _, width = shapes[role]
        read = f"{role}_heads"
        for count, (name, params) in enumerate(chosen.items(), 1):
            output = role if count == len(chosen) else f"{role}_{name}"
            position = POSITIONS[name]
            params = {**position.fit(params, heads, width), "first_position": first}
            plan.append(Operation(output, head_dims(role, shapes), (read,), position.faces, params))
            read = output
    return plan


def plan_positioned(config: AttentionConfig, source: Step, heads: int, first_position: int) -> Plan:
    """An input with the positions that are added to it; first_position: where its first row stands."""
    chosen, plan = positions_at(config, "input"), []
    _, length, width = source.dims
    table_dims = (length, f"{width}_position")  # its columns are frequencies, not what those of x stand for
    tables = [f"{name}_{source.name}" for name in chosen]
    for table, (name, params) in zip(tables, chosen.items(), strict=True):
        position = POSITIONS[name]
        params = {**position.fit(params, heads, source.value.shape[-1]), "first_position": first_position}
        plan.append(Operation(table, table_dims, (source.name,), position.faces, params))
    plan += plan_sum(tables, f"positions_{source.name}", table_dims)
    reads = (source.name, plan[-1].output)
    return [*plan, Operation(f"positioned_{source.name}", source.dims, reads, ADD)]


def plan_inputs(
    config: AttentionConfig, inputs: Inputs, sources: dict[str, str], shapes: Shapes, query_offset: int
) -> Plan:
    """From the inputs to q, k and v: positions added, projected, cut into heads, turned."""
    plan, read = [], dict(sources)
    if positions_at(config, "input"):
        for source in dict.fromkeys(sources.values()):
            first = query_offset if source == "query" else 0
            plan += plan_positioned(config, inputs[source], shapes["q"][1], first)
        read = {role: f"positioned_{source}" for role, source in sources.items()}
    for role in "qkv":
        if f"w_{role}" in inputs:
            reads = (read[role], *(name for name in (f"w_{role}", f"b_{role}") if name in inputs))
            plan.append(Operation(f"{role}_projected", projected_dims(role, shapes), reads, PROJECT))
            read[role] = f"{role}_projected"
        name = head_step(config, role)
        plan.append(Operation(name, head_dims(role, shapes), (read[role],), SPLIT, {"heads": shapes[role][1]}))
    return plan + plan_heads(config, shapes, query_offset)


def head_step(config: AttentionConfig, role: str) -> str:
    """What q, k or v is called once it is cut into heads: a name of its own where positions change it afterwards."""
    return f"{role}_heads" if role != "v" and positions_at(config, "heads") else role


def plan_score(config: AttentionConfig, inputs: Inputs) -> Plan:
    """The score's operations, and behind them the numbers that somebody chose instead."""
    operations = SCORES[config.score].operations
    if "chosen_scores" not in inputs:
        return [*operations]
    computed = replace(operations[-1], output="computed_scores")
    return [*operations[:-1], computed, plan_put("scores", "computed_scores")]


def plan_put(output: str, computed: str) -> Operation:
    """A step in which chosen numbers stand in the place of computed ones."""
    return Operation(output, SCORE_DIMS, (computed, f"chosen_{output}", f"where_{output}"), PUT)


def plan_scores(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int) -> Plan:
    """From q and k to the scores that the mask sees."""
    score = SCORES[config.score]
    d_k, H = shapes["k"][-1], shapes["q"][1]
    by_root = config.scale is None and score.default_scale is not None
    factor = score.default_scale(d_k) if by_root else 1.0 if config.scale is None else config.scale
    params = {"factor": float(factor), "temperature": float(config.temperature)}
    faces = ROOT_SCALE if by_root else SCALE
    plan = [*plan_score(config, inputs), Operation("scaled_scores", SCORE_DIMS, ("scores",), faces, params)]
    return plan + plan_bias(config, H, d_k, query_offset)


def plan_bias(config: AttentionConfig, heads: int, width: int, query_offset: int) -> Plan:
    """The scores with the positions that are added to them, where any are chosen."""
    chosen, plan = positions_at(config, "bias"), []
    if not chosen:
        return plan
    tables = ["bias"] if len(chosen) == 1 else [f"{name}_bias" for name in chosen]
    dims = SCORE_DIMS[1:]  # (H, T, S)
    for table, (name, params) in zip(tables, chosen.items(), strict=True):
        position = POSITIONS[name]
        params = {**position.fit(params, heads, width), "query_offset": query_offset}
        plan.append(Operation(table, dims, ("scaled_scores",), position.faces, params))
    plan += plan_sum(tables, "bias", dims)
    return [*plan, Operation("biased_scores", SCORE_DIMS, ("scaled_scores", "bias"), ADD)]


def plan_masks(config: AttentionConfig, inputs: Inputs, query_offset: int, scores: str) -> Plan:
    """One operation a mask; `allowed` is the one there is, or all of them combined."""
    names = [name for name, _ in config.masks]
    several = len(names) + ("allowed_custom" in inputs) > 1
    plan = []
    for name, params in config.masks:
        mask = MASKS[name]
        params = {key: value for key, value in params.items() if key != "offset"}
        if mask.uses_position:
            params["query_offset"] = query_offset
        output = f"allowed_{name}" if several else "allowed"
        plan.append(Operation(output, SCORE_DIMS, (scores,), mask.faces, params))
    if several:
        custom = ("allowed_custom",) if "allowed_custom" in inputs else ()
        reads = (*(f"allowed_{name}" for name in names), *custom)
        plan.append(Operation("allowed", SCORE_DIMS, reads, ALL_ALLOW))
    reads = (scores, "allowed") if is_masked(config, inputs) else (scores,)
    return [*plan, Operation("masked_scores", SCORE_DIMS, reads, MASK)]


def is_masked(config: AttentionConfig, inputs: Inputs) -> bool:
    """Whether there is a step `allowed`: made of the config's masks, or given."""
    return bool(config.masks) or "allowed" in inputs


def check_mask_sizes(config: AttentionConfig, shapes: Shapes, query_offset: int) -> None:
    """The masks' parameters fit the batch, the number of keys and the positions of the queries."""
    (B, _, T, _), S = shapes["q"], shapes["k"][-2]
    for _, params in config.masks:
        if "lengths" in params:
            if len(params["lengths"]) != B:
                raise AttentionError("lengths_count", batch=B, given=len(params["lengths"]))
            for length in params["lengths"]:
                if not 0 <= length <= S:
                    raise AttentionError("lengths_range", keys=S, given=length)
        for token in params.get("global_tokens", ()):
            if not 0 <= token < max(S, T + query_offset):
                raise AttentionError("tokens_range", last=max(S, T + query_offset) - 1, given=token)


def config_for_keys_from(config: AttentionConfig, first: int) -> AttentionConfig:
    """The same choices where only the keys from `first` on are at hand, as keys 0, 1, ...: what masks count in keys
    moves along. Where query 0 stands among them is `query_offset - first`.

    >>> config_for_keys_from(AttentionConfig(masks=[("padding", {"lengths": (5, 2)})]), 3).masks
    (('padding', {'lengths': (2, 0)}),)
    """
    masks = []
    for name, params in config.masks:
        moved = dict(params)
        if "lengths" in params:
            moved["lengths"] = tuple(max(0, length - first) for length in params["lengths"])
        if "global_tokens" in params:
            moved["global_tokens"] = tuple(token - first for token in params["global_tokens"])
        masks.append((name, moved))
    return replace(config, masks=masks)


def plan_output(config: AttentionConfig, inputs: Inputs) -> Plan:
    """From the masked scores to the output."""
    replaced = config.replace is not None or "replacement" in inputs or "chosen_weights" in inputs
    plan = [Operation("softmax_weights" if replaced else "weights", SCORE_DIMS, ("masked_scores",), SOFTMAX)]
    if config.replace:
        reads = ("masked_scores", "allowed") if is_masked(config, inputs) else ("masked_scores",)
        plan.append(Operation("weights", SCORE_DIMS, reads, EVEN_WEIGHTS))
    elif "replacement" in inputs:
        plan.append(Operation("weights", SCORE_DIMS, ("masked_scores", "replacement"), TAKE))
    elif replaced:
        plan.append(plan_put("weights", "softmax_weights"))
    used = "weights"
    if config.dropout:
        used = "dropped_weights"
        plan.append(Operation(used, SCORE_DIMS, ("weights", "keep"), DROP, {"p": float(config.dropout)}))
    plan.append(Operation("head_outputs", ("B", "H", "T", "d_v"), (used, "v"), MIX))
    plan.append(Operation("concat", ("B", "T", "H·d_v"), ("head_outputs",), MERGE))
    if "w_o" not in inputs:
        return [*plan, Operation("output", ("B", "T", "H·d_v"), ("concat",), PASS_ON)]
    reads = ("concat", *(name for name in ("w_o", "b_o") if name in inputs))
    return [*plan, Operation("output", ("B", "T", "D_out"), reads, PROJECT)]


def plan_residual(inputs: Inputs, plan: Plan, shapes: Shapes) -> Plan:
    """x + output, what the next layer reads; with sinusoidal positions x carries them."""
    source = next((name for name in ("x", "query") if name in inputs), None)
    if source is None:
        raise AttentionError("no_input_residual")
    width = inputs["w_o"].value.shape[-1] if "w_o" in inputs else shapes["q"][1] * shapes["v"][-1]
    if width != inputs[source].value.shape[-1]:
        raise AttentionError("residual_width", name=source, width=inputs[source].value.shape[-1], given=width)
    positioned = f"positioned_{source}"
    stream = positioned if any(operation.output == positioned for operation in plan) else source
    return [Operation("residual", inputs[source].dims, (stream, "output"), ADD)]


def plan_attention(config: AttentionConfig, inputs: Inputs, plan: Plan, shapes: Shapes, query_offset: int) -> Plan:
    """The whole plan, from one that ends with q, k and v."""
    plan = plan + plan_scores(config, inputs, shapes, query_offset)
    plan += plan_masks(config, inputs, query_offset, plan[-1].output)
    plan += plan_output(config, inputs)
    return plan + (plan_residual(inputs, plan, shapes) if config.residual else [])
