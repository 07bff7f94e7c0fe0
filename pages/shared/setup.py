"""Setup: the whole state of a page as plain values, and its link. A link says only what differs from the example."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from attention_core import AttentionConfig
from attention_core.errors import AttentionError
from attention_core.examples import EXAMPLES
from attention_core.masks import MASKS
from attention_core.positions import POSITIONS
from attention_core.scores import SCORES
from pages.shared.mask_texts import read_mask

DTYPES = ("float64", "float32", "bfloat16", "float16")
FARTHEST = 1_000_000  # the largest number of a mask: up to here float64 holds the angles of positions to 1e-10
MOST = 999_999_999  # the largest seed or place that a link can say
LONGEST = 100_000  # characters of an address: a server refuses much longer ones
MOST_HEADS = 16  # as many small maps as a screen shows
MOST_NAMED = 6  # parts of a link that nobody knows: more of them would fill the screen with refusals


@dataclass(frozen=True)
class Setup:
    """What is on the screen. None means: as the example has it.

    text, context_text: typed sentences. x, context, q, k, v, w_*, ...: matrices in link form (rows ";", cells ","),
    or "~" and the cells that differ from what they would be ("~row.column=number;..."),
    "none" for a projection taken away. masks, positions: "name" or "name:number:number". token: the chosen query;
    step and cell: what is opened. ramp: "times" where the weights' colours count in even shares.
    """

    example: str = "en_it"
    text: str | None = None
    context_text: str | None = None
    cross: bool | None = None
    x: str | None = None
    context: str | None = None
    q: str | None = None
    k: str | None = None
    v: str | None = None
    w_q: str | None = None
    w_k: str | None = None
    w_v: str | None = None
    w_o: str | None = None
    b_q: str | None = None
    w_a: str | None = None
    w_aq: str | None = None
    w_ak: str | None = None
    v_a: str | None = None
    allowed: str | None = None
    heads: int | None = None
    kv_heads: int | None = None
    score: str | None = None
    scale: float | None = None
    temperature: float = 1.0
    masks: tuple[str, ...] | None = None
    positions: tuple[str, ...] = ()
    dtype: str = "float64"
    device: str = "cpu"
    seed: int = 0
    token: int | None = None
    head: int | None = None
    step: str | None = None
    cell: tuple[int, ...] | None = None
    ramp: str | None = None


KEYS = {
    "example": "ex",
    "context_text": "ctx",
    "heads": "heads",
    "kv_heads": "kv",
    "temperature": "temp",
    "masks": "mask",
    "positions": "pos",
    "token": "t",
}
DEFAULT = Setup()
BESIDES = ("lang", "embed", "embed_options")  # what a link may say that is no part of a Setup


def key_of(name: str) -> str:
    """A field's name in a link."""
    return KEYS.get(name, name)


LINK_KEYS = frozenset(key_of(field.name) for field in fields(Setup))


def to_link(setup: Setup) -> dict[str, str]:
    """The query parameters that say how a Setup differs from its example."""
    link = {}
    for field in fields(Setup):
        value = getattr(setup, field.name)
        if value != field.default:
            link[key_of(field.name)] = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return link


def check_link(setup: Setup) -> None:
    """Raises AttentionError where the address of a Setup is so long that nobody could open it again."""
    given = len(urlencode(to_link(setup)))
    if given > LONGEST:
        raise AttentionError("link_too_long", limit=LONGEST, given=given)


def from_link(link: Mapping[str, str]) -> tuple[Setup, list[tuple[str, str]]]:
    """The Setup a link describes, and its parts that could not be read as (key, text): those keep their defaults.

    A key that nobody knows is a slip, or comes from a newer version: it is such a part too. Marks that mail programs
    add to an address (utm_...) are none.
    """
    setup, refused = DEFAULT, []
    for field in fields(Setup):
        text = link.get(key_of(field.name))
        if text is None:
            continue
        try:
            if len(text) > LONGEST:
                raise ValueError
            setup = replace(setup, **{field.name: READERS.get(field.name, str)(text)})
        except (ValueError, OverflowError):
            refused.append((key_of(field.name), text[:40]))
    known = LINK_KEYS.union(BESIDES)
    unknown = [(key[:40], text[:40]) for key, text in link.items() if key not in known and not key.startswith("utm_")]
    return setup, refused + unknown[:MOST_NAMED]


def member(names):
    """A reader that takes one of `names` only."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return read


def number(text: str) -> float:
    """A finite number of at most 30 characters."""
    value = float(text) if len(text) <= 30 else float("nan")
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def count(text: str) -> int:
    """A whole number from 0 to MOST."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST))):
        raise ValueError(text)
    return int(text)


def indices(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas."""
    return tuple(count(part) for part in text.split(",") if part)[:6]


def choices(names):
    """A reader of "name:1:2,other" where every name is known and every number whole; at most 1000 characters."""

    def read(text: str) -> tuple[str, ...]:
        if len(text) > 1000:
            raise ValueError(text)
        parts = tuple(part for part in text.split(",") if part)
        for part in parts:
            name, *numbers = part.split(":")
            member(names)(name)
            for given in numbers:
                if count(given.removeprefix("-")) > FARTHEST:
                    raise ValueError(text)
        return parts

    return read


READERS = {
    "example": member(EXAMPLES),
    "cross": lambda text: member(("True", "False"))(text) == "True",
    "heads": count,
    "kv_heads": count,
    "score": member(SCORES),
    "scale": number,
    "temperature": number,
    "masks": choices(MASKS),
    "positions": choices((*POSITIONS, "rope_half")),
    "dtype": member(DTYPES),
    "device": member(("cpu", "cuda")),
    "seed": count,
    "token": count,
    "head": count,
    "cell": indices,
    "ramp": member(("times",)),
}


# ---- the choices as the core takes them ------------------------------------------------------------------------------
def read_position(text: str) -> tuple[str, dict]:
    """ "rope_half" as ("rope", {"style": "half"})."""
    return ("rope", {"style": "half"}) if text == "rope_half" else (text, {})


def config_of(setup: Setup) -> AttentionConfig:
    """The core's config for a Setup; what the Setup leaves open is the example's."""
    example = EXAMPLES[setup.example]
    masks = tuple(example.masks) if setup.masks is None else setup.masks
    heads = setup.heads if setup.heads is not None else example.heads
    if heads > MOST_HEADS:
        raise AttentionError("at_most", name="heads", limit=MOST_HEADS, given=heads)
    return AttentionConfig(
        score=setup.score or example.score,
        scale=setup.scale,
        temperature=setup.temperature,
        heads=heads,
        kv_heads=setup.kv_heads,
        masks=tuple(map(read_mask, masks)),
        positions=tuple(map(read_position, setup.positions)),
    )
