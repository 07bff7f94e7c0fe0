"""The chart of the lesson on distance: how much a position depends on a word, by distance, and its sentences."""

from collections.abc import Callable, Mapping

from attention_core.drawing.axes import Axis, decade_axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_percent, format_small, format_small_percent
from attention_core.variants.influence import InfluenceByDistance, even_share_line
from attention_core.variants.recurrent_cells import RECURRENT_CELLS
from pages.lessons.distance.encoder_curves import encoder_colours, list_values, name_encoder
from pages.lessons.sentences import join_with_commas
from pages.panels.live_choice import Followed
from pages.panels.live_frames import show_followed_curves
from pages.session.labels import current_palette
from pages.site.words import escape_markdown, say

LEAST_SHARE = 0.001  # a smaller share is written as a power of ten
HELD = 0.5  # an influence with at least this share left "holds"
INFLUENCE_WIDTH_PX, INFLUENCE_HEIGHT_PX = 900, 200  # size of the plot area


def draw_influence_curves(
    influences: Mapping[str, InfluenceByDistance], distance: Followed, measure: str, word: str
) -> None:
    """Draws a curve for each kind of encoder, and for the measure "share" a line of even shares.

    distance: followed by a vertical line. word: at the position that depends on the others."""
    distances = distance.options
    drawn = [make_influence_curve(kind, influence) for kind, influence in influences.items()]
    if measure == "share":
        drawn.append(make_even_curve(distances))
    highest = 1.0 if measure == "share" else None
    title = say(f"lessons.distance.axis_{measure}")
    axes = (distance_axis(distances, word), decade_axis(title, list_values(drawn), highest))
    picture = curves(drawn, *axes, current_palette(), width=INFLUENCE_WIDTH_PX, height=INFLUENCE_HEIGHT_PX)
    show_followed_curves(distance, "distance_hero", picture, axes, say("lessons.distance.alt"))


def make_influence_curve(kind: str, influence: InfluenceByDistance) -> Curve:
    """Makes the curve of a kind of encoder with its band."""
    return Curve(
        name_encoder(kind),
        influence.distances,
        influence.mean,
        encoder_colours()[kind],
        band=influence.band,
    )


def make_even_curve(distances: range) -> Curve:
    """Makes the dashed line of even shares."""
    return Curve(
        f"1/{len(distances)}",
        (min(distances), max(distances)),
        even_share_line(distances),
        current_palette().x,
        dashed=True,
    )


def distance_axis(distances: range, word: str) -> Axis:
    """The axis of distances to a word, before it or on both sides."""
    sides = "both" if min(distances) < 0 else "one"
    title = say(f"lessons.distance.axis_{sides}", word=word)
    return whole_number_axis(title, distances)


def describe_word_place(distance: int, word: str) -> str:
    """Returns the phrase on a word's place: at the position itself, or so many words back or ahead."""
    where = "itself"
    if distance > 0:
        where = "back"
    elif distance < 0:
        where = "ahead"
    return say(f"lessons.distance.where_{where}", word=escape_markdown(word), count=abs(distance))


def tell_factors(influences: Mapping[str, InfluenceByDistance]) -> str:
    """Returns a sentence per recurrence: the influence's factor per word, and if it vanishes, holds or explodes."""
    told = []
    for kind, influence in influences.items():
        factor = influence.factor_per_step() if kind in RECURRENT_CELLS else None
        if factor is not None:
            left = influence.left_at_the_end()
            told.append(
                say(
                    f"lessons.distance.{name_course(factor, left)}",
                    kind=name_encoder(kind),
                    factor=format_small(factor),
                    left=format_left(left),
                )
            )
    return " ".join(told)


def format_left(share: float) -> str:
    """Formats a share in percent; a share below LEAST_SHARE as a power of ten."""
    return format_percent(share) if share >= LEAST_SHARE else format_small_percent(share)


def name_course(factor: float, left: float) -> str:
    """Returns "explodes", "holds" or "vanishes". left: influence of the farthest word over that of the nearest."""
    if factor >= 1:
        return "explodes"
    return "holds" if left >= HELD else "vanishes"


def list_influences(
    influences: Mapping[str, InfluenceByDistance], distance: int, format_influence: Callable[[float], str]
) -> str:
    """Returns the influence from a distance in each kind of encoder as text, the largest first."""
    amounts = {kind: influence.at(distance) for kind, influence in influences.items()}
    order = sorted(amounts, key=amounts.__getitem__, reverse=True)
    parts = []
    for kind in order:
        amount = format_influence(amounts[kind])
        parts.append(f"{name_encoder(kind)} {amount}")
    return join_with_commas(parts) or say("lessons.distance.nobody")
