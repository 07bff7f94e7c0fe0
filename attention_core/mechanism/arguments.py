"""Checks the arguments of attend and attend_qkv, and returns them, reshaped, in one Arguments object."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from attention_core.mechanism.checks import (
    Shapes,
    check_choices,
    check_finite,
    check_head_counts,
    check_heads,
    check_inputs,
    check_keys,
    check_learned_weights,
    check_output_weights,
    check_projection,
    check_weight_names,
    shape_of,
    size_axes,
)
from attention_core.mechanism.config import LEARNED_TENSORS, AttentionConfig, Weights
from attention_core.mechanism.learned_tensors import add_own_sizes, check_learned
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.pair_inputs import PairInputs, check_numbers, check_pairs, chosen_numbers
from attention_core.mechanism.parameters import KEY_COUNT, KEY_PLACE, Parameter, refuse_for
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step

Inputs = dict[str, Step]
PROJECTION_WEIGHTS = ("w_q", "w_k", "w_v", "b_q", "b_k", "b_v")


@dataclass(frozen=True, eq=False)
class Arguments:
    """The checked and reshaped arguments of a run.

    inputs: x, or query, key and value, each (B, length, width); or q, k and v, each (B, heads, length, width). sources:
    the name of the input from which each of q, k and v is projected; empty if q, k and v are given. shapes: the shapes
    of q, k and v per head; if q and k are cut into two weight maps, their width is that of one map. query_offset: the
    position of query 0 among the keys. pairs: {name of a step: the given tensor with one number per (query, key) pair,
    such as a mask}; each broadcasts to (B, H, T, S).
    """

    inputs: Mapping[str, Tensor]
    sources: Mapping[str, str]
    shapes: Shapes
    query_offset: int
    weights: Weights
    pairs: Mapping[str, Tensor] = field(default_factory=dict)


# ---- attend ----------------------------------------------------------------------------------------------------------
def check_arguments(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> Arguments:
    """Returns the arguments of attend, checked and reshaped. Raises AttentionError for any argument that does not
    fit.
    """
    check_choices(weights, config)
    named = name_inputs(query, key, value)
    inputs = check_inputs(named, weights)
    sources = find_sources(inputs)
    input_shapes = {name: tuple(tensor.shape) for name, tensor in inputs.items()}
    shapes = projected_shapes(input_shapes, sources, weights, config)
    query_offset = find_query_offset(config, shapes) if config.masks else 0
    arguments = Arguments(
        inputs=inputs,
        sources=sources,
        shapes=shapes,
        query_offset=query_offset,
        weights=weights,
    )
    return check_from_qkv(arguments, config, pairs, {**named, **weights.given()})


def name_inputs(query: Tensor, key: Tensor | None, value: Tensor | None) -> dict[str, Tensor]:
    """Returns the inputs by name: x if q and k have the same input, else query and key; also value, if it is given."""
    inputs = {"x": query} if key is None else {"query": query, "key": key}
    if value is not None:
        inputs["value"] = value
    return inputs


def find_sources(inputs: Mapping[str, Tensor]) -> dict[str, str]:
    """Returns {"q", "k" or "v": the name of the input from which it is projected}."""
    query, key = ("x", "x") if "x" in inputs else ("query", "key")
    value = "value" if "value" in inputs else key
    return {"q": query, "k": key, "v": value}


def projected_shapes(
    input_shapes: Mapping[str, tuple[int, ...]],
    sources: Mapping[str, str],
    weights: Weights,
    config: AttentionConfig,
) -> Shapes:
    """Returns the checked shapes of q, k and v after projection and the split into heads."""
    kv_heads = config.kv_heads or config.heads
    heads = {"q": config.heads, "k": kv_heads, "v": kv_heads}
    shapes: Shapes = {}
    for role, source in sources.items():
        B, length, _ = input_shapes[source]
        source, shape = projection_source(role, source, input_shapes[source], weights, config)
        width = check_projection(role, source, shape, weights, heads[role])
        shapes[role] = (B, heads[role], length, width)
    check_keys(config, shapes)
    return cut_into_maps(shapes, config)


def projection_source(
    role: str, source: str, shape: tuple[int, ...], weights: Weights, config: AttentionConfig
) -> tuple[str, tuple[int, ...]]:
    """Returns the name and shape of the step from which q, k or v is projected.

    This step is the input. For k and v it may be the output of a modifier, such as the latent vector of latent
    attention, which replaces the input. Raises AttentionError if the modifier's tensors are missing, or do not fit the
    input.
    """
    if role == "q":
        return source, shape
    for name in config.modifiers_at("sources"):
        check_weight_names(config, weights)
        modifier = MODIFIERS[name]
        learned = {tensor.name: shape_of(getattr(weights, tensor.name)) for tensor in modifier.weights}
        sizes = add_own_sizes(modifier.weights, learned, {"D_kv": shape[-1]})
        check_learned(modifier.weights, learned, sizes)
        last = modifier.steps["sources"][-1]
        source = last.output.format(thing=source)
        *axes, width = last.dims
        shape = (*shape[: len(axes)], sizes[width])
    return source, shape


def cut_into_maps(shapes: Shapes, config: AttentionConfig) -> Shapes:
    """Returns the shapes with the width of q and k divided by the count of weight maps (2 in differential attention).

    Raises AttentionError: even_halves, if the width is not divisible.
    """
    if config.maps == 1:
        return shapes
    cut = dict(shapes)
    for role in ("q", "k"):
        *axes, width = shapes[role]
        if width % config.maps:
            raise AttentionError("even_halves", width=width)
        cut[role] = (*axes, width // config.maps)
    return cut


# ---- attend_qkv ------------------------------------------------------------------------------------------------------
def check_qkv_arguments(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> Arguments:
    """Returns the arguments of attend_qkv, checked and reshaped. Raises AttentionError for any argument that does not
    fit.
    """
    arguments = shape_qkv(q, k, v, weights, config)
    return check_from_qkv(arguments, config, pairs, {"q": q, "k": k, "v": v, **weights.given()})


def check_qkv(q: Tensor, k: Tensor, v: Tensor, weights: Weights, config: AttentionConfig) -> Arguments:
    """Returns the arguments of attend_qkv except pair tensors, reshaped and checked; the shapes of weights are checked
    later.
    """
    arguments = shape_qkv(q, k, v, weights, config)
    check_finite({"q": q, "k": k, "v": v, **weights.given()})
    return arguments


def shape_qkv(q: Tensor, k: Tensor, v: Tensor, weights: Weights, config: AttentionConfig) -> Arguments:
    """Returns the arguments of attend_qkv except pair tensors, reshaped and checked; whether numbers are finite is
    checked later.
    """
    check_choices(weights, config)
    inputs = check_heads({"q": q, "k": k, "v": v}, weights)
    for name in weights.given():
        if name in PROJECTION_WEIGHTS:
            raise AttentionError("unused_weight", weight=name, why="q, k and v are given already projected")
    for table, chosen in ((POSITIONS, config.positions), (MODIFIERS, config.modifiers)):
        for name, _ in chosen:
            if table[name].reads_input:
                raise AttentionError("no_input", kind=name)
    shapes = {name: tuple(tensor.shape) for name, tensor in inputs.items()}
    check_head_counts(config, shapes)
    check_keys(config, shapes)
    query_offset = find_query_offset(config, shapes) if config.masks else 0
    return Arguments(
        inputs=inputs,
        sources={},
        shapes=cut_into_maps(shapes, config),
        query_offset=query_offset,
        weights=weights,
    )


# ---- both, from q, k and v on ----------------------------------------------------------------------------------------
def check_from_qkv(
    arguments: Arguments, config: AttentionConfig, pairs: PairInputs, given: Mapping[str, Tensor]
) -> Arguments:
    """Checks the arguments that depend on the shapes of q, k and v, and returns all arguments with the checked pair
    tensors.

    These are the pair tensors, such as masks, the output weights, the learned weights and the config's masks. Whether
    numbers are finite is checked last. given: the inputs and weights as passed by the
    caller.
    """
    shapes = arguments.shapes
    weights = arguments.weights
    B, H, T, _ = shapes["q"]
    _, _, S, d_v = shapes["v"]
    first_name = next(iter(arguments.inputs))
    sample = arguments.inputs[first_name].new_zeros(1)
    run_sizes = size_axes(shapes, find_input_widths(arguments), weights.w_o)
    check_output_weights(weights, H * d_v)
    check_learned_weights(config, weights, run_sizes, sample.element_size())
    checked_pairs = {}
    if config.dropout or has_pairs(pairs):
        checked_pairs = check_pairs(
            pairs,
            config,
            sizes=(B, H, T, S),
            sample=sample,
            sample_name=first_name,
        )
    if config.masks:
        check_mask_sizes(config, shapes, arguments.query_offset)
    check_numbers({**given, **chosen_numbers(pairs, checked_pairs)}, checked_pairs, config)
    return replace(arguments, pairs=checked_pairs)


def find_input_widths(arguments: Arguments) -> tuple[int, int] | None:
    """Returns the widths of the inputs of q and k; None if q, k and v are given."""
    if not arguments.sources:
        return None
    D, D_kv = (arguments.inputs[arguments.sources[role]].shape[-1] for role in "qk")
    return D, D_kv


def has_pairs(pairs: PairInputs) -> bool:
    """Returns whether any tensor about pairs of tokens, such as a mask, is given."""
    tensors = (pairs.allowed, pairs.bias, pairs.keep, pairs.replacement)
    return bool(pairs.what_if) or any(tensor is not None for tensor in tensors)


# ---- names of the axes -----------------------------------------------------------------------------------------------
def head_dims(role: str, shapes: Shapes) -> tuple[str, ...]:
    """Returns the names of the axes of q, k or v per head; the width of q is d_k, or d_q if it differs from the width
    of k.
    """
    if role != "q":
        return ("B", "H_kv", "S", f"d_{role}")
    *_, d_q = shapes["q"]
    *_, d_k = shapes["k"]
    width = "d_k" if d_q == d_k else "d_q"
    return ("B", "H", "T", width)


def split_dims(role: str, shapes: Shapes, config: AttentionConfig) -> tuple[str, ...]:
    """Returns the names of the axes of q, k or v after the split into heads.

    In differential attention, q and k contain the columns of both maps, so their width is 2d_k.
    """
    *axes, width = head_dims(role, shapes)
    is_cut = role != "v" and config.maps > 1
    return (*axes, f"{config.maps}{width}" if is_cut else width)


def projected_dims(role: str, shapes: Shapes, config: AttentionConfig) -> tuple[str, ...]:
    """Returns the names of the axes of q, k or v after the projection and before the split into heads."""
    B, heads, length, width = split_dims(role, shapes, config)
    return (B, length, f"{heads}·{width}")


def input_dims(source: str, widths: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the names of an input's axes; its width is D, or D_<name> if it differs from the width of the first
    input.

    source: the name of the input. widths: the widths of all inputs, by name.
    """
    first_width = next(iter(widths.values()))
    length = "T" if source in ("x", "query") else "S"
    width = "D" if widths[source] == first_width else f"D_{source}"
    return ("B", length, width)


# ---- the arguments as steps ------------------------------------------------------------------------------------------
def make_input_steps(arguments: Arguments, config: AttentionConfig) -> Inputs:
    """Returns the inputs, the weights and the pair tensors, such as masks, as steps, in this order."""
    shapes = arguments.shapes
    widths = {name: tensor.shape[-1] for name, tensor in arguments.inputs.items()}
    steps: Inputs = {}
    for name, tensor in arguments.inputs.items():
        if name in shapes:  # in a run of attend these steps are computed, not inputs
            dims = split_dims(name, shapes, config)
            name = head_step(config, name)
        else:
            dims = input_dims(name, widths)
        steps[name] = Step(name, tensor, dims)
    dims_of_weights = weight_dims(arguments, config, widths)
    for name, tensor in arguments.weights.given().items():
        dims = dims_of_weights[name]
        if tensor.dim() > len(dims):  # a separate matrix for each head has one more axis
            dims = ("H", *dims)
        steps[name] = Step(name, tensor, dims)
    for name, tensor in arguments.pairs.items():
        steps[name] = Step(name, tensor, SCORE_DIMS)
    return steps


def head_step(config: AttentionConfig, role: str) -> str:
    """Returns the name of the step q, k or v after the split into heads: <role>_heads if later steps change it, else
    <role>.
    """
    changes = config.positions_at("heads") or config.modifiers_at("heads")
    is_changed = role != "v" and changes
    return f"{role}_heads" if is_changed else role


def weight_dims(arguments: Arguments, config: AttentionConfig, widths: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Returns {name of a weight: the names of its axes}, for every possible weight; a leading head axis is not
    included.

    widths: the widths of all inputs, by name.
    """
    shapes = arguments.shapes
    *_, d_q = head_dims("q", shapes)
    dims = {"w_o": ("H·d_v", "D_out"), "b_o": ("D_out",)}
    letters = {"d_q": d_q}
    if arguments.weights.w_o is None:
        letters["D_out"] = "H·d_v"
    if arguments.sources:
        *_, letters["D_kv"] = input_dims(arguments.sources["k"], widths)
    for name, tensor in LEARNED_TENSORS.items():
        dims[name] = tensor.axes(letters)
    for role, source in arguments.sources.items():
        *_, rows = input_dims(source, widths)
        if role != "q":
            rows = find_rows(config, rows)
        *_, columns = projected_dims(role, shapes, config)
        dims[f"w_{role}"] = (rows, columns)
        dims[f"b_{role}"] = (columns,)
    return dims


def find_rows(config: AttentionConfig, rows: str) -> str:
    """Returns the name of the row axis of W_k and W_v: that of the modifier's output if a modifier replaces the input,
    else `rows`.

    rows: the name of the input's width.
    """
    for name in config.modifiers_at("sources"):
        *_, rows = MODIFIERS[name].steps["sources"][-1].dims
    return rows


# ---- masks in a run of given sizes: the position of query 0, and checks of parameters --------------------------------
def find_query_offset(config: AttentionConfig, shapes: Shapes) -> int:
    """Returns the position of query 0 among the keys: the `offset` of the causal masks, S - T if none of them sets it;
    0 without causal masks.
    """
    is_causal = False
    chosen = set()
    for name, params in config.masks:
        if not MASKS[name].is_causal:
            continue
        is_causal = True
        if params.get("offset") is not None:
            chosen.add(params["offset"])
    if len(chosen) > 1:
        raise AttentionError("offsets_differ", given=sorted(chosen))
    if chosen:
        return chosen.pop()
    if not is_causal:
        return 0
    _, _, T, _ = shapes["q"]
    _, _, S, _ = shapes["k"]
    return S - T


def check_mask_sizes(config: AttentionConfig, shapes: Shapes, query_offset: int) -> None:
    """Checks that the masks' parameters fit the batch size, the number of keys and the positions of the queries."""
    B, _, T, _ = shapes["q"]
    _, _, S, _ = shapes["k"]
    last_position = max(S, T + query_offset) - 1
    for name, params in config.masks:
        for parameter in MASKS[name].parameters:
            given = params[parameter.name]
            if given is None:
                continue
            numbers = given if parameter.several else (given,)
            with refuse_for(name):
                if parameter.moves == KEY_COUNT:
                    check_key_counts(parameter, numbers, B, S)
                if parameter.moves == KEY_PLACE:
                    check_places(parameter.name, numbers, last_position)


def check_places(name: str, places: tuple[int, ...], last_position: int) -> None:
    """Checks that each of `places` is the position of a token, from 0 to last_position. name: the parameter's name."""
    for place in places:
        if not 0 <= place <= last_position:
            raise AttentionError("tokens_range", name=name, last=last_position, given=place)


def check_key_counts(parameter: Parameter, counts: tuple[int, ...], batch: int, keys: int) -> None:
    """Checks that each of `counts` is from 0 to the number of keys, and that there is a single one or one per
    sequence.
    """
    if parameter.several and len(counts) != batch:
        raise AttentionError("lengths_count", name=parameter.name, batch=batch, given=len(counts))
    for count in counts:
        if not 0 <= count <= keys:
            raise AttentionError("lengths_range", name=parameter.name, keys=keys, given=count)
