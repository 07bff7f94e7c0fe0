"""Computes the cost of attention in practical tasks, each with a suitable variant: multiply-adds, and the numbers in a
cache.

All costs are those of one layer.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attention_core.variants.cost import attention_cost
from attention_core.variants.decoding_work import causal_pairs
from attention_core.variants.linear_recurrence import count_state_numbers
from attention_core.variants.sparse import LocalPattern, count_computed_pairs, count_multiply_adds

TASK_WIDTH, TASK_HEADS = 512, 8  # sizes of the layer: the base model of Vaswani et al. 2017
HEAD_WIDTH = TASK_WIDTH // TASK_HEADS
SHARED_HEADS = 2  # key/value heads that the query heads share
LATENT_WIDTH = 4 * HEAD_WIDTH  # width of the latent, as in DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.4
PATCHES = 14 * 14  # an image of 224 x 224 pixels in squares of 16 x 16 (Dosovitskiy et al. 2021)
LOCAL_PATTERN = LocalPattern(window=32, block=64)
TOKEN_STEPS = ("q_projected", "k_projected", "v_projected", "output", "hidden")  # steps whose cost is proportional to T


@dataclass(frozen=True)
class TaskCost:
    """The cost of one layer for a task with T tokens: sequential steps, multiply-adds for pairs of tokens, cached
    numbers.

    waits: the number of steps that must run one after another. multiply_adds: those of all heads for pairs of tokens;
    projections, which are work per token, are not counted. kept: how many numbers a decoder has cached at the end; None
    if no text is generated word by word.
    """

    waits: int
    multiply_adds: int
    kept: int | None = None


def cross_cost(T: int, S: int, **how: object) -> TaskCost:
    """Return the cost of T generated words that each attend to S words of another sequence.

    how: further arguments of attention_cost, such as the number of heads or the score.
    """
    cost = attention_cost(T=T, S=S, D=TASK_WIDTH, **how)
    steps = set(cost.multiply_adds) - set(TOKEN_STEPS)
    between = sum(cost.multiply_adds[step] for step in steps)
    return TaskCost(T, between, cost.stored["k"] + cost.stored["v"])


def translate_cost(T: int) -> TaskCost:
    """Return the cost of generating a translation of T words that attend to T source words."""
    return cross_cost(T, T, H=TASK_HEADS)


def align_cost(T: int) -> TaskCost:
    """Return the cost of a translation with the additive score and a single head, as in Bahdanau et al. 2015."""
    return cross_cost(T, T, score="additive")


def describe_image_cost(T: int) -> TaskCost:
    """Return the cost of generating T words that attend to the patches of an image."""
    return cross_cost(T, PATCHES, H=TASK_HEADS)


def read_cost(T: int) -> TaskCost:
    """Return the cost of reading T words that all attend to each other."""
    return TaskCost(1, TASK_HEADS * count_multiply_adds(T * T, HEAD_WIDTH, HEAD_WIDTH))


def long_cost(T: int) -> TaskCost:
    """Return the cost of reading T words that attend only to nearby words, computed block by block."""
    pairs = count_computed_pairs(LOCAL_PATTERN, T, T)
    return TaskCost(1, TASK_HEADS * count_multiply_adds(pairs, HEAD_WIDTH, HEAD_WIDTH))


def written_cost(T: int, kept_of_token: int) -> TaskCost:
    """Return the cost of generating T words, each of which attends to itself and to all earlier words.

    kept_of_token: how many numbers are cached for each word.
    """
    pairs = causal_pairs(T)
    return TaskCost(T, TASK_HEADS * count_multiply_adds(pairs, HEAD_WIDTH, HEAD_WIDTH), T * kept_of_token)


def write_cost(T: int) -> TaskCost:
    """Return the cost of generating T words with a KV cache in which every head has separate keys and values."""
    return written_cost(T, TASK_HEADS * 2 * HEAD_WIDTH)


def serve_cost(T: int) -> TaskCost:
    """Return the cost of generating T words with a KV cache whose keys and values several query heads share."""
    return written_cost(T, SHARED_HEADS * 2 * HEAD_WIDTH)


def latent_cost(T: int) -> TaskCost:
    """Return the cost of generating T words if one latent vector per word is cached instead of keys and values.

    DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.2: two matrices are multiplied into the matrices of the queries and of
    the output, so that keys and values are never computed.
    """
    pairs = causal_pairs(T)
    return TaskCost(T, TASK_HEADS * count_multiply_adds(pairs, LATENT_WIDTH, LATENT_WIDTH), T * LATENT_WIDTH)


def stream_cost(T: int) -> TaskCost:
    """Return the cost of linear attention on T words: each word's key and value are added to a state, which the word's
    query then multiplies.
    """
    in_head = T * (2 * HEAD_WIDTH * HEAD_WIDTH + HEAD_WIDTH)
    return TaskCost(T, TASK_HEADS * in_head, TASK_HEADS * count_state_numbers(HEAD_WIDTH, HEAD_WIDTH))


TASK_COSTS: dict[str, Callable[[int], TaskCost]] = {
    "translate": translate_cost,
    "write": write_cost,
    "understand": read_cost,
    "relations": read_cost,
    "image": describe_image_cost,
    "align": align_cost,
    "set": read_cost,
    "long": long_cost,
    "serve": serve_cost,
    "latent": latent_cost,
    "stream": stream_cost,
}


def task_cost(task: str, T: int) -> TaskCost:
    """Return the cost of one layer for a task with T tokens.

    task: a key of TASK_COSTS.

    >>> task_cost("write", 4)
    TaskCost(waits=4, multiply_adds=10240, kept=4096)
    """
    return TASK_COSTS[task](T)


def growth_when_doubled(task: str, T: int) -> float:
    """Return the factor by which a task's multiply-adds grow when the number of tokens is doubled.

    >>> growth_when_doubled("understand", 64), growth_when_doubled("stream", 64)
    (4.0, 2.0)
    """
    return task_cost(task, 2 * T).multiply_adds / task_cost(task, T).multiply_adds
