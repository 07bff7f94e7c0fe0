"""A device that is not there, for tests on machines without a GPU: its tensors hold their numbers on the CPU.

Every operation runs on what is held, so its numbers are the CPU's to the last bit. What a GPU refuses, it refuses: a
tensor of the host beside its own, but for a single number. What makes a program wait for a GPU, it counts as a read: a
number or a tensor that goes back to the host, and a size that depends on numbers.

It takes torch's slot for devices from outside, PrivateUse1, under its own name. That interface is private, and holds
for the version of torch that requirements.txt names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_stack

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "away"
_setup_privateuseone_for_python_backend(NAME)
AWAY = torch.device(NAME, 0)
READS: list[str] = []  # so far: which operation, and the line that asked for it

aten = torch.ops.aten
COPIES = {aten._to_copy.default, aten.copy_.default, aten.to.dtype_layout}  # the last within a mode of operations
READING = {aten._local_scalar_dense.default, aten.equal.default}
SIZED = {aten.nonzero.default, aten.masked_select.default, aten._unique2.default, aten.unique_dim.default}
INDEXED = {aten.index.Tensor, aten.index_put_.default, aten._index_put_impl_.default}
MAKERS = {torch.tensor, torch.as_tensor, torch.arange, torch.eye}  # the last two resize what they fill


class WrongDevice(RuntimeError):
    """A tensor of the host beside one of the device."""


class Away(Tensor):
    """A tensor on the device. held: its numbers."""

    @staticmethod
    def __new__(cls, held: Tensor):
        return Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=AWAY,
        )

    def __init__(self, held: Tensor):
        self.held = held

    def __repr__(self):
        return f"Away({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not torch.is_inference_mode_enabled():
            return run(operation, args, kwargs)
        with torch.inference_mode(False), torch.no_grad():  # there operations arrive undivided
            whole = operation.decompose(*args, **kwargs)
            return run(operation, args, kwargs) if whole is NotImplemented else whole


def send(tensor: Tensor) -> Away:
    """A tensor, moved to the device."""
    return Away(tensor.detach().clone())


def fetch(tensor: Tensor) -> Tensor:
    """What a tensor of the device holds; nobody waits for it, and it is no read."""
    assert isinstance(tensor, Away), f"it lies on {tensor.device}"
    return tensor.held


# ---- an operation on what is held ------------------------------------------------------------------------------------
def run(operation, args, kwargs):
    """An operation of which one argument at least lies on the device."""
    if operation in COPIES:
        return copy(operation, args, kwargs)
    values, form = tree_flatten((args, kwargs))
    refuse_host_tensors(operation, values)
    if operation in READING | SIZED or is_indexed_by_truths(operation, args):
        note_read(operation)
    held_args, held_kwargs = tree_unflatten([held_by(value) for value in values], form)
    if "device" in held_kwargs:
        held_kwargs["device"] = "cpu"
    found = operation(*held_args, **held_kwargs)
    if operation._schema.is_mutable:
        changed = next(value for value in values if held_by(value) is found)
        assert changed.shape == found.shape, f"{operation} resized a tensor: its maker belongs to MAKERS"
        return changed
    return tree_map_only(Tensor, Away, found)


def held_by(value):
    """The tensor that a tensor of the device holds; anything else as it is."""
    return value.held if isinstance(value, Away) else value


def refuse_host_tensors(operation, values) -> None:
    """Raises WrongDevice for a tensor of the host, unless it is a single number or an index."""
    for value in values:
        is_host_tensor = isinstance(value, Tensor) and not isinstance(value, Away)
        if is_host_tensor and value.dim() > 0 and operation not in INDEXED:
            raise WrongDevice(f"all tensors must lie on one device: {operation} takes one of the host")


def is_indexed_by_truths(operation, args) -> bool:
    """Whether it takes the places where something is true: the host must know how many there are."""
    if operation not in INDEXED:
        return False
    indices = args[1]
    return any(index is not None and index.dtype == torch.bool for index in indices)


def copy(operation, args, kwargs):
    """To another dtype or device."""
    if operation is aten.copy_.default:
        into, source, *_ = args
        if not isinstance(into, Away):
            note_read(operation)
        held_by(into).copy_(held_by(source))
        return into
    (source,) = args
    target = torch.device(kwargs.pop("device", None) or source.device)
    found = operation(held_by(source), **kwargs)
    if target.type == NAME:
        return Away(found)
    note_read(operation)
    return found


def note_read(operation) -> None:
    """Notes that the host waits, and for whom: the innermost line that is neither torch's nor of this file."""
    for frame, line in walk_stack(None):
        path = frame.f_code.co_filename
        if path != __file__ and "/torch/" not in path:
            READS.append(f"{operation} in {path}:{line}")
            return


# ---- a tensor made there ---------------------------------------------------------------------------------------------
def make(operation, *args, **kwargs) -> Away:
    """A tensor of no other tensor: zeros, arange and so on."""
    return Away(operation(*args, **{**kwargs, "device": "cpu"}))


FACTORIES = torch.library.Library("_", "IMPL")
FACTORIES.fallback(make, "PrivateUse1")


class Unseen(TorchFunctionMode):
    """What torch does where no operation can be seen: numbers from a list, and into one."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in MAKERS and torch.device(kwargs.get("device") or "cpu").type == NAME:
            return Away(function(*args, **{**kwargs, "device": "cpu"}))
        if function is Tensor.tolist and isinstance(args[0], Away):
            note_read("tolist")
            return args[0].held.tolist()
        return function(*args, **kwargs)


@contextmanager
def reads_noted() -> Iterator[list[str]]:
    """The reads of what runs in it."""
    READS.clear()
    with Unseen():
        yield READS
