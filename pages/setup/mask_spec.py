"""A mask and its numbers as a text of a Setup, "local:1", and back: read off the parameters that the mask declares."""

from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import Parameter

OFFSET = Parameter("offset")  # of a causal mask; where none is said, the run has it


def mask_parameters_of(name: str) -> tuple[Parameter, ...]:
    """What a person sets of a mask: what it needs, or the offset of a causal one that needs nothing."""
    mask = MASKS[name]
    if mask.parameters:
        return mask.parameters
    return (OFFSET,) if mask.is_causal else ()


def read_mask(text: str) -> tuple[str, dict]:
    """ "local:1" as ("local", {"window": 1}): what is not said is what the parameter starts with."""
    name, *numbers = text.split(":")
    left = [int(number) for number in numbers]
    params: dict[str, object] = {}
    for parameter in mask_parameters_of(name):
        if not numbers:
            if parameter.start is not None:
                params[parameter.name] = parameter.start
        elif parameter.several:
            params[parameter.name] = tuple(left)  # all that are left
        elif left:
            params[parameter.name] = left.pop(0)
    return name, params


def write_mask(name: str, params: dict) -> str:
    """The text that `read_mask` reads; a parameter that is left open is not said."""
    parts = [name]
    for parameter in mask_parameters_of(name):
        value = params.get(parameter.name)
        if value is None:
            continue
        numbers = value if parameter.several else (value,)
        parts += map(str, numbers)
    return ":".join(parts)
