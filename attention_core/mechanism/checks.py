"""Checks tensors: their dtypes, devices and numbers, the order of their axes, and sizes that must agree."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_core.mechanism.config import OWNERS, AttentionConfig, Weights
from attention_core.mechanism.learned_tensors import Sizes, add_own_sizes, check_learned
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError

Shapes = dict[str, tuple[int, ...]]  # "q" -> (B, H, T, d_q), "k" -> (B, H_kv, S, d_k), "v" -> (B, H_kv, S, d_v)


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """Returns the shape of a tensor as a tuple."""
    return tuple(tensor.shape)


def check_choices(weights: Weights, config: AttentionConfig) -> None:
    """Checks that `weights` is a Weights and `config` an AttentionConfig, and not a dict."""
    check_class("weights", weights, Weights)
    check_class("config", config, AttentionConfig)


def check_class(name: str, given: object, expected: type) -> None:
    """Checks that `given` is an object of the class `expected`."""
    if not isinstance(given, expected):
        raise AttentionError("not_a_class", name=name, expected=expected.__name__, given=type(given).__name__)


# ---- dtype, device, numbers ------------------------------------------------------------------------------------------
def check_tensors(tensors: Mapping[str, Tensor]) -> None:
    """Checks that all tensors are floating-point, finite, not empty, and have the same dtype and device."""
    check_kinds(tensors)
    check_finite(tensors)


def check_kinds(tensors: Mapping[str, Tensor]) -> None:
    """Checks that all tensors are floating-point, not empty, and have the same dtype and device, without reading their
    numbers.
    """
    first_name = next(iter(tensors))
    first = tensors[first_name]
    for name, tensor in tensors.items():
        check_floating(name, tensor)
        check_same_kind(name, tensor, first_name, first)


DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)  # no float8: torch cannot add it


def check_floating(name: str, tensor: Tensor) -> None:
    """Checks that a tensor is dense, has a dtype in DTYPES, and has at least one number."""
    if not isinstance(tensor, Tensor):
        raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
    if tensor.layout != torch.strided:
        raise AttentionError("not_dense", name=name, given=tensor.layout)
    if tensor.dtype.is_floating_point and tensor.dtype not in DTYPES:
        raise AttentionError("no_arithmetic", name=name, given=tensor.dtype)
    if not tensor.is_floating_point():
        raise AttentionError("not_floating", name=name, given=tensor.dtype)
    if tensor.numel() == 0:
        raise AttentionError("empty", name=name, shape=shape_of(tensor))


def check_same_kind(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    """Checks that two tensors have the same dtype and are on the same device."""
    if tensor.dtype != other.dtype:
        raise AttentionError(
            "dtype_differs",
            name=name,
            given=tensor.dtype,
            other=other_name,
            expected=other.dtype,
        )
    if tensor.device != other.device:
        raise AttentionError(
            "device_differs",
            name=name,
            given=tensor.device,
            other=other_name,
            expected=other.device,
        )


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """Checks that all numbers of all tensors are finite."""
    if all_finite(*tensors.values()):
        return
    for name, tensor in tensors.items():
        places = (~tensor.isfinite()).nonzero()
        if len(places):
            index = tuple(places[0].tolist())
            value = tensor[index].item()
            raise AttentionError("not_finite", name=name, value=value, index=index)


def all_finite(*tensors: Tensor) -> bool:
    """Returns whether all numbers of all tensors are finite.

    A finite sum proves that all summands are finite. If a sum is infinite, which may be an overflow, each number is
    checked. The results of all tensors are read from the GPU at once, because each read waits for it.
    """
    sums = torch.stack([tensor.sum() for tensor in tensors])
    return bool(sums.isfinite().all()) or all(tensor.isfinite().all() for tensor in tensors)


# ---- axes ------------------------------------------------------------------------------------------------------------
def as_batch(name: str, tensor: Tensor) -> Tensor:
    """Returns a tensor (T, d) or (B, T, d) as (B, T, d)."""
    if tensor.dim() == 3:
        return tensor
    if tensor.dim() != 2:
        raise AttentionError("rank", name=name, axes="(T, d) or (B, T, d)", shape=shape_of(tensor))
    return tensor.unsqueeze(0)  # (T, d) -> (1, T, d)


def as_heads(name: str, tensor: Tensor) -> Tensor:
    """Returns a tensor (T, d) or (B, H, T, d) as (B, H, T, d)."""
    if tensor.dim() == 4:
        return tensor
    if tensor.dim() == 3:
        raise AttentionError("rank_qkv", name=name, shape=shape_of(tensor))
    if tensor.dim() != 2:
        raise AttentionError("rank", name=name, axes="(T, d) or (B, H, T, d)", shape=shape_of(tensor))
    return tensor[None, None]  # (T, d) -> (1, 1, T, d)


def as_pairs(name: str, tensor: Tensor, sizes: tuple[int, ...], boolean: bool = True) -> Tensor:
    """Returns a tensor with one entry per (query, key) pair, (T, S) or (B, H, T, S), with four axes.

    Axes of length 1 broadcast. sizes: (B, H, T, S) of the run. boolean: whether the tensor must be boolean.
    """
    if not isinstance(tensor, Tensor):
        raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
    if boolean and tensor.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name=name, given=tensor.dtype)
    if not boolean:
        check_floating(name, tensor)
    if tensor.dim() == 3:
        raise AttentionError("rank_allowed", name=name, shape=shape_of(tensor))
    if tensor.dim() not in (2, 4):
        raise AttentionError(
            "rank",
            name=name,
            axes="(T, S) or (B, H, T, S)",
            shape=shape_of(tensor),
        )
    pairs = tensor
    if tensor.dim() == 2:
        pairs = tensor[None, None]  # (T, S) -> (1, 1, T, S)
    for size, full_size in zip(pairs.shape, sizes, strict=True):
        if size not in (1, full_size):
            raise AttentionError(
                "shape_fits_scores",
                name=name,
                expected=sizes,
                shape=shape_of(tensor),
            )
    return pairs


# ---- sizes that must agree -------------------------------------------------------------------------------------------
def check_inputs(inputs: Mapping[str, Tensor], weights: Weights) -> dict[str, Tensor]:
    """Returns the inputs as (B, T, d), after checking their batch sizes, and the dtypes and devices of all tensors."""
    check_kinds({**inputs, **weights.given()})
    batches = {}
    for name, tensor in inputs.items():
        batches[name] = as_batch(name, tensor)
    check_batch_sizes(batches)
    return batches


def check_heads(inputs: Mapping[str, Tensor], weights: Weights) -> dict[str, Tensor]:
    """Returns q, k and v as (B, H, T, d), after checking their batch sizes, and the dtypes and devices of all
    tensors.
    """
    check_kinds({**inputs, **weights.given()})
    heads = {}
    for name, tensor in inputs.items():
        heads[name] = as_heads(name, tensor)
    check_batch_sizes(heads)
    return heads


def check_batch_sizes(inputs: Mapping[str, Tensor]) -> None:
    """Checks that all inputs have the same batch size as the first input, the query."""
    query = next(iter(inputs.values()))
    for name, tensor in inputs.items():
        if len(tensor) != len(query):
            raise AttentionError(
                "batch_differs",
                name=name,
                query=shape_of(query),
                shape=shape_of(tensor),
            )


def check_keys(config: AttentionConfig, shapes: Shapes) -> None:
    """Checks that there are as many values as keys, and that the score function accepts the widths of q and k."""
    q = shapes["q"][-2:]  # (T, d_q)
    k = shapes["k"][-2:]  # (S, d_k)
    v = shapes["v"][-2:]  # (S, d_v)
    if k[0] != v[0]:
        raise AttentionError("keys_values", k=k, v=v)
    score = SCORES[config.score]
    if score.equal_widths and q[1] != k[1]:
        raise AttentionError("widths_differ", q=q, k=k)


def check_head_counts(config: AttentionConfig, shapes: Shapes) -> None:
    """Checks that the counts of heads of q, k and v agree with each other, and with those that the config sets."""
    _, heads, _, _ = shapes["q"]
    _, kv_heads, _, _ = shapes["k"]
    _, v_heads, _, _ = shapes["v"]
    if config.heads not in (1, heads):
        raise AttentionError(
            "heads_given",
            name="q",
            heads=heads,
            given=config.heads,
        )
    if config.kv_heads not in (None, kv_heads):
        raise AttentionError(
            "heads_given",
            name="k",
            heads=kv_heads,
            given=config.kv_heads,
        )
    if v_heads != kv_heads:
        raise AttentionError(
            "heads_given",
            name="v",
            heads=v_heads,
            given=kv_heads,
        )
    if heads % kv_heads:
        raise AttentionError("heads_groups", heads=heads, kv_heads=kv_heads)


MAX_HIDDEN_BYTES = 256 * 2**20  # maximum size in bytes of the additive score's tanh layer (B, H, T, S, A)


# ---- projections -----------------------------------------------------------------------------------------------------
def check_projection(role: str, source: str, shape: tuple[int, ...], weights: Weights, heads: int) -> int:
    """Checks that w_<role> and b_<role> fit the input and split evenly into heads; returns the width of one head.

    source, shape: the name of the input and its shape (B, T, D). Without w_<role> the input itself is split into heads.
    """
    name = source
    width = shape[-1]
    w = getattr(weights, f"w_{role}")
    check_matrix_and_bias(role, weights, "(d_in, d_out)", source, shape, width)
    if w is not None:
        name = f"w_{role}"
        width = w.shape[1]
    if width % heads:
        raise AttentionError("heads_split", name=name, width=width, heads=heads)
    return width // heads


def check_output_weights(weights: Weights, width: int) -> None:
    """Checks that w_o and b_o fit the concatenated heads.

    width: how many numbers the concatenated heads have per query.
    """
    check_matrix_and_bias("o", weights, "(H * d_v, D_out)", "concat", f"(T, {width})", width)


def check_matrix_and_bias(
    role: str,
    weights: Weights,
    axes: str,
    source: str,
    shape: tuple[int, ...] | str,
    width: int,
) -> None:
    """Checks that w_<role> has `width` rows, and b_<role> as many numbers as w_<role> has columns.

    axes: the names of the matrix's axes, for the error message. source, shape: the input's name and shape, for the
    error message. width: the count of the input's columns.
    """
    weight = f"w_{role}"
    bias = f"b_{role}"
    w = getattr(weights, weight)
    b = getattr(weights, bias)
    if w is None:
        if b is not None:
            raise AttentionError("bias_alone", bias=bias, weight=weight)
        return
    given = shape_of(w)
    if len(given) != 2:
        raise AttentionError("weight_shape", weight=weight, axes=axes, shape=given)
    if given[0] != width:
        raise AttentionError(
            "projection_width",
            weight=weight,
            name=source,
            shape=shape,
            given=given,
        )
    if b is not None and shape_of(b) != given[1:]:
        raise AttentionError(
            "bias_width",
            bias=bias,
            weight=weight,
            shape=shape_of(b),
            given=given,
        )


# ---- learned tensors of the mechanisms -------------------------------------------------------------------------------
def size_axes(shapes: Shapes, input_widths: tuple[int, int] | None = None, w_o: Tensor | None = None) -> dict[str, int]:
    """Returns {letter of an axis, such as d_k: its length in a run}, from which shapes of learned tensors follow.

    input_widths: the widths of the inputs of q and k; None if q, k and v are given. w_o: the output matrix; the count
    of its columns is the width of the output.
    """
    B, H, T, d_q = shapes["q"]
    _, H_kv, S, d_k = shapes["k"]
    d_v = shapes["v"][-1]
    D_out = H * d_v if w_o is None else w_o.shape[-1]
    sizes = {"B": B, "H": H, "H_kv": H_kv, "T": T, "S": S, "d_q": d_q, "d_k": d_k, "d_v": d_v, "D_out": D_out}
    if input_widths is None:
        return sizes
    D, D_kv = input_widths
    return sizes | {"D": D, "D_kv": D_kv}


def check_learned_weights(
    config: AttentionConfig,
    weights: Weights,
    run_sizes: Sizes,
    itemsize: int,
) -> None:
    """Checks that the learned tensors of the chosen mechanisms are given, no others are, and their shapes fit.

    run_sizes: a result of size_axes. itemsize: the number of bytes per number.
    """
    check_weight_names(config, weights)
    weight_shapes = {name: shape_of(tensor) for name, tensor in weights.given().items()}
    for owner, declared in config.learned().items():
        sizes = add_own_sizes(declared, weight_shapes, run_sizes)
        check_learned(declared, weight_shapes, sizes)
        if owner == config.score:
            for larger in SCORES[owner].larger_than_pairs(sizes):
                check_hidden(larger, itemsize)


def check_weight_names(config: AttentionConfig, weights: Weights) -> None:
    """Checks that all learned tensors of the chosen mechanisms are given, and no tensor of another mechanism."""
    given = weights.given()
    needed = set()
    for owner, declared in config.learned().items():
        for name in names_of(declared):
            if name not in given:
                raise AttentionError("missing_weight", kind=owner, weight=name)
            needed.add(name)
    for name in given:
        if name in OWNERS and name not in needed:
            raise AttentionError("unowned_weight", weight=name, kind=OWNERS[name])


def check_hidden(sizes: tuple[int, ...], itemsize: int, limit: int = MAX_HIDDEN_BYTES) -> None:
    """Checks that the additive score's tanh layer (B, H, T, S, A) takes at most `limit` bytes."""
    needed = math.prod(sizes) * itemsize
    if needed > limit:
        raise AttentionError("hidden_too_large", needed=needed, limit=limit)
