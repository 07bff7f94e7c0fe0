"""Records every torch operation of a run, and finds the attention in it: a softmax whose result multiplies values.

It needs no knowledge of the model or of names of modules. watched_scores.py finds how the scores were computed.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

SAME_NUMBERS = frozenset(
    (
        *("view", "_unsafe_view", "reshape", "_reshape_alias", "expand", "squeeze", "unsqueeze", "slice"),
        *("transpose", "permute", "t", "alias", "detach", "contiguous", "clone", "copy_", "_to_copy", "lift_fresh"),
        *("dropout", "native_dropout"),  # operations without effect in eval mode
    )
)  # operations that change only the shape, the order or the dtype of the numbers
SOFTMAXES = frozenset(("_softmax", "_safe_softmax", "softmax"))
CHANGES_OF_WEIGHTS = frozenset(("masked_fill", "masked_fill_", "where", "mul", "nan_to_num", "div"))
PRODUCTS = {"bmm": (0, 1), "mm": (0, 1), "baddbmm": (1, 2), "addmm": (1, 2)}  # the indices of both factors
MOST_CHANGES = 24  # most operations between a softmax and its product with the values
FUSED = "_scaled_dot_product_flash_attention_for_cpu"  # torch's fused attention
WATCHING = threading.RLock()  # lock for torch's switch of fused layers, which the whole process shares


@dataclass(frozen=True, eq=False)
class Computed:
    """One recorded operation, with its arguments and result.

    made_by: {index of an argument: the operation that computed it}. module: the name of the module that ran it.
    """

    name: str
    arguments: tuple
    named: Mapping[str, object]
    result: Tensor
    made_by: dict[int, "Computed"] = field(default_factory=dict)
    module: str = ""

    def source(self, argument: int = 0) -> "Computed | None":
        """Return the operation that computed an argument; None if the argument comes from outside the run."""
        return self.made_by.get(argument)


@dataclass(frozen=True, eq=False)
class Mixing:
    """A softmax, the product in which its weights mix the values, and the index of the weights among the product's
    operands.
    """

    softmax: Computed
    product: Computed
    operand: int


class OperationWatch(TorchDispatchMode):
    """Records all operations of a run, and lists the attention in it: softmaxes that mix values, and fused attention.

    running: the names of the modules that are running, the innermost last.
    """

    def __init__(self, running: list[str]):
        super().__init__()
        self.running = running
        self.operations: dict[int, Computed] = {}  # id of a result (which stays alive) -> its operation
        self.softmaxes: list[Computed] = []
        self.attention: list[Mixing | Computed] = []

    @property
    def mixings(self) -> list[Mixing]:
        """The recorded products in which the result of a softmax multiplies values."""
        return [found for found in self.attention if isinstance(found, Mixing)]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Compute an operation unchanged, and record it."""
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        made_by = self.find_sources(args)
        kept = args
        if name.endswith("_") and args and isinstance(args[0], Tensor):
            kept = (args[0].clone(), *args[1:])  # the operand is copied before an in-place change
        result = func(*args, **kwargs)
        first = result[0] if isinstance(result, tuple | list) and result else result
        if isinstance(first, Tensor):
            self.keep(Computed(name, kept, kwargs, first, made_by, self.running[-1] if self.running else ""))
        return result

    def find_sources(self, arguments: tuple) -> dict[int, Computed]:
        """Return {index of an argument: the operation that computed this tensor}."""
        tensors = {place: id(value) for place, value in enumerate(arguments) if isinstance(value, Tensor)}
        return {place: self.operations[key] for place, key in tensors.items() if key in self.operations}

    def keep(self, computed: Computed) -> None:
        """Store an operation of the run, and note whether it is a softmax over keys, or the product of a softmax with
        values."""
        self.operations[id(computed.result)] = computed
        result = computed.result
        if computed.name == FUSED:
            self.attention.append(computed)
        is_softmax = computed.name in SOFTMAXES and result.is_floating_point() and result.dim() >= 2
        if is_softmax and computed.arguments[1] in (-1, result.dim() - 1):
            self.softmaxes.append(computed)
        for operand in PRODUCTS.get(computed.name, ()):
            softmax = find_softmax(computed.source(operand))
            if softmax is not None and all(softmax is not mixing.softmax for mixing in self.mixings):
                self.attention.append(Mixing(softmax, computed, operand))

    def unmixed(self) -> list[Computed]:
        """Return the softmaxes that are no attention, because their result multiplies no values."""
        mixed = {id(mixing.softmax) for mixing in self.mixings}
        return [softmax for softmax in self.softmaxes if id(softmax) not in mixed]


def find_softmax(computed: Computed | None) -> Computed | None:
    """Return the softmax from which a tensor was computed only by masking, dropout, scaling and changes of shape; None
    without one.
    """
    for _ in range(MOST_CHANGES):
        if computed is None or computed.name in SOFTMAXES:
            return computed
        if computed.name not in SAME_NUMBERS | CHANGES_OF_WEIGHTS:
            return None
        places = {"where": (1, 2), "mul": (0, 1)}.get(computed.name, (0,))
        computed = next((source for place in places if (source := computed.source(place)) is not None), None)
    return None


@contextmanager
def module_names(model: torch.nn.Module) -> Iterator[list[str]]:
    """Context manager that yields a list of the modules' names that run in this thread, the innermost last, kept by
    forward hooks.

    The model itself, which has no name, gets the name of its class.
    """
    running: list[str] = []
    thread = threading.get_ident()

    def enter(name: str) -> None:
        if threading.get_ident() == thread:
            running.append(name)

    def leave(*_) -> None:
        if threading.get_ident() == thread:
            running.pop()

    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.RecursiveScriptModule):
            continue  # this module accepts no hooks
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: enter(name or type(model).__name__)))
        hooks.append(module.register_forward_hook(leave, always_call=True))
    try:
        yield running
    finally:
        for hook in hooks:
            hook.remove()


def watch(model: torch.nn.Module, run: Callable[[], object]) -> tuple[OperationWatch, object]:
    """Run a model and record every operation; return the OperationWatch and the result of the run.

    Meanwhile torch computes fused layers step by step in the whole process, so only one run is watched at a time. All
    results of the run stay in memory as long as the OperationWatch.
    """
    with WATCHING:
        is_fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            with module_names(model) as running, OperationWatch(running) as watched:
                outputs = run()
        finally:
            torch.backends.mha.set_fastpath_enabled(is_fast)
    return watched, outputs
