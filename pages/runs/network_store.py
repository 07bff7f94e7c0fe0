"""Finds trained networks by name: those included in the app, and the latest networks trained since the app was
started.
"""

from collections import OrderedDict
from functools import lru_cache
from threading import Lock

from attention_core.examples.examples import Example
from attention_core.learned.insight.views import AttentionView, attention_view
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import SHIPPED_SEED, load_network
from attention_core.learned.training.snapshots import Network, NetworkRecipe, read_recipe
from attention_core.record.errors import AttentionError

MAX_REMEMBERED_NETWORKS = 256  # most networks that are kept, each of at most 100 kB

# All sessions share this dictionary: a network depends on its recipe alone and contains no data of a visitor.
remembered_networks: OrderedDict[str, Network] = OrderedDict()
networks_lock = Lock()


def remember_network(trained: Network) -> None:
    """Stores a trained network. If too many networks are stored, the least recently used network is removed."""
    with networks_lock:
        remembered_networks[trained.recipe.name] = trained
        remembered_networks.move_to_end(trained.recipe.name)
        if len(remembered_networks) > MAX_REMEMBERED_NETWORKS:
            remembered_networks.popitem(last=False)


def find_network(name: str) -> Network:
    """Returns the network with this recipe name.

    Raises AttentionError: network_away; ValueError for an invalid name.
    """
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
    """Returns the input of a network's attention for typed texts; None stands for the example's text.

    text: the text of the queries. context_text: the text of the keys.
    """
    own = "".join(example.tokens)
    other = "".join(example.context_tokens or ())
    if text is not None or context_text is not None:  # for another input text, the network may generate another output
        own = text
    if context_text is not None:
        other = context_text
    read = other or own or ""
    return cached_network_view(find_network(name), read, own, example.layer)


@lru_cache(maxsize=64)  # a run needs several matrices of a network in succession
def cached_network_view(trained: Network, read: str, written: str | None, layer: int) -> AttentionView:
    return attention_view(trained, read, written, layer)
