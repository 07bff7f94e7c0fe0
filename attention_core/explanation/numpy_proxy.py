"""NumPy seen from Python: a proxy whose every call and every result passes through a Python function.

A profile function sees what Python functions return, with the place of the call. NumPy's own functions are written in
C and return nothing that it could see.
"""

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class NumpyProxy(NDArrayOperatorsMixin):
    """A wrapper of NumPy's module, a function of it or an array; what it returns is wrapped again."""

    __slots__ = ("inside",)

    def __init__(self, inside: object):
        self.inside = inside

    def __getattr__(self, name: str) -> object:
        value = getattr(self.inside, name)
        is_function = callable(value) and not isinstance(value, type)
        if is_function or isinstance(value, ModuleType):
            return NumpyProxy(value)
        return wrap_numpy(value)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return wrap_numpy(self.inside(*unwrap_numpy(args), **unwrap_numpy(kwargs)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        compute = getattr(ufunc, method)
        return wrap_numpy(compute(*unwrap_numpy(inputs), **unwrap_numpy(kwargs)))

    def __getitem__(self, key: object) -> object:
        return wrap_numpy(self.inside[unwrap_numpy(key)])

    def __setitem__(self, key: object, value: object) -> None:
        self.inside[unwrap_numpy(key)] = unwrap_numpy(value)

    def __iter__(self) -> Iterator[object]:
        return iter([wrap_numpy(part) for part in self.inside])

    def __len__(self) -> int:
        return len(self.inside)

    def __bool__(self) -> bool:
        return bool(self.inside)


def wrap_numpy(value: object) -> object:
    """Wrap an array, or each array in a list or tuple; anything else stays as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(wrap_numpy, value))
    if isinstance(value, np.ndarray):
        return NumpyProxy(value)
    return value


def unwrap_numpy(value: object) -> object:
    """Take an array out of its proxy, also in a list, a tuple or a dict; anything else stays as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(unwrap_numpy, value))
    if type(value) is dict:
        return {name: unwrap_numpy(item) for name, item in value.items()}
    if isinstance(value, NumpyProxy):
        return value.inside
    return value


def through_proxy(function: FunctionType, copies: dict[FunctionType, FunctionType]) -> FunctionType:
    """Copy a function so that NumPy is a NumpyProxy in it, and in the functions of its package that it calls.

    The code object stays the same. copies: those made before, to which this one is added.
    """
    if function in copies:
        return copies[function]
    scope = dict(function.__globals__)
    copy = FunctionType(
        function.__code__,
        scope,
        name=function.__name__,
        argdefs=function.__defaults__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copies[function] = copy
    for name in names_in(function.__code__):
        value = scope.get(name)
        if value is np:
            scope[name] = NumpyProxy(np)
        elif is_helper(value, function):
            scope[name] = through_proxy(value, copies)
    return copy


def is_helper(value: object, function: FunctionType) -> bool:
    """Return whether a value is a function of the same package."""
    return isinstance(value, FunctionType) and package_of(value) == package_of(function)


def names_in(code: CodeType) -> set[str]:
    """Collect the global names and attributes that a function uses, including names in its comprehensions."""
    names: set[str] = set()
    for part in nested_codes(code):
        names.update(part.co_names)
    return names


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code, and the codes of the comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def package_of(function: Callable) -> str:
    """Name the top package of a function."""
    return function.__module__.partition(".")[0]
