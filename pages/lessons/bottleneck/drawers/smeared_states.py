"""The lesson on one vector, drawer "smear": why is the alignment blurred?"""

from attention_core import Trace
from attention_core.drawing.charts import single_picture
from attention_core.explanation.layout import panel
from attention_core.learned.insight.state_influence import influence_of_symbols, mean_own_share
from attention_core.record.number_text import format_percent
from pages.lessons.learned.learning import TrainingRecord
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_chart
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.session.labels import current_palette, picture_texts_for
from pages.site.words import say


@cache_by_setup
def cached_state_influence(network: str, text: str) -> Trace:
    """How much of each state of the encoder comes from each symbol."""
    return influence_of_symbols(find_network(network), text)


def show_smeared_states(record: TrainingRecord, step: int, text: str) -> None:
    """Shows each state of the encoder, and how much of it comes from each symbol."""
    network = record.network_at(step)
    trace = cached_state_influence(network, text)
    key = "smear_one" if record.course.endswith("_one") else "smear"
    if trace["heard"].shape[-1] == 1:
        show_sentence("lessons.bottleneck.smear_alone")
    else:
        own = format_percent(mean_own_share(trace))
        show_sentence(f"lessons.bottleneck.{key}", own=own, step=f"{step:,}")
    title = say("lessons.bottleneck.smear_map")
    picture = single_picture(
        [panel(trace, "heard")],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        chosen=None,
    )
    show_chart(picture, "bottleneck_smear", title, lambda _: None)
