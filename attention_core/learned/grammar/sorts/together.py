"""Two deeds together: only one of two nouns fits the pronoun or can do the second deed: "and it barked"."""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.deeds import deeds_to_others
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.frames import load_events
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.phrases import phrase, phrases_of
from attention_core.learned.grammar.scene import Clause, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.sorts.parts import draw_deed, draw_person, draw_place, draw_quality, own_deeds

ACTORS = find_nouns("people people animal")
TIMES = ("when", "when", "after", "before")
WEATHER = Pronoun(Thing(find_nouns("park")[0], "n"))


def draw_together(draw: Draw) -> Telling | None:
    """Sample a sentence of what one being did to another, and of what one of them did next."""
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
    """Sample a deed or a quality of one of two things for which its pronoun is unambiguous."""
    deeds = own_deeds(meant, other)
    if deeds and draw.chance(0.85):
        return Clause(draw.pick(deeds).event, {"x": Pronoun(meant)}, MOODS["past"])
    return draw_quality(draw, Pronoun(meant), MOODS["past"], other)


def draw_in_time(draw: Draw, first: Clause, second: Clause, may_last: bool) -> Telling:
    """Join two deeds by a time conjunction: "when anna saw the dog, it barked"."""
    time = draw.pick(TIMES)
    if may_last and draw.chance(0.25):
        first, time = first._replace(mood=MOODS["was doing in time"]), "while"
    return tell(phrase(time), first, phrase(f"{time}-behind"), second, phrase("stop"))


def draw_turned(draw: Draw) -> Telling | None:
    """Sample a deed with a time clause, last in English and first in Chinese: "the dog barked when it saw the cat"."""
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
    """Sample a sentence of what a person will do if it rains, or did although it rained."""
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
