"""A mask and its numbers as a text of a Setup, "local:1", and back: read off what the mask needs."""

from attention_core.mechanism.masks import MASKS

LIST_MASK_PARAMETERS = ("lengths", "global_tokens")  # parameters that are a list, and take all numbers that are left
# What a mask's name without a number means.
DEFAULT_MASK_PARAMETERS = {"window": 1, "lengths": (), "global_tokens": (0,)}


def mask_parameters_of(name: str) -> tuple[str, ...]:
    """What a person sets of a mask: what it needs, or the offset of a causal one that needs nothing."""
    mask = MASKS[name]
    if mask.needs:
        return mask.needs
    return ("offset",) if mask.is_causal else ()


def read_mask(text: str) -> tuple[str, dict]:
    """ "local:1" as ("local", {"window": 1})."""
    name, *numbers = text.split(":")
    left = [int(number) for number in numbers]
    params: dict[str, object] = {}
    for parameter in mask_parameters_of(name):
        if not numbers:
            if parameter in DEFAULT_MASK_PARAMETERS:
                params[parameter] = DEFAULT_MASK_PARAMETERS[parameter]
        elif parameter in LIST_MASK_PARAMETERS:
            params[parameter] = tuple(left)
        elif left:
            params[parameter] = left.pop(0)
    return name, params


def write_mask(name: str, params: dict) -> str:
    """The text that `read_mask` reads; a parameter that is left open is not said."""
    parts = [name]
    for parameter in mask_parameters_of(name):
        value = params.get(parameter)
        if value is None:
            continue
        numbers = value if isinstance(value, tuple) else (value,)
        parts += map(str, numbers)
    return ":".join(parts)
