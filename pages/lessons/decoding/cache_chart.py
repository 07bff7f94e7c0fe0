"""The chart of the lesson on decoding: the bytes of a model's cache by the number of tokens."""

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import GIB, MIB, TIB, format_grouped
from pages.lessons.decoding.cached_model import CachedModel
from pages.lessons.sentences import say_bytes
from pages.panels.chart import show_curve_chart
from pages.session.labels import current_palette
from pages.site.words import say

CACHE_LENGTHS = (256, 1024, 4096, 16384, 65536, 131072)
CACHE_AXIS_TOKENS, CACHE_AXIS_BYTES = (1024, 4096, 16384, 65536), (MIB, GIB, TIB)  # ticks
CACHE_AXIS_START_BYTES = 262_144  # start of the axis


def show_cache_chart(model: CachedModel, length: int) -> None:
    """Draws the bytes of a model's cache beside those without shared heads or a window.

    length: the number of tokens that a vertical line marks."""
    palette = current_palette()
    colours = {model.plain: palette.x, model: palette.k}
    drawn = []
    for each, colour in colours.items():
        is_compared = each != model
        curve = make_cache_curve(each, colour, dashed=is_compared)
        drawn.append(curve)
    picture = curves(drawn, tokens_axis(), bytes_axis(), palette, at=length)
    show_curve_chart(picture, "decoding_size", say("lessons.decoding.size_alt"))


def make_cache_curve(model: CachedModel, colour: str, dashed: bool) -> Curve:
    """Makes the curve of the bytes of a model's cache by number of tokens."""
    kept = say(f"lessons.decoding.option.window.{model.window}")
    name = say("lessons.decoding.curve", kv=model.kv_heads, kept=kept)
    if model.kv_heads is None:
        name = say("lessons.decoding.curve_latent", kept=kept)
    sizes = [model.bytes_after(tokens) for tokens in CACHE_LENGTHS]
    return Curve(name, CACHE_LENGTHS, sizes, colour, dashed)


def tokens_axis() -> Axis:
    """The axis of the number of tokens."""
    return Axis(
        say("lessons.decoding.axis_tokens"),
        CACHE_LENGTHS[0],
        CACHE_LENGTHS[-1],
        log=True,
        values=CACHE_AXIS_TOKENS,
        texts=tuple(map(format_grouped, CACHE_AXIS_TOKENS)),
    )


def bytes_axis() -> Axis:
    """The axis of the bytes of a cache."""
    return Axis(
        say("lessons.decoding.axis_size"),
        CACHE_AXIS_START_BYTES,
        TIB,
        log=True,
        values=CACHE_AXIS_BYTES,
        texts=tuple(map(say_bytes, CACHE_AXIS_BYTES)),
    )
