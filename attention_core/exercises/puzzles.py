"""The puzzles: for each what it begins with, what may be changed, and what must come of it, as numbers of the run."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.analysis.head_contributions import with_contributions
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import Bound, Puzzle, RunNumber
from attention_core.record.trace import Trace

REQUIRED_SHARE = 0.7  # of a row's attention: more than all other words together, twice
ANNA, FED, DOG, IT, BARKED = 0, 1, 3, 5, 6  # places in "Anna fed the dog and it barked"


# ---- numbers of a run ------------------------------------------------------------------------------------------------
def share_of_key(head: int, query: int, key: int) -> RunNumber:
    """What a query gives to a key."""
    return lambda trace, start: trace["weights"][0, head, query, key]


def geometric_mean(shares: Tensor) -> Tensor:
    """The geometric mean: one share near 0 brings it near 0, and its logarithm is the mean of theirs, which training
    raises."""
    return shares.log().mean().exp()


def typical_share(head: int, pairs: Mapping[int, int]) -> RunNumber:
    """What some queries give to a key each, taken together."""
    queries, keys = [*pairs], [*pairs.values()]
    return lambda trace, start: geometric_mean(trace["weights"][0, head, queries, keys])


def largest_share(head: int) -> RunNumber:
    """The largest of all weights of a head."""
    return lambda trace, start: trace["weights"][0, head].amax()


def typical_share_of_same(trace: Trace, start: Trace) -> Tensor:
    """What the words give to themselves, taken together; each the sum over all places where its word stands."""
    words = trace.labels["T"]
    same = torch.tensor([[float(one == other) for other in words] for one in words], dtype=torch.float64)  # (T, S)
    return geometric_mean((trace["weights"][0, 0] * same).sum(-1))  # (T, S) -> (T,) -> one number


def euclidean_distance(one: Tensor, other: Tensor) -> Tensor:
    """The root of the sum of squared differences: it falls with each of them, also where several are equally large."""
    return (one - other).pow(2).sum().sqrt()


def distance_from_word(at: int, other: int) -> RunNumber:
    """How far the output of a word is from the vector of another."""
    return lambda trace, start: euclidean_distance(trace["output"][0, at], trace["x"][0, other])


def distance_from_zero(trace: Trace, start: Trace) -> Tensor:
    """How far the output of all words is from 0."""
    return euclidean_distance(trace["output"], torch.zeros_like(trace["output"]))


def largest_contribution(head: int) -> RunNumber:
    """The size of the largest number that a head brings to the output."""
    return lambda trace, start: with_contributions(trace)["contributions"][0, head].abs().amax()


@cache
def full_width_output() -> Tensor:
    """The output of the sentence with both numbers of each query."""
    return EXAMPLES["en_it"].run()["output"]


def distance_from_full_width(trace: Trace, start: Trace) -> Tensor:
    """How far the output of all words is from that of full width."""
    return euclidean_distance(trace["output"], full_width_output())


def query_width(trace: Trace, start: Trace) -> Tensor:
    """How many numbers the query of a head has."""
    return torch.tensor(trace["q"].shape[-1])


# ---- what was changed ------------------------------------------------------------------------------------------------
def count_changed_numbers(*names: str) -> RunNumber:
    """How many numbers of some matrices are others than at the start."""
    return lambda trace, start: sum((trace[name] != start[name]).sum() for name in names)


def count_changed_sizes(*names: str) -> RunNumber:
    """How many of them have another size than at the start, not only another sign."""
    return lambda trace, start: sum((trace[name].abs() != start[name].abs()).sum() for name in names)


def count_changed_rows(name: str) -> RunNumber:
    """How many rows of a matrix are others than at the start."""
    return lambda trace, start: (trace[name] != start[name]).any(-1).sum()


def largest_number(name: str, columns: slice) -> RunNumber:
    """The size of the largest number in some columns of a matrix."""
    return lambda trace, start: trace[name][:, columns].abs().amax()


# ---- the puzzles -----------------------------------------------------------------------------------------------------
IT_EXAMPLES = MappingProxyType({"en": {"example": "en_it"}, "zh": {"example": "zh_ta"}})
COLOUR_EXAMPLES = MappingProxyType({"en": {"example": "en_colour"}, "zh": {"example": "zh_colour"}})
IT_DOG = Bound("it_dog", share_of_key(0, IT, DOG), REQUIRED_SHARE)
OPEN_W_Q_AND_W_K = MappingProxyType({"w_q": (0, 4), "w_k": (0, 4)})
SINK_EXAMPLES = MappingProxyType(  # where nobody has built Chinese words for it, they take the English ones' vectors
    {
        "en": {},
        "zh": {
            "text": "<s>|小红|喂了|那只|狗|，|它|摇尾巴",
            "x": "0,0,0,2;1,0,0,0;0,0,1,0;0,0,0,0;-1,0,0,0;0,0,0,0;0,-1,0,0;0,0,-1,0",
        },
    }
)

PUZZLE_LIST = (
    Puzzle(
        "wake",
        IT_EXAMPLES,
        {"w_q": (0, 2), "w_k": (0, 2)},
        IT_DOG,
        "w_q~1.0=2,w_k~0.0=2",
        (Bound("numbers", count_changed_numbers("w_q", "w_k"), 2, least=False),),
        {"w_q": "~1.0=0;1.1=0", "w_k": "~0.0=0;0.1=0"},
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "turn",
        IT_EXAMPLES,
        {"w_k": (0, 4)},
        Bound("barked_it", share_of_key(1, BARKED, IT), REQUIRED_SHARE),
        "w_k~1.2=2;1.3=-2",
        (
            Bound("rows", count_changed_rows("w_k"), 1, least=False),
            IT_DOG,
            Bound("fed_anna", share_of_key(1, FED, ANNA), REQUIRED_SHARE),
        ),
        heads=(1,),
        cast={"it": IT, "dog": DOG, "barked": BARKED, "fed": FED, "anna": ANNA},
        asks=BARKED,
    ),
    Puzzle(
        "even",
        IT_EXAMPLES,
        {"w_k": (0, 2)},
        Bound("largest", largest_share(0), 0.15, least=False),
        "w_k~0.1=1",
        (Bound("not_zero", largest_number("w_k", slice(0, 2)), 1),),
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "next",
        COLOUR_EXAMPLES,
        {"w_q": (0, 3)},
        Bound("follower", typical_share(0, {0: 1, 1: 2, 2: 3, 3: 4}), REQUIRED_SHARE),
        "w_q~3.0=8",
        (
            Bound("numbers", count_changed_numbers("w_q"), 1, least=False),
            Bound("sizes", count_changed_sizes("w_q"), 0, least=False),
        ),
        flips=True,
    ),
    Puzzle(
        "mirror",
        COLOUR_EXAMPLES,
        {"w_q": (0, 3)},
        Bound("mirrored", typical_share(0, {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}), REQUIRED_SHARE),
        "w_q~3.0=0;4.0=-8",
        cast={"first": 0, "last": 4},
    ),
    Puzzle(
        "same",
        {
            "en": {"example": "en_it", "text": "the dog barked the dog smiled"},
            "zh": {"example": "zh_ta", "text": "那只|狗|摇尾巴|那只|狗|笑了"},
        },
        OPEN_W_Q_AND_W_K,
        Bound("itself", typical_share_of_same, REQUIRED_SHARE),
        "w_q~0.0=6;1.1=6;2.2=6;3.3=6",
        parts={"heads": 1, "w_q": "zeros~0.0=-3;1.1=-3;2.2=-3;3.3=-3", "w_k": "identity~"},
        cast={"the": 0, "dog": 1, "barked": 2},
    ),
    Puzzle(
        "copy",
        IT_EXAMPLES,
        OPEN_W_Q_AND_W_K,
        Bound("apart", distance_from_word(DOG, FED), 0.1, least=False),
        "w_q~0.0=-3;0.1=-3,w_k~2.0=1;2.1=1",
        (IT_DOG, Bound("barked_dog", share_of_key(1, BARKED, DOG), REQUIRED_SHARE)),
        heads=(0, 1),
        cast={"it": IT, "dog": DOG, "fed": FED, "barked": BARKED},
        asks=DOG,
    ),
    Puzzle(
        "cancel",
        IT_EXAMPLES,
        {"w_q": (0, 4), "w_o": (0, 4)},
        Bound("output", distance_from_zero, 0.05, least=False),
        "w_q~1.2=3;1.3=-3;2.2=0;2.3=0,w_o~2.0=-1;3.2=-1",
        (Bound("first", largest_contribution(0), 0.5), Bound("second", largest_contribution(1), 0.5)),
        heads=(0, 1),
    ),
    Puzzle(
        "half",
        IT_EXAMPLES,
        {"w_q": (0, 2), "w_k": (0, 2)},
        Bound("whole", distance_from_full_width, 0.01, least=False),
        "w_q~1.0=4.24;2.1=4.24",
        (Bound("width", query_width, 1, least=False),),
        {"d_k": 1},
        heads=(0, 1),
    ),
    Puzzle(
        "sink",
        SINK_EXAMPLES,
        {"w_k": (0, 2)},
        Bound("sunk", typical_share(0, dict.fromkeys((0, 1, 2, 3, 4, 5, 7), 0)), REQUIRED_SHARE),
        "w_k~3.0=1;3.1=1",
        (Bound("it_dog", share_of_key(0, 6, 4), REQUIRED_SHARE),),
        {"example": "en_it_sink", "w_k": "~3.0=0;3.1=0"},
        cast={"sink": 0, "it": 6, "dog": 4},
        asks=6,
    ),
)
PUZZLES: Mapping[str, Puzzle] = MappingProxyType({puzzle.name: puzzle for puzzle in PUZZLE_LIST})
