"""Reasons that are true of one of two nouns only: "the animal did not cross the street because it was too tired"."""

from attention_core.learned.grammar.concepts import Quality
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.frames import frames_of, load_events
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.phrases import DEGREES, phrase, phrases_of
from attention_core.learned.grammar.scene import Clause, Event, Mention, Pronoun, Said

DEGREES_OF_DEEDS = [DEGREES[name] for name in ("", "", "", "very", "so", "really")]
DEGREES_OF_FAILURE = [DEGREES[name] for name in ("too", "too", "too", "so", "", "very")]


def draw_because(draw: Draw) -> tuple[str, tuple] | None:
    """Draw what happened, and a reason of one of the two."""
    frame = draw.pick(frames_of(draw.part))
    x = draw.thing(frame.x)
    y = draw.second(x, frame.y)
    if y is None:
        return None
    mood = draw.pick(frame.moods)
    meant, reasons = draw.pick(((x, frame.x_reasons), (y, frame.y_reasons)))
    event = Clause(frame.event, {"x": draw.mention(x), "y": draw.mention(y, "object")}, mood)
    reason = draw_reason(draw, Pronoun(meant), draw.pick(reasons), mood)
    return frame.name, (event, draw.pick(phrases_of("because")), reason, phrase("stop"))


def draw_reason(draw: Draw, subject: Mention | Pronoun, reason: Quality | Event, mood: Mood) -> Clause:
    """Draw how a reason is said. mood: of what it is the reason for."""
    told = MOODS["past" if mood.past else "present"]
    if isinstance(reason, Event):
        return Clause(reason, {"x": subject}, told)
    degree = draw.pick(DEGREES_OF_FAILURE if mood.negative else DEGREES_OF_DEEDS)
    said = Said(reason, DEGREES[""] if reason.predicate else degree)
    return Clause(load_events()["be"], {"x": subject, "q": said}, told)
