"""Lesson 14, drawer "appear": when do the heads appear?"""

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from pages.lessons.induction.head_scores import get_head_score
from pages.lessons.learned.learning import TrainingRecord, share_axis
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option
from pages.session.labels import current_palette
from pages.site.words import say


def show_appearing_heads(record: TrainingRecord) -> None:
    """Shows a score of every head against the steps of training."""
    kind = choose_option("score", ("previous", "induction"))
    drawn = []
    for name, colour in head_colours().items():
        scores = [get_head_score(network, kind, name) for network in record.networks.values()]
        drawn.append(Curve(name, record.steps, scores, colour))
    show_sentence(f"lessons.induction.about_{kind}")
    x = Axis(say("lessons.induction.axis_step"), 0, max(record.steps))
    y = share_axis(say(f"lessons.induction.axis_{kind}"))
    picture = curves(drawn, x, y, current_palette(), height=240)
    show_curve_chart(picture, "induction_appear", say("lessons.induction.alt_appear"))


def head_colours() -> dict[str, str]:
    """The colour of each head, by its name."""
    palette = current_palette()
    return {
        "L1H1": palette.q,
        "L1H2": palette.v,
        "L2H1": palette.k,
        "L2H2": palette.share,
    }
