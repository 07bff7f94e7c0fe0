"""Short stories of two to four sentences, and full names that recur."""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.deeds import deeds_alone, deeds_to_others
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.frames import load_events
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.phrases import phrase, phrases_of
from attention_core.learned.grammar.scene import Clause, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import are_confused, draw_place, draw_quality, own_deeds

NAMES, SURNAMES = find_nouns("name"), find_nouns("surname")
MEETINGS = ("meet", "see", "help-person", "call-by-phone", "ask-person", "know-person", "love", "talk-to")
ANSWERS = ("thank-person", "hug-person", "call-by-phone", "help-person", "ask-person")
HEROES = find_nouns("adult adult name animal")
PETS = find_nouns("dog cat horse bird rabbit ball book car bike phone ring letter guitar doll computer coat")


def draw_names(draw: Draw) -> Telling | None:
    """Sample two people with full names that recur: "anna brown met tom hill. anna brown smiled."."""
    x = draw.thing(NAMES)
    y = draw.second(x, NAMES)
    if y is None:
        return None
    x.surname = draw.pick(SURNAMES)
    y.surname = draw.pick([surname for surname in SURNAMES if surname is not x.surname])
    place = draw_place(draw) if draw.chance(0.3) else None
    event = load_events()[draw.pick(MEETINGS)]
    if event.is_state:
        place = None
    meeting = Clause(event, {"x": draw.mention(x), "y": draw.mention(y)}, MOODS["past"])
    parts = [meeting._replace(place=place), phrase("stop")]
    for _ in range(draw.pick((1, 2, 2))):
        one, other = draw.pick(((x, y), (y, x)))
        parts += [draw_sentence_with_name(draw, one, other), phrase("stop")]
    return tell(*parts)


def draw_sentence_with_name(draw: Draw, one: Thing, other: Thing) -> Clause:
    """Sample the clause of what one of two people does, with full names."""
    subject = draw.mention(one)
    if draw.chance(0.5):
        return Clause(draw.pick(deeds_alone(one.noun)).event, {"x": subject}, MOODS["past"])
    return Clause(load_events()[draw.pick(ANSWERS)], {"x": subject, "y": draw.mention(other)}, MOODS["past"])


def draw_story(draw: Draw) -> Telling | None:
    """Sample a story of a hero, of a thing or animal that the hero has or finds, and of what happens to both."""
    x = draw.thing(HEROES, many=0.08)
    is_owner = x.noun.kind != "animal"
    y = draw.second(x, PETS if is_owner else find_nouns("animal"), many=0.1)
    if y is None:
        return None
    parts = [*draw_beginning(draw, x, y, is_owner), phrase("stop")]
    for _ in range(draw.pick((1, 2, 2))):
        one, other = draw.pick(((x, y), (y, x)))
        clause = draw_next(draw, one, other)
        if clause is None:
            return None
        parts += [clause, phrase("stop")]
    return tell(*parts)


def draw_beginning(draw: Draw, x: Thing, y: Thing, is_owner: bool) -> tuple:
    """Sample the beginning of a story: "one day anna found a ring"."""
    verbs = ("have", "find-thing", "buy-thing", "want-thing", "like", "see") if is_owner else ("see", "hear")
    event = load_events()[draw.pick(verbs)]
    first = Clause(event, {"x": draw.mention(x), "y": draw.counted(y)}, MOODS["past"])
    return (draw.pick(phrases_of("first")), first) if draw.chance(0.4) else (first,)


def draw_next(draw: Draw, one: Thing, other: Thing) -> Clause | None:
    """Sample the next deed or quality of one of two things, named by pronoun only if that is unambiguous."""
    subject = draw.known(one) if are_confused(one, other) or draw.chance(0.35) else Pronoun(one)
    how = draw.random()
    deeds = own_deeds(one, other)
    if deeds and how < 0.45:
        return Clause(draw.pick(deeds).event, {"x": subject}, MOODS["past"])
    to_other = [deed for deed in deeds_to_others(one.noun, planned=True) if other.noun in deed.y]
    if to_other and how < 0.65:
        object_ = draw.known(other) if are_confused(one, other) else Pronoun(other)
        return Clause(draw.pick(to_other).event, {"x": subject, "y": object_}, MOODS["past"])
    return draw_quality(draw, subject, MOODS["past"], other if isinstance(subject, Pronoun) else None)
