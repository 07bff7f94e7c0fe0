"""The picture of the lesson on distance: a string of beads per encoder; each bead glows with its word's influence."""

from collections.abc import Callable, Mapping, Sequence
from math import log10

from attention_core.variants.influence import InfluenceByDistance, word_at
from pages import components
from pages.lessons.distance.encoder_curves import encoder_colours, name_encoder
from pages.lessons.distance.influence_chart import describe_word_place, list_influences
from pages.panels.live_choice import LiveChoices, describe_followed
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import say

KEY = "distance_beads"
DARK_DECADES = 2  # a bead with 1/100 of the strongest influence does not glow


def show_beads(
    influences: Mapping[str, InfluenceByDistance],
    followed: LiveChoices,
    names: Sequence[str],
    position: int,
    format_influence: Callable[[float], str],
    take: Callable[[int], None],
) -> None:
    """Shows a string of beads for each encoder.

    position: the word that depends on the others. take: handler, called with the distance of a clicked word."""
    distances = followed.options
    words = {word_at(position, distance): distance for distance in distances}
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
        "places": [places.index(word_at(position, distance)) for distance in distances],
        "told": [tell(place) for place in places],
        "slider": describe_followed(followed),
        "palette": vars(current_palette()),
        "text": {"alt": say("lessons.distance.alt_beads")},
    }
    show_moving(
        components.beads,
        data=data,
        key=KEY,
        given={"words": len(places)},
        on_chosen=lambda chosen: take(words[places[chosen]]),
    )


def find_glow(influence: float, strongest: float) -> float | None:
    """Returns the glow of a bead: 1 for the strongest influence, 0.5 for a tenth of it; None if the influence is 0.

    >>> find_glow(1.0, 1.0), find_glow(0.1, 1.0), find_glow(0.001, 1.0), find_glow(0.0, 1.0)
    (1.0, 0.5, 0.0, None)
    """
    if influence == 0:
        return None
    return max(0.0, 1 + log10(influence / strongest) / DARK_DECADES)
