"""Parses and writes the text by which a Setup names a mechanism and its parameters, such as "local:1"."""

from collections.abc import Mapping

from attention_core.mechanism.config import HasParameters
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.positions import POSITIONS
from pages.setup.link_values import make_member_reader, read_link_number, read_link_whole

OFFSET = Parameter("offset")  # parameter of a causal mask; if it is None, the run determines the offset
Choice = tuple[str, dict[str, object]]  # the name of a mechanism, and its parameters


# ---- masks -----------------------------------------------------------------------------------------------------------
def mask_parameters_of(name: str) -> tuple[Parameter, ...]:
    """Returns the parameters of a mask that a visitor can set: those that the mask declares.

    A causal mask declares none; its only parameter is the offset.
    """
    mask = MASKS[name]
    if mask.parameters:
        return mask.parameters
    return (OFFSET,) if mask.is_causal else ()


def read_mask(text: str) -> Choice:
    """Parses a mask: "local:1" becomes ("local", {"window": 1}). Raises ValueError if the text cannot be parsed."""
    name, numbers = split_choice(text, MASKS)
    return name, read_parameters(numbers, mask_parameters_of(name))


def write_mask(name: str, params: dict) -> str:
    """Returns the text of a mask, which read_mask parses."""
    return write_parameters(name, params, mask_parameters_of(name))


# ---- positions -------------------------------------------------------------------------------------------------------
HALF_STYLE = {"style": "half"}  # a link writes RoPE with this style as "rope_half"


def read_position(text: str) -> Choice:
    """Parses a position encoding: "t5:both:16" becomes ("t5", {"direction": "both", "farthest": 16}).

    "rope_half" becomes RoPE with the style "half". Raises ValueError for an unknown name, an unreadable number, or too
    many numbers.
    """
    if text == "rope_half":
        return "rope", {**HALF_STYLE}
    return read_choice(text, POSITIONS)


def write_position(name: str, params: Mapping[str, object]) -> str:
    """Returns the text of a position encoding, which read_position parses.

    If all parameters have their defaults, the text is the name alone.
    """
    for short in (name, "rope_half"):
        choice, started = read_position(short)
        usual = {parameter.name: parameter.usual for parameter in POSITIONS[name].parameters}
        if choice == name and usual | started == params:
            return short
    return write_choice(name, params, POSITIONS)


# ---- any choice ------------------------------------------------------------------------------------------------------
def read_choice(text: str, table: Mapping[str, HasParameters]) -> Choice:
    """Parses a mechanism and its parameters: "softcap:50" becomes ("softcap", {"cap": 50.0}).

    table: {name: mechanism}, such as MODIFIERS. Raises ValueError for an unknown name, an unreadable number, or too
    many numbers.
    """
    name, numbers = split_choice(text, table)
    return name, read_parameters(numbers, table[name].parameters)


def write_choice(name: str, params: Mapping[str, object], table: Mapping[str, HasParameters]) -> str:
    """Returns the text of a mechanism and its parameters, which read_choice parses."""
    return write_parameters(name, params, table[name].parameters)


def split_choice(text: str, table: Mapping[str, object]) -> tuple[str, list[str]]:
    """Splits the text of a mechanism into its name, and the texts of its parameters.

    Raises ValueError for a name that is not in the table.
    """
    name, *numbers = text.split(":")
    if name not in table:
        raise ValueError(text)
    return name, numbers


def read_parameters(numbers: list[str], declared: tuple[Parameter, ...]) -> dict[str, object]:
    """Parses the texts of a mechanism's numbers to {parameter: value}; without texts, returns the default values.

    Raises ValueError if a number cannot be parsed or does not fit.
    """
    left = [*numbers]
    params: dict[str, object] = {}
    for parameter in declared:
        if not numbers:
            if parameter.start is not None:
                params[parameter.name] = parameter.start
        elif parameter.several and (left or parameter.usual is not None):
            params[parameter.name] = tuple(read_number(parameter, number) for number in left)
            left.clear()  # a parameter with several values takes all remaining texts
        elif left:
            text = left.pop(0)
            is_left_out = text == "" and left and parameter.usual is None
            params[parameter.name] = None if is_left_out else read_number(parameter, text)
    if left:
        raise ValueError(f"{len(left)} numbers too many")
    return params


def read_number(parameter: Parameter, text: str) -> int | float | str:
    """Parses a number of a parameter, or a word that the parameter allows. Raises ValueError for any other text."""
    if parameter.words:
        return make_member_reader(parameter.words)(text)
    return read_link_whole(text) if parameter.is_whole else read_link_number(text)


def write_parameters(name: str, params: Mapping[str, object], declared: tuple[Parameter, ...]) -> str:
    """Returns the text of a mechanism: its name, then its parameters.

    A parameter that is None has an empty text, and is omitted if no other follows. Trailing parameters with their
    default are omitted if they were added in a later version (`is_added`), so that older links stay the same.
    """
    parts = [name]
    for parameter in said_parameters(params, declared):
        value = params.get(parameter.name)
        if value is None and parameter.usual is not None:
            continue
        numbers = value if parameter.several and value is not None else (value,)
        parts += ["" if number is None else str(number).removesuffix(".0") for number in numbers]
    return ":".join(parts).rstrip(":")


def said_parameters(params: Mapping[str, object], declared: tuple[Parameter, ...]) -> list[Parameter]:
    """Returns the parameters that a mechanism's text states: all except trailing parameters that were added in a later
    version and have their default.
    """
    said = [*declared]
    while said:
        last = said[-1]
        if not last.is_added or params.get(last.name, last.usual) != last.usual:
            break
        said.pop()
    return said
