"""Makes the poll of a scene that shows a run: the audience guesses to which word the scene's query attends most."""

from attention_core.documents.lecture_page import Poll
from attention_core.explanation.facts import row_fact
from attention_core.record.errors import AttentionError
from pages.classroom.rooms import MAX_CHOICES
from pages.lectures.script import Scene
from pages.presentation.setup_slide import make_computable_screen
from pages.session.labels import name_token
from pages.setup.setup import Setup
from pages.site.words import say

PICTURE_STEPS = {"journey", "map"}  # the steps that show the query's weights
DECIDED_KINDS = ("most", "nearly")  # kinds of rows in which one key has the largest weight


def make_poll(scene: Scene) -> Poll | None:
    """Returns the poll of a scene: its choices are the words of the run, the truth is the weights of the query.

    Returns None for a scene without a question, without a picture of the weights, without a single largest weight, or
    with more than MAX_CHOICES words.
    """
    if not isinstance(scene.shown, Setup) or not scene.question or PICTURE_STEPS.isdisjoint(scene.own_steps()):
        return None
    try:
        screen, _ = make_computable_screen(scene.shown)
    except AttentionError:
        return None
    trace, chosen = screen.trace, screen.selection
    count = trace.sizes()["S"]
    fact = row_fact(trace, chosen.head, chosen.query, chosen.batch)
    if count > MAX_CHOICES or fact.kind not in DECIDED_KINDS:
        return None
    return Poll(
        say("present.room.poll.question", word=name_token(trace, "T", chosen.query)),
        tuple(name_token(trace, "S", key) for key in range(count)),
        tuple(trace["weights"][chosen.batch, chosen.head, chosen.query].double().tolist()),
    )
