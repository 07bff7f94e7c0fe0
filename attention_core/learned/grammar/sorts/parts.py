"""Samples the parts that several kinds of text share: actions with a time and a place, adjectives, speakers."""

from functools import lru_cache

from attention_core.learned.grammar import chinese, english
from attention_core.learned.grammar.concepts import Noun, Quality, find_nouns, load_names, qualities_of
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import Deed, deeds_alone, deeds_to_others, load_events
from attention_core.learned.grammar.function_words import DEGREES, phrase, phrases_of
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Pronoun, Said, Thing

PLACES = find_nouns(
    "park garden city kitchen room village shop beach market forest office hospital library school house"
)
FAR_PLACES = find_nouns("city village hospital station hotel beach school office market shop museum zoo airport")
LANDMARKS = find_nouns("house school church hospital hotel library tree bridge")
SOMEBODY = load_names()["anna"]  # the actions of i, we and you are those of a person with this name
SPEAKERS = ("i", "i", "i", "we", "you")
PAIRS_KEPT = 65536  # each cache of pairs of nouns holds at most so many
OF_ANYTHING = [MOODS[name] for name in ("past", "present", "past in time", "did not", "does not")]
DEGREES_OF_DEEDS = [DEGREES[name] for name in ("", "", "", "very", "so", "really")]
DEGREES_OF_FAILURE = [DEGREES[name] for name in ("too", "too", "too", "so", "", "very")]


def draw_speaker(draw: Draw) -> Thing:
    """Sample who speaks or listens: a Thing that is written as the pronoun i, we or you."""
    speaker = draw.pick(SPEAKERS)
    return Thing(load_names()["anna"], "f", speaker != "i", speaker=speaker)


def draw_person(draw: Draw, speaker: float = 0.1, many: float = 0.1) -> Mention | Pronoun:
    """Sample a person's first mention; with the probability `speaker` the mention is i, we or you."""
    if draw.chance(speaker):
        return Pronoun(draw_speaker(draw))
    return draw.mention(draw.thing(find_nouns("people"), many))


def draw_deed(draw: Draw, subject: Mention | Pronoun, mood: Mood, alone: float = 0.4, gap: str = "") -> Clause | None:
    """Sample a clause in which a subject does something, with or without an object; None if no action or object fits.

    alone: the probability of an action without an object. gap: the name of the part that the clause omits.
    """
    noun = subject.thing.noun
    planned = mood not in OF_ANYTHING
    others = deeds_to_others(noun, planned)
    if not others or draw.chance(alone):
        by_itself = deeds_alone(noun, planned)
        return Clause(draw.pick(by_itself).event, {"x": subject}, mood, gap=gap) if by_itself else None
    deed = draw.pick(others)
    if not subject.thing.speaker and SOMEBODY in deed.y and draw.chance(0.08):
        return Clause(deed.event, {"x": subject, "y": Pronoun(draw_speaker(draw))}, mood, gap=gap)
    other = draw.second(subject.thing, deed.y)
    if other is None:
        return None
    return Clause(
        deed.event, {"x": subject, "y": draw.mention(other, "either" if mood.negative else "object")}, mood, gap=gap
    )


def draw_quality(draw: Draw, subject: Mention | Pronoun, mood: Mood, other: Thing | None = None) -> Clause | None:
    """Sample a clause in which a subject has an adjective as predicate; None if no adjective fits.

    other: a thing to which the subject's pronoun could also refer; the adjective must be impossible for it.
    """
    noun = subject.thing.noun
    options = qualities_of(noun) if other is None else qualities_of_one(noun, other.noun)
    if mood.negative:
        options = [quality for quality in options if not quality.predicate]
    if not options:
        return None
    quality = draw.pick(options)
    degree = DEGREES[""] if quality.predicate else draw.pick(DEGREES_OF_DEEDS)
    return Clause(load_events()["be"], {"x": subject, "q": Said(quality, degree)}, mood)


def are_confused(thing: Thing, other: Thing) -> bool:
    """Return whether the pronoun of one thing could refer to the other, in either language."""
    return english.may_mean(thing, other) or chinese.may_mean(thing, other)


def own_deeds(thing: Thing, other: Thing) -> tuple[Deed, ...]:
    """Return the actions without an object that a thing may do, and that make clear to which noun its pronoun refers.

    If the pronoun could also refer to the other noun, actions that the other noun can do are left out.
    """
    if are_confused(thing, other):
        return deeds_of_one(thing.noun, other.noun)
    return deeds_alone(thing.noun)


@lru_cache(maxsize=PAIRS_KEPT)
def deeds_of_one(noun: Noun, other: Noun) -> tuple[Deed, ...]:
    """Return the actions without an object that one noun can do and the other cannot."""
    return tuple(deed for deed in deeds_alone(noun) if other not in deed.x)


@lru_cache(maxsize=PAIRS_KEPT)
def qualities_of_one(noun: Noun, other: Noun) -> tuple[Quality, ...]:
    """Return the adjectives that one noun may have and the other may not."""
    return tuple(quality for quality in qualities_of(noun) if other not in quality.fits)


def draw_time(draw: Draw, mood: Mood) -> Phrase:
    """Sample a phrase of time that fits the tense and negation of a clause."""
    if mood.past:
        return draw.pick(phrases_of("past"))
    is_future = mood is MOODS["will"] or mood is MOODS["will not"]
    return draw.pick(phrases_of("future" if is_future else "present"))


def draw_place(draw: Draw) -> Place:
    """Sample the place of an action: in or near a place, or behind, near or in front of a landmark."""
    if draw.chance(0.8):
        return Place(phrase(draw.pick(("in", "in", "near"))), draw.known(draw.thing(PLACES, many=0)))
    return Place(draw.pick(phrases_of("relations")), draw.known(draw.thing(LANDMARKS, many=0)))
