"""Finds which variant of each part of an attention layer a published model has, and returns texts about them."""

from collections.abc import Callable, Mapping
from itertools import chain

from attention_core.examples.published_models import LayerKind, PublishedModel
from attention_core.mechanism.config import Params
from attention_core.record.number_text import format_grouped, format_short
from pages.site.words import say

USUAL_BASE = 10000.0  # base of RoPE and of the sinusoids in the papers that introduced them


# ---- the name of a model's variant of each part ----------------------------------------------------------------------
def find_positions(model: PublishedModel) -> str:
    """Returns the name of a model's position encoding.

    It is "stretched" if at least one kind of layer scales RoPE to longer contexts.
    """
    positions = chain.from_iterable(kind.config.positions for kind in model.kinds)
    found = [describe_rope(params) if name == "rope" else name for name, params in positions]
    return "stretched" if "stretched" in found else found[0]


def describe_rope(params: Params) -> str:
    """Returns the kind of RoPE: "rope" as in its paper, "slower" with another base, "stretched" for longer contexts."""
    if params["scaling"] != "none":
        return "stretched"
    return "rope" if params["base"] == USUAL_BASE else "slower"


def find_heads(model: PublishedModel) -> str:
    """Returns where query heads get keys and values from.

    "own": each query head has a separate key/value head. "grouped": several query heads share one. "latent": keys and
    values are computed from a latent vector.
    """
    if model.latent is not None:
        return "latent"
    return "own" if model.kv_heads == model.heads else "grouped"


def find_masks(model: PublishedModel) -> str:
    """Returns the name of the mask in a model's layers; "mixed" or "two_stacks" if its kinds of layer have different
    masks.
    """
    names = {kind.name for kind in model.kinds}
    if "encoder" in names:
        return "two_stacks"
    if "global" in names:
        return "mixed"
    masks = [name for name, _ in model.shown.config.masks]
    return masks[0] if masks else "unmasked"


def find_modifiers(model: PublishedModel) -> str:
    """Returns the name of a model's first modifier of scores other than a latent; "plain" if there is none."""
    names = [name for name, _ in model.shown.config.modifiers if name != "latent"]
    return names[0] if names else "plain"


def find_normaliser(model: PublishedModel) -> str:
    """Returns the name of a model's normaliser, which turns scores into weights."""
    name, _ = model.shown.config.normaliser
    return name


def find_score(model: PublishedModel) -> str:
    """Returns the name of a model's score function."""
    return model.shown.config.score


VARIANT_FINDERS: Mapping[str, Callable[[PublishedModel], str]] = {
    "positions": find_positions,
    "heads": find_heads,
    "masks": find_masks,
    "score": find_score,
    "modifiers": find_modifiers,
    "normaliser": find_normaliser,
}


# ---- the texts about parts -------------------------------------------------------------------------------------------
def name_kind(kind: str) -> str:
    """Returns the name of a kind of layer in the page's language."""
    return say(f"lessons.models.kind.{kind}")


def say_part(model: PublishedModel, part: str) -> str:
    """Returns the text about a model's variant of a layer part, such as its mask, with the sizes in this model."""
    if part == "positions":
        return say_of_kinds(model, say_positions)
    if part == "masks":
        return say_of_kinds(model, say_masks)
    value = VARIANT_FINDERS[part](model)
    return say(f"lessons.models.{part}.{value}", **list_numbers(model))


def tell_apart(model: PublishedModel, part: str) -> object:
    """Returns a key that is equal for two models if, and only if, they have the same variant of a layer part.

    part: the layer part, such as "masks". For heads the key is whether there is a latent vector, and how many query
    heads share a key/value head.
    """
    if part == "heads":
        return find_heads(model) == "latent", list_numbers(model)["ratio"]
    return say_part(model, part)


def say_what_for(model: PublishedModel, part: str) -> str:
    """Returns the text about the purpose and the cost of a model's variant of a part."""
    value = VARIANT_FINDERS[part](model)
    return say(f"lessons.models.what.{part}_{value}", **list_numbers(model))


def say_of_kinds(model: PublishedModel, say_kind: Callable[[PublishedModel, LayerKind], str]) -> str:
    """Returns the texts about all kinds of layers in a model, joined; if the text is the same for all kinds, only once.

    say_kind: a function that returns the text about one kind.
    """
    texts = [say_kind(model, kind) for kind in model.kinds]
    if len({*texts}) == 1:
        return texts[0]
    said = []
    for kind, text in zip(model.kinds, texts, strict=True):
        said.append(say("lessons.models.of_kind", count=kind.count, kind=name_kind(kind.name), text=text))
    return say("lessons.models.semicolon").join(said)


def say_positions(model: PublishedModel, kind: LayerKind) -> str:
    """Returns the text about the position encoding of a kind of layer."""
    ((name, params),) = kind.config.positions
    if "scaling" not in params:
        return say(f"lessons.models.positions.{name}")
    base = format_grouped(int(params["base"]))
    if params["scaling"] == "none":
        return say(f"lessons.models.positions.{name}", base=base)
    return say(
        "lessons.models.positions.stretched" if name == "rope" else f"lessons.models.positions.{name}_stretched",
        base=base,
        scaling=say(f"parameter_word.{params['scaling']}"),
        factor=format_short(params["factor"]),
    )


def say_masks(_: PublishedModel, kind: LayerKind) -> str:
    """Returns the text about the mask of a kind of layer."""
    if kind.window is not None:
        return say("lessons.models.masks.sliding", window=format_grouped(kind.window))
    return say(f"lessons.models.masks.{'causal' if kind.is_cached else 'unmasked'}")


def list_numbers(model: PublishedModel) -> dict[str, object]:
    """Returns {placeholder in the texts: a size of the model}."""
    windows = [kind for kind in model.kinds if kind.window is not None]
    return {
        "heads": model.heads,
        "kv": model.kv_heads,
        "ratio": model.heads // model.kv_heads,
        **dict(zip(("latent", "turned"), model.latent or (), strict=False)),
        "width": model.head_width,
        "layers": model.layers,
        "context": format_grouped(model.context or 0),
        "places": format_grouped(model.width * (model.context or 0)),
        "window": format_grouped(windows[0].window) if windows else "",
        "near": windows[0].count if windows else 0,
        "far": model.kinds[-1].count,
    }
