"""The runs of the lesson on copying: one for each layer of a network, and the maps of its heads."""

from attention_core import Trace
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.learned.insight.copying_heads import HEAD_PLACES
from pages.lessons.pictures import RunPicture, make_weights_map
from pages.session.labels import Selection
from pages.setup.setup import Setup

LAYER_EXAMPLES = {"L1": "learned_previous", "L2": "learned_copy"}  # the example whose layer it is
LAYER_MAP_CELL_PX = 30.0  # pixels: a cell of one of two maps side by side


def setup_for_layer(layer: str, network: str, text: str) -> Setup:
    """The Setup of a layer of a network that reads a text."""
    return Setup(LAYER_EXAMPLES[layer], text, network=network)


def make_layer_head_map(picture: str, name: str, trace: Trace) -> RunPicture:
    """Draws the map of one head in its layer's run.

    picture: the name of the picture. name: of the head."""
    _, head = HEAD_PLACES[name]
    return make_weights_map(
        picture,
        trace,
        Selection(batch=0, head=head, kv=head, query=0),
        name,
        PAGE_WIDTH_PX,
        LAYER_MAP_CELL_PX,
        outlined=False,
    )
