"""Gifts and their reasons: "the boy gave the bread to the girl because she was hungry"."""

from attention_core.learned.grammar.concepts import find_nouns, load_qualities, qualities_of
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.frames import load_events
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.phrases import phrase, phrases_of
from attention_core.learned.grammar.scene import Clause, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.reasons import draw_reason, draw_tail

WAYS = ("give-to", "give-to", "give", "give", "send-to", "bring-to", "bring-to", "show-to", "lend-to", "buy-for")
NICE = frozenset(
    ["new", "beautiful", "useful", "warm", "special", "cheap", "tasty", "fresh", "interesting", "sweet", "pretty"]
)
GIVERS = "kind generous rich friendly helpful"
GIFTS = {  # gifts -> the names of the qualities of people who need them
    "bread apple cake soup sandwich cookie banana rice": "hungry weak",
    "water tea milk juice coffee": "thirsty tired",
    "coat sweater scarf jacket glove blanket": "cold_body sick",
    "book novel magazine newspaper": "bored curious lonely",
    "flower rose picture photo ring": "sad sick lonely",
    "toy doll ball kite balloon cookie": "sad bored crying",
    "map phone bike": "lost_way late",
    "umbrella": "wet_body",
}


def draw_gift(draw: Draw) -> Telling | None:
    """Sample who gives what to whom, often with a reason that is true of one of the three; None if no noun fits."""
    things, needs = draw.pick(tuple(GIFTS.items()))
    people = find_nouns("people")
    x = draw.thing(people, many=0.05)
    z = draw.second(x, people, many=0.05)
    if z is None:
        return None
    y = draw.second(z, find_nouns(things), many=0.1)
    if y is None:
        return None
    mood = MOODS[draw.pick(("past", "past", "past", "past", "present", "has done", "will"))]
    way = "give-to" if y.noun.kind == "food" else draw.pick(WAYS)
    parts = {"x": draw.mention(x, "either"), "y": draw.mention(y, "either"), "z": draw.mention(z, "either")}
    event = Clause(load_events()[way], parts, mood)
    meant, other, reason = draw_gift_reason(draw, (x, y, z), needs, mood)
    if reason is None:
        return tell(event, phrase("stop"))
    tail = draw_tail(draw, meant, other, reason)
    return tell(event, draw.pick(phrases_of("because")), reason, phrase("stop"), *tail)


def draw_gift_reason(draw: Draw, things: tuple[Thing, Thing, Thing], needs: str, mood) -> tuple:
    """Sample (the thing that the reason is true of, another thing that its pronoun might mean, the reason or None).

    The reason is true of the giver, the gift or, most often, the receiver.
    """
    x, y, z = things
    chosen = draw.random()
    if chosen < 0.15:
        return z, x, None
    if chosen < 0.35:
        nice = [quality for quality in qualities_of(y.noun) if quality.word in NICE]
        return y, x, draw_reason(draw, Pronoun(y), draw.pick(nice), mood) if nice else None
    meant, other, reasons = (x, z, GIVERS) if chosen < 0.6 else (z, x, needs)
    quality = load_qualities()[draw.pick(reasons.split())]
    return meant, other, draw_reason(draw, Pronoun(meant), quality, mood)
