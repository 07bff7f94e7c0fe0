"""Draws how much a position depends on each word: as curves by distance, and as strings of beads."""

from collections.abc import Callable, Mapping, Sequence
from math import log10

from attention_core.drawing.axes import Axis, decade_axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_percent, format_small, format_small_percent
from attention_core.variants.encoders import RECURRENT_CELLS
from attention_core.variants.influence import InfluenceByDistance
from pages import components
from pages.lessons.distance.drawers import encoder_colours, list_values, name_encoder
from pages.lessons.sentences import join_with_commas
from pages.panels.live_choice import Followed, LiveChoices, describe_followed
from pages.panels.live_frames import show_followed_curves
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import escape_markdown, say

# ---- the curves: influence by distance, and the sentences on it ------------------------------------------------------
LEAST_SHARE = 0.001  # a share below this is written as a power of ten
HELD = 0.5  # an influence "holds" if the farthest word has at least this share of the nearest word's influence
INFLUENCE_WIDTH_PX, INFLUENCE_HEIGHT_PX = 900, 200  # px: size of the plot area


def draw_influence_curves(
    influences: Mapping[str, InfluenceByDistance], distance: Followed, measure: str, word: str
) -> None:
    """Draws the influence of a word by its distance, as a curve for each kind of encoder.

    The measure "share" also gets a line of uniform shares. distance: the slider of the distance, whose value a vertical
    line marks. word: the word whose dependence on the other words is measured.
    """
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
    """Returns a curve of the mean influence in one encoder by distance, with a band of the spread over its weight
    samples.
    """
    return Curve(
        name_encoder(kind),
        influence.distances,
        influence.mean,
        encoder_colours()[kind],
        band=influence.band,
    )


def make_even_curve(distances: range) -> Curve:
    """Returns the dashed line of uniform shares."""
    return Curve(
        f"1/{len(distances)}",
        (min(distances), max(distances)),
        (1 / len(distances), 1 / len(distances)),
        current_palette().x,
        dashed=True,
    )


def distance_axis(distances: range, word: str) -> Axis:
    """Returns the axis of distances to a word; if words on both sides count, its title names both directions."""
    sides = "both" if min(distances) < 0 else "one"
    title = say(f"lessons.distance.axis_{sides}", word=word)
    return whole_number_axis(title, distances)


def describe_word_place(distance: int, word: str) -> str:
    """Returns the phrase that says where a word is: at the position itself, or how many words before or after it."""
    where = "itself"
    if distance > 0:
        where = "back"
    elif distance < 0:
        where = "ahead"
    return say(f"lessons.distance.where_{where}", word=escape_markdown(word), count=abs(distance))


def tell_factors(influences: Mapping[str, InfluenceByDistance]) -> str:
    """Returns, for each recurrence, a sentence about its influence: the factor per word, and whether it vanishes or
    explodes.
    """
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
    """Formats the farthest word's influence relative to the nearest's: in percent, or as a power of ten below
    LEAST_SHARE.
    """
    return format_percent(share) if share >= LEAST_SHARE else format_small_percent(share)


def name_course(factor: float, left: float) -> str:
    """Returns the kind of change of an influence with distance: "explodes", "holds" or "vanishes".

    factor: the factor of the influence per word. left: the farthest word's influence divided by the nearest word's.
    """
    if factor >= 1:
        return "explodes"
    return "holds" if left >= HELD else "vanishes"


def list_influences(
    influences: Mapping[str, InfluenceByDistance], distance: int, format_influence: Callable[[float], str]
) -> str:
    """Returns a text with the influence of the word at a distance in each encoder, the largest influence first."""
    amounts = {kind: influence.at(distance) for kind, influence in influences.items()}
    order = sorted(amounts, key=amounts.__getitem__, reverse=True)
    parts = []
    for kind in order:
        amount = format_influence(amounts[kind])
        parts.append(f"{name_encoder(kind)} {amount}")
    return join_with_commas(parts) or say("lessons.distance.nobody")


# ---- the beads: a string per encoder; each bead glows with its word's influence --------------------------------------
DARK_DECADES = 2  # a bead does not glow if its influence is so many powers of ten below the strongest


def show_beads(
    influences: Mapping[str, InfluenceByDistance],
    followed: LiveChoices,
    names: Sequence[str],
    position: int,
    format_influence: Callable[[float], str],
    take: Callable[[int], None],
) -> None:
    """Shows a string of beads for each encoder: one bead per word; the larger a word's influence, the more its bead
    glows.

    position: index of the word that depends on the others. take: a callback that gets the distance of a clicked word.
    """
    distances = followed.options
    words = {position - distance: distance for distance in distances}
    places = sorted(words)
    strongest = max((max(each.mean) for each in influences.values()), default=0.0)

    def tell(place: int) -> str:
        where = describe_word_place(words[place], names[place])
        return f"{where}: {list_influences(influences, words[place], format_influence)}"

    rows = []
    for kind, influence in influences.items():
        glows = [find_glow(influence.at(words[place]), strongest) for place in places]
        rows.append({"name": name_encoder(kind), "colour": encoder_colours()[kind], "glows": glows})
    data = {
        "words": [names[place] for place in places],
        "at": places.index(position),
        "rows": rows,
        "places": [places.index(position - distance) for distance in distances],
        "told": [tell(place) for place in places],
        "slider": describe_followed(followed),
        "palette": vars(current_palette()),
        "text": {"alt": say("lessons.distance.alt_beads")},
    }
    show_moving(
        components.beads,
        data=data,
        key="distance_beads",
        given={"words": len(places)},
        on_chosen=lambda chosen: take(words[places[chosen]]),
    )


def find_glow(influence: float, strongest: float) -> float | None:
    """Returns how strongly the bead of a word glows: 1 for the strongest influence, 0.5 for a tenth of it, None for 0.

    >>> find_glow(1.0, 1.0), find_glow(0.1, 1.0), find_glow(0.001, 1.0), find_glow(0.0, 1.0)
    (1.0, 0.5, 0.0, None)
    """
    if influence == 0:
        return None
    return max(0.0, 1 + log10(influence / strongest) / DARK_DECADES)
