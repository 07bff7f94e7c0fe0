"""The lesson on today's models: how many bytes of keys and values a published model keeps, and their chart."""

from collections.abc import Mapping

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.examples.published_models import PublishedModel
from attention_core.record.number_text import GIB, MIB, format_grouped
from attention_core.variants.decoding_work import cache_bytes, latent_bytes
from attention_core.verification.precision import PRECISIONS
from pages.lessons.sentences import say_bytes
from pages.panels.live_choice import LiveChoice
from pages.panels.live_frames import show_followed_curves
from pages.session.labels import current_palette
from pages.site.words import say

CACHE_DTYPE = "bfloat16"  # of every kept number, in all rows: two bytes
TEXT_LENGTHS = tuple(2**power for power in range(8, 18))  # tokens: 256 to 131,072
CHART_WIDTH_PX, CHART_HEIGHT_PX = 720, 260  # pixels of the curves' field


def count_cache_bytes(model: PublishedModel, tokens: int, is_windowed: bool = True) -> int:
    """How many bytes of keys and values all layers keep after so many tokens.

    is_windowed: whether a layer with a window forgets what has left it. A model that reads all at once keeps none."""
    kept = 0
    for kind in model.kinds:
        if not kind.is_cached:
            continue
        window = kind.window if is_windowed else None
        common = {"dtype": PRECISIONS[CACHE_DTYPE], "layers": kind.count, "window": window}
        if model.latent is not None:
            d_c, d_r = model.latent
            kept += latent_bytes(tokens, d_c=d_c, d_r=d_r, **common)
        else:
            width = model.head_width
            kept += cache_bytes(tokens, kv_heads=model.kv_heads, d_k=width, d_v=width, **common)
    return kept


def count_bytes_beyond(model: PublishedModel, window: int) -> int:
    """How many bytes one more token adds once a window is full."""
    return count_cache_bytes(model, window + 1) - count_cache_bytes(model, window)


def count_cached_layers(model: PublishedModel) -> int:
    """How many of its layers keep keys and values."""
    return sum(kind.count for kind in model.kinds if kind.is_cached)


def share_kept(model: PublishedModel) -> float:
    """What windows leave of the bytes, after as many tokens as the model was made for."""
    return count_cache_bytes(model, model.context) / count_cache_bytes(model, model.context, is_windowed=False)


def list_lengths(model: PublishedModel) -> list[int]:
    """Lengths of a text up to what the model was made for."""
    return [length for length in TEXT_LENGTHS if model.context is None or length <= model.context]


def tell_cache(model: PublishedModel, tokens: int) -> str:
    """Says what a model keeps after so many tokens."""
    name = f"**{model.name}**"
    kept = count_cache_bytes(model, tokens)
    if not kept:
        return say("lessons.models.keeps_nothing", model=name)
    if model.context is not None and tokens > model.context:
        return say("lessons.models.too_long", model=name, context=format_grouped(model.context))
    return say("lessons.models.keeps", model=name, tokens=format_grouped(tokens), size=say_bytes(kept))


def show_cache_chart(tokens: LiveChoice, models: Mapping[str, PublishedModel]) -> None:
    """Draws the bytes of the cache against the tokens. tokens: which an upright line follows. models: by colour."""
    palette = current_palette()
    drawn = []
    for colour, model in models.items():
        lengths = list_lengths(model)
        sizes = [count_cache_bytes(model, length) for length in lengths]
        if any(sizes):
            drawn.append(Curve(model.name, lengths, sizes, getattr(palette, colour)))
    axes = (tokens_axis(), bytes_axis())
    picture = curves(drawn, *axes, palette, width=CHART_WIDTH_PX, height=CHART_HEIGHT_PX)
    show_followed_curves(tokens, "models_cache", picture, axes, say("lessons.models.cache_alt"))


def tokens_axis() -> Axis:
    """The axis of the number of tokens."""
    shown = (256, 4096, 131072)
    return Axis(
        say("lessons.models.axis_tokens"),
        TEXT_LENGTHS[0],
        TEXT_LENGTHS[-1],
        log=True,
        values=shown,
        texts=tuple(map(format_grouped, shown)),
    )


def bytes_axis() -> Axis:
    """The axis of the bytes of a cache: from 1 MiB to 64 GiB."""
    shown = (MIB, GIB, 64 * GIB)
    return Axis(
        say("lessons.models.axis_bytes"),
        MIB,
        64 * GIB,
        log=True,
        values=shown,
        texts=tuple(map(say_bytes, shown)),
    )
