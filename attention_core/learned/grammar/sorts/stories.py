"""Samples texts of several actions: stories of two to four sentences, people with full names, two actions in one
sentence.
"""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import deeds_alone, deeds_to_others, load_events
from attention_core.learned.grammar.function_words import phrase, phrases_of
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.scene import Clause, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import (
    are_confused,
    draw_deed,
    draw_person,
    draw_place,
    draw_quality,
    own_deeds,
)

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
    """Sample a clause about what one of two people does, in which people are mentioned by their full names."""
    subject = draw.mention(one)
    if draw.chance(0.5):
        return Clause(draw.pick(deeds_alone(one.noun)).event, {"x": subject}, MOODS["past"])
    return Clause(load_events()[draw.pick(ANSWERS)], {"x": subject, "y": draw.mention(other)}, MOODS["past"])


def draw_story(draw: Draw) -> Telling | None:
    """Sample a short story about a hero, something that the hero has or finds, and what happens to both."""
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
    """Sample the next sentence about one of two nouns, with a pronoun instead of the noun only if the pronoun is
    unambiguous."""
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


# ---- two deeds, of which only one of two nouns fits the pronoun or can do the second: "and it barked" ----------------
ACTORS = find_nouns("people people animal")
TIMES = ("when", "when", "after", "before")
WEATHER = Pronoun(Thing(find_nouns("park")[0], "n"))


def draw_together(draw: Draw) -> Telling | None:
    """Sample a sentence with two actions: what one person or animal did to another, and what one of the two did
    next."""
    x = draw.thing(ACTORS, many=0.12)
    deed = draw.pick(deeds_to_others(x.noun))
    y = draw.second(x, deed.y, many=0.12)
    if y is None:
        return None
    meant, other = draw.pick(((x, y), (y, x)))
    second = draw_second_deed(draw, meant, other)
    if second is None:
        return None
    parts = {"x": draw.mention(x, "either"), "y": draw.mention(y, "object")}
    is_deed = second.event is not load_events()["be"]
    if is_deed and not deed.event.is_state and draw.chance(0.4):
        return draw_in_time(draw, Clause(deed.event, parts, MOODS["past in time"]), second, deed.is_planned)
    place = draw_place(draw) if deed.is_planned and draw.chance(0.12) else None
    first = Clause(deed.event, parts, MOODS["past"], place=place)
    return tell(first, draw.pick(phrases_of("and" if is_deed else "and-it-is")), second, phrase("stop"))


def draw_second_deed(draw: Draw, meant: Thing, other: Thing) -> Clause | None:
    """Sample an action or adjective for one of two nouns that makes a pronoun for this noun unambiguous."""
    deeds = own_deeds(meant, other)
    if deeds and draw.chance(0.85):
        return Clause(draw.pick(deeds).event, {"x": Pronoun(meant)}, MOODS["past"])
    return draw_quality(draw, Pronoun(meant), MOODS["past"], other)


def draw_in_time(draw: Draw, first: Clause, second: Clause, may_last: bool) -> Telling:
    """Join two actions by a conjunction of time: "when anna saw the dog, it barked".

    may_last: whether "while" is possible, because the first action takes time.
    """
    time = draw.pick(TIMES)
    if may_last and draw.chance(0.25):
        first, time = first._replace(mood=MOODS["was doing in time"]), "while"
    return tell(phrase(time), first, phrase(f"{time}-behind"), second, phrase("stop"))


def draw_turned(draw: Draw) -> Telling | None:
    """Sample an action with a clause of time, which follows the action in English and precedes it in Chinese.

    An example is "the dog barked when it saw the cat".
    """
    x = draw.thing(ACTORS, many=0.12)
    mention = draw.mention(x, "either")
    late = draw_deed(draw, Pronoun(x), MOODS["past in time"], alone=0)
    main = draw_deed(draw, mention, MOODS["past"], alone=1)
    if late is None or main is None or late.event.is_state:
        return None
    time = draw.pick(TIMES)
    late_first = late._replace(parts={**late.parts, "x": mention})
    main_last = main._replace(parts={**main.parts, "x": late.parts["x"]})
    english = (main, phrase(time), late, phrase("stop"))
    chinese = (late_first, phrase(f"{time}-behind"), main_last, phrase("stop"))
    return Telling("", english, chinese)


def draw_condition(draw: Draw) -> Telling | None:
    """Sample a sentence with a condition: what a person will do if it rains, or did although it rained."""
    subject = draw_person(draw, speaker=0.3)
    weather = load_events()[draw.pick(("rain", "rain", "snow", "cold-weather", "hot-weather"))]
    if draw.chance(0.5):
        joint, first, then = "if", "present", draw.pick(("will", "will not", "can not", "must"))
    else:
        joint, first, then = "although", "past", draw.pick(("past", "did not"))
    if draw.chance(0.4):
        main = Clause(load_events()["stay-home"], {"x": subject}, MOODS[then])
    else:
        main = draw_deed(draw, subject, MOODS[then], alone=0.5)
    if main is None:
        return None
    condition = Clause(weather, {"x": WEATHER}, MOODS[first])
    return tell(phrase(joint), condition, phrase(f"{joint}-behind"), main, phrase("stop"))
