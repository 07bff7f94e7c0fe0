"""A verb and its subject, with a clause between them: "the dogs that saw the cat are tired"."""

from attention_core.learned.grammar.concepts import find_nouns
from attention_core.learned.grammar.deeds import deeds_alone, deeds_to_others
from attention_core.learned.grammar.draw import Draw, mention_again
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.phrases import phrase
from attention_core.learned.grammar.scene import Clause, Mention, Relative, Thing

SUBJECTS = "adult animal"


def draw_agreement(draw: Draw) -> tuple[str, tuple] | None:
    """Draw what somebody does, who is told from others by what they did."""
    x = draw.thing(find_nouns(SUBJECTS), many=0.5)
    mood = MOODS[draw.pick(("present", "present", "past"))]
    subject = draw_subject(draw, x, mood)
    if subject is None:
        return None
    deed = draw.pick(deeds_alone(x.noun))
    return "", (Clause(deed.event, {"x": subject}, mood), phrase("stop"))


def draw_subject(draw: Draw, x: Thing, mood: Mood) -> Mention | None:
    """Draw a mention with a relative clause, in which the thing does something or has something done to it."""
    deed = draw.pick(deeds_to_others(x.noun))
    y = draw.second(x, deed.y, many=0.45)
    if y is None:
        return None
    parts = {"x": mention_again(x), "y": mention_again(y)}
    pronoun = "who" if x.noun.genders != "n" and draw.chance(0.5) else "that"
    relative = Relative(pronoun, Clause(deed.event, parts, mood, gap="x"))
    return draw.mention(x)._replace(relative=relative)
