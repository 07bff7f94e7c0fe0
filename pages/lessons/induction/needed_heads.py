"""Lesson on induction: which heads the supplied network needs, measured by ablation."""

from attention_core.learned.insight.copying_heads import HEAD_PLACES, repeated_share
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import SHIPPED_SEED
from attention_core.learned.training.snapshots import NetworkRecipe
from pages.lessons.induction.accuracy_chart import measure_accuracy_without_heads
from pages.session.labels import spoken_share
from pages.site.words import say

LAYERS = {"first": ("L1H1", "L1H2"), "second": ("L2H1", "L2H2")}


def measure_share_without(*off: str) -> float:
    """Measures the accuracy on the repetition of the supplied, fully trained network with some heads ablated."""
    network = NetworkRecipe("copy_two", SHIPPED_SEED, COURSES["copy_two"].saved[-1]).name
    return repeated_share(measure_accuracy_without_heads(network, off))


def find_most_needed_head() -> int:
    """Finds the head whose ablation lowers the accuracy most, as its index in HEAD_PLACES."""
    shares = [measure_share_without(name) for name in HEAD_PLACES]
    return shares.index(min(shares))


def tell_needed_heads() -> str:
    """Returns the sentence about the accuracy without each head, and without each layer."""
    shares = {name: spoken_share(measure_share_without(name)) for name in HEAD_PLACES}
    layers = {name: spoken_share(measure_share_without(*heads)) for name, heads in LAYERS.items()}
    return say("lessons.induction.needed", **shares, **layers)
