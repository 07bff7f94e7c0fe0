"""Traces vectors of a recorded run back to the sums, linear maps and norms that computed them."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor

from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.watched_run import SAME_NUMBERS, Computed, OperationWatch

SUMS = ("add", "add_")


@dataclass(frozen=True, eq=False)
class Point:
    """A tensor of a recorded run, together with the operation that computed it; None if no recorded operation did."""

    value: Tensor
    made_by: Computed | None


class Stream:
    """The operations, linear maps and norm calls of a recorded run, through which vectors are traced back.

    maps: the linear maps of the run. norms: its calls of modules that return the shape of their operand; linear maps
    among them are ignored.
    """

    def __init__(self, watched: OperationWatch, maps: Iterable[LinearMap], norms: Iterable[NormCall]):
        self.operations = watched.operations
        self.times = {key: number for number, key in enumerate(watched.operations)}
        self.maps = {id(each.made): each for each in maps}
        self.norms: dict[int, NormCall] = {}
        self.norms = {id(each.made): each for each in norms if self.map_at(self.point(each.made)) is None}

    def point(self, tensor: Tensor) -> Point:
        """Return a tensor with the operation that computed its numbers; operations that only change the shape are
        skipped.
        """
        return self.before_shapes(Point(tensor, self.operations.get(id(tensor))))

    def before_shapes(self, point: Point) -> Point:
        """Return the tensor of a point as it was before operations that only change the shape."""
        while point.made_by is not None and point.made_by.name in SAME_NUMBERS and self.norm_at(point) is None:
            point = Point(point.made_by.arguments[0], point.made_by.source())
        return point

    def norm_at(self, point: Point) -> NormCall | None:
        """Return the call that computed a tensor, if it is one of the norm calls; else None."""
        return None if point.made_by is None else self.norms.get(id(point.made_by.result))

    def map_at(self, point: Point) -> LinearMap | None:
        """Return the linear map that computed a tensor; None if none did."""
        return None if point.made_by is None else self.maps.get(id(point.made_by.result))

    def summands(self, point: Point) -> list[Point]:
        """Return the two summands of a tensor, if it is a sum of two tensors of the same shape as the sum; else []."""
        made_by = point.made_by
        if made_by is None or made_by.name not in SUMS or made_by.named.get("alpha", 1) != 1:
            return []
        given = made_by.arguments[:2]
        if not all(isinstance(each, Tensor) and each.shape == point.value.shape for each in given):
            return []
        return [self.before_shapes(Point(each, made_by.source(place))) for place, each in enumerate(given)]

    def time_of(self, point: Point) -> int:
        """Return the position in the run of the operation that computed a tensor; -1 for an input."""
        return -1 if point.made_by is None else self.times[id(point.made_by.result)]
