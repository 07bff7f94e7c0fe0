"""A verb and its subject, with a clause between them: "the dogs that saw the cat are tired"."""

from functools import cache

from attention_core.learned.grammar.concepts import Noun, find_nouns
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import Deed, deeds_to_others, load_deeds
from attention_core.learned.grammar.function_words import phrase, phrases_of
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import Clause, Mention, Place, Relative, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import draw_deed, draw_quality

SUBJECTS = find_nouns("adult animal animal object device vehicle text")
LANDMARKS = find_nouns("tree house car table door bridge river wall school church bench animal person")


def draw_agreement(draw: Draw) -> Telling | None:
    """Sample a sentence whose subject has a relative clause or a place."""
    x = draw.thing(SUBJECTS, many=0.5)
    mood = MOODS[draw.pick(("present", "present", "past"))]
    subject = draw_subject(draw, x, mood)
    if subject is None:
        return None
    is_told_how = x.noun.kind not in ("woman", "man", "person", "animal") or draw.chance(0.5)
    clause = draw_quality(draw, subject, mood) if is_told_how else draw_deed(draw, subject, mood)
    return tell(clause, phrase("stop")) if clause else None


def draw_subject(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Sample a mention with a relative clause or a place; None if no other noun or deed fits."""
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
    """Sample a mention that is the subject of its relative clause: "the dog that sees the cat"; None if none fits."""
    deed = draw.pick(deeds_to_others(x.noun))
    y = draw.second(x, deed.y, many=0.45)
    if y is None:
        return None
    pronoun = "who" if x.noun.genders != "n" and draw.chance(0.6) else "that"
    parts = {"x": draw.known(x), "y": draw.known(y)}
    return relate(draw, x, pronoun, Clause(deed.event, parts, mood, gap="x"))


def draw_one_whom(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Sample a mention that is the object of its relative clause: "the dog that the cat sees"; None if none fits."""
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
    """Return the deeds that may be done to a noun."""
    return tuple(deed for deed in load_deeds().values() if noun in deed.y)


def relate(draw: Draw, x: Thing, pronoun: str, clause: Clause) -> Mention:
    """Return a mention of a thing with a relative clause."""
    return draw.mention(x, "head")._replace(relative=Relative(pronoun, clause))
