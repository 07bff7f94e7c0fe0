"""Infers from the shapes of given tensors in which order their axes are: (B, H, T, d) or (B, T, H, d)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step

TENSOR_LAYOUTS = {  # axes of a given tensor -> function that reorders it to (B, H, T, d)
    "B H T d": lambda x: x,
    "B T H d": lambda x: x.transpose(1, 2),  # (B, T, H, d) -> (B, H, T, d)
    "B T d": lambda x: x.unsqueeze(1),  # (B, T, d) -> (B, 1, T, d)
    "H T d": lambda x: x.unsqueeze(0),  # (H, T, d) -> (1, H, T, d)
    "T d": lambda x: x[None, None],  # (T, d) -> (1, 1, T, d)
}


@dataclass(frozen=True)
class Layout:
    """The order of the axes in which q, k and v were given.

    axes: the chosen layout. fits: the layouts in TENSOR_LAYOUTS that fit the shapes of q, k and v; `axes` is the first
    of them.
    """

    axes: str
    fits: tuple[str, ...]

    @property
    def ambiguous(self) -> bool:
        """Whether more than one layout fits the shapes."""
        return len(self.fits) > 1

    def arrange(self, tensor: Tensor) -> Tensor:
        """Return a tensor, given in this layout, as (B, H, T, d)."""
        return arrange_axes(tensor, self.axes)


def arrange_axes(tensor: Tensor, axes: str) -> Tensor:
    """Return a tensor with the named axes as (B, H, T, d).

    axes: one of TENSOR_LAYOUTS. Raises AttentionError for another name, and for a tensor of another rank.

    >>> import torch
    >>> arrange_axes(torch.zeros(2, 5, 3, 11), "B T H d").shape
    torch.Size([2, 3, 5, 11])
    """
    if axes not in TENSOR_LAYOUTS:
        choices = ", ".join(TENSOR_LAYOUTS)
        raise AttentionError(
            "unknown_choice",
            name="axes",
            choices=choices,
            given=repr(axes),
        )
    rank = len(axes.split())
    if tensor.dim() != rank:
        raise AttentionError(
            "rank",
            name="q, k, v",
            axes=axes,
            shape=tuple(tensor.shape),
        )
    return TENSOR_LAYOUTS[axes](tensor)


def infer_layout(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int | None = None,
    *,
    weights: Tensor | None = None,
    head_outputs: Tensor | None = None,
) -> Layout:
    """Infer from shapes whether tensors are (B, H, T, d) or (B, T, H, d): k and v must match, and heads must divide.

    q, k, v: tensors with four axes, or (T, d). Three axes are ambiguous and raise AttentionError; `arrange_axes` takes
    the names of the axes. heads: the number of query heads, None if unknown. weights: (B, H, T, S), or scores.
    head_outputs: the outputs of the heads, in the layout of q.

    Returns a Layout; if both layouts fit, it is `ambiguous` and takes (B, H, T, d). Raises AttentionError if none fits.

    >>> import torch
    >>> q, k = torch.zeros(2, 5, 3, 11), torch.zeros(2, 7, 3, 11)  # 5 queries, 7 keys, 3 heads: 5 heads of 7 cannot be
    >>> infer_layout(q, k, k)
    Layout(axes='B T H d', fits=('B T H d',))
    >>> infer_layout(q, q, q).ambiguous, infer_layout(q, q, q, heads=3).axes
    (True, 'B T H d')
    """
    tensors = {"q": q, "k": k, "v": v}
    if all(tensor.dim() == 2 for tensor in tensors.values()):
        return Layout("T d", ("T d",))
    for name, tensor in tensors.items():
        if tensor.dim() == 3:
            raise AttentionError("rank_qkv", name=name, shape=tuple(tensor.shape))
        if tensor.dim() != 4:
            raise AttentionError(
                "rank",
                name=name,
                axes="(T, d) or (B, H, T, d)",
                shape=tuple(tensor.shape),
            )
    fits = []
    for axes in ("B H T d", "B T H d"):
        if fits_layout(axes, q, k, v, heads, weights, head_outputs):
            fits.append(axes)
    if not fits:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in tensors.values())
        raise AttentionError("layout_unknown", shapes=shapes)
    return Layout(fits[0], tuple(fits))


def fits_layout(
    axes: str, q: Tensor, k: Tensor, v: Tensor, heads: int | None, weights: Tensor | None, outputs: Tensor | None
) -> bool:
    """Return whether q, k and v in this layout, and the other given tensors, have sizes that agree."""
    B, H, T, _ = arrange_axes(q, axes).shape
    B_v, H_kv, S, d_v = arrange_axes(v, axes).shape
    B_k, H_k, S_k, _ = arrange_axes(k, axes).shape
    if B_v != B or (B_k, H_k, S_k) != (B, H_kv, S):
        return False
    if H_kv == 0 or H % H_kv != 0:
        return False
    if heads is not None and heads != H:
        return False
    if weights is not None and weights.shape != (B, H, T, S):
        return False
    if outputs is None:
        return True
    arranged = arrange_axes(outputs, axes)
    return arranged.shape == (B, H, T, d_v)


def reshape_to_step(step: Step, given: Tensor) -> Tensor | None:
    """Return given numbers in the shape of a step; None if they do not fit. They may lack leading axes of length 1.

    >>> import torch
    >>> step = Step("weights", torch.zeros(1, 1, 2, 3), ("B", "H", "T", "S"))
    >>> reshape_to_step(step, torch.ones(2, 3)).shape, reshape_to_step(step, torch.ones(3, 2))
    (torch.Size([1, 1, 2, 3]), None)
    """
    shape = step.shape
    missing = len(step.shape) - given.dim()
    if missing < 0:
        return None
    expected = (1,) * missing + tuple(given.shape)
    if tuple(shape) != expected:
        return None
    return given.reshape(shape)


def find_axis_order(
    sizes: Mapping[str, int],
    dims: tuple[str, ...],
    shape: tuple[int, ...],
) -> tuple[str, ...] | None:
    """Return the order of a step's axes for which the step would have the given shape; None if there is none.

    >>> find_axis_order({"B": 2, "H": 3, "T": 5, "d_v": 7}, ("B", "H", "T", "d_v"), (2, 5, 3, 7))
    ('B', 'T', 'H', 'd_v')
    """
    for order in permutations(dims):
        ordered = tuple(sizes[dim] for dim in order)
        if ordered == tuple(shape):
            return order
    return None
