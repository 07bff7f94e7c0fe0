"""Questions with their answers: who, what, where, when, why, how, whether."""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.deeds import deeds_to_others
from attention_core.learned.grammar.determiners import DETERMINERS
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.frames import frames_of, load_events
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.phrases import phrase
from attention_core.learned.grammar.scene import Clause, Mention, Pronoun, Telling, tell
from attention_core.learned.grammar.sorts.parts import (
    FAR_PLACES,
    OF_ANYTHING,
    draw_deed,
    draw_person,
    draw_place,
    draw_time,
)
from attention_core.learned.grammar.sorts.reasons import draw_reason

ACTORS = find_nouns("people people animal")
MOOD_NAMES = ("past", "past", "past", "present", "is doing", "will")


def draw_question(draw: Draw) -> Telling | None:
    """Sample a question of one of KINDS."""
    return draw.pick(KINDS)(draw)


def draw_who_or_what(draw: Draw) -> Telling | None:
    """Sample a question about the subject or the object: "what did the dog eat? the bread."."""
    x = draw.thing(ACTORS, many=0)
    mood = MOODS[draw.pick(MOOD_NAMES)]
    deed = draw.pick(deeds_to_others(x.noun, mood not in OF_ANYTHING))
    y = draw.second(x, deed.y, many=0)
    if y is None:
        return None
    asked = draw.pick("xy")
    parts = {"x": draw.mention(x), "y": draw.mention(y, "object")}
    said = Clause(deed.event, parts, mood)
    if draw.chance(0.5):
        return tell(said._replace(asks=asked), phrase("question-mark"), parts[asked], phrase("stop"))
    known = {"x": draw.known(x), "y": draw.known(y)}
    question = said._replace(parts=known, asks=asked)
    return tell(said, phrase("stop"), question, phrase("question-mark"), known[asked], phrase("stop"))


def draw_whether(draw: Draw) -> Telling | None:
    """Sample a yes-or-no question about a deed, often with an answer."""
    subject = draw_person(draw, speaker=0.2)
    mood = MOODS[draw.pick(MOOD_NAMES)]
    asked = draw_deed(draw, subject, mood)
    if asked is None or (subject.thing.speaker and subject.thing.speaker != "you"):
        return None
    question = asked._replace(asks="?")
    if subject.thing.speaker or draw.chance(0.4):
        return tell(question, phrase("question-mark"))
    denial = "did not" if mood.past else "does not"
    is_so = draw.chance(0.5)
    again = {name: Pronoun(part.thing) for name, part in asked.parts.items()}
    answer = asked._replace(parts=again, mood=mood if is_so else MOODS[denial])
    return tell(question, phrase("question-mark"), phrase("yes" if is_so else "no"), answer, phrase("stop"))


def draw_where(draw: Draw) -> Telling | None:
    """Sample a question about the place of a deed, with an answer."""
    mood = MOODS[draw.pick(MOOD_NAMES)]
    deed = draw_deed(draw, draw_person(draw), mood)
    if deed is None:
        return None
    return tell(deed._replace(asks="place"), phrase("question-mark"), draw_place(draw), phrase("stop"))


def draw_when(draw: Draw) -> Telling | None:
    """Sample a question about the time of a deed, with an answer."""
    mood = MOODS[draw.pick(MOOD_NAMES)]
    deed = draw_deed(draw, draw_person(draw), mood)
    if deed is None:
        return None
    return tell(deed._replace(asks="time"), phrase("question-mark"), draw_time(draw, mood), phrase("stop"))


def draw_why(draw: Draw) -> Telling | None:
    """Sample a question about why an event happened or not, with a reason that is true of one of its two nouns."""
    frame = draw.pick(frames_of(draw.part))
    x = draw.thing(frame.x)
    y = draw.second(x, frame.y)
    if y is None:
        return None
    mood = draw.pick(frame.moods)
    parts = {"x": draw.mention(x, "either"), "y": draw.mention(y, "either")}
    meant, reasons = draw.pick(((x, frame.x_reasons), (y, frame.y_reasons)))
    answer = draw_reason(draw, Pronoun(meant), draw.pick(reasons), mood)
    question = Clause(frame.event, parts, mood, asks="why")
    because = phrase("because-first")
    return tell(question, phrase("question-mark"), because, answer, phrase("stop"), frame=frame.name)


def draw_how(draw: Draw) -> Telling | None:
    """Sample a question about how a person goes to a place, with a vehicle as the answer."""
    mood = MOODS[draw.pick(("past", "past", "present", "will"))]
    parts = {"x": draw_person(draw), "y": draw.known(draw.thing(FAR_PLACES, many=0))}
    vehicle = Mention(draw.thing(find_nouns("bus train car bike taxi plane"), many=0), DETERMINERS[""])
    question = Clause(load_events()["go"], parts, mood, asks="how")
    answer = Clause(load_events()["by"], {"x": vehicle}, mood)
    return tell(question, phrase("question-mark"), answer, phrase("stop"))


KINDS = (draw_who_or_what, draw_who_or_what, draw_who_or_what, draw_whether, draw_where, draw_when, draw_why, draw_how)
