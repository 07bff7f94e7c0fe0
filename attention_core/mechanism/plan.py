"""Plans a run: turns its arguments into a list of operations, and applies them in order."""

import math
from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from attention_core.mechanism.arguments import (
    Arguments,
    Inputs,
    check_arguments,
    check_qkv_arguments,
    head_dims,
    head_step,
    make_input_steps,
    projected_dims,
    split_dims,
)
from attention_core.mechanism.checks import Shapes
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.learned_tensors import add_own_sizes, check_learned
from attention_core.mechanism.masks import ALL_ALLOW, MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.operations import (
    ADD,
    DROP,
    EVEN_WEIGHTS,
    MASK,
    MASK_TO_ZERO,
    MERGE,
    MIX,
    PASS_ON,
    PROJECT,
    PUT,
    ROOT_SCALE,
    SCALE,
    SPLIT,
    TAKE,
)
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.parameters import keyword_names, names_of
from attention_core.mechanism.plan_steps import (
    FIRST_POSITION,
    HALF,
    HEADS,
    INPUT,
    KEY_INPUT,
    LAST_STEP,
    chain_operations,
    check_all_read,
)
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORE_DIMS, SCORES
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace

Plan = list[Operation]


def prepare(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[Inputs, Plan]:
    """Check the arguments of attend; return them as input steps, and the operations to apply. Nothing is computed.

    Raises AttentionError for any invalid argument, so that applying the operations raises none.
    """
    arguments = check_arguments(query, key, value, weights, config, pairs)
    return plan_run(arguments, config)


def prepare_qkv(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[Inputs, Plan]:
    """Check the arguments of attend_qkv; return them as input steps, and the operations to apply to them.

    Raises AttentionError.
    """
    arguments = check_qkv_arguments(q, k, v, weights, config, pairs)
    return plan_run(arguments, config)


def run_plan(inputs: Inputs, plan: Plan) -> Trace:
    """Apply operations in order, beginning with the input steps, and return the Trace of all values."""
    return Trace(inputs).then(*plan)


def plan_run(arguments: Arguments, config: AttentionConfig) -> tuple[Inputs, Plan]:
    """Return the arguments of a run as input steps, and the list of all operations on them, in order.

    Raises AttentionError if positions or the residual do not fit.
    """
    shapes = arguments.shapes
    query_offset = arguments.query_offset
    inputs = make_input_steps(arguments, config)
    to_qkv = plan_qkv(config, inputs, arguments.sources, shapes, query_offset)
    plan = plan_attention(config, inputs, to_qkv, shapes, query_offset)
    return inputs, plan


def plan_attention(config: AttentionConfig, inputs: Inputs, plan: Plan, shapes: Shapes, query_offset: int) -> Plan:
    """Return all operations of an attention layer, from its inputs to its output.

    plan: the operations of the layer up to q, k and v.
    """
    made = ("q_projected", head_step(config, "q"))  # without a projection, the input is split into heads
    source = next((operation.reads[0] for operation in plan if operation.output in made), "")  # "" for a given q
    plan = plan + plan_weights(config, inputs, shapes, query_offset)
    plan += plan_output(config, inputs, shapes, source)
    _, heads, _, _ = shapes["q"]
    plan += plan_modifiers(config, "added", plan[-1], heads)
    if config.residual:
        plan.append(plan_residual(inputs, plan, shapes))
    plan += plan_modifiers(config, "output", plan[-1], heads)
    check_all_read(plan)
    return plan


# ---- q, k and v ------------------------------------------------------------------------------------------------------
def plan_qkv(
    config: AttentionConfig,
    inputs: Inputs,
    sources: Mapping[str, str],
    shapes: Shapes,
    query_offset: int,
) -> Plan:
    """Return the operations from the inputs to q, k and v.

    sources: {"q", "k" or "v": name of its input}; {} if q, k and v are given.
    """
    plan: Plan = []
    for source in dict.fromkeys(sources.values()):  # an input that q, k and v share is listed once
        first_position = query_offset if source == "query" else 0
        plan += plan_input_positions(config, inputs, inputs[source], shapes["q"][1], first_position)
    made_of = {role: input_step(config, source) for role, source in sources.items()}
    if "q" in sources:
        normed = plan_query_changes(config, inputs[sources["q"]])
        plan += normed
        for role, source in sources.items():
            if normed and source == sources["q"]:
                made_of[role] = normed[-1].output
    projected_from = dict(made_of)
    for role in ("k", "v"):
        if role in sources and config.modifiers_at("sources"):
            changes = plan_source_changes(config, sources[role], made_of[role])
            if projected_from["k"] != changes[-1].output:  # v may be projected from the same step as k
                plan += changes
            projected_from[role] = changes[-1].output
    for role, source in projected_from.items():
        plan += plan_projection(config, inputs, role, source, shapes)
    for half in range(config.maps):
        q_changes = plan_head_changes(config, inputs, "q", shapes, query_offset, half)
        k_changes = plan_head_changes(config, inputs, "k", shapes, 0, half)
        for both in zip(q_changes, k_changes, strict=True):  # each change of q is followed by the same change of k
            plan += both
    for name, params in config.positions_at("scores").items():
        steps = plan_position_steps(name, params, made_of, shapes, query_offset)
        made = {operation.output for operation in plan}
        plan += [operation for operation in steps if operation.output not in made]
    return plan


def input_step(config: AttentionConfig, source: str) -> str:
    """Return the name of the step of an input: the sum with its positions if the config adds positions, else the
    input.
    """
    return f"positioned_{source}" if config.positions_at("input") else source


def plan_query_changes(config: AttentionConfig, source: Step) -> Plan:
    """Return the operations by which modifiers change the input from which q is projected, after positions are
    added.
    """
    changes = []
    for name, params in config.modifiers_at("inputs").items():
        changes.append(MODIFIERS[name].operations("inputs", source.name, source.dims, params))
    return chain_operations(changes, input_step(config, source.name))


def plan_source_changes(config: AttentionConfig, source: str, step: str) -> Plan:
    """Return the operations of modifiers on an input before k and v are projected from it.

    source: the name of the input. step: the name of the step that the first operation reads: the input with its
    positions, or the output of an earlier modifier.
    """
    changes = []
    for name, params in config.modifiers_at("sources").items():
        changes.append(MODIFIERS[name].operations("sources", source, (), params))
    return chain_operations(changes, step)


def plan_position_steps(
    name: str, params: Mapping[str, object], made_of: Mapping[str, str], shapes: Shapes, query_offset: int
) -> Plan:
    """Return the operations on the inputs for a position encoding that changes the scores.

    name: the name of the encoding. made_of: {"q" or "k": the step from which it is projected}.
    """
    _, heads, _, _ = shapes["q"]
    plan: Plan = []
    for step in POSITIONS[name].steps:
        first_position = query_offset if "T" in step.dims else 0
        given = {**params, HEADS: heads, FIRST_POSITION: first_position}
        plan.append(step.operation("", (), given))
    sources = {INPUT: made_of.get("q", ""), KEY_INPUT: made_of.get("k", "")}
    return chain_operations([plan], "", sources) if plan else []


def plan_projection(config: AttentionConfig, inputs: Inputs, role: str, source: str, shapes: Shapes) -> Plan:
    """Return the operations for q, k or v: the projection, if there is a weight for it, and the split into heads.

    role: which of them, "q", "k" or "v". source: the name of the step that is projected.
    """
    plan: Plan = []
    learned = [name for name in (f"w_{role}", f"b_{role}") if name in inputs]
    if learned:
        projection = Operation(
            output=f"{role}_projected",
            dims=projected_dims(role, shapes, config),
            reads=(source, *learned),
            faces=PROJECT,
        )
        plan.append(projection)
        source = projection.output
    _, heads, _, _ = shapes[role]
    split = Operation(
        output=head_step(config, role),
        dims=split_dims(role, shapes, config),
        reads=(source,),
        faces=SPLIT,
        params={"heads": heads},
    )
    return [*plan, split]


# ---- positions of the inputs and the heads ---------------------------------------------------------------------------
def plan_input_positions(
    config: AttentionConfig, inputs: Inputs, source: Step, heads: int, first_position: int
) -> Plan:
    """Return the operations that add the chosen positions to an input.

    first_position: the position of the input's first row.
    """
    chosen = config.positions_at("input")
    if not chosen:
        return []
    _, rows, columns = source.shape
    _, length, width = source.dims
    dims = (length, f"{width}_position")  # separate axis: the table's columns are frequencies
    plan: Plan = []
    for name, params in chosen.items():
        position = POSITIONS[name]
        sizes = size_position(name, inputs, heads, columns) | {"length": rows, "first": first_position}
        fitted = position.fit(params, sizes)
        table = Operation(
            output=f"{name}_{source.name}",
            dims=dims,
            reads=(source.name, *position.operands),
            faces=position.faces,
            params={**fitted, "first_position": first_position},
        )
        plan.append(table)
    tables = [operation.output for operation in plan]
    plan += plan_sum(tables, f"positions_{source.name}", dims)
    total = plan[-1].output
    positioned = Operation(
        output=f"positioned_{source.name}",
        dims=source.dims,
        reads=(source.name, total),
        faces=ADD,
    )
    return [*plan, positioned]


def plan_sum(names: list[str], output: str, dims: tuple[str, ...]) -> Plan:
    """Return the additions that sum several steps of one shape into the step `output`; [] if there is only one step."""
    plan: Plan = []
    total, *others = names
    for count, name in enumerate(others, 2):
        is_last = count == len(names)
        addition = Operation(
            output=output if is_last else f"{output}_{count}",
            dims=dims,
            reads=(total, name),
            faces=ADD,
        )
        plan.append(addition)
        total = addition.output
    return plan


def plan_head_changes(
    config: AttentionConfig, inputs: Inputs, role: str, shapes: Shapes, first_position: int, half: int
) -> Plan:
    """Return the operations of modifiers, and then of positions, on the heads of q or k; [] if none are chosen.

    role: "q" or "k", which is also the name of the last step. first_position: the position of the first row. half: 0 or
    1, the index of the attention map if differential attention combines two.
    """
    _, heads, length, width = shapes[role]
    dims = head_dims(role, shapes)
    changes: list[Plan] = []
    for name, params in config.modifiers_at("heads").items():
        changes.append(MODIFIERS[name].operations("heads", role, dims, {**params, HEADS: heads, HALF: half}))
    for name, params in config.positions_at("heads").items():
        position = POSITIONS[name]
        sizes = size_position(name, inputs, heads, width) | {"length": length, "first": first_position}
        fitted = position.fit(params, sizes)
        placed = {**fitted, "first_position": first_position}
        reads = (LAST_STEP, *position.operands)
        changes.append([Operation(f"{role}_{name}", dims, reads, position.faces, placed)])
    if not changes:
        return []
    *others, last = chain_operations(changes, f"{role}_heads")
    plan = [*others, replace(last, output=role)]
    return number_second(plan) if half else plan


def number_second(plan: Plan, given: tuple[str, ...] = ()) -> Plan:
    """Return a copy of operations for the second attention map of differential attention: the names of its steps end
    with _2.

    given: the names of steps that the operations read, but do not compute, and that get the ending _2 too.
    """
    names = {*given, *(operation.output for operation in plan)}
    second = {name: f"{name}_2" for name in names}
    numbered: Plan = []
    for operation in plan:
        reads = tuple(second.get(name, name) for name in operation.reads)
        numbered.append(replace(operation, output=second[operation.output], reads=reads))
    return numbered


# ---- scores ----------------------------------------------------------------------------------------------------------
def plan_scores(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int) -> Plan:
    """Return the operations from q and k to the scores before masking."""
    plan = plan_score(config, inputs)
    plan += plan_score_positions(config, inputs, shapes, query_offset)
    plan.append(plan_scale(config, count_compared(config, inputs, shapes), plan[-1].output))
    _, heads, _, _ = shapes["q"]
    plan += plan_modifiers(config, "scores", plan[-1], heads)
    plan += plan_bias(config, inputs, shapes, query_offset, plan[-1].output)
    return plan


def plan_score(config: AttentionConfig, inputs: Inputs) -> Plan:
    """Return the operations of the score function, and the replacement of scores if the run has chosen scores."""
    *operations, last = SCORES[config.score].operations
    if "chosen_scores" not in inputs:
        return [*operations, last]
    computed = replace(last, output="computed_scores")
    return [*operations, computed, plan_put("scores", "computed_scores")]


def plan_score_positions(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int) -> Plan:
    """Return the operations by which position encodings change the scores before the scaling; [] if none does."""
    changes = []
    for name, params in config.positions_at("scores").items():
        operation = Operation(
            output=f"{name}_scores",
            dims=SCORE_DIMS,
            reads=(LAST_STEP, *POSITIONS[name].operands),
            faces=POSITIONS[name].faces,
            params=fit_to_scores(name, params, inputs, shapes, query_offset),
        )
        changes.append([operation])
    return chain_operations(changes, "scores")


def fit_to_scores(
    name: str, params: Mapping[str, object], inputs: Inputs, shapes: Shapes, query_offset: int
) -> dict[str, object]:
    """Return the parameters of a position encoding on scores, with values that fit this run's sizes.

    Only parameters that the encoding's torch function takes are returned. name: the name of the encoding.
    """
    position = POSITIONS[name]
    _, heads, T, _ = shapes["q"]
    _, _, S, d_k = shapes["k"]
    places = {"length": S, "first": 0, "T": T, "query_offset": query_offset}
    fitted = {**position.fit(params, size_position(name, inputs, heads, d_k) | places), "query_offset": query_offset}
    return {name: fitted[name] for name in keyword_names(position.faces.torch)}


def size_position(name: str, inputs: Inputs, heads: int, width: int) -> dict[str, int]:
    """Return the sizes of a run that a position encoding needs, by letter.

    These are the number of heads, the width of the step that the encoding changes, and the sizes of its learned
    tensors' axes. Raises AttentionError: weight_shape, for a table whose width is not that of the input.
    """
    position = POSITIONS[name]
    learned = {tensor.name: inputs[tensor.name].shape for tensor in position.weights}
    sizes = add_own_sizes(position.weights, learned, {"H": heads, "width": width})
    if position.place == "input":
        check_learned(position.weights, learned, {**sizes, "D": width})
    return sizes


def count_compared(config: AttentionConfig, inputs: Inputs, shapes: Shapes) -> int:
    """Return the number of products, of a query's and a key's components, in one score: d_k, plus those that position
    encodings add.
    """
    _, heads, _, _ = shapes["q"]
    _, _, _, d_k = shapes["k"]
    letters = {name: POSITIONS[name].compares for name in config.positions_at("scores") if POSITIONS[name].compares}
    return d_k + sum(size_position(name, inputs, heads, d_k)[letter] for name, letter in letters.items())


def plan_put(output: str, computed: str) -> Operation:
    """Return the operation that replaces some computed scores or weights by the numbers chosen for the run.

    output: the step with the replaced numbers. computed: the step with the computed numbers.
    """
    reads = (computed, f"chosen_{output}", f"where_{output}")
    return Operation(output, SCORE_DIMS, reads, PUT)


def plan_scale(config: AttentionConfig, d_k: int, scores: str) -> Operation:
    """Return the operation that scales the scores and divides them by the temperature.

    The factor is the chosen one, else the default of the score function (1/√d_k), else 1. The temperature is lower if a
    position encoding sharpens the scores.
    """
    default_scale = SCORES[config.score].default_scale
    faces = SCALE
    factor = 1.0
    if config.scale is not None:
        factor = float(config.scale)
    elif default_scale is not None:
        faces = ROOT_SCALE
        factor = float(default_scale(d_k))
    sharper = math.prod(POSITIONS[name].sharpens(params) for name, params in config.positions)
    params = {"factor": factor, "temperature": float(config.temperature) / sharper}
    return Operation("scaled_scores", SCORE_DIMS, (scores,), faces, params)


def plan_modifiers(config: AttentionConfig, place: str, read: Operation, heads: int, source: str = "") -> Plan:
    """Return the operations of the chosen modifiers at a place in the run, each of which reads the one before.

    read: the operation whose output the first modifier reads. source: the input step of q.
    """
    changes = []
    for name, params in config.modifiers_at(place).items():
        changes.append(MODIFIERS[name].operations(place, place, read.dims, {**params, HEADS: heads}))
    return chain_operations(changes, read.output, {INPUT: source})


def plan_bias(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int, scores: str) -> Plan:
    """Return the operations that add the chosen position biases and the given bias to the scores; [] if there are
    none.
    """
    chosen = config.positions_at("bias")
    given = [name for name in ("bias", "bias_custom") if name in inputs]
    if not chosen and not given:
        return []
    is_alone = len(chosen) + len(given) == 1
    dims = SCORE_DIMS[1:]  # (H, T, S)
    plan: Plan = []
    for name, params in chosen.items():
        table = Operation(
            output="bias" if is_alone else f"{name}_bias",
            dims=dims,
            reads=(scores, *POSITIONS[name].operands),
            faces=POSITIONS[name].faces,
            params=fit_to_scores(name, params, inputs, shapes, query_offset),
        )
        plan.append(table)
    tables = [operation.output for operation in plan]
    plan += plan_sum([*tables, *given], "bias", dims)
    if tables and given:
        plan[-1] = replace(plan[-1], dims=SCORE_DIMS)  # a bias with a batch axis may differ between sentences
    biased = Operation(
        output="biased_scores",
        dims=SCORE_DIMS,
        reads=(scores, "bias"),
        faces=ADD,
    )
    return [*plan, biased]


# ---- masks -----------------------------------------------------------------------------------------------------------
def plan_masks(config: AttentionConfig, inputs: Inputs, query_offset: int, scores: str) -> Plan:
    """Return the operations of the masks, of the step `allowed` (the only mask, or all masks combined), and of the
    masked scores.
    """
    names = [f"allowed_{name}" for name, _ in config.masks]
    if "allowed_custom" in inputs:
        names.append("allowed_custom")
    is_combined = len(names) > 1
    plan: Plan = []
    for name, params in config.masks:
        output = f"allowed_{name}" if is_combined else "allowed"
        operation = plan_mask(name, params, query_offset, scores, output)
        plan.append(operation)
    if is_combined:
        combined = Operation("allowed", SCORE_DIMS, tuple(names), ALL_ALLOW)
        plan.append(combined)
    reads = (scores, "allowed") if is_masked(config, inputs) else (scores,)
    normaliser, _ = config.normaliser
    masked = Operation(
        output="masked_scores",
        dims=SCORE_DIMS,
        reads=reads,
        faces=MASK_TO_ZERO if NORMALISERS[normaliser].blocked == 0 else MASK,
    )
    return [*plan, masked]


def plan_mask(
    name: str,
    params: Mapping[str, object],
    query_offset: int,
    scores: str,
    output: str,
) -> Operation:
    """Return the operation of one mask, whose `offset` is the run's query_offset."""
    mask = MASKS[name]
    params = dict(params)
    params.pop("offset", None)
    if mask.uses_position:
        params["query_offset"] = query_offset
    return Operation(output, SCORE_DIMS, (scores,), mask.faces, params)


def is_masked(config: AttentionConfig, inputs: Inputs) -> bool:
    """Return whether masks apply in the run, either from the config or a given one, so that it has a step `allowed`."""
    return bool(config.masks) or "allowed" in inputs


# ---- weights ---------------------------------------------------------------------------------------------------------
def plan_weights(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int) -> Plan:
    """Return the operations from q and k to the weights that mix the values: computed, replaced, or after dropout."""
    replacing = plan_replaced_weights(config, inputs)
    output = "weights" if replacing is None else "computed_weights"
    plan = plan_computed_weights(config, inputs, shapes, query_offset, output)
    if replacing is not None:
        plan.append(replacing)
    if config.dropout:
        dropped = Operation(
            output="dropped_weights",
            dims=SCORE_DIMS,
            reads=("weights", "keep"),
            faces=DROP,
            params={"p": float(config.dropout)},
        )
        plan.append(dropped)
    return plan


def plan_computed_weights(
    config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int, output: str
) -> Plan:
    """Return the operations from q and k to the weights: those of one attention map, or of two maps and their
    combination.

    output: the name of the last step.
    """
    if config.maps == 1:
        return plan_map(config, inputs, shapes, query_offset, output)
    plan = plan_map(config, inputs, shapes, query_offset, "weights_1")
    computed = {name: step for name, step in inputs.items() if name != "chosen_scores"}  # only the first map's
    second = plan_map(config, computed, shapes, query_offset, "weights")
    plan += number_second([operation for operation in second if not is_for_both_maps(operation)], given=("q", "k"))
    _, heads, _, _ = shapes["q"]
    first = next(operation for operation in plan if operation.output == "weights_1")
    *steps, last = plan_modifiers(config, "maps", first, heads)
    return [*plan, *steps, replace(last, output=output)]


def plan_map(config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int, output: str) -> Plan:
    """Return the operations from q and k to one attention map, which is the step `output`."""
    plan = plan_scores(config, inputs, shapes, query_offset)
    plan += plan_masks(config, inputs, query_offset, plan[-1].output)
    return [*plan, plan_normaliser(config, output)]


def is_for_both_maps(operation: Operation) -> bool:
    """Return whether an operation is a mask or a bias, which the two maps of differential attention have in common."""
    is_bias = operation.output == "bias" or operation.dims == SCORE_DIMS[1:]
    return operation.output.startswith("allowed") or is_bias


def plan_normaliser(config: AttentionConfig, output: str) -> Operation:
    """Return the operation that turns masked scores into weights."""
    name, params = config.normaliser
    normaliser = NORMALISERS[name]
    reads = ("masked_scores", *names_of(normaliser.weights))
    return Operation(output, SCORE_DIMS, reads, normaliser.faces, params)


def plan_replaced_weights(config: AttentionConfig, inputs: Inputs) -> Operation | None:
    """Return the operation that replaces the computed weights by given ones; None if no weights are replaced."""
    if config.replace:
        reads = ("computed_weights", "allowed") if is_masked(config, inputs) else ("computed_weights",)
        return Operation("weights", SCORE_DIMS, reads, EVEN_WEIGHTS)
    if "replacement" in inputs:
        return Operation("weights", SCORE_DIMS, ("computed_weights", "replacement"), TAKE)
    if "chosen_weights" in inputs:
        return plan_put("weights", "computed_weights")
    return None


# ---- output ----------------------------------------------------------------------------------------------------------
def plan_output(config: AttentionConfig, inputs: Inputs, shapes: Shapes, source: str) -> Plan:
    """Return the operations from the weights to the output: mixing the values, merging the heads, and the projection by
    W_o, if the run has it.

    source: the input step of q.
    """
    _, heads, _, _ = shapes["q"]
    weights = "dropped_weights" if config.dropout else "weights"
    mixed = Operation(
        output="head_outputs",
        dims=("B", "H", "T", "d_v"),
        reads=(weights, "v"),
        faces=MIX,
    )
    changes = plan_modifiers(config, "mixed", mixed, heads, source)
    merged = Operation(
        output="concat",
        dims=("B", "T", "H·d_v"),
        reads=([mixed, *changes][-1].output,),
        faces=MERGE,
    )
    learned = [name for name in ("w_o", "b_o") if name in inputs]
    output = Operation(
        output="output",
        dims=("B", "T", "D_out" if learned else "H·d_v"),
        reads=("concat", *learned),
        faces=PROJECT if learned else PASS_ON,
    )
    return [mixed, *changes, merged, output]


def plan_residual(inputs: Inputs, plan: Plan, shapes: Shapes) -> Operation:
    """Return the operation x + output, which gives the input of the next layer; the positions added to x are part of
    x. The output is the plan's last step, as a norm may act on it before it is added.
    """
    source = "x" if "x" in inputs else "query"
    if source not in inputs:
        raise AttentionError("no_input_residual")
    expected = inputs[source].shape[-1]
    width = output_width(inputs, shapes)
    if width != expected:
        raise AttentionError(
            "residual_width",
            name=source,
            width=expected,
            given=width,
        )
    outputs = [operation.output for operation in plan]
    positioned = f"positioned_{source}"
    stream = positioned if positioned in outputs else source
    return Operation("residual", inputs[source].dims, (stream, outputs[-1]), ADD)


def output_width(inputs: Inputs, shapes: Shapes) -> int:
    """Return the number of components of each output vector of the layer."""
    if "w_o" in inputs:
        w_o = inputs["w_o"].value
        return w_o.shape[-1]
    _, H, _, _ = shapes["q"]
    _, _, _, d_v = shapes["v"]
    return H * d_v
