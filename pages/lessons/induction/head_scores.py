"""The scores of each head of the lesson on copying (previous symbol, induction), measured once and cached."""

from attention_core.learned.insight.copying_heads import HEAD_PLACES, head_scores
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.session.labels import current_palette


@cache_by_setup
def measure_head_scores(network: str) -> dict[str, list[list[float]]]:
    """Measures each head's scores "previous" and "induction", by kind, layer and head."""
    tensors = find_network(network).measure(head_scores)
    return {kind: scores.tolist() for kind, scores in tensors.items()}


def list_heads_of_layer(layer: str) -> list[str]:
    """Lists the heads of a layer by name."""
    return [name for name in HEAD_PLACES if name.startswith(layer)]


def get_head_score(network: str, kind: str, name: str) -> float:
    """A head's score of a kind, "previous" or "induction"."""
    layer, head = HEAD_PLACES[name]
    return measure_head_scores(network)[kind][layer][head]


def find_most_copying_head(network: str) -> str:
    """Finds the head of the last layer with the highest induction score."""
    scores = {name: get_head_score(network, "induction", name) for name in list_heads_of_layer("L2")}
    return max(scores, key=scores.__getitem__)


def head_colours() -> dict[str, str]:
    """The colour of each head, by its name."""
    palette = current_palette()
    return {
        "L1H1": palette.q,
        "L1H2": palette.v,
        "L2H1": palette.k,
        "L2H2": palette.share,
    }
