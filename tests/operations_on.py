"""Runs the operations of a test on another device: `pytest --device cuda`.

Tests make their tensors on the CPU and compare numbers there. Under this mode each operation that reads numbers takes
copies of its tensors on the device, runs there, and gives its result back on the CPU. The kernels are the device's.
What a program sends to a device by itself, and whether it mixes two, is tested in tests/device.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten


class OperationsOn(TorchDispatchMode):
    """Within it, operations on tensors of the CPU run on a device. count: how many have run there so far."""

    def __init__(self, device: str):
        super().__init__()
        self.device, self.count = torch.device(device), 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        values, form = tree_flatten((args, kwargs))
        if not runs_alike(operation, values):
            return operation(*args, **kwargs)
        self.count += 1
        sent = [value.to(self.device) if isinstance(value, Tensor) else value for value in values]
        sent_args, sent_kwargs = tree_unflatten(sent, form)
        found = operation(*sent_args, **sent_kwargs)
        if not operation._schema.is_mutable:
            return tree_map_only(Tensor, Tensor.cpu, found)
        written = next(value for value, changed in zip(values, sent, strict=True) if changed is found)
        return written.copy_(found)


def runs_alike(operation: torch._ops.OpOverload, values: list) -> bool:
    """Whether an operation means the same on copies: it reads floating-point numbers of the CPU, gives new ones or
    writes into one argument, draws no random numbers, and is asked for no device."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors or any(each.device.type != "cpu" or each.layout != torch.strided for each in tensors):
        return False
    gives_view = any(each.alias_info and not each.alias_info.is_write for each in operation._schema.returns)
    is_random = torch.Tag.nondeterministic_seeded in operation.tags
    is_move = any(isinstance(value, torch.device | torch.Generator) for value in values)
    writes_several = operation._schema.is_mutable and len(operation._schema.returns) != 1
    is_unlike = gives_view or is_random or is_move or writes_several
    return not is_unlike and any(each.is_floating_point() for each in tensors)
