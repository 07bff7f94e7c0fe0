"""Which axes somebody's tensors have: (B, H, T, d) or (B, T, H, d), told from shapes where only one reading fits."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step

TENSOR_LAYOUTS = {  # the axes as they are given, and where the missing ones go
    "B H T d": lambda x: x,
    "B T H d": lambda x: x.transpose(1, 2),  # (B, T, H, d) -> (B, H, T, d)
    "B T d": lambda x: x.unsqueeze(1),  # (B, T, d) -> (B, 1, T, d)
    "H T d": lambda x: x.unsqueeze(0),  # (H, T, d) -> (1, H, T, d)
    "T d": lambda x: x[None, None],  # (T, d) -> (1, 1, T, d)
}


@dataclass(frozen=True)
class Layout:
    """A reading of q, k and v: `axes`, one of READINGS, and all that fit. The first is taken where several do."""

    axes: str
    fits: tuple[str, ...]

    @property
    def ambiguous(self) -> bool:
        """Whether the shapes alone do not tell."""
        return len(self.fits) > 1

    def arrange(self, tensor: Tensor) -> Tensor:
        """The tensor as (B, H, T, d)."""
        return arrange_axes(tensor, self.axes)


def arrange_axes(tensor: Tensor, axes: str) -> Tensor:
    """A tensor of the given axes, one of READINGS, as (B, H, T, d). Raises AttentionError for another name or rank.

    >>> import torch
    >>> arrange_axes(torch.zeros(2, 5, 3, 11), "B T H d").shape
    torch.Size([2, 3, 5, 11])
    """
    if axes not in TENSOR_LAYOUTS:
        raise AttentionError("unknown_choice", name="axes", choices=", ".join(TENSOR_LAYOUTS), given=repr(axes))
    if tensor.dim() != len(axes.split()):
        raise AttentionError("rank", name="q, k, v", axes=axes, shape=tuple(tensor.shape))
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
    """(B, H, T, d) from (B, T, H, d) by the shapes: heads that divide, as many values as keys, what else is known.

    q, k, v: four axes, or (T, d); three have two readings and are refused, `arrange` takes them with their axes named.
    heads: the number of query heads, where it is known. weights: (B, H, T, S), scores serve as well. head_outputs: what
    the heads gave, in the layout of q.

    Returns a Layout; where both readings fit it is `ambiguous` and takes (B, H, T, d). Raises AttentionError where none
    fits.

    >>> import torch
    >>> q, k = torch.zeros(2, 5, 3, 11), torch.zeros(2, 7, 3, 11)  # 5 queries, 7 keys, 3 heads: 5 heads of 7 cannot be
    >>> infer_layout(q, k, k)
    Layout(axes='B T H d', fits=('B T H d',))
    >>> infer_layout(q, q, q).ambiguous, infer_layout(q, q, q, heads=3).axes
    (True, 'B T H d')
    """
    ranks = {tensor.dim() for tensor in (q, k, v)}
    if ranks == {2}:
        return Layout("T d", ("T d",))
    for name, tensor in {"q": q, "k": k, "v": v}.items():
        if tensor.dim() == 3:
            raise AttentionError("rank_qkv", name=name, shape=tuple(tensor.shape))
        if tensor.dim() != 4:
            raise AttentionError("rank", name=name, axes="(T, d) or (B, H, T, d)", shape=tuple(tensor.shape))
    fits = tuple(axes for axes in ("B H T d", "B T H d") if fits_layout(axes, q, k, v, heads, weights, head_outputs))
    if not fits:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (q, k, v))
        raise AttentionError("layout_unknown", shapes=shapes)
    return Layout(fits[0], fits)


def fits_layout(
    axes: str, q: Tensor, k: Tensor, v: Tensor, heads: int | None, weights: Tensor | None, outputs: Tensor | None
) -> bool:
    """Whether q, k and v of four axes make sense under a reading, with all else that is known."""
    (B, H, T, _), (B_k, G, S, _), (B_v, G_v, S_v, d_v) = (tuple(arrange_axes(x, axes).shape) for x in (q, k, v))
    fits = (B_k, G_v, S_v, B_v) == (B, G, S, B) and G > 0 and H % G == 0 and heads in (None, H)
    fits &= weights is None or tuple(weights.shape) == (B, H, T, S)
    return fits and (outputs is None or tuple(arrange_axes(outputs, axes).shape) == (B, H, T, d_v))


def reshape_to_step(step: Step, given: Tensor) -> Tensor | None:
    """What somebody gave for a step, as the step's axes: leading axes of length 1 may be left out. None: no fit.

    >>> import torch
    >>> step = Step("weights", torch.zeros(1, 1, 2, 3), ("B", "H", "T", "S"))
    >>> reshape_to_step(step, torch.ones(2, 3)).shape, reshape_to_step(step, torch.ones(3, 2))
    (torch.Size([1, 1, 2, 3]), None)
    """
    shape, missing = tuple(step.value.shape), step.value.dim() - given.dim()
    left_out = missing >= 0 and set(shape[:missing]) <= {1}
    return given.reshape(shape) if left_out and tuple(given.shape) == shape[missing:] else None


def find_axis_order(sizes: Mapping[str, int], dims: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, ...] | None:
    """The order of a step's axes that has this shape, if there is one other than the step's own.

    >>> find_axis_order({"B": 2, "H": 3, "T": 5, "d_v": 7}, ("B", "H", "T", "d_v"), (2, 5, 3, 7))
    ('B', 'T', 'H', 'd_v')
    """
    orders = (order for order in permutations(dims) if tuple(sizes[dim] for dim in order) == tuple(shape))
    return next(orders, None)
