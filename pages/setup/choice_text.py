"""A choice and its numbers as a text of a Setup, "local:1", and back: read off the parameters that it declares."""

from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.parameters import Parameter

OFFSET = Parameter("offset")  # of a causal mask; where none is said, the run has it
Choice = tuple[str, dict[str, object]]  # a name and its parameters


# ---- masks -----------------------------------------------------------------------------------------------------------
def mask_parameters_of(name: str) -> tuple[Parameter, ...]:
    """What a person sets of a mask: what it needs, or the offset of a causal one that needs nothing."""
    mask = MASKS[name]
    if mask.parameters:
        return mask.parameters
    return (OFFSET,) if mask.is_causal else ()


def read_mask(text: str) -> Choice:
    """ "local:1" as ("local", {"window": 1})."""
    name, numbers = split_choice(text)
    return name, read_parameters(numbers, mask_parameters_of(name))


def write_mask(name: str, params: dict) -> str:
    """The text that `read_mask` reads."""
    return write_choice(name, params, mask_parameters_of(name))


# ---- modifiers -------------------------------------------------------------------------------------------------------
def read_modifier(text: str) -> Choice:
    """ "softcap:50" as ("softcap", {"cap": 50.0})."""
    name, numbers = split_choice(text)
    return name, read_parameters(numbers, MODIFIERS[name].parameters)


def write_modifier(name: str, params: dict) -> str:
    """The text that `read_modifier` reads."""
    return write_choice(name, params, MODIFIERS[name].parameters)


# ---- any choice ------------------------------------------------------------------------------------------------------
def split_choice(text: str) -> tuple[str, list[str]]:
    """The name, and the numbers behind it."""
    name, *numbers = text.split(":")
    return name, numbers


def read_parameters(numbers: list[str], declared: tuple[Parameter, ...]) -> dict[str, object]:
    """The parameters by name; where no number is said each is what it starts with."""
    left = [*numbers]
    params: dict[str, object] = {}
    for parameter in declared:
        if not numbers:
            if parameter.start is not None:
                params[parameter.name] = parameter.start
        elif parameter.several:
            params[parameter.name] = tuple(read_number(parameter, number) for number in left)  # all that are left
        elif left:
            params[parameter.name] = read_number(parameter, left.pop(0))
    return params


def read_number(parameter: Parameter, text: str) -> int | float:
    """One number of a parameter."""
    return int(text) if parameter.is_whole else float(text)


def write_choice(name: str, params: dict, declared: tuple[Parameter, ...]) -> str:
    """A choice with its numbers; a parameter that is left open is not said."""
    parts = [name]
    for parameter in declared:
        value = params.get(parameter.name)
        if value is None:
            continue
        numbers = value if parameter.several else (value,)
        parts += [str(number).removesuffix(".0") for number in numbers]
    return ":".join(parts)
