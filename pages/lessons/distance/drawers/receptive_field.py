"""The lesson on distance, drawer "cost", below the costs: the receptive field of a stack of convolutions."""

from attention_core import Trace
from attention_core.analysis.receptive_field import reachable_inputs
from attention_core.drawing.charts import single_picture
from attention_core.explanation.layout import panel
from attention_core.record.trace import Step
from attention_core.variants.encoder_paths import one_step_reach, receptive_field
from attention_core.variants.encoders import Encoder
from pages.lessons.encoders import EncoderWords, get_word_names
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_chart
from pages.panels.link_controls import slide
from pages.session.labels import current_palette, picture_texts_for
from pages.site.words import say

MAX_FIELD_WORDS = 12  # most words with distinguishable cells


def show_receptive_field(encoder: Encoder, words: EncoderWords) -> None:
    """Shows which words reach which position after several layers of a CNN."""
    names = tuple(get_word_names(words, in_picture=True)[:MAX_FIELD_WORDS])
    layers = slide("deep", range(9), 2)
    reached = reachable_inputs(one_step_reach(encoder, len(names)), layers)  # (T, S)
    show_sentence(
        "lessons.distance.field",
        layers=layers,
        window=encoder.window,
        field=receptive_field(encoder, layers),
        seen=int(reached.sum(-1).max()),
    )
    step = Step("reached", reached, ("T", "S"))
    trace = Trace({"reached": step}, {"T": names, "S": names})
    title = say("lessons.distance.reached", layers=layers)
    picture = single_picture(
        [panel(trace, "reached")],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        chosen=None,
    )
    show_chart(picture, "distance_field", title, lambda _: None)
