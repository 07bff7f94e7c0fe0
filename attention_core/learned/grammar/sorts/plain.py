"""Samples plain sentences of one clause, in every mood: existence, possession, comparison, requests, questions."""

from attention_core.learned.grammar.concepts import find_nouns, load_names
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import deeds_to_others, load_events
from attention_core.learned.grammar.function_words import DETERMINERS, phrase, phrases_of
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.scene import Clause, Mention, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import (
    FAR_PLACES,
    OF_ANYTHING,
    draw_deed,
    draw_person,
    draw_place,
    draw_quality,
    draw_time,
)
from attention_core.learned.grammar.sorts.references import draw_frame, draw_reason

ACTORS = find_nouns("people people animal")
THINGS = find_nouns("dog cat mouse bird spider frog hamster object container text garment device food")
SURFACES = find_nouns("table desk chair bed sofa shelf bench")
OWNED = find_nouns("dog cat car bike book ball house phone computer ring coat garden horse bag guitar")
BY_SIZE = (  # nouns of which two can be compared by size, from the largest on
    find_nouns(
        "elephant giraffe camel horse bear tiger wolf sheep dog fox cat duck rabbit squirrel mouse butterfly bee ant"
    ),
    find_nouns("ship plane train bus truck car motorcycle bike"),
    find_nouns("city village castle hotel house garage room tent"),
)
QUALITY_MOODS = ("past", "present", "present", "did not", "does not", "will", "always", "never", "still", "may")
MOOD_NAMES = (
    *(
        "past",
        "past",
        "past",
        "past",
        "present",
        "present",
        "is doing",
        "is doing",
        "was doing",
        "has done",
        "had done",
    ),
    *("will", "will", "can", "could", "must", "should", "wants", "wanted", "did not", "did not", "does not"),
    *(
        "always",
        "often",
        "sometimes",
        "always did",
        "often did",
        "also",
        "also did",
        "still",
        "has just done",
        "may",
        "might",
    ),
    *("would like to", "used to", "never", "never did", "must not", "should not"),
    *("could not", "can not", "will not", "has not done", "did not want", "does not want"),
)


def draw_plain(draw: Draw) -> Telling | None:
    """Sample a sentence about what a person or an animal does or is; some sentences have a time or a place."""
    mood = MOODS[draw.pick(MOOD_NAMES)]
    subject = draw_person(draw, speaker=1) if draw.chance(0.3) else draw.mention(draw.thing(ACTORS))
    if draw.chance(0.2):
        clause = draw_quality(draw, subject, MOODS[draw.pick(QUALITY_MOODS)])
    else:
        clause = draw_deed(draw, subject, mood)
    if clause is None:
        return None
    clause = own_object(draw, clause, subject.thing)
    mood = clause.mood
    is_set = draw.chance(0.2) and not clause.event.is_state
    place = draw_place(draw) if is_set else None
    time = draw_time(draw, mood) if draw.chance(0.25) else None
    return tell(clause._replace(time=time, place=place), phrase("stop"))


def own_object(draw: Draw, clause: Clause, owner: Thing) -> Clause:
    """With some probability, give the object of a clause a possessive that refers to the subject: "anna lost her
    key"."""
    done_to = clause.parts.get("y")
    if not isinstance(done_to, Mention) or owner.many or not done_to.thing.noun.measure or not draw.chance(0.25):
        return clause
    owned = done_to._replace(owner=owner, quality=None)
    return clause._replace(parts={**clause.parts, "y": owned})


def draw_there(draw: Draw) -> Telling | None:
    """Sample a sentence about a thing and its place: "there is a dog under the table"."""
    mood = MOODS[draw.pick(("present", "present", "past"))]
    x = draw.thing(THINGS, many=0.3)
    y = draw.second(x, SURFACES, many=0)
    if y is None:
        return None
    relation = draw.pick(phrases_of("on-things"))
    if draw.chance(0.5):
        parts = {"x": draw.counted(x), "y": draw.known(y), "w": relation}
        return tell(Clause(load_events()["be-there"], parts, mood), phrase("stop"))
    parts = {"x": draw.mention(x), "y": draw.known(y), "w": relation}
    return tell(Clause(load_events()["lie-at"], parts, mood), phrase("stop"))


def draw_owner(draw: Draw) -> Telling | None:
    """Sample a sentence about what a person has, often with an adjective for it: "tom has a dog and it is old"."""
    subject = draw_person(draw, speaker=0.3)
    thing = draw.second(subject.thing, OWNED, many=0.1)
    if thing is None:
        return None
    mood = MOODS[draw.pick(("present", "present", "past", "does not"))]
    is_denied = mood.negative and not thing.many
    had = Mention(thing, DETERMINERS["not a"]) if is_denied else draw.counted(thing)
    has = Clause(load_events()["have"], {"x": subject, "y": had}, mood)
    if mood.negative or draw.chance(0.4):
        return tell(has, phrase("stop"))
    told = draw_quality(draw, Pronoun(thing), mood, subject.thing)
    return tell(has, draw.pick(phrases_of("and-it-is")), told, phrase("stop")) if told else None


def draw_comparison(draw: Draw) -> Telling | None:
    """Sample a comparison of two nouns by size: "the dog is bigger than the cat"."""
    nouns = draw.pick(BY_SIZE)
    x = draw.thing(nouns, many=0.2)
    y = draw.second(x, nouns, many=0)
    if y is None:
        return None
    how = "bigger" if nouns.index(x.noun) < nouns.index(y.noun) else "smaller"
    parts = {"x": draw.mention(x, "either"), "y": draw.mention(y, "either")}
    return tell(Clause(load_events()[how], parts, MOODS["present"]), phrase("stop"))


def draw_call(draw: Draw) -> Telling | None:
    """Sample a request: "please open the door"."""
    you = Thing(load_names()["anna"], "f", True, speaker="you")
    call = draw.pick(("please", "please", "do-not", "let-us", "can-you"))
    deed = draw_deed(draw, Pronoun(you), MOODS["infinitive"], alone=0.3, gap="x")
    end = phrase("whether" if call == "can-you" else "stop")
    return tell(phrase(call), deed, end) if deed else None


# ---- questions with their answers: who, what, where, when, why, how, whether -----------------------------------------
QUESTION_MOODS = ("past", "past", "past", "present", "is doing", "will")


def draw_question(draw: Draw) -> Telling | None:
    """Sample a question of a random kind, such as who, where or why, with one of the functions in KINDS."""
    return draw.pick(KINDS)(draw)


def draw_who_or_what(draw: Draw) -> Telling | None:
    """Sample a question about the subject or the object: "what did the dog eat? the bread."."""
    x = draw.thing(ACTORS, many=0)
    mood = MOODS[draw.pick(QUESTION_MOODS)]
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
    """Sample a yes-or-no question about an action, often with an answer."""
    subject = draw_person(draw, speaker=0.2)
    mood = MOODS[draw.pick(QUESTION_MOODS)]
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
    """Sample a question about the place of an action, with an answer."""
    mood = MOODS[draw.pick(QUESTION_MOODS)]
    deed = draw_deed(draw, draw_person(draw), mood)
    if deed is None:
        return None
    return tell(deed._replace(asks="place"), phrase("question-mark"), draw_place(draw), phrase("stop"))


def draw_when(draw: Draw) -> Telling | None:
    """Sample a question about the time of an action, with an answer."""
    mood = MOODS[draw.pick(QUESTION_MOODS)]
    deed = draw_deed(draw, draw_person(draw), mood)
    if deed is None:
        return None
    return tell(deed._replace(asks="time"), phrase("question-mark"), draw_time(draw, mood), phrase("stop"))


def draw_why(draw: Draw) -> Telling | None:
    """Sample a why question about an event between two nouns, with a reason that is true of one of them."""
    drawn = draw_frame(draw)
    if drawn is None:
        return None
    frame, x, y, mood = drawn
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
