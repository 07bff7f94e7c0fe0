"""What of a run was drawn at random, as its Trace is told: no sentence claims a share that hangs on it."""

from attention_core.record.trace import RandomParts
from pages.runs.run_inputs import RunInputs
from pages.setup.setup import Setup

WEIGHT_MAKING_MATRICES = (
    "w_q",
    "w_k",
    "b_q",
    "b_k",
    "w_a",
    "w_aq",
    "w_ak",
    "v_a",
)  # the matrices that make the weights


def find_random_parts(material: RunInputs, setup: Setup) -> RandomParts:
    """The tokens with random vectors, and the random matrices that make the weights."""
    key_origins = material.key_origins if material.crossed else material.word_origins
    queries = random_positions(material.word_origins) | material.random_rows.get("q", frozenset())
    keys = random_positions(key_origins) | material.random_rows.get("k", frozenset())
    unread = ("w_k",) if "tied" in setup.wiring else ()
    matrices = [name for name in WEIGHT_MAKING_MATRICES if material.random_rows.get(name) and name not in unread]
    return RandomParts({"T": queries, "S": keys}, tuple(matrices))


def random_positions(origins: tuple[str, ...]) -> frozenset[int]:
    """The positions of random vectors."""
    return frozenset(at for at, origin in enumerate(origins) if origin == "random")
