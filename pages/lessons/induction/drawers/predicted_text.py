"""The lesson on copying, drawer "typed": what is predicted in my text?"""

from itertools import pairwise

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.learned.insight.copying_heads import with_next_probabilities
from pages.lessons.induction.layer_runs import setup_for_layer
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import list_place_labels, show_sentence
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.site.words import say


@cache_by_setup
def cached_prediction_run(network: str, text: str, off: tuple[str, ...]) -> Trace:
    """The last layer's run with the predicted probability of each next symbol, with some heads ablated."""
    trace = trace_for(setup_for_layer("L2", network, text))
    return with_next_probabilities(trace, find_network(network), text, off)


def show_predicted_text(network: str, text: str, off: tuple[str, ...]) -> None:
    """Shows the predicted probability of each next symbol of a text.

    off: the ablated heads."""
    trace = cached_prediction_run(network, text, off)
    symbols = list_place_labels(trace, "T")
    pairs = [say("lessons.induction.pair", before=before, after=after) for before, after in pairwise(symbols)]
    show_sentence("lessons.induction.typed")
    if not pairs:
        return
    title = say("lessons.induction.row_foretold")
    rows = [row_of(title, trace, "foretold", (0,))]
    show_bar_rows("typed", rows, pairs, {"": trace}, trace, title, whole=True)
