"""The sorts of text, and their weights in sampling."""

from collections.abc import Callable
from typing import NamedTuple

from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.scene import Telling
from attention_core.learned.grammar.sorts.agreement import draw_agreement
from attention_core.learned.grammar.sorts.gifts import draw_gift
from attention_core.learned.grammar.sorts.plain import draw_call, draw_comparison, draw_owner, draw_plain, draw_there
from attention_core.learned.grammar.sorts.questions import draw_question
from attention_core.learned.grammar.sorts.reasons import draw_because, draw_so
from attention_core.learned.grammar.sorts.speech import draw_errand, draw_plan, draw_request, draw_saying, draw_telling
from attention_core.learned.grammar.sorts.stories import draw_names, draw_story
from attention_core.learned.grammar.sorts.together import draw_condition, draw_together, draw_turned


class Sort(NamedTuple):
    """A sort of text.

    draw: samples a text of this sort; returns None if the sample fails. weight: of the sort in sampling. has_pairs:
    whether a text has a pair of nouns that may be held out. has_frames: whether a text is made from a frame, which may
    be held out.
    """

    draw: Callable[[Draw], Telling | None]
    weight: int
    has_pairs: bool = True
    has_frames: bool = False


SORTS = {
    "because": Sort(draw_because, 28, has_frames=True),
    "so": Sort(draw_so, 8, has_frames=True),
    "gift": Sort(draw_gift, 8),
    "agreement": Sort(draw_agreement, 12),
    "together": Sort(draw_together, 9),
    "turned": Sort(draw_turned, 3),
    "condition": Sort(draw_condition, 2, has_pairs=False),
    "names": Sort(draw_names, 5),
    "story": Sort(draw_story, 7),
    "saying": Sort(draw_saying, 4, has_pairs=False),
    "telling": Sort(draw_telling, 3),
    "plan": Sort(draw_plan, 3, has_pairs=False),
    "errand": Sort(draw_errand, 3, has_pairs=False),
    "request": Sort(draw_request, 2),
    "question": Sort(draw_question, 6, has_pairs=False),
    "plain": Sort(draw_plain, 8, has_pairs=False),
    "there": Sort(draw_there, 3),
    "owner": Sort(draw_owner, 2, has_pairs=False),
    "comparison": Sort(draw_comparison, 1),
    "call": Sort(draw_call, 2, has_pairs=False),
}
