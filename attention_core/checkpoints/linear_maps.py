"""Finds the linear maps in a run whose operations were recorded, and the columns of a linear map that give certain
numbers."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.checkpoints.watched_run import SAME_NUMBERS, Computed, OperationWatch

PARTS = ("split", "split_with_sizes", "select", "unbind")  # operations that return a part of their operand


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A linear map in a run, made = given @ matrix + bias, with one row per token.

    number: its index among the linear maps of the run, which is the same in each run of the model on the same inputs.
    name: the name of the module that ran it.
    """

    number: int
    name: str
    given: Float[Tensor, "R D"]
    matrix: Float[Tensor, "D C"]
    bias: Float[Tensor, " C"] | None
    made: Float[Tensor, "R C"]


def list_linear_maps(watched: OperationWatch) -> list[LinearMap]:
    """Return the linear maps of a recorded run in order; products with a matrix that the run itself computed are left
    out."""
    maps: list[LinearMap] = []
    for computed in watched.operations.values():
        if computed.name in ("add", "add_"):
            maps += list_later_bias(len(maps), computed)
            continue
        *added, given, matrix = computed.arguments if computed.name in ("mm", "addmm") else (None,) * 2
        is_scaled = any(computed.named.get(name, 1) != 1 for name in ("alpha", "beta"))
        if given is None or is_scaled or not is_learned(computed.source(len(added) + 1)):
            continue
        bias = added[0].detach() if added else None
        if bias is None or bias.dim() == 1:
            maps.append(LinearMap(len(maps), computed.module, given, matrix.detach(), bias, computed.result))
    return maps


def list_later_bias(number: int, computed: Computed) -> list[LinearMap]:
    """Return the linear map to whose result an addition adds a learned bias, in a list; [] if the operation is no such
    addition. number: the index of the linear map in the run.

    torch computes `nn.Linear` by two operations if its input is not contiguous, as where the first axis is the tokens'.
    """
    product, bias = computed.source(), computed.arguments[1]
    while product is not None and product.name in SAME_NUMBERS:
        product = product.source()
    if product is None or product.name != "mm" or not is_learned(product.source(1)):
        return []
    made, columns = computed.result, product.result.shape[-1:]
    is_bias = isinstance(bias, Tensor) and bias.shape == columns and is_learned(computed.source(1))
    if not is_bias or made.shape[-1:] != columns or computed.named.get("alpha", 1) != 1:
        return []
    given, matrix = product.arguments
    return [LinearMap(number, computed.module, given, matrix.detach(), bias.detach(), made.flatten(0, -2))]


def is_learned(computed: Computed | None) -> bool:
    """Return whether a tensor is a parameter of the model or a part of one, because no operation of the run computed
    it.

    computed: the operation that computed the tensor; None if there is none.
    """
    while computed is not None and (computed.name in SAME_NUMBERS or computed.name in PARTS):
        computed = computed.source()
    return computed is None


def find_columns(heads: Float[Tensor, "B H d"], numbers: Float[Tensor, "B C"]) -> Int[Tensor, "H d"] | None:
    """Return the indices at which the numbers of some heads occur among other numbers, the same in all B texts; None if
    a number does not occur.

    Adjacent numbers that equal a whole head are preferred, because single numbers may be equal by chance.

    >>> find_columns(torch.tensor([[[7.0, 9.0], [3.0, 7.0]]]), torch.tensor([[7.0, 3.0, 7.0, 9.0]]))
    tensor([[2, 3],
            [1, 2]])
    >>> find_columns(torch.tensor([[[9.0, 3.0]]]), torch.tensor([[7.0, 3.0, 7.0, 9.0]]))
    tensor([[3, 1]])
    """
    d = heads.shape[-1]
    if numbers.shape[1] < d:
        return None
    is_first = (numbers == heads[:, 0, :1]).all(0)
    if not is_first.any():
        return None
    runs = numbers.unfold(1, d, 1)  # (B, C - d + 1, d)
    columns = []
    for head in heads.unbind(1):  # (B, d)
        starts = (runs[:, :, 0] == head[:, :1]).all(0).nonzero().flatten()
        starts = starts[(runs[:, starts] == head[:, None]).all(-1).all(0)]
        if len(starts):
            columns.append(starts[0] + torch.arange(d, device=numbers.device))
            continue
        equal = (head[:, :, None] == numbers[:, None]).all(0)  # (d, C)
        if not bool(equal.any(1).all()):
            return None
        columns.append(equal.long().argmax(1))
    return torch.stack(columns)


def take_columns(matrix: Float[Tensor, "D C"], columns: Int[Tensor, " n"]) -> Float[Tensor, "D n"]:
    """Return some columns of a matrix; adjacent ones as a view.

    The matrix of an `nn.Linear` is a transposed one, in which a column is adjacent in memory: taking whole rows of its
    transpose is many times faster than indexing its second axis.

    >>> take_columns(torch.arange(6).reshape(2, 3), torch.tensor([2, 0]))
    tensor([[2, 0],
            [5, 3]])
    """
    first, count = int(columns[0]), len(columns)
    if torch.equal(columns, torch.arange(first, first + count, device=columns.device)):
        return matrix[:, first : first + count]
    return matrix.T[columns].T
