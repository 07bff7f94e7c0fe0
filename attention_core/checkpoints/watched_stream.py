"""Follows the vectors of a watched run back: which sums they are, and which linear maps and norms made the summands."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor

from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.watched_run import SAME_NUMBERS, Computed, OperationWatch

SUMS = ("add", "add_")


@dataclass(frozen=True, eq=False)
class Point:
    """A tensor of a watched run, and the operation that made it; None if it came from outside."""

    value: Tensor
    made_by: Computed | None


class Stream:
    """The run in which vectors are followed back.

    maps: its linear maps. norms: its calls of modules that keep the shape of vectors; maps among them are left out.
    """

    def __init__(self, watched: OperationWatch, maps: Iterable[LinearMap], norms: Iterable[NormCall]):
        self.operations = watched.operations
        self.maps = {id(each.made): each for each in maps}
        self.norms: dict[int, NormCall] = {}
        self.norms = {id(each.made): each for each in norms if self.map_at(self.point(each.made)) is None}

    def point(self, tensor: Tensor) -> Point:
        """Return where a tensor was made, before changes of its shape alone."""
        return self.before_shapes(Point(tensor, self.operations.get(id(tensor))))

    def before_shapes(self, point: Point) -> Point:
        """Return where the numbers of a tensor were made, before operations that change at most its shape."""
        while point.made_by is not None and point.made_by.name in SAME_NUMBERS and self.norm_at(point) is None:
            point = Point(point.made_by.arguments[0], point.made_by.source())
        return point

    def norm_at(self, point: Point) -> NormCall | None:
        """Return the call of a module that made a tensor and keeps the shape of vectors, as norms do."""
        return None if point.made_by is None else self.norms.get(id(point.made_by.result))

    def map_at(self, point: Point) -> LinearMap | None:
        """Return the linear map that made a tensor."""
        return None if point.made_by is None else self.maps.get(id(point.made_by.result))

    def summands(self, point: Point) -> list[Point]:
        """Return the two tensors of one shape whose sum a tensor is; none if it is no such sum."""
        made_by = point.made_by
        if made_by is None or made_by.name not in SUMS or made_by.named.get("alpha", 1) != 1:
            return []
        given = made_by.arguments[:2]
        if not all(isinstance(each, Tensor) and each.shape == point.value.shape for each in given):
            return []
        return [self.before_shapes(Point(each, made_by.source(place))) for place, each in enumerate(given)]
