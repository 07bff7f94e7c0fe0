"""Lists the rotary embeddings that a model's config may mean; layer_maps.py tests which of them gives the recorded q
and k.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Real

from torch import nn

USUAL_BASE = 10000.0  # RoPE's base in Su et al. 2021, which many configs omit
STYLES = ("half", "interleaved")
# RoPE scaling in a config -> the scalings of the core that may equal it
SCALINGS = {"linear": ("linear",), "llama3": ("llama3",), "yarn": ("yarn", "yarn_unrounded")}
MOST_GUESSES = 200


def read_config(model: nn.Module) -> Mapping:
    """Return a model's config as a mapping; {} if the model has no config."""
    return getattr(getattr(model, "config", None), "to_dict", dict)()


def list_rope_choices(model: nn.Module, width: int) -> list[dict[str, object]]:
    """Return all parameters of RoPE that a model's config may mean (bases, styles, scalings, rotated columns), the
    simplest first. width: the width of a head.

    >>> from types import SimpleNamespace
    >>> model = nn.Linear(1, 1)
    >>> model.config = SimpleNamespace(to_dict=lambda: {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}})
    >>> list_rope_choices(model, 16)[:2]
    [{'style': 'half', 'base': 10000.0}, {'style': 'half', 'base': 500000.0}]
    """
    bases, scalings = {USUAL_BASE}, [{}]
    for values in walk(read_config(model)):
        bases |= {float(value) for key, value in values.items() if is_base(key, value)}
        scalings += [scaling for scaling in read_scalings(values) if scaling not in scalings]
    columns = [{}, *({"columns": count} for count in list_column_counts(model, width))]
    guesses = product(columns, scalings, STYLES, sorted(bases))
    return [{"style": style, "base": base, **scaling, **part} for part, scaling, style, base in guesses][:MOST_GUESSES]


def list_column_counts(model: nn.Module, width: int) -> list[int]:
    """Return the possible numbers of columns that RoPE rotates in a head, according to a model's config, the largest
    first.

    A config states a part of the width, such as partial_rotary_factor or rotary_pct, or a number, such as rotary_dim.

    >>> from types import SimpleNamespace
    >>> model = nn.Linear(1, 1)
    >>> model.config = SimpleNamespace(to_dict=lambda: {"rope_parameters": {"partial_rotary_factor": 0.25}})
    >>> list_column_counts(model, 16)
    [4]
    """
    counts = set()
    for values in walk(read_config(model)):
        named = [value for key, value in values.items() if isinstance(key, str) and "rotary" in key]
        counts |= {int(value * width if value < 1 else value) for value in named if is_positive(value)}
    return sorted((count for count in counts if 0 < count < width and count % 2 == 0), reverse=True)


def walk(values: Mapping) -> Iterator[Mapping]:
    """Yield a mapping and, recursively, all mappings among its values."""
    yield values
    for value in values.values():
        if isinstance(value, Mapping):
            yield from walk(value)


def is_base(key: object, value: object) -> bool:
    """Return whether an entry of a config may be the base of RoPE, such as rope_theta or rotary_emb_base."""
    is_named = isinstance(key, str) and any(word in key for word in ("theta", "base"))
    return is_named and is_positive(value)


def is_positive(value: object) -> bool:
    """Return whether an entry of a config is a positive number."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < value < float("inf")


def read_scalings(values: Mapping) -> list[dict[str, object]]:
    """Return the scalings that one mapping of a config names, as parameters of RoPE.

    >>> read_scalings({"rope_type": "linear", "factor": 4.0})
    [{'scaling': 'linear', 'factor': 4.0, 'trained': 1}]
    """
    kind, factor = values.get("rope_type", values.get("type")), values.get("factor")
    if not isinstance(kind, str) or not is_positive(factor):
        return []
    trained = values.get("original_max_position_embeddings")
    growth = {name: float(values[name]) for name in ("mscale", "mscale_all_dim") if is_positive(values.get(name))}
    common = {"factor": float(factor), "trained": int(trained) if is_positive(trained) else 1, **growth}
    return [{"scaling": scaling, **common} for scaling in SCALINGS.get(kind, ())]
