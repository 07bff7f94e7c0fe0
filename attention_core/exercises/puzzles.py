"""The puzzles: for each what it begins with, what may be changed, and what must come of it, as numbers of the run."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.analysis.head_contributions import contributions
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import Bound, Number, Puzzle
from attention_core.record.trace import Trace

MOST = 0.7  # of a row's attention: more than all other words together, twice
ANNA, FED, DOG, IT, BARKED = 0, 1, 3, 5, 6  # places in "Anna fed the dog and it barked"


# ---- numbers of a run ------------------------------------------------------------------------------------------------
def share(head: int, query: int, key: int) -> Number:
    """What a query gives to a key."""
    return lambda trace, start: trace["weights"][0, head, query, key]


def typical(shares: Tensor) -> Tensor:
    """The geometric mean: one share near 0 brings it near 0, and its logarithm is the mean of theirs, which training
    raises."""
    return shares.log().mean().exp()


def typical_share(head: int, pairs: Mapping[int, int]) -> Number:
    """What some queries give to a key each, taken together."""
    queries, keys = [*pairs], [*pairs.values()]
    return lambda trace, start: typical(trace["weights"][0, head, queries, keys])


def largest_share(head: int) -> Number:
    """The largest of all weights of a head."""
    return lambda trace, start: trace["weights"][0, head].amax()


def typical_share_of_same(trace: Trace, start: Trace) -> Tensor:
    """What the words give to themselves, taken together; each the sum over all places where its word stands."""
    words = trace.labels["T"]
    same = torch.tensor([[float(one == other) for other in words] for one in words], dtype=torch.float64)  # (T, S)
    return typical((trace["weights"][0, 0] * same).sum(-1))  # (T, S) -> (T,) -> one number


def distance(one: Tensor, other: Tensor) -> Tensor:
    """The root of the sum of squared differences: it falls with each of them, also where several are equally large."""
    return (one - other).pow(2).sum().sqrt()


def from_word(at: int, other: int) -> Number:
    """How far the output of a word is from the vector of another."""
    return lambda trace, start: distance(trace["output"][0, at], trace["x"][0, other])


def from_nothing(trace: Trace, start: Trace) -> Tensor:
    """How far the output of all words is from 0."""
    return distance(trace["output"], torch.zeros_like(trace["output"]))


def largest_of_head(head: int) -> Number:
    """The size of the largest number that a head brings to the output."""
    return lambda trace, start: contributions(trace)["contributions"][0, head].abs().amax()


@cache
def whole_output() -> Tensor:
    """The output of the sentence with both numbers of each query."""
    return EXAMPLES["en_it"].run()["output"]


def from_whole(trace: Trace, start: Trace) -> Tensor:
    """How far the output of all words is from that of full width."""
    return distance(trace["output"], whole_output())


def width_of_queries(trace: Trace, start: Trace) -> Tensor:
    """How many numbers the query of a head has."""
    return torch.tensor(trace["q"].shape[-1])


# ---- what was changed ------------------------------------------------------------------------------------------------
def numbers_changed(*names: str) -> Number:
    """How many numbers of some matrices are others than at the start."""
    return lambda trace, start: sum((trace[name] != start[name]).sum() for name in names)


def sizes_changed(*names: str) -> Number:
    """How many of them have another size than at the start, not only another sign."""
    return lambda trace, start: sum((trace[name].abs() != start[name].abs()).sum() for name in names)


def rows_changed(name: str) -> Number:
    """How many rows of a matrix are others than at the start."""
    return lambda trace, start: (trace[name] != start[name]).any(-1).sum()


def largest_number(name: str, columns: slice) -> Number:
    """The size of the largest number in some columns of a matrix."""
    return lambda trace, start: trace[name][:, columns].abs().amax()


# ---- the puzzles -----------------------------------------------------------------------------------------------------
WHO = MappingProxyType({"en": {"example": "en_it"}, "zh": {"example": "zh_ta"}})
COLOURS = MappingProxyType({"en": {"example": "en_colour"}, "zh": {"example": "zh_colour"}})
IT_DOG = Bound("it_dog", share(0, IT, DOG), MOST)
BOTH = MappingProxyType({"w_q": (0, 4), "w_k": (0, 4)})
SINK = MappingProxyType(  # where nobody has built Chinese words for it, they take the English ones' vectors
    {
        "en": {},
        "zh": {
            "text": "<s>|小红|喂了|那只|狗|，|它|摇尾巴",
            "x": "0,0,0,2;1,0,0,0;0,0,1,0;0,0,0,0;-1,0,0,0;0,0,0,0;0,-1,0,0;0,0,-1,0",
        },
    }
)

ALL = (
    Puzzle(
        "wake",
        WHO,
        {"w_q": (0, 2), "w_k": (0, 2)},
        IT_DOG,
        "w_q~1.0=2,w_k~0.0=2",
        (Bound("numbers", numbers_changed("w_q", "w_k"), 2, least=False),),
        {"w_q": "~1.0=0;1.1=0", "w_k": "~0.0=0;0.1=0"},
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "turn",
        WHO,
        {"w_k": (0, 4)},
        Bound("barked_it", share(1, BARKED, IT), MOST),
        "w_k~1.2=2;1.3=-2",
        (
            Bound("rows", rows_changed("w_k"), 1, least=False),
            IT_DOG,
            Bound("fed_anna", share(1, FED, ANNA), MOST),
        ),
        heads=(1,),
        cast={"it": IT, "dog": DOG, "barked": BARKED, "fed": FED, "anna": ANNA},
        asks=BARKED,
    ),
    Puzzle(
        "even",
        WHO,
        {"w_k": (0, 2)},
        Bound("largest", largest_share(0), 0.15, least=False),
        "w_k~0.1=1",
        (Bound("not_zero", largest_number("w_k", slice(0, 2)), 1),),
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "next",
        COLOURS,
        {"w_q": (0, 3)},
        Bound("follower", typical_share(0, {0: 1, 1: 2, 2: 3, 3: 4}), MOST),
        "w_q~3.0=8",
        (
            Bound("numbers", numbers_changed("w_q"), 1, least=False),
            Bound("sizes", sizes_changed("w_q"), 0, least=False),
        ),
        flips=True,
    ),
    Puzzle(
        "mirror",
        COLOURS,
        {"w_q": (0, 3)},
        Bound("mirrored", typical_share(0, {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}), MOST),
        "w_q~3.0=0;4.0=-8",
        cast={"first": 0, "last": 4},
    ),
    Puzzle(
        "same",
        {
            "en": {"example": "en_it", "text": "the dog barked the dog smiled"},
            "zh": {"example": "zh_ta", "text": "那只|狗|摇尾巴|那只|狗|笑了"},
        },
        BOTH,
        Bound("itself", typical_share_of_same, MOST),
        "w_q~0.0=6;1.1=6;2.2=6;3.3=6",
        parts={"heads": 1, "w_q": "zeros~0.0=-3;1.1=-3;2.2=-3;3.3=-3", "w_k": "identity~"},
        cast={"the": 0, "dog": 1, "barked": 2},
    ),
    Puzzle(
        "copy",
        WHO,
        BOTH,
        Bound("apart", from_word(DOG, FED), 0.1, least=False),
        "w_q~0.0=-3;0.1=-3,w_k~2.0=1;2.1=1",
        (IT_DOG, Bound("barked_dog", share(1, BARKED, DOG), MOST)),
        heads=(0, 1),
        cast={"it": IT, "dog": DOG, "fed": FED, "barked": BARKED},
        asks=DOG,
    ),
    Puzzle(
        "cancel",
        WHO,
        {"w_q": (0, 4), "w_o": (0, 4)},
        Bound("output", from_nothing, 0.05, least=False),
        "w_q~1.2=3;1.3=-3;2.2=0;2.3=0,w_o~2.0=-1;3.2=-1",
        (Bound("first", largest_of_head(0), 0.5), Bound("second", largest_of_head(1), 0.5)),
        heads=(0, 1),
    ),
    Puzzle(
        "half",
        WHO,
        {"w_q": (0, 2), "w_k": (0, 2)},
        Bound("whole", from_whole, 0.01, least=False),
        "w_q~1.0=4.24;2.1=4.24",
        (Bound("width", width_of_queries, 1, least=False),),
        {"d_k": 1},
        heads=(0, 1),
    ),
    Puzzle(
        "sink",
        SINK,
        {"w_k": (0, 2)},
        Bound("sunk", typical_share(0, dict.fromkeys((0, 1, 2, 3, 4, 5, 7), 0)), MOST),
        "w_k~3.0=1;3.1=1",
        (Bound("it_dog", share(0, 6, 4), MOST),),
        {"example": "en_it_sink", "w_k": "~3.0=0;3.1=0"},
        cast={"sink": 0, "it": 6, "dog": 4},
        asks=6,
    ),
)
PUZZLES: Mapping[str, Puzzle] = MappingProxyType({puzzle.name: puzzle for puzzle in ALL})
