"""Reads q, k, v and further steps of attention from the arrays of a file, and cuts out the heads and tokens that fit a
screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from attention_core.inputs.files.array_names import HOOK_PREFIX, last_name, plain_name
from attention_core.inputs.files.mask_readings import (
    BIAS_NAMES,
    CAUSAL_FLAGS,
    LENGTH_NAMES,
    PADDING_NAMES,
    MaskReading,
    is_mask_name,
    is_stated_mask,
    mask_to_bias,
    read_mask,
)
from attention_core.record.errors import AttentionError
from attention_core.verification.tensor_layout import Layout, arrange_axes, infer_layout

REQUIRED_ROLES = ("q", "k", "v")
NO_ANSWERS: Mapping[str, MaskReading] = {}
# Arrays that change which pairs attend: allowed pairs, real keys (not padding), numbers added to the scores.
MASK_ROLES = ("mask", "padding", "bias")
ROLES = (*REQUIRED_ROLES, *MASK_ROLES, "scores", "weights", "output")
STATED_NAMES = (*CAUSAL_FLAGS, *LENGTH_NAMES)
ATTENTION_MASK = "attention_mask"  # beside another mask, this name marks real keys (B, S), as in transformers
HEAD_OUTPUTS = "head_outputs"  # name of a step in this app's exports; there, "output" is the result of W_o
VECTOR_ENDINGS = ("", "_states", "_layer", "_vectors", "_heads", "_tensor", "_proj", "s")
ROLE_NAMES = {
    **{
        letter: tuple(f"{name}{ending}" for name in (letter, word) for ending in VECTOR_ENDINGS)
        for letter, word in (("q", "query"), ("k", "key"), ("v", "value"))
    },
    "padding": PADDING_NAMES,
    "bias": BIAS_NAMES,
    "scores": ("scores", "attn_scores", "attention_scores", "logits", "attn_logits"),
    "weights": (
        *("weights", "attn", "attn_weights", "attention_weights", "probs", "attn_probs", "attention_probs"),
        *("pattern", "patterns", "attention", "attentions", "attn_map", "attention_map"),
    ),
    "output": ("output", "out", "o", "z", "attn_output", "attention_output", "context", "context_layer", HEAD_OUTPUTS),
}
ROLE_NAMES["q"] += ("queries",)
ROTATED_NAMES = {  # role -> names of q and k after RoPE, which are preferred, because the scores come from these
    letter: (f"rot_{letter}", f"{letter}_rot", f"{word}_rot", f"{letter}_rotated", f"{letter}_embed")
    for letter, word in (("q", "query"), ("k", "key"))
}
SCALED_SCORES = "hook_attn_scores"  # TransformerLens's scores, after scale and mask; a run here has no such step
# An array with one of these names is a weight matrix if it has two axes, else projected vectors.
MATRIX_LIKE_NAMES = ("q_proj", "k_proj", "v_proj", "query_proj", "key_proj", "value_proj")


@dataclass(frozen=True, eq=False)
class UploadedTensors:
    """The tensors of a file in the layout of this package.

    q: (B, H, T, d_k). k: (B, H_kv, S, d_k). v: (B, H_kv, S, d_v), all in float64. allowed: True if a query may attend
    to a key. bias: the numbers that the masks add to the scores; None if they add none. given: the steps in the file,
    by their names in a Trace. axes: the layout of q, k and v in the file, one of TENSOR_LAYOUTS. fits: all layouts that
    the shapes of q, k and v allow. masks: {role of MASK_ROLES: the chosen reading of the mask}. mask_fits: {role: all
    possible readings of the mask}.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    allowed: Tensor | None = None
    bias: Tensor | None = None
    given: Mapping[str, Tensor] = field(default_factory=dict)
    axes: str = "B H T d"
    fits: tuple[str, ...] = ()
    masks: Mapping[str, MaskReading] = field(default_factory=dict)
    mask_fits: Mapping[str, tuple[MaskReading, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class UploadPart:
    """The part to cut from uploaded tensors: the index of a sequence, and (first, count) for its heads, queries and
    keys.
    """

    batch: int
    heads: tuple[int, int]
    queries: tuple[int, int]
    keys: tuple[int, int]

    def slices(self) -> tuple[slice, slice, slice, slice]:
        """Return the ranges to cut out as slices of the axes B, H, T and S."""
        ranges = ((self.batch, 1), self.heads, self.queries, self.keys)
        return tuple(slice(first, first + count) for first, count in ranges)


# ---- the role of each array ------------------------------------------------------------------------------------------
def guess_roles(names: Iterable[str]) -> dict[str, str]:
    """Guess {role: array name} from names such as q, Q, query and layers.3.query; the first of several is taken.

    >>> guess_roles(["layer.0.Query", "layer.0.key", "v", "attn"])
    {'q': 'layer.0.Query', 'k': 'layer.0.key', 'v': 'v', 'weights': 'attn'}
    """
    names = [name for name in names if last_name(name) != SCALED_SCORES]
    names.sort(key=lambda name: plain_name(name) in STATED_NAMES)  # masks without a matrix come last
    roles: dict[str, str] = {}
    for role in ROLES:
        for said in (last_name, plain_name):  # last_name first, because it keeps an exact name
            for name in names:
                if names_role(said(name), role):
                    roles.setdefault(role, name)
    rotated = find_rotated(names)
    if len(rotated) == len(ROTATED_NAMES):
        roles |= rotated
    if HEAD_OUTPUTS in names:
        roles["output"] = HEAD_OUTPUTS
    masks = {plain_name(name): name for name in names if names_role(plain_name(name), "mask")}
    if len(masks) > 1 and ATTENTION_MASK in masks and "padding" not in roles:
        roles["padding"] = masks.pop(ATTENTION_MASK)
        roles["mask"] = next(iter(masks.values()))
    return roles


def names_role(name: str, role: str) -> bool:
    """Return whether an array's name is a known name of a role."""
    if role == "mask":
        return is_mask_name(name) and name not in (*PADDING_NAMES, *BIAS_NAMES)
    return name in ROLE_NAMES[role]


def find_rotated(names: Iterable[str]) -> dict[str, str]:
    """Return {role: array name} for the arrays with a name of q or k after RoPE; {} if there are none."""
    rotated: dict[str, str] = {}
    for role, known in ROTATED_NAMES.items():
        for name in names:
            if plain_name(name) in known:
                rotated.setdefault(role, name)
    return rotated


def guess_array_roles(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Guess the role of each array by its name, if the form of the array suits the role.

    Excluded are single numbers, and the weights and biases of a layer.

    >>> guess_array_roles({"q_proj": np.eye(2), "q": np.ones((1, 2)), "attn.bias": np.ones(2)})
    {'q': 'q'}
    """
    return guess_roles(name for name, array in arrays.items() if can_have_role(name, array))


def can_have_role(name: str, array: np.ndarray) -> bool:
    """Return whether an array's shape and values are possible for the role that its name implies."""
    plain = plain_name(name)
    if plain in STATED_NAMES:
        return is_stated_mask(name, array)
    if array.ndim == 0:
        return False
    if plain in MATRIX_LIKE_NAMES:
        return array.ndim > 2
    return plain not in BIAS_NAMES or array.ndim > 1


def oldest_in_force(uploads: Sequence[Iterable[str]]) -> int:
    """Return the index of the oldest upload that is still needed: the newest with all of q, k and v, or else the first.

    uploads: the names of the arrays in each upload, the oldest upload first.

    >>> oldest_in_force([["q", "k", "v", "weights"], ["Query", "Key", "Value"], ["mask"]])
    1
    >>> oldest_in_force([["q"], ["k"], ["v"]])
    0
    """
    oldest = 0
    for number, names in enumerate(uploads):
        if set(REQUIRED_ROLES) <= guess_roles(names).keys():
            oldest = number
    return oldest


def read_roles(
    arrays: Mapping[str, np.ndarray],
    roles: Mapping[str, str],
    axes: str | None = None,
    answers: Mapping[str, MaskReading] = NO_ANSWERS,
) -> UploadedTensors:
    """Read the arrays of a file as q, k, v and further steps of attention.

    arrays: {array name: array}. roles: {role: array name} for roles of ROLES; q, k and v are required. axes: the axes
    of q, k and v, one of TENSOR_LAYOUTS; None to infer the axes from the shapes. answers: {role: the mask's reading
    that the user chose}; without one, name, numbers and shape of the mask decide.

    Raises AttentionError: role_missing, maps_alone, mask_readings, mask_not_additive, rank, shape_fits_scores, and as
    infer_layout and arrange_axes do.

    >>> arrays = {"q": np.zeros((1, 5, 3, 2)), "k": np.zeros((1, 7, 3, 2)), "v": np.zeros((1, 7, 3, 4))}
    >>> uploaded = read_roles(arrays, guess_roles(arrays))
    >>> uploaded.axes, uploaded.q.shape
    ('B T H d', torch.Size([1, 3, 5, 2]))
    """
    missing = [role for role in REQUIRED_ROLES if roles.get(role) not in arrays]
    if len(missing) == len(REQUIRED_ROLES) and roles.get("weights") in arrays:
        raise AttentionError("maps_alone", name=roles["weights"])
    if missing:
        raise AttentionError("role_missing", role=missing[0], choices=", ".join(arrays)[:200])
    tensors = {}
    for role, name in roles.items():
        if name in arrays:
            tensors[role] = torch.from_numpy(np.asarray(arrays[name]))
    layout = infer_upload_layout(tensors, roles) if axes is None else Layout(axes, (axes,))
    q, k, v = (layout.arrange(tensors[role].double()) for role in REQUIRED_ROLES)
    B, H, T, _ = q.shape
    S = k.shape[2]
    pairs = (B, H, T, S)
    allowed, bias, masks, mask_fits, given = None, None, {}, {}, {}
    for role in MASK_ROLES:
        if role in tensors:
            mask, masks[role], mask_fits[role] = read_mask(roles[role], tensors[role], pairs, answers.get(role))
            allowed = mask if allowed is None else allowed & mask
            added = mask_to_bias(tensors[role], masks[role], pairs)
            if added is not None:
                bias = added if bias is None else bias + added
    for role in ("scores", "weights"):
        if role in tensors:
            given[role] = add_pair_axes(tensors[role].double(), pairs)
    if "output" in tensors:
        given |= output_to_step(tensors["output"].double(), layout.axes)
    return UploadedTensors(q, k, v, allowed, bias, given, layout.axes, layout.fits, masks, mask_fits)


def infer_upload_layout(tensors: Mapping[str, Tensor], roles: Mapping[str, str]) -> Layout:
    """Infer the axes of q, k and v from their shapes, and from the shapes of those weights, scores and outputs that
    have four axes.

    If two layouts fit and the name of q comes from TransformerLens, the layout with tokens before heads is chosen.
    """
    known = {role: tensor for role, tensor in tensors.items() if tensor.dim() == 4}
    layout = infer_layout_of(tensors, known)
    if layout.ambiguous and last_name(roles["q"]).startswith(HOOK_PREFIX):
        return Layout("B T H d", ("B T H d", *(axes for axes in layout.fits if axes != "B T H d")))
    return layout


def infer_layout_of(tensors: Mapping[str, Tensor], known: Mapping[str, Tensor]) -> Layout:
    """Infer the axes of q, k and v from shapes alone.

    known: {role: tensor with four axes}; the roles "weights", "scores" and "output" are used, if they are given.
    """
    return infer_layout(
        tensors["q"],
        tensors["k"],
        tensors["v"],
        weights=known.get("weights", known.get("scores")),
        head_outputs=known.get("output"),
    )


def add_pair_axes(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Add an axis B or H of length 1 to weights or scores that lack it; return other tensors unchanged.

    sizes: (B, H, T, S).

    >>> add_pair_axes(torch.zeros(3, 5, 7), (1, 3, 5, 7)).shape, add_pair_axes(torch.zeros(3, 5, 7), (3, 3, 5, 7)).shape
    (torch.Size([1, 3, 5, 7]), torch.Size([3, 5, 7]))
    """
    B, H = sizes[:2]
    if tensor.dim() == 2 and B == H == 1:
        return tensor[None, None]  # (T, S) -> (1, 1, T, S)
    if tensor.dim() == 3 and B == 1 and tensor.shape[0] == H:
        return tensor[None]  # (H, T, S) -> (1, H, T, S)
    if tensor.dim() == 3 and H == 1:
        return tensor[:, None]  # (B, T, S) -> (B, 1, T, S)
    return tensor


def output_to_step(output: Tensor, axes: str) -> dict[str, Tensor]:
    """Return {name of its step: tensor} for an uploaded output: "head_outputs" if it has as many axes as q, else
    "concat".

    axes: the layout of q in the file.
    """
    if output.dim() < 2:
        raise AttentionError(
            "rank",
            name="output",
            axes="(T, H d_v) or (B, T, H d_v)",
            shape=tuple(output.shape),
        )
    if output.dim() == len(axes.split()):
        return {"head_outputs": arrange_axes(output, axes)}
    return {"concat": output}


# ---- the part that fits on a screen ----------------------------------------------------------------------------------
def largest_upload_part(uploaded: UploadedTensors, most_heads: int, most_tokens: int, most_pairs: int) -> UploadPart:
    """Return the largest UploadPart within these limits; it begins at the first head, query and key.

    most_pairs: the largest number of weights over all heads.
    """
    _, H, T, _ = uploaded.q.shape
    S = uploaded.k.shape[2]
    queries = min(T, most_tokens)
    keys = min(S, most_tokens)
    heads_for_pairs = most_pairs // (queries * keys)
    heads = min(H, most_heads, heads_for_pairs)
    share = heads_per_group(uploaded)
    whole_groups = max(heads // share, 1)
    return UploadPart(
        batch=0,
        heads=(0, whole_groups * share),
        queries=(0, queries),
        keys=(0, keys),
    )


def heads_per_group(uploaded: UploadedTensors) -> int:
    """Return the number of query heads that share a key/value head; 1 if the query heads do not divide evenly."""
    H = uploaded.q.shape[1]
    H_kv = uploaded.k.shape[1]
    if H_kv == 0 or H % H_kv != 0:
        return 1
    return H // H_kv


def cut_upload_part(uploaded: UploadedTensors, part: UploadPart) -> UploadedTensors:
    """Copy some heads, queries and keys of one uploaded sequence, with the key/value heads of these heads.

    Weights and outputs depend on all keys, so if the part lacks some keys, it has only the scores of the file. A step
    whose shape does not fit q and k stays whole, and a later check reports the mismatch. Raises AttentionError:
    part_outside, part_groups.
    """
    check_part(uploaded, part)
    sequence, heads, queries, keys = part.slices()
    share = heads_per_group(uploaded)
    kv_heads = slice(heads.start // share, heads.stop // share)
    pairs = {"allowed": uploaded.allowed, "bias": uploaded.bias}
    cut = {name: slice_pairs(tensor, part.slices()).clone() for name, tensor in pairs.items() if tensor is not None}
    return replace(  # copied, so that the memory of the whole tensors can be freed
        uploaded,
        q=uploaded.q[sequence, heads, queries].clone(),
        k=uploaded.k[sequence, kv_heads, keys].clone(),
        v=uploaded.v[sequence, kv_heads, keys].clone(),
        **cut,
        given=cut_given_steps(uploaded, part),
    )


def check_part(uploaded: UploadedTensors, part: UploadPart) -> None:
    """Raise AttentionError if the ranges are outside the tensors, or separate heads that share a key/value head."""
    B, H, T, _ = uploaded.q.shape
    S = uploaded.k.shape[2]
    check_range("heads", part.heads, H)
    check_range("queries", part.queries, T)
    check_range("keys", part.keys, S)
    if not 0 <= part.batch < B:
        raise AttentionError(
            "part_outside",
            name="batch",
            size=B,
            given=part.batch + 1,
        )
    share = heads_per_group(uploaded)
    first, count = part.heads
    if first % share or count % share:
        raise AttentionError("part_groups", share=share)


def check_range(name: str, chosen: tuple[int, int], size: int) -> None:
    """Raise AttentionError if a range, (first, count), is outside an axis.

    name: the name of the axis, for the error.
    """
    first, count = chosen
    end = first + count
    if first < 0 or count < 1 or end > size:
        raise AttentionError(
            "part_outside",
            name=name,
            size=size,
            given=f"{first + 1}–{end}",
        )


def cut_given_steps(uploaded: UploadedTensors, part: UploadPart) -> dict[str, Tensor]:
    """Copy the steps of a file for the chosen heads, queries and keys; if some keys are left out, copy only the
    scores.
    """
    B, H, T, _ = uploaded.q.shape
    S = uploaded.k.shape[2]
    sequence, heads, queries, keys = part.slices()
    has_every_head = part.heads == (0, H)
    has_every_key = part.keys == (0, S)
    given = {}
    for name, tensor in uploaded.given.items():
        if name != "scores" and not has_every_key:
            continue
        if name == "concat" and not has_every_head:
            continue
        if name == "concat" and tensor.dim() == 2 and B == 1:
            tensor = tensor[None]  # (T, width) -> (1, T, width)
        if name in ("scores", "weights") and tensor.shape == (B, H, T, S):
            tensor = tensor[sequence, heads, queries, keys]
        elif name in ("scores", "weights") and tensor.shape in ((B, T, S), (T, S)):  # averaged over the heads
            tensor = tensor[..., queries, keys] if tensor.dim() == 2 else tensor[sequence, queries, keys]
        elif name == "head_outputs" and tensor.shape[:3] == (B, H, T):
            tensor = tensor[sequence, heads, queries]
        elif name == "concat" and tensor.shape[:2] == (B, T):
            tensor = tensor[sequence, queries]
        given[name] = tensor.clone()
    return given


def slice_pairs(tensor: Tensor, slices: tuple[slice, ...]) -> Tensor:
    """Cut a mask that broadcasts to (B, H, T, S); an axis of length 1 is left unchanged."""
    kept = []
    for size, chosen in zip(tensor.shape, slices, strict=True):
        kept.append(slice(None) if size == 1 else chosen)
    return tensor[tuple(kept)]
