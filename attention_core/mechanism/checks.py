"""What attend and attend_qkv accept of tensors: shapes, dtypes and numbers, checked once, before anything runs."""

import math

import torch
from torch import Tensor

from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError

MAX_HIDDEN_BYTES = 256 * 2**20  # the most that the additive score's tanh layer (B, H, T, S, A) may take


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """A shape as it is printed."""
    return tuple(tensor.shape)


def check_choices(weights: Weights, config: AttentionConfig) -> None:
    """Weights and AttentionConfig, and no dictionaries in their place."""
    for name, given, expected in (("weights", weights, Weights), ("config", config, AttentionConfig)):
        if not isinstance(given, expected):
            raise AttentionError("not_a_class", name=name, expected=expected.__name__, given=type(given).__name__)


def check_tensors(tensors: dict[str, Tensor]) -> None:
    """All are finite floating-point tensors of one dtype on one device, and none is empty."""
    first = None
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
        if not tensor.is_floating_point():
            raise AttentionError("not_floating", name=name, given=tensor.dtype)
        if tensor.numel() == 0:
            raise AttentionError("empty", name=name, shape=shape_of(tensor))
        first = first or (name, tensor)
        if tensor.dtype != first[1].dtype:
            raise AttentionError(
                "dtype_differs", name=name, given=tensor.dtype, other=first[0], expected=first[1].dtype
            )
        if tensor.device != first[1].device:
            raise AttentionError(
                "device_differs", name=name, given=tensor.device, other=first[0], expected=first[1].device
            )
        if not is_finite(tensor):
            index = tuple((~torch.isfinite(tensor)).nonzero()[0].tolist())
            raise AttentionError("not_finite", name=name, value=tensor[index].item(), index=index)


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite. A finite sum says so in one reading; another may have overflowed."""
    return math.isfinite(tensor.sum().item()) or bool(tensor.isfinite().all())


def as_batch(name: str, tensor: Tensor) -> Tensor:
    """(T, d) or (B, T, d) as (B, T, d)."""
    if tensor.dim() not in (2, 3):
        raise AttentionError("rank", name=name, axes="(T, d) or (B, T, d)", shape=shape_of(tensor))
    return tensor if tensor.dim() == 3 else tensor.unsqueeze(0)  # (T, d) -> (1, T, d)


def as_heads(name: str, tensor: Tensor) -> Tensor:
    """(T, d) or (B, H, T, d) as (B, H, T, d)."""
    if tensor.dim() == 3:
        raise AttentionError("rank_qkv", name=name, shape=shape_of(tensor))
    if tensor.dim() not in (2, 4):
        raise AttentionError("rank", name=name, axes="(T, d) or (B, H, T, d)", shape=shape_of(tensor))
    return tensor if tensor.dim() == 4 else tensor[None, None]  # (T, d) -> (1, 1, T, d)


def check_batch(query: Tensor, others: dict[str, Tensor]) -> None:
    """All have query's batch size."""
    for name, other in others.items():
        if len(other) != len(query):
            raise AttentionError("batch_differs", name=name, query=shape_of(query), shape=shape_of(other))


def check_projection(role: str, name: str, x: Tensor, weights: Weights, heads: int) -> None:
    """w_<role> and b_<role> fit x, and the projection can be cut into heads."""
    w, b = getattr(weights, f"w_{role}"), getattr(weights, f"b_{role}")
    if b is not None and w is None:
        raise AttentionError("bias_alone", bias=f"b_{role}", weight=f"w_{role}")
    width, source = x.shape[-1], name
    if w is not None:
        if w.dim() != 2:
            raise AttentionError("weight_shape", weight=f"w_{role}", axes="(d_in, d_out)", shape=shape_of(w))
        if w.shape[0] != width:
            raise AttentionError(
                "projection_width", weight=f"w_{role}", name=name, shape=shape_of(x), given=shape_of(w)
            )
        width, source = w.shape[1], f"w_{role}"
    if b is not None and b.shape != w.shape[1:]:
        raise AttentionError("bias_width", bias=f"b_{role}", weight=f"w_{role}", shape=shape_of(b), given=shape_of(w))
    if width % heads:
        raise AttentionError("heads_split", name=source, width=width, heads=heads)


def check_keys(config: AttentionConfig, q: tuple, k: tuple, v: tuple) -> None:
    """Shapes (.., T, d_q), (.., S, d_k), (.., S, d_v): as many values as keys, widths that the score can compare."""
    if k[-2] != v[-2]:
        raise AttentionError("keys_values", k=k[-2:], v=v[-2:])
    if SCORES[config.score].equal_widths and q[-1] != k[-1]:
        raise AttentionError("widths_differ", q=q[-2:], k=k[-2:])


def check_score_weights(config: AttentionConfig, weights: Weights, q: tuple, k: tuple, itemsize: int) -> None:
    """The score's own weights are there and fit q (B, H, T, d_q) and k (B, H_kv, S, d_k); no other score's are."""
    (B, H, T, d_q), (S, d_k) = q, k[-2:]
    needed = SCORES[config.score].weights
    for name in ("w_a", "w_aq", "w_ak", "v_a"):
        given = getattr(weights, name)
        if given is None and name in needed:
            raise AttentionError("missing_weight", score=config.score, weight=name)
        if given is not None and name not in needed:
            raise AttentionError("unused_weight", weight=name, why=f"the score is {config.score}")
    layer = weights.v_a.shape[-1] if "v_a" in needed and weights.v_a.dim() else 0
    expected = {"w_a": (d_q, d_k), "w_aq": (d_q, layer), "w_ak": (d_k, layer), "v_a": (layer,)}
    for name in sorted(needed):  # v_a first: the layer's width is its length
        given = shape_of(getattr(weights, name))
        if given not in (expected[name], (H, *expected[name])):
            axes = f"{expected[name]} or {(H, *expected[name])}"
            raise AttentionError("weight_shape", weight=name, axes=axes, shape=given)
    check_hidden((B, H, T, S, layer), itemsize)


def check_hidden(sizes: tuple[int, ...], itemsize: int, limit: int = MAX_HIDDEN_BYTES) -> None:
    """The additive score's tanh layer (B, H, T, S, A) takes at most `limit` bytes."""
    needed = math.prod(sizes) * itemsize
    if needed > limit:
        raise AttentionError("hidden_too_large", needed=needed, limit=limit)


def check_output_weights(weights: Weights, width: int) -> None:
    """w_o and b_o fit the concatenated heads."""
    if weights.b_o is not None and weights.w_o is None:
        raise AttentionError("bias_alone", bias="b_o", weight="w_o")
    if weights.w_o is None:
        return
    given = shape_of(weights.w_o)
    if len(given) != 2:
        raise AttentionError("weight_shape", weight="w_o", axes="(H * d_v, D_out)", shape=given)
    if given[0] != width:
        raise AttentionError("projection_width", weight="w_o", name="concat", shape=f"(T, {width})", given=given)
    if weights.b_o is not None and shape_of(weights.b_o) != given[1:]:
        raise AttentionError("bias_width", bias="b_o", weight="w_o", shape=shape_of(weights.b_o), given=given)


def as_pairs(name: str, tensor: Tensor, scores: tuple[int, ...], boolean: bool = True) -> Tensor:
    """A (T, S) or (B, H, T, S) tensor about pairs of tokens, as four axes; an axis of length 1 broadcasts."""
    if not isinstance(tensor, Tensor):
        raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
    if boolean and tensor.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name=name, given=tensor.dtype)
    if tensor.dim() == 3:
        raise AttentionError("rank_allowed", name=name, shape=shape_of(tensor))
    if tensor.dim() not in (2, 4):
        raise AttentionError("rank", name=name, axes="(T, S) or (B, H, T, S)", shape=shape_of(tensor))
    if any(size not in (1, full) for size, full in zip(tensor.shape[::-1], scores[::-1], strict=False)):
        raise AttentionError("shape_fits_scores", name=name, expected=scores, shape=shape_of(tensor))
    return tensor if tensor.dim() == 4 else tensor[None, None]  # (T, S) -> (1, 1, T, S)


def split_chosen_numbers(name: str, numbers: Tensor, scores: tuple[int, ...], like: Tensor) -> dict[str, Tensor]:
    """Numbers chosen in the place of computed ones, NaN where the computed one stays: the numbers, and where."""
    if name not in ("scores", "weights"):
        raise AttentionError("unknown_choice", name="what_if", choices="scores, weights", given=repr(name))
    given = as_pairs(f"what_if[{name!r}]", numbers, scores, boolean=False).expand(scores)
    where = ~given.isnan()
    chosen = torch.where(where, given, 0.0)
    check_tensors({"the input": like, f"what_if[{name!r}]": chosen})
    return {f"chosen_{name}": chosen, f"where_{name}": where}
