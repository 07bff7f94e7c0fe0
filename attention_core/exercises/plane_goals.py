"""Defines the goals of the exercise "drag the vectors": bounds on attention weights, which depend on an example's
run.
"""

from dataclasses import dataclass
from functools import cache

from attention_core.examples.examples import EXAMPLES
from attention_core.record.trace import Trace

GOAL_EXAMPLES = ("en_plane", "zh_plane")
# Positions of the words in "Anna fed the dog and it barked", and of their translations in the Chinese example.
ANNA, DOG, IT = 0, 3, 5
HEAD = 0
EVEN_SHARE_OF_TWO = 0.5
MARGIN = 0.05  # accepted difference of a weight from the goal's


@dataclass(frozen=True)
class ShareBound:
    """The accepted range of the attention weight on one key.

    key: the position of the key. least, most: the smallest and the largest accepted weight.
    """

    key: int
    least: float
    most: float


@dataclass(frozen=True)
class PlaneGoal:
    """A goal for the attention of one query, reached by dragging vectors.

    query: the position of the query. bounds: the accepted ranges of this query's weights. other: the position of the
    key whose weight is compared with that of the first bound's key. kept: the query's vector if it must not change,
    else None.
    """

    name: str
    query: int
    other: int
    bounds: tuple[ShareBound, ...]
    kept: tuple[float, ...] | None = None


@cache
def plane_goals(example: str) -> tuple[PlaneGoal, ...]:
    """Return the goals of an example; () if the example has no goals.

    Goal "equal": two keys get half of the attention each. Goal "instead": one key gets at least the weight that another
    key has at the start, and the query keeps its vector.

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
    """Return whether the query and the weights of a run satisfy a goal.

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
