"""Samples sentences in which the reader must find the right one of two nouns: a pronoun's noun or a verb's subject."""

from functools import cache

from attention_core.learned.grammar.concepts import Noun, Quality, find_nouns, load_qualities, qualities_of
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import Deed, Frame, deeds_to_others, frames_of, load_deeds, load_events
from attention_core.learned.grammar.function_words import DEGREES, phrase, phrases_of
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import (
    Clause,
    Event,
    Mention,
    Place,
    Pronoun,
    Relative,
    Said,
    Telling,
    Thing,
    tell,
)
from attention_core.learned.grammar.sorts.parts import (
    DEGREES_OF_DEEDS,
    DEGREES_OF_FAILURE,
    are_confused,
    draw_deed,
    draw_quality,
    own_deeds,
)


# ---- reasons: "the animal did not cross the street because it was too tired" -----------------------------------------
def draw_frame(draw: Draw) -> tuple[Frame, Thing, Thing, Mood] | None:
    """Sample a frame (event of two nouns) of the part, its nouns x and y, and a mood; None if no second noun fits the
    first.
    """
    frame = draw.pick(frames_of(draw.part))
    x = draw.thing(frame.x)
    y = draw.second(x, frame.y)
    if y is None:
        return None
    return frame, x, y, draw.pick(frame.moods)


def draw_because(draw: Draw) -> Telling | None:
    """Sample an event of two nouns, a reason that is true about one of them, and sometimes a following sentence."""
    drawn = draw_frame(draw)
    if drawn is None:
        return None
    frame, x, y, mood = drawn
    event = Clause(frame.event, {"x": draw.mention(x, "either"), "y": draw.mention(y, "either")}, mood)
    meant, other, reasons = draw.pick(((x, y, frame.x_reasons), (y, x, frame.y_reasons)))
    reason = draw_reason(draw, Pronoun(meant), draw.pick(reasons), mood)
    tail = draw_tail(draw, meant, other, reason)
    return tell(event, draw.pick(phrases_of("because")), reason, phrase("stop"), *tail, frame=frame.name)


def draw_so(draw: Draw) -> Telling | None:
    """Sample a reason and the event that follows from it: "the street was wide, so the animal did not cross it"."""
    drawn = draw_frame(draw)
    if drawn is None:
        return None
    frame, x, y, mood = drawn
    is_first = draw.chance(0.5)
    meant, reasons = (x, frame.x_reasons) if is_first else (y, frame.y_reasons)
    reason = draw_reason(draw, draw.mention(meant, "either"), draw.pick(reasons), mood)
    parts = {
        "x": Pronoun(x) if is_first else draw.mention(x, "either"),
        "y": draw.mention(y, "either") if is_first else Pronoun(y),
    }
    joint = draw.pick(phrases_of("so"))
    before = ()
    if draw.chance(0.3):
        before = (draw.pick(phrases_of("before-a-reason")),)
        joint = phrase("so-behind")
    return tell(*before, reason, joint, Clause(frame.event, parts, mood), phrase("stop"), frame=frame.name)


def draw_reason(draw: Draw, subject: Mention | Pronoun, reason: Quality | Event, mood: Mood) -> Clause:
    """Sample a clause that gives the reason for an event.

    mood: the mood of the event that the reason explains.
    """
    told = MOODS["past" if mood.past else "present"]
    if isinstance(reason, Event):
        return Clause(reason, {"x": subject}, told)
    degree = draw.pick(DEGREES_OF_FAILURE if mood.negative else DEGREES_OF_DEEDS)
    said = Said(reason, DEGREES[""] if reason.predicate else degree)
    return Clause(load_events()["be"], {"x": subject, "q": said}, told)


# ---- after a reason --------------------------------------------------------------------------------------------------
def draw_tail(draw: Draw, meant: Thing, other: Thing, reason: Clause) -> tuple:
    """Sample a sentence that follows a reason, about the noun of which the reason is true; () in half of the samples.

    meant: the noun that the reason is true of. other: the other noun of the event.
    """
    how = draw.random()
    if how < 0.5:
        return ()
    if how < 0.72:  # a question about that noun, with its answer: "what was wide? the street."
        question = reason._replace(parts={**reason.parts, "x": Pronoun(meant)}, asks="x")
        return question, phrase("question-mark"), draw.known(meant), phrase("stop")
    return draw_sequel(draw, meant, other, reason.mood)


def draw_sequel(draw: Draw, meant: Thing, other: Thing, mood: Mood) -> tuple:
    """Sample what the thing of which a reason is true does next; the thing is named by its noun or by a pronoun.

    Returns () if nothing fits.
    """
    told = MOODS["past" if mood.past else "present"]
    subject = draw.known(meant) if are_confused(meant, other) or draw.chance(0.4) else Pronoun(meant)
    deeds = own_deeds(meant, other)
    if deeds and draw.chance(0.7):
        return Clause(draw.pick(deeds).event, {"x": subject}, told), phrase("stop")
    clause = draw_quality(draw, subject, told, other)
    return (clause, phrase("stop")) if clause else ()


# ---- gifts and their reasons: "the boy gave the bread to the girl because she was hungry" ----------------------------
WAYS = ("give-to", "give-to", "give", "give", "send-to", "bring-to", "bring-to", "show-to", "lend-to", "buy-for")
NICE = frozenset(
    ["new", "beautiful", "useful", "warm", "special", "cheap", "tasty", "fresh", "interesting", "sweet", "pretty"]
)
GIVERS = "kind generous rich friendly helpful"
GIFTS = {  # nouns to give -> adjectives of the people who need them
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
    """Sample a sentence in which somebody gives something to somebody, often with a reason; None if no noun fits."""
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
    """Sample the reason for a gift; return the thing of which it is true, a rival thing, and the clause (or None).

    The reason is true of the giver, the gift or, most often, the receiver. The rival is another thing to which the
    pronoun of the reason could refer. needs: the names of the adjectives that may be true of the receiver.
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


# ---- a verb and its subject, with a clause between them: "the dogs that saw the cat are tired" -----------------------
SUBJECTS = find_nouns("adult animal animal object device vehicle text")
LANDMARKS = find_nouns("tree house car table door bridge river wall school church bench animal person")


def draw_agreement(draw: Draw) -> Telling | None:
    """Sample a sentence about a subject that has a relative clause or a place, such as "the dog that sees the cat"."""
    x = draw.thing(SUBJECTS, many=0.5)
    mood = MOODS[draw.pick(("present", "present", "past"))]
    subject = draw_subject(draw, x, mood)
    if subject is None:
        return None
    is_told_how = x.noun.kind not in ("woman", "man", "person", "animal") or draw.chance(0.5)
    clause = draw_quality(draw, subject, mood) if is_told_how else draw_deed(draw, subject, mood)
    return tell(clause, phrase("stop")) if clause else None


def draw_subject(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Sample a noun with a relative clause or a place, to be a subject; None if no other noun or action fits."""
    how = draw.random()
    if how < 0.45 and deeds_to_others(x.noun):
        return draw_one_who(draw, x, mood)
    if how < 0.75:
        return draw_one_whom(draw, x, mood)
    landmark = draw.second(x, LANDMARKS, many=0.4)
    if landmark is None:
        return None
    return draw.mention(x, "head")._replace(
        relative=Place(draw.pick(phrases_of("beside-beings")), draw.known(landmark))
    )


def draw_one_who(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Sample a noun that is the subject of its relative clause: "the dog that sees the cat"; None if nothing fits."""
    deed = draw.pick(deeds_to_others(x.noun))
    y = draw.second(x, deed.y, many=0.45)
    if y is None:
        return None
    pronoun = "who" if x.noun.genders != "n" and draw.chance(0.6) else "that"
    parts = {"x": draw.known(x), "y": draw.known(y)}
    return relate(draw, x, pronoun, Clause(deed.event, parts, mood, gap="x"))


def draw_one_whom(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Sample a noun that is the object of its relative clause: "the dog that the cat sees"; None if nothing fits."""
    deeds = deeds_done_to(x.noun)
    if not deeds:
        return None
    deed = draw.pick(deeds)
    y = draw.second(x, deed.x, many=0.45)
    if y is None:
        return None
    parts = {"x": draw.known(y), "y": draw.known(x)}
    return relate(draw, x, "that", Clause(deed.event, parts, mood, gap="y"))


@cache
def deeds_done_to(noun: Noun) -> tuple[Deed, ...]:
    """Return the actions of which a noun may be the object, such as "eat" for "bread"."""
    return tuple(deed for deed in load_deeds().values() if noun in deed.y)


def relate(draw: Draw, x: Thing, pronoun: str, clause: Clause) -> Mention:
    """Return a mention of a thing that a relative clause describes.

    pronoun: the relative pronoun, "who", "that" or another relative pronoun.
    """
    return draw.mention(x, "head")._replace(relative=Relative(pronoun, clause))
