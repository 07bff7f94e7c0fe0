"""A mask and its numbers as a text of a Setup, "local:1", and back: read off what the mask needs."""

from attention_core.mechanism.masks import MASKS

LIST_MASK_PARAMETERS = ("lengths", "global_tokens")  # parameters that are a list, and take all numbers that are left
DEFAULT_MASK_PARAMETERS = {
    "window": 1,
    "lengths": (),
    "global_tokens": (0,),
}  # what a mask's name without a number means


def mask_parameters_of(name: str) -> tuple[str, ...]:
    """What a person sets of a mask: what it needs, or the offset of a causal one that needs nothing."""
    return MASKS[name].needs or (("offset",) if MASKS[name].is_causal else ())


def read_mask(text: str) -> tuple[str, dict]:
    """ "local:1" as ("local", {"window": 1})."""
    name, *numbers = text.split(":")
    if not numbers:
        return name, {
            parameter: DEFAULT_MASK_PARAMETERS[parameter]
            for parameter in mask_parameters_of(name)
            if parameter in DEFAULT_MASK_PARAMETERS
        }
    left = [int(given) for given in numbers]
    return name, {
        parameter: tuple(left) if parameter in LIST_MASK_PARAMETERS else left.pop(0)
        for parameter in mask_parameters_of(name)
        if parameter in LIST_MASK_PARAMETERS or left
    }


def write_mask(name: str, params: dict) -> str:
    """The text that `read_mask` reads; a parameter that is left open is not said."""
    values = [params[parameter] for parameter in mask_parameters_of(name) if params.get(parameter) is not None]
    numbers = [number for value in values for number in (value if isinstance(value, tuple) else (value,))]
    return ":".join(map(str, (name, *numbers)))
