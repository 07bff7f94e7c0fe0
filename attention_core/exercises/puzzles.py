"""Defines the app's puzzles: the starting run of each, the matrices that may be changed, and the limits to satisfy."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.analysis.head_contributions import with_contributions
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import Bound, Puzzle, RunNumber
from attention_core.inputs.matrix_link import read_matrix
from attention_core.inputs.matrix_values import ChangedCells
from attention_core.record.trace import Trace

REQUIRED_SHARE = 0.7  # weight that a puzzle demands for a key: over twice that of all other words
ANNA, FED, DOG, IT, BARKED = 0, 1, 3, 5, 6  # positions in "Anna fed the dog and it barked"

IT_EXAMPLES = MappingProxyType({"en": {"example": "en_it"}, "zh": {"example": "zh_ta"}})
COLOUR_EXAMPLES = MappingProxyType({"en": {"example": "en_colour"}, "zh": {"example": "zh_colour"}})


# ---- attention -------------------------------------------------------------------------------------------------------
def share_of_key(head: int, query: int, key: int) -> RunNumber:
    """Return a function that reads from a run the weight of one key for one query."""
    return lambda trace, start: trace["weights"][0, head, query, key]


def largest_share(head: int) -> RunNumber:
    """Return a function that reads from a run the largest weight of a head."""
    return lambda trace, start: trace["weights"][0, head].amax()


def typical_share(head: int, pairs: Mapping[int, int]) -> RunNumber:
    """Return a function that computes from a run the geometric mean of some weights of a head.

    pairs: {position of the query: position of the key} of each of these weights.
    """
    queries = [*pairs]
    keys = [*pairs.values()]
    return lambda trace, start: geometric_mean(trace["weights"][0, head, queries, keys])


def typical_share_of_same(trace: Trace, start: Trace) -> Tensor:
    """Compute the total weight from each word to all occurrences of the same word; return the geometric mean over the
    words.
    """
    words = trace.labels["T"]
    rows = []
    for query_word in words:
        rows.append([float(query_word == key_word) for key_word in words])
    is_same = torch.tensor(rows, dtype=torch.float64)  # (T, S)
    weights = trace["weights"][0, 0]  # (T, S)
    shares = (weights * is_same).sum(-1)  # (T, S) -> (T,)
    return geometric_mean(shares)


def geometric_mean(shares: Tensor) -> Tensor:
    """Compute the geometric mean of weights, which is near 0 if one weight is."""
    return shares.log().mean().exp()


# ---- outputs ---------------------------------------------------------------------------------------------------------
def distance_from_word(query: int, word: int) -> RunNumber:
    """Return a function that computes from a run the distance between a query's output and a word's input vector.

    query, word: the positions of the query and of the word in the sentence.
    """
    return lambda trace, start: euclidean_distance(trace["output"][0, query], trace["x"][0, word])


def distance_from_zero(trace: Trace, start: Trace) -> Tensor:
    """Compute the Euclidean norm of the outputs of all queries together."""
    output = trace["output"]
    return euclidean_distance(output, torch.zeros_like(output))


def distance_from_full_width(trace: Trace, start: Trace) -> Tensor:
    """Compute the Euclidean distance of the output from the output with queries of two components."""
    return euclidean_distance(trace["output"], full_width_output())


@cache
def full_width_output() -> Tensor:
    """Compute the output of the unchanged example en_it, in which queries have two components."""
    return EXAMPLES["en_it"].run()["output"]


def euclidean_distance(one: Tensor, other: Tensor) -> Tensor:
    """Compute the Euclidean distance, whose slope depends on all differences (that of the largest difference depends on
    one)."""
    differences = one - other
    return differences.pow(2).sum().sqrt()


def largest_contribution(head: int) -> RunNumber:
    """Return a function that reads from a run the largest magnitude that one head adds to a number of the output."""
    return lambda trace, start: with_contributions(trace)["contributions"][0, head].abs().amax()


# ---- counts of changes -----------------------------------------------------------------------------------------------
def query_width(trace: Trace, start: Trace) -> Tensor:
    """Return the number of components of the queries."""
    return torch.tensor(trace.step("q").shape[-1])


def count_changed_numbers(*names: str) -> RunNumber:
    """Return a function that counts how many numbers of some matrices differ between a run and the starting run."""

    def count(trace: Trace, start: Trace) -> Tensor:
        return sum((trace[name] != start[name]).sum() for name in names)

    return count


def count_changed_sizes(*names: str) -> RunNumber:
    """Return a function that counts the numbers whose magnitude differs between a run and the starting run.

    names: the matrices that are compared.
    """

    def count(trace: Trace, start: Trace) -> Tensor:
        return sum((trace[name].abs() != start[name].abs()).sum() for name in names)

    return count


def count_changed_rows(name: str) -> RunNumber:
    """Return a function that counts how many rows of a matrix differ between a run and the starting run."""
    return lambda trace, start: (trace[name] != start[name]).any(-1).sum()


def largest_number(name: str, columns: slice) -> RunNumber:
    """Return a function that reads from a run the largest magnitude in some columns of a matrix."""
    return lambda trace, start: trace[name][:, columns].abs().amax()


# ---- the puzzles -----------------------------------------------------------------------------------------------------
IT_DOG = Bound("it_dog", share_of_key(0, IT, DOG), REQUIRED_SHARE)
OPEN_W_Q_AND_W_K = MappingProxyType({"w_q": (0, 4), "w_k": (0, 4)})
SINK_EXAMPLES = MappingProxyType(  # language -> Setup fields; Chinese words have the vectors of the English words
    {
        "en": {},
        "zh": {
            "text": "<s>|小红|喂了|那只|狗|，|它|摇尾巴",
            "x": read_matrix("0,0,0,2;1,0,0,0;0,0,1,0;0,0,0,0;-1,0,0,0;0,0,0,0;0,-1,0,0;0,0,-1,0"),
        },
    }
)

PUZZLE_LIST = (
    Puzzle(
        "wake",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 2), "w_k": (0, 2)},
        goal=IT_DOG,
        solution="w_q~1.0=2,w_k~0.0=2",
        bounds=(Bound("numbers", count_changed_numbers("w_q", "w_k"), 2, least=False),),
        parts={"w_q": read_matrix("~1.0=0;1.1=0"), "w_k": read_matrix("~0.0=0;0.1=0")},
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "turn",
        twins=IT_EXAMPLES,
        open={"w_k": (0, 4)},
        goal=Bound("barked_it", share_of_key(1, BARKED, IT), REQUIRED_SHARE),
        solution="w_k~1.2=3",
        bounds=(
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
        twins=IT_EXAMPLES,
        open={"w_k": (0, 2)},
        goal=Bound("largest", largest_share(0), 0.15, least=False),
        solution="w_k~0.1=1",
        bounds=(Bound("not_zero", largest_number("w_k", slice(0, 2)), 1),),
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "next",
        twins=COLOUR_EXAMPLES,
        open={"w_q": (0, 3)},
        goal=Bound("follower", typical_share(0, {0: 1, 1: 2, 2: 3, 3: 4}), REQUIRED_SHARE),
        solution="w_q~3.0=8",
        bounds=(
            Bound("numbers", count_changed_numbers("w_q"), 1, least=False),
            Bound("sizes", count_changed_sizes("w_q"), 0, least=False),
        ),
        flips=True,
    ),
    Puzzle(
        "mirror",
        twins=COLOUR_EXAMPLES,
        open={"w_q": (0, 3)},
        goal=Bound("mirrored", typical_share(0, {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}), REQUIRED_SHARE),
        solution="w_q~3.0=0;4.0=-8",
        cast={"first": 0, "last": 4},
    ),
    Puzzle(
        "same",
        twins={
            "en": {"example": "en_it", "text": "the dog barked the dog smiled"},
            "zh": {"example": "zh_ta", "text": "那只|狗|摇尾巴|那只|狗|笑了"},
        },
        open=OPEN_W_Q_AND_W_K,
        goal=Bound("itself", typical_share_of_same, REQUIRED_SHARE),
        solution="w_q~0.0=6;2.2=6;3.3=6",
        parts={"heads": 1, "w_q": read_matrix("zeros~0.0=-3;1.1=-3;2.2=-3;3.3=-3"), "w_k": ChangedCells("identity")},
        cast={"the": 0, "dog": 1, "barked": 2},
    ),
    Puzzle(
        "copy",
        twins=IT_EXAMPLES,
        open=OPEN_W_Q_AND_W_K,
        goal=Bound("apart", distance_from_word(DOG, FED), 0.1, least=False),
        solution="w_q~0.0=-20,w_k~2.0=1.2",
        bounds=(IT_DOG, Bound("barked_dog", share_of_key(1, BARKED, DOG), REQUIRED_SHARE)),
        heads=(0, 1),
        cast={"it": IT, "dog": DOG, "fed": FED, "barked": BARKED},
        asks=DOG,
    ),
    Puzzle(
        "cancel",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 4), "w_o": (0, 4)},
        goal=Bound("output", distance_from_zero, 0.05, least=False),
        solution="w_q~1.0=-3;2.0=-6",
        bounds=(Bound("first", largest_contribution(0), 0.5), Bound("second", largest_contribution(1), 0.5)),
        heads=(0, 1),
    ),
    Puzzle(
        "half",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 2), "w_k": (0, 2)},
        goal=Bound("whole", distance_from_full_width, 0.01, least=False),
        solution="w_q~1.0=4.24;2.1=4.24",
        bounds=(Bound("width", query_width, 1, least=False),),
        parts={"d_k": 1},
        heads=(0, 1),
    ),
    Puzzle(
        "sink",
        twins=SINK_EXAMPLES,
        open={"w_k": (0, 2)},
        goal=Bound("sunk", typical_share(0, dict.fromkeys((0, 1, 2, 3, 4, 5, 7), 0)), REQUIRED_SHARE),
        solution="w_k~3.0=2",
        bounds=(Bound("it_dog", share_of_key(0, 6, 4), REQUIRED_SHARE),),
        parts={"example": "en_it_sink", "w_k": read_matrix("~3.0=0;3.1=0")},
        cast={"sink": 0, "it": 6, "dog": 4},
        asks=6,
    ),
)
PUZZLES: Mapping[str, Puzzle] = MappingProxyType({puzzle.name: puzzle for puzzle in PUZZLE_LIST})
