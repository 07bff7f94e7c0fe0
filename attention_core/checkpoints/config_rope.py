"""Lists the rotary embeddings that a model's config may mean; layer_maps tries which of them rotates q and k as
recorded.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Real

from torch import nn

USUAL_BASE = 10000.0  # the base in Su et al. 2021; many configs do not state it
STYLES = ("half", "interleaved")
# Name of a scaling in a config -> the kinds of scaling in the core that compute the same
SCALINGS = {"linear": ("linear",), "llama3": ("llama3",), "yarn": ("yarn", "yarn_unrounded")}
MOST_GUESSES = 200


def list_rope_choices(model: nn.Module) -> list[dict[str, object]]:
    """Return all parameters of RoPE that a model's config may mean (bases, styles, scalings), the simplest first.

    >>> from types import SimpleNamespace
    >>> model = nn.Linear(1, 1)
    >>> model.config = SimpleNamespace(to_dict=lambda: {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}})
    >>> list_rope_choices(model)[:2]
    [{'style': 'half', 'base': 10000.0}, {'style': 'half', 'base': 500000.0}]
    """
    read = getattr(getattr(model, "config", None), "to_dict", dict)()
    bases, scalings = {USUAL_BASE}, [{}]
    for values in walk(read):
        bases |= {float(value) for key, value in values.items() if is_base(key, value)}
        scalings += [scaling for scaling in read_scalings(values) if scaling not in scalings]
    guesses = product(scalings, STYLES, sorted(bases))
    return [{"style": style, "base": base, **scaling} for scaling, style, base in guesses][:MOST_GUESSES]


def walk(values: Mapping) -> Iterator[Mapping]:
    """Yield a mapping, and all mappings among its values at any depth."""
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
