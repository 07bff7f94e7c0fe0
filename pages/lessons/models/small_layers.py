"""Today's models: a layer of a published model as a small Setup, and what this small layer leaves out."""

from attention_core import Trace
from attention_core.examples.published_models import LayerKind, PublishedModel, scale_down
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.record.number_text import format_grouped
from pages.lessons.models.parts import name_kind
from pages.setup.choice_text import write_choice, write_mask, write_position
from pages.setup.setup import Setup
from pages.site.words import say

SMALL_HEADS, SMALL_WINDOW = 8, 4  # query heads of a small layer, and keys in its window


def make_small_layer(kind: LayerKind, base: Setup) -> Setup:
    """The Setup of a small layer of a kind, with the words of another Setup."""
    config = scale_down(kind.config, SMALL_HEADS, SMALL_WINDOW)
    normaliser, params = config.normaliser
    return base.with_fields(
        score=None if config.score == "scaled_dot" else config.score,
        kv_heads=config.kv_heads,
        masks=tuple(write_mask(*mask) for mask in config.masks) or None,
        positions=tuple(write_position(*position) for position in config.positions) or None,
        modifiers=tuple(write_choice(*modifier, MODIFIERS) for modifier in config.modifiers) or None,
        normaliser=write_choice(normaliser, params, NORMALISERS),
    )


def tell_scale(model: PublishedModel, kind: LayerKind, trace: Trace) -> str:
    """The text about the sizes of a small layer and of the model that it represents. trace: the small layer's run."""
    sizes = trace.sizes()
    stands = "stand_for" if model.kv_heads < model.heads else "own_stand_for"
    if (sizes["H"], sizes["H_kv"], sizes["d_k"]) == (model.heads, model.kv_heads, model.head_width):
        stands = "own_whole"
    sentences = [
        say(
            f"lessons.models.{stands}",
            small_heads=sizes["H"],
            small_kv=sizes["H_kv"],
            small_width=sizes["d_k"],
            heads=model.heads,
            kv=model.kv_heads,
            width=model.head_width,
        )
    ]
    if kind.window is not None:
        window = say("lessons.models.window_stands_for", small=SMALL_WINDOW, window=format_grouped(kind.window))
        sentences.append(window)
    return " ".join(sentences)


def tell_latent(model: PublishedModel) -> str:
    """The text about the sizes of a small layer's latent and of the model's latent that it represents."""
    small = {name: tensor.own_sizes for name, tensor in LEARNED_TENSORS.items()}
    latent, turned = model.latent
    return say(
        "lessons.models.latent_stands_for",
        small=small["w_dkv"]["d_c"],
        small_turned=small["w_kr"]["d_r"],
        latent=latent,
        turned=turned,
    )


def tell_left_out(model: PublishedModel, kind: LayerKind, trace: Trace) -> str:
    """The text about the parts of a model that a small layer leaves out. trace: the small layer's run."""
    sentences = [
        say("lessons.models.other_layers", count=other.count, kind=name_kind(other.name))
        for other in model.kinds
        if other != kind
    ]
    positions = [name for name, _ in kind.config.positions]
    modifiers = [name for name, _ in kind.config.modifiers]
    normaliser, _ = kind.config.normaliser
    if "learned" in positions:
        rows, _ = trace["w_places"].shape
        table = say("lessons.models.table_stands_for", small=rows, places=format_grouped(model.context))
        sentences.append(table)
    if model.latent is not None:
        sentences.append(tell_latent(model))
    if "t5" in positions:
        sentences.append(say("lessons.models.few_buckets"))
    if "qk_norm" in modifiers:
        sentences.append(say("lessons.models.gains"))
    if normaliser == "sinks":
        sentences.append(say("lessons.models.sinks"))
    sentences.append(say("lessons.models.never_shown"))
    return " ".join(sentences)
