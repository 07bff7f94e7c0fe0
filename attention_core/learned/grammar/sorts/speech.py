"""Samples texts about speech, thoughts and wishes: "anna said that she was tired", "tom wants to buy a dog"."""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import load_deeds, load_events
from attention_core.learned.grammar.function_words import DETERMINERS, phrase
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import (
    FAR_PLACES,
    are_confused,
    draw_deed,
    draw_person,
    draw_quality,
    draw_time,
)

PEOPLE = find_nouns("people")
SAYING = ("say", "say", "think", "know", "believe", "forget-that")
PLANS = ("want-to", "want-to", "like-to", "try-to", "forget-to", "begin-to", "decide-to", "have-to")
ERRANDS = {  # places -> names of what people do there
    "shop market": ("buy-thing", "buy-thing", "work"),
    "kitchen restaurant": ("eat", "eat-dish", "drink", "order"),
    "park garden beach forest": ("play-with", "rest", "walk-with", "read-text", "draw-thing", "talk-to"),
    "library school": ("read-text", "read-text", "study-lesson", "meet-person"),
    "office": ("work", "write-text", "use-thing"),
    "city station hotel": ("meet-person", "visit-place", "buy-thing"),
    "cinema": ("watch-film", "meet-person"),
    "hospital village": ("meet-person", "help-person", "work"),
    "zoo farm": ("feed-animal", "look-at"),
}
ASKING = ("ask-to", "tell-to", "help-to")


def draw_saying(draw: Draw) -> Telling | None:
    """Sample a sentence in which a person says or thinks something about themselves or about another."""
    speaker = draw_person(draw)
    mood = MOODS[draw.pick(("past", "past", "present"))]
    about = Pronoun(speaker.thing) if draw.chance(0.5) else draw_another(draw, speaker.thing)
    if about is None:
        return None
    said = draw_said(draw, about, mood.past)
    if said is None:
        return None
    return tell(Clause(load_events()[draw.pick(SAYING)], {"x": speaker, "c": said}, mood), phrase("stop"))


def draw_another(draw: Draw, thing: Thing) -> Mention | None:
    """Sample another person or animal that a person speaks about, as a mention; None if no noun fits."""
    other = draw.second(thing, find_nouns("being"), many=0.1)
    return None if other is None else draw.mention(other)


def draw_said(draw: Draw, about: Mention | Pronoun, is_past: bool) -> Clause | None:
    """Sample a clause about what a person or animal is or does, to follow a verb such as "said"."""
    if draw.chance(0.5):
        return draw_quality(draw, about, MOODS["past" if is_past else "present"])
    return draw_deed(draw, about, MOODS["had done" if is_past else "has done"])


def draw_telling(draw: Draw) -> Telling | None:
    """Sample a sentence about what one person tells another: "tom told anna that the dog had eaten her dinner"."""
    x, z = draw_two_people(draw)
    if z is None:
        return None
    is_of_another = are_confused(x, z) or draw.chance(0.4)
    subject = draw_another(draw, x) if is_of_another else Pronoun(draw.pick((x, z)))
    if subject is None or (is_of_another and subject.thing.noun is z.noun):
        return None
    said = draw_said(draw, subject, is_past=True)
    if said is None:
        return None
    parts = {"x": draw.mention(x), "z": draw.mention(z, "object"), "c": own_object(draw, said, x, z)}
    return tell(Clause(load_events()["tell"], parts, MOODS["past"]), phrase("stop"))


def own_object(draw: Draw, said: Clause, x: Thing, z: Thing) -> Clause:
    """With some probability, give the object of a clause a possessive that refers to one of two people, as in "his
    dinner"."""
    object_ = said.parts.get("y")
    if not isinstance(object_, Mention) or object_.thing.noun.measure == "" or are_confused(x, z) or draw.chance(0.4):
        return said
    owned = object_._replace(owner=draw.pick((x, z)), quality=None)
    return said._replace(parts={**said.parts, "y": owned})


def draw_two_people(draw: Draw) -> tuple[Thing, Thing | None]:
    """Sample two people; the second is None if no noun fits."""
    x = draw.thing(PEOPLE, many=0.05)
    return x, draw.second(x, PEOPLE, many=0.05)


# ---- plans -----------------------------------------------------------------------------------------------------------
def draw_plan(draw: Draw) -> Telling | None:
    """Sample a sentence about what a person wants, has, begins or forgets to do."""
    subject = draw_person(draw, speaker=0.3)
    plan = draw.pick(PLANS)
    moods = ("present",) if plan == "like-to" else ("past", "past", "present", "did not", "does not")
    mood = MOODS[draw.pick(moods)]
    deed = draw_deed(draw, subject, MOODS["infinitive"], alone=0.3, gap="x")
    if deed is None:
        return None
    return tell(Clause(load_events()[plan], {"x": subject, "e": deed}, mood), phrase("stop"))


def draw_errand(draw: Draw) -> Telling | None:
    """Sample a sentence about where a person goes, often with the purpose or the vehicle."""
    subject = draw_person(draw, speaker=0.3)
    mood = MOODS[draw.pick(("past", "past", "past", "present", "will", "wants", "must", "can", "did not"))]
    place = draw.known(draw.thing(FAR_PLACES, many=0))
    time = draw_time(draw, mood) if draw.chance(0.4) else None
    if draw.chance(0.3):
        vehicle = draw.thing(find_nouns("bus train car bike taxi plane"), many=0)
        by = Mention(vehicle, DETERMINERS[""])
        return tell(Clause(load_events()["go-by"], {"x": subject, "y": place, "z": by}, mood, time), phrase("stop"))
    if draw.chance(0.25):
        return tell(Clause(load_events()["go"], {"x": subject, "y": place}, mood, time), phrase("stop"))
    return draw_errand_for(draw, subject, mood, time)


def draw_errand_for(draw: Draw, subject: Mention | Pronoun, mood: Mood, time: Phrase | None) -> Telling | None:
    """Sample a sentence about where a person goes and for what purpose: "anna went to the shop to buy bread"."""
    places, purposes = draw.pick(tuple(ERRANDS.items()))
    deed = load_deeds()[draw.pick(purposes)]
    if subject.thing.noun not in deed.x:
        return None
    done = {"x": subject}
    if deed.y:
        other = draw.second(subject.thing, deed.y)
        if other is None:
            return None
        done["y"] = draw.mention(other, "object")
    purpose = Clause(deed.event, done, MOODS["infinitive"], gap="x")
    place = draw.known(draw.thing(find_nouns(places), many=0))
    parts = {"x": subject, "y": place, "e": purpose}
    return tell(Clause(load_events()["go-to"], parts, mood, time), phrase("stop"))


def draw_request(draw: Draw) -> Telling | None:
    """Sample a sentence about what one person asks, tells or helps another to do."""
    x, z = draw_two_people(draw)
    if z is None:
        return None
    asked = draw.mention(z, "object")
    deed = draw_deed(draw, draw.known(z), MOODS["infinitive"], alone=0.3, gap="x")
    if deed is None:
        return None
    mood = MOODS[draw.pick(("past", "past", "present", "will"))]
    parts = {"x": draw.mention(x), "z": asked, "e": deed}
    return tell(Clause(load_events()[draw.pick(ASKING)], parts, mood), phrase("stop"))
