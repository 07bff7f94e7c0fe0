"""Tensors that somebody brings in a file: which array is what, in which order their axes are, and the part of them
that is looked at."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from attention_core.mechanism.checks import as_pairs
from attention_core.record.errors import AttentionError
from attention_core.verification.tensor_layout import arrange_axes, infer_layout

REQUIRED_ROLES = ("q", "k", "v")
PAIR_ROLES = ("mask", "scores", "weights")  # about pairs of tokens: (T, S), or with axes before them (B, H, T, S)
ROLES = (*REQUIRED_ROLES, *PAIR_ROLES, "output")
ROLE_NAMES = {
    "q": ("q", "query", "queries"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
    "mask": ("mask", "allowed", "attn_mask", "attention_mask"),
    "scores": ("scores", "attn_scores", "logits"),
    "weights": ("weights", "attn", "attn_weights", "attention_weights", "probs", "pattern"),
    "output": ("output", "out", "o", "z", "attn_output", "context"),
}
MAX_BLOCKED_BIAS = -1e4  # an additive mask of this or less means blocked


@dataclass(frozen=True, eq=False)
class UploadedTensors:
    """q (B, H, T, d_k), k (B, H_kv, S, d_k), v (B, H_kv, S, d_v) in float64; allowed, True = may attend; and the steps
    that the file holds already, by the names that a Trace gives them."""

    q: Tensor
    k: Tensor
    v: Tensor
    allowed: Tensor | None = None
    given: Mapping[str, Tensor] = field(default_factory=dict)
    axes: str = "B H T d"
    fits: tuple[str, ...] = ()


@dataclass(frozen=True)
class UploadPart:
    """Which sequence of the batch, and from where on how many heads, queries and keys."""

    batch: int
    heads: tuple[int, int]
    queries: tuple[int, int]
    keys: tuple[int, int]


# ---- which array is what ---------------------------------------------------------------------------------------------
def guess_roles(names: Iterable[str]) -> dict[str, str]:
    """The array for each role by its name: q, Q, query, layers.3.query, ...; the first that fits.

    >>> guess_roles(["layer.0.Query", "layer.0.key", "v", "attn"])
    {'q': 'layer.0.Query', 'k': 'layer.0.key', 'v': 'v', 'weights': 'attn'}
    """
    last = {name: re.split(r"[./]", name.lower())[-1] for name in names}
    found = {role: [name for name, word in last.items() if word in ROLE_NAMES[role]] for role in ROLES}
    return {role: fitting[0] for role, fitting in found.items() if fitting}


def oldest_in_force(uploads: Sequence[Iterable[str]]) -> int:
    """From which upload on all are in force: the newest that has q, k and v of its own, else the first.

    uploads: the names of the arrays that came together, the oldest upload first.

    >>> oldest_in_force([["q", "k", "v", "weights"], ["Query", "Key", "Value"], ["mask"]])
    1
    >>> oldest_in_force([["q"], ["k"], ["v"]])
    0
    """
    complete = [place for place, names in enumerate(uploads) if {*REQUIRED_ROLES} <= {*guess_roles(names)}]
    return max(complete, default=0)


def read_roles(
    arrays: Mapping[str, np.ndarray], roles: Mapping[str, str], axes: str | None = None, blocked: bool = False
) -> UploadedTensors:
    """The arrays of a file as attention reads them.

    arrays: by name. roles: the array's name for each of ROLES; q, k and v are needed. axes: the order of those of q, k,
    v, one of axes.READINGS, None where the shapes are to tell. blocked: a True in the mask means blocked, as in
    torch.nn.MultiheadAttention. A mask of numbers is additive: 0 where a pair is allowed, -1e4 or less where not.

    A mask of three axes is (H, T, S) of one sequence or (B, T, S) of one head; of several of both it is refused.

    Raises AttentionError: role_missing, mask_not_additive, rank, rank_allowed, shape_fits_scores, and as told_layout
    and arrange do.

    >>> arrays = {"q": np.zeros((1, 5, 3, 2)), "k": np.zeros((1, 7, 3, 2)), "v": np.zeros((1, 7, 3, 4))}
    >>> brought = read_roles(arrays, guess_roles(arrays))
    >>> brought.axes, brought.q.shape
    ('B T H d', torch.Size([1, 3, 5, 2]))
    """
    for role in REQUIRED_ROLES:
        if roles.get(role) not in arrays:
            raise AttentionError("role_missing", role=role, choices=", ".join(arrays)[:200])
    tensors = {role: torch.from_numpy(np.asarray(arrays[name])) for role, name in roles.items() if name in arrays}
    q, k, v = (tensors[role].double() for role in REQUIRED_ROLES)
    fits: tuple[str, ...] = ()
    if axes is None:
        pairs = (tensors[role] for role in ("weights", "scores") if role in tensors and tensors[role].dim() == 4)
        known = {"weights": next(pairs, None)}
        known["head_outputs"] = tensors["output"] if "output" in tensors and tensors["output"].dim() == 4 else None
        layout = infer_layout(q, k, v, **known)
        axes, fits = layout.axes, layout.fits
    q, k, v = (arrange_axes(tensor, axes) for tensor in (q, k, v))
    sizes = (*q.shape[:3], k.shape[2])
    allowed = None
    if "mask" in tensors:
        allowed = as_pairs("mask", add_pair_axes(mask_to_allowed(tensors["mask"], blocked), sizes), sizes)
    given = {role: add_pair_axes(tensors[role].double(), sizes) for role in ("scores", "weights") if role in tensors}
    if "output" in tensors:
        given |= output_to_step(tensors["output"].double(), axes)
    return UploadedTensors(q, k, v, allowed, given, axes, fits or (axes,))


def add_pair_axes(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """A tensor about pairs with the axes before (T, S) that can only have length 1; others stay as they are.

    sizes: (B, H, T, S).

    >>> add_pair_axes(torch.zeros(3, 5, 7), (1, 3, 5, 7)).shape, add_pair_axes(torch.zeros(3, 5, 7), (3, 3, 5, 7)).shape
    (torch.Size([1, 3, 5, 7]), torch.Size([3, 5, 7]))
    """
    B, H = sizes[:2]
    if tensor.dim() == 3 and 1 in (B, H):
        return tensor.unsqueeze(0 if B == 1 else 1)  # (H, T, S) -> (1, H, T, S), (B, T, S) -> (B, 1, T, S)
    return tensor[None, None] if tensor.dim() == 2 else tensor  # (T, S) -> (1, 1, T, S)


def mask_to_allowed(mask: Tensor, blocked: bool) -> Tensor:
    """A mask as True = may attend: a boolean one, or an additive one of 0 and large negative numbers."""
    if mask.dtype == torch.bool:
        return ~mask if blocked else mask
    never = mask <= MAX_BLOCKED_BIAS
    if ((mask != 0) & ~never).any():
        raise AttentionError("mask_not_additive", limit=MAX_BLOCKED_BIAS)
    return ~never


def output_to_step(output: Tensor, axes: str) -> dict[str, Tensor]:
    """What attention gave, as the step that it is: a head's outputs where it has the axes of q, else the concat."""
    if output.dim() < 2:
        raise AttentionError("rank", name="output", axes="(T, H d_v) or (B, T, H d_v)", shape=tuple(output.shape))
    return {"head_outputs": arrange_axes(output, axes)} if output.dim() == len(axes.split()) else {"concat": output}


# ---- the part that is looked at --------------------------------------------------------------------------------------
def largest_upload_part(brought: UploadedTensors, most_heads: int, most_tokens: int, most_pairs: int) -> UploadPart:
    """As much of the tensors as may be looked at at once, from the beginning on."""
    (_, H, T, _), (_, groups, S, _) = brought.q.shape, brought.k.shape
    share = H // groups if groups and H % groups == 0 else 1
    queries, keys = min(T, most_tokens), min(S, most_tokens)
    heads = max(share, min(H, most_heads, most_pairs // (queries * keys)) // share * share)
    return UploadPart(0, (0, heads), (0, queries), (0, keys))


def cut_upload_part(brought: UploadedTensors, part: UploadPart) -> UploadedTensors:
    """The part as tensors of their own: one sequence, some heads with the key/value heads that they read, some tokens.

    Weights, and what is made of them, belong to all keys: of a part of the keys only the scores are compared. What does
    not have the sizes of its step is not cut, so that it is said not to fit.
    Raises AttentionError: part_outside.
    """
    (B, H, T, _), (_, groups, S, _) = brought.q.shape, brought.k.shape
    share = H // groups if H % groups == 0 else 1
    sizes = {"heads": (part.heads, H), "queries": (part.queries, T), "keys": (part.keys, S)}
    for name, ((first, count), size) in sizes.items():
        if not (first >= 0 and count > 0 and first + count <= size):
            raise AttentionError("part_outside", name=name, size=size, given=f"{first + 1}–{first + count}")
    if not 0 <= part.batch < B:
        raise AttentionError("part_outside", name="batch", size=B, given=part.batch + 1)
    if part.heads[0] % share or part.heads[1] % share:
        raise AttentionError("part_groups", share=share)
    heads, queries, keys = (slice(first, first + count) for (first, count), _ in sizes.values())
    served = slice(heads.start // share, heads.stop // share)
    sequence = slice(part.batch, part.batch + 1)
    every_key, every_head = part.keys == (0, S), part.heads == (0, H)
    given = {}
    for name, tensor in brought.given.items():
        shape = tuple(tensor.shape)
        if name in ("scores", "weights"):
            given[name] = tensor[sequence, heads, queries, keys] if shape == (B, H, T, S) else tensor
        elif name == "head_outputs":
            given[name] = tensor[sequence, heads, queries] if shape[:3] == (B, H, T) else tensor
        elif every_head:
            one = tensor[None] if tensor.dim() == 2 and B == 1 else tensor  # (T, width) -> (1, T, width)
            given[name] = one[sequence, queries] if one.shape[:2] == (B, T) else one
    kept = given if every_key else {name: tensor for name, tensor in given.items() if name == "scores"}
    return replace(
        brought,
        q=brought.q[sequence, heads, queries].clone(),  # a part is kept without the whole behind it
        k=brought.k[sequence, served, keys].clone(),
        v=brought.v[sequence, served, keys].clone(),
        allowed=None if brought.allowed is None else slice_pairs(brought.allowed, sequence, heads, queries, keys),
        given={name: tensor.clone() for name, tensor in kept.items()},
    )


def slice_pairs(tensor: Tensor, *ranges: slice) -> Tensor:
    """The part of a mask that broadcasts to (B, H, T, S); an axis of length 1 stays as it is."""
    return tensor[tuple(slice(None) if size == 1 else r for size, r in zip(tensor.shape, ranges, strict=True))]
