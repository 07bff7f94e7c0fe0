"""Trained networks by name: those supplied with the app, and the latest of those trained since it started."""

from collections import OrderedDict
from functools import lru_cache
from threading import Lock

from attention_core.examples.examples import Example
from attention_core.learned.insight.views import AttentionView, attention_view
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import SHIPPED_SEED, load_network
from attention_core.learned.training.snapshots import Network, NetworkRecipe, read_recipe
from attention_core.record.errors import AttentionError

MAX_REMEMBERED_NETWORKS = 256  # networks that are remembered, of at most 100 kB each

# Of all sessions: what a network is, its recipe says completely, and nothing of a visitor is in it.
remembered_networks: OrderedDict[str, Network] = OrderedDict()
networks_lock = Lock()


def remember_network(trained: Network) -> None:
    """Keeps a network, and evicts the least recently used one if there are too many."""
    with networks_lock:
        remembered_networks[trained.recipe.name] = trained
        remembered_networks.move_to_end(trained.recipe.name)
        if len(remembered_networks) > MAX_REMEMBERED_NETWORKS:
            remembered_networks.popitem(last=False)


def find_network(name: str) -> Network:
    """A network by its recipe's name. Raises AttentionError: network_away; ValueError for what is no name."""
    recipe = read_recipe(name)
    shipped_steps = (0, *COURSES[recipe.course].shipped)
    shipped = NetworkRecipe(recipe.course, SHIPPED_SEED, recipe.step)
    if recipe == shipped and recipe.step in shipped_steps:
        return load_network(recipe.course, recipe.step)
    with networks_lock:
        if name not in remembered_networks:
            raise AttentionError("network_away", name=name)
        remembered_networks.move_to_end(name)
        return remembered_networks[name]


def view_network(name: str, example: Example, text: str | None, context_text: str | None) -> AttentionView:
    """The inputs of a network's attention for typed texts, or for those of an example."""
    own = "".join(example.tokens)
    other = "".join(example.context_tokens or ())
    if text is not None or context_text is not None:  # another text is read: another may be written
        own = text
    if context_text is not None:
        other = context_text
    read = other or own or ""
    return cached_network_view(find_network(name), read, own, example.layer)


@lru_cache(maxsize=64)  # several matrices of one run are asked for, one after the other
def cached_network_view(trained: Network, read: str, written: str | None, layer: int) -> AttentionView:
    return attention_view(trained, read, written, layer)
