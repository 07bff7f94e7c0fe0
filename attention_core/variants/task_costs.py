"""What attention costs for a task: which variant it takes, and what one layer of that computes and keeps."""

from collections.abc import Callable
from dataclasses import dataclass

from attention_core.variants.cost import attention_cost
from attention_core.variants.decoding_work import causal_pairs
from attention_core.variants.linear_recurrence import count_state_numbers
from attention_core.variants.sparse import count_multiply_adds
from attention_core.variants.sparse_patterns import LocalPattern, count_computed_pairs

TASK_WIDTH, TASK_HEADS = 512, 8  # of the layer; those of the base model in Vaswani et al. 2017
HEAD_WIDTH = TASK_WIDTH // TASK_HEADS
SHARED_HEADS = 2  # key/value heads where heads share them
LATENT_WIDTH = 4 * HEAD_WIDTH  # as in DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.4
PATCHES = 14 * 14  # of a picture of 224 x 224 pixels in squares of 16 (Dosovitskiy et al. 2021)
LOCAL_PATTERN = LocalPattern(window=32, block=64)
TOKEN_STEPS = ("q_projected", "k_projected", "v_projected", "output", "hidden")  # grow with T, not T S


@dataclass(frozen=True)
class TaskCost:
    """What one layer takes for a task with T tokens.

    waits: steps that must come one after the other. multiply_adds: of all heads and pairs of tokens, without what is
    computed of each token alone: projections, those of the additive score among them. kept: numbers that a decoder
    keeps at the end; None where nothing is written word by word.
    """

    waits: int
    multiply_adds: int
    kept: int | None = None


def cross_cost(T: int, S: int, **how: object) -> TaskCost:
    """The cost of T words that are written, each of which looks at S others. how: as attention_cost."""
    cost = attention_cost(T=T, S=S, D=TASK_WIDTH, **how)
    steps = set(cost.multiply_adds) - set(TOKEN_STEPS)
    between = sum(cost.multiply_adds[step] for step in steps)
    return TaskCost(T, between, cost.stored["k"] + cost.stored["v"])


def translate_cost(T: int) -> TaskCost:
    """T words of a translation look at as many of the source."""
    return cross_cost(T, T, H=TASK_HEADS)


def align_cost(T: int) -> TaskCost:
    """The same with the additive score, as in Bahdanau et al. 2015: one head of the whole width."""
    return cross_cost(T, T, score="additive")


def describe_image_cost(T: int) -> TaskCost:
    """T words look at the patches of a picture."""
    return cross_cost(T, PATCHES, H=TASK_HEADS)


def read_cost(T: int) -> TaskCost:
    """T words that are there look at each other."""
    return TaskCost(1, TASK_HEADS * count_multiply_adds(T * T, HEAD_WIDTH, HEAD_WIDTH))


def long_cost(T: int) -> TaskCost:
    """Each looks at those nearby alone, a block of queries at a time."""
    pairs = count_computed_pairs(LOCAL_PATTERN, T, T)
    return TaskCost(1, TASK_HEADS * count_multiply_adds(pairs, HEAD_WIDTH, HEAD_WIDTH))


def written_cost(T: int, kept_of_token: int) -> TaskCost:
    """The cost of T words that are written, each of which looks back. kept_of_token: how many numbers each leaves."""
    pairs = causal_pairs(T)
    return TaskCost(T, TASK_HEADS * count_multiply_adds(pairs, HEAD_WIDTH, HEAD_WIDTH), T * kept_of_token)


def write_cost(T: int) -> TaskCost:
    """Each head keeps the key and the value of each word."""
    return written_cost(T, TASK_HEADS * 2 * HEAD_WIDTH)


def serve_cost(T: int) -> TaskCost:
    """Heads share keys and values."""
    return written_cost(T, SHARED_HEADS * 2 * HEAD_WIDTH)


def latent_cost(T: int) -> TaskCost:
    """One short vector a word is kept, which every head meets in the place of keys and values.

    DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.2: two matrices are multiplied into those of the queries and of the
    output, so that keys and values are never computed."""
    pairs = causal_pairs(T)
    return TaskCost(T, TASK_HEADS * count_multiply_adds(pairs, LATENT_WIDTH, LATENT_WIDTH), T * LATENT_WIDTH)


def stream_cost(T: int) -> TaskCost:
    """Linear attention: each word is added to a state and reads it, and its sum."""
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
    """Compute what one layer takes for a task of TASK_COSTS with T tokens.

    >>> task_cost("write", 4)
    TaskCost(waits=4, multiply_adds=10240, kept=4096)
    """
    return TASK_COSTS[task](T)


def growth_when_doubled(task: str, T: int) -> float:
    """Give how many times as many multiply-adds twice the tokens take.

    >>> growth_when_doubled("understand", 64), growth_when_doubled("stream", 64)
    (4.0, 2.0)
    """
    return task_cost(task, 2 * T).multiply_adds / task_cost(task, T).multiply_adds
