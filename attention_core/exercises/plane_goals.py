"""The goals of dragging vectors: bounds of shares, computed from the run of an included example."""

from dataclasses import dataclass
from functools import cache

from attention_core.examples.examples import EXAMPLES
from attention_core.record.trace import Trace

GOAL_EXAMPLES = ("en_plane", "zh_plane")
ANNA, DOG, IT = 0, 3, 5  # places in "Anna fed the dog and it barked", and in its Chinese twin
HEAD = 0
EVEN_SHARE_OF_TWO = 0.5
MARGIN = 0.05  # how far a share may be from the one that is asked for


@dataclass(frozen=True)
class ShareBound:
    """A key whose share must lie between two numbers."""

    key: int
    least: float
    most: float


@dataclass(frozen=True)
class PlaneGoal:
    """The goal of a query. bounds: of its shares. other: the key that the first bound compares with. kept: its
    vector, where that must stay as it is."""

    name: str
    query: int
    other: int
    bounds: tuple[ShareBound, ...]
    kept: tuple[float, ...] | None = None


@cache
def plane_goals(example: str) -> tuple[PlaneGoal, ...]:
    """Gives the goals of an example; none where it has none.

    "equal": two keys share all attention evenly. "instead": a key gets at least what another one has, and the query
    stays where it is.

    >>> [(goal.name, [round(bound.least, 2) for bound in goal.bounds]) for goal in plane_goals("en_plane")]
    [('equal', [0.45, 0.45]), ('instead', [0.92])]
    """
    if example not in GOAL_EXAMPLES:
        return ()
    trace = EXAMPLES[example].run()
    half = (EVEN_SHARE_OF_TWO - MARGIN, EVEN_SHARE_OF_TWO + MARGIN)
    even = (ShareBound(ANNA, *half), ShareBound(DOG, *half))
    share_of_dog = trace["weights"][0, HEAD, IT, DOG].item()
    query = trace["q"][0, HEAD, IT].tolist()
    return (
        PlaneGoal("equal", IT, DOG, even),
        PlaneGoal("instead", IT, DOG, (ShareBound(ANNA, share_of_dog, 1.0),), tuple(query)),
    )


def is_reached(goal: PlaneGoal, trace: Trace) -> bool:
    """Says whether a run reaches a goal.

    >>> is_reached(plane_goals("en_plane")[0], EXAMPLES["en_plane"].run())
    False
    """
    query = trace["q"][0, HEAD, goal.query].tolist()
    if goal.kept is not None and query != list(goal.kept):
        return False
    shares = trace["weights"][0, HEAD, goal.query].tolist()  # (S,)
    for bound in goal.bounds:
        share = shares[bound.key]
        if not bound.least <= share <= bound.most:
            return False
    return True
