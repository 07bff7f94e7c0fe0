"""Lists the rotary embeddings that a model's config may mean; layer_maps.py tests which of them gives the recorded q
and k.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from numbers import Real

from torch import nn

from attention_core.mechanism.positions import TURNS, kept_by_turns, rope_frequency

USUAL_BASE = 10000.0  # RoPE's base in Su et al. 2021, which many configs omit
STYLES = ("half", "interleaved")
# RoPE scaling in a config -> the scalings of the core that may equal it
SCALINGS = {"linear": ("linear",), "llama3": ("llama3",), "yarn": ("yarn", "yarn_unrounded")}
LLAMA_TURNS = TURNS["llama3"]  # the limits of Llama 3's scaling in the core; for others each pair has its own factor
MOST_GUESSES = 400


def read_config(model: nn.Module) -> Mapping:
    """Return a model's config as a mapping; {} if the model has no config."""
    return getattr(getattr(model, "config", None), "to_dict", dict)()


def list_rope_choices(model: nn.Module, width: int, places: int) -> list[dict[str, object]]:
    """Return all parameters of RoPE that a model's config may mean (bases, styles, scalings, rotated columns), the
    simplest first. width: the width of a head. places: the number of positions of the run.

    >>> from types import SimpleNamespace
    >>> model = nn.Linear(1, 1)
    >>> model.config = SimpleNamespace(to_dict=lambda: {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}})
    >>> list_rope_choices(model, 16, 5)[:2]
    [{'style': 'half', 'base': 10000.0}, {'style': 'half', 'base': 500000.0}]
    """
    bases, scalings = {USUAL_BASE}, [{}]
    parts = [*walk(read_config(model))]
    lengths = [each.get("max_position_embeddings") for each in parts]
    trained = [int(length) for length in lengths if is_positive(length)]
    for values in parts:
        bases |= {float(value) for key, value in values.items() if is_base(key, value)}
        found = [*read_scalings(values), *read_dynamic(values, trained, places)]
        scalings += [scaling for scaling in found if scaling not in scalings]
    columns = [{}, *({"columns": count} for count in list_column_counts(model, width))]
    choices = [
        {"style": style, "base": base, **scaling, **part}
        for part, scaling, style, base in product(columns, scalings, STYLES, sorted(bases))
    ]
    for part, base, style in product(columns, sorted(bases), STYLES):
        turned = part.get("columns", width)
        for factors in list_pair_factors(parts, turned, base):
            choices.append({"style": style, "base": base, "columns": turned, "pair_factors": factors})
    return choices[:MOST_GUESSES]


def list_pair_factors(parts: Sequence[Mapping], columns: int, base: float) -> list[tuple[float, ...]]:
    """Return the factors of the pairs' angles that a config may mean: those of its scalings, and -1 for a rotation in
    the other direction, which no config names. columns: the number of rotated columns.

    >>> list_pair_factors([{"rope_type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [4.0, 8.0]}], 4, 100.0)
    [(1.0, 0.5), (0.25, 0.125), (-1.0, -1.0)]
    >>> list_pair_factors([{"rope_type": "proportional", "partial_rotary_factor": 0.5}], 8, 100.0)
    [(1.0, 1.0, 0.0, 0.0), (-1.0, -1.0, -1.0, -1.0)]
    """
    pairs = columns // 2
    factors = []
    for values in parts:
        kind, factor = read_kind(values)
        if kind == "longrope":
            lists = [values.get(name) for name in ("short_factor", "long_factor")]
            numbers = [each for each in lists if isinstance(each, Sequence) and all(map(is_positive, each))]
            factors += [tuple(1 / number for number in each) for each in numbers if len(each) == pairs]
        if kind == "proportional":
            rotated = int(values.get("partial_rotary_factor", 1.0) * columns // 2)
            factors.append((1 / (factor or 1.0),) * rotated + (0.0,) * (pairs - rotated))
        limits = tuple(values.get(name) for name in ("low_freq_factor", "high_freq_factor"))
        if kind == "llama3" and factor is not None and all(map(is_positive, limits)) and limits != LLAMA_TURNS:
            trained = values.get("original_max_position_embeddings", 1)
            factors.append(scale_by_turns(factor, limits, trained, columns, base))
    return [*dict.fromkeys(factors), (-1.0,) * pairs]


def scale_by_turns(
    factor: float, limits: tuple[float, float], trained: int, columns: int, base: float
) -> tuple[float, ...]:
    """Return the factor of each pair's angle in Llama 3's scaling, with other limits than Llama 3's: 1 for pairs with
    more full turns in the training length than the second limit, 1 / factor for those with fewer than the first.

    >>> [round(number, 3) for number in scale_by_turns(8.0, (0.25, 1.0), 32, 8, 100.0)]
    [1.0, 1.0, 0.428, 0.125]
    """
    scaled = []
    for pair in range(columns // 2):
        kept = kept_by_turns(rope_frequency(pair, columns, base, "none", 1.0, 1), trained, limits)
        scaled.append((1 - kept) / factor + kept)
    return tuple(scaled)


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


def read_kind(values: Mapping) -> tuple[str, float | None]:
    """Return the kind of scaling that one mapping of a config names, and its factor; "" and None if it names none."""
    kind, factor = values.get("rope_type", values.get("type")), values.get("factor")
    return kind if isinstance(kind, str) else "", float(factor) if is_positive(factor) else None


def read_scalings(values: Mapping) -> list[dict[str, object]]:
    """Return the scalings that one mapping of a config names, as parameters of RoPE.

    >>> read_scalings({"rope_type": "linear", "factor": 4.0})
    [{'scaling': 'linear', 'factor': 4.0, 'trained': 1}]
    """
    kind, factor = read_kind(values)
    if factor is None:
        return []
    trained = values.get("original_max_position_embeddings")
    growth = {name: float(values[name]) for name in ("mscale", "mscale_all_dim") if is_positive(values.get(name))}
    common = {"factor": factor, "trained": int(trained) if is_positive(trained) else 1, **growth}
    return [{"scaling": scaling, **common} for scaling in SCALINGS.get(kind, ())]


def read_dynamic(values: Mapping, trained: Sequence[int], places: int) -> list[dict[str, object]]:
    """Return transformers' dynamic scaling, if one mapping of a config names it, as parameters of RoPE: a base that
    grows with the number of places beyond the training length.

    trained: the training lengths that the config names. Source: rope_frequency.

    >>> read_dynamic({"rope_type": "dynamic", "factor": 2.0}, [8], 12)
    [{'scaling': 'ntk', 'factor': 2.0}]
    """
    kind, factor = read_kind(values)
    if kind != "dynamic" or factor is None:
        return []
    exceeded = [length for length in trained if places > length]
    return [{"scaling": "ntk", "factor": factor * places / length - (factor - 1)} for length in exceeded]
