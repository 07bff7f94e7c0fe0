"""The shapes of what mechanisms learn, for the tests that run all there are: a new one is among them by itself."""

from collections import defaultdict

from attention_core.mechanism.scores import SCORES

OWN_SIZE = 5  # of a letter that is a mechanism's alone


def score_shapes(
    score: str, d_q: int, d_k: int, H: int | None = None, own: int = OWN_SIZE
) -> dict[str, tuple[int, ...]]:
    """What a score learns, by name. H: the heads, of which each has its own of every other tensor; None: all share."""
    sizes = defaultdict(lambda: own, d_q=d_q, d_k=d_k)
    shapes = {}
    for place, tensor in enumerate(SCORES[score].weights):
        is_by_head = H is not None and tensor.by_head and place % 2 == 0
        shapes[tensor.name] = (H, *tensor.shape(sizes)) if is_by_head else tensor.shape(sizes)
    return shapes
