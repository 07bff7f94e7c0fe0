"""The lesson on copying, drawer "one_layer": is one layer enough?"""

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import repeated_share
from pages.lessons.learned.learning import TrainingRecord, get_training_record, share_axis
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.session.labels import current_palette, spoken_share
from pages.site.words import say


def show_one_layer() -> None:
    """Shows the accuracy by position of a network of one layer beside that of one with two."""
    two = get_training_record("copy_two")
    one = get_training_record("copy_one")
    show_sentence(
        "lessons.induction.one_layer",
        one=spoken_share(repeated_share(last_figures(one))),
        two=spoken_share(repeated_share(last_figures(two))),
    )
    palette = current_palette()
    drawn = [
        make_accuracy_curve("two", two, palette.share),
        make_accuracy_curve("one", one, palette.k),
    ]
    x = Axis(say("lessons.induction.axis_place"), min(two.places), max(two.places))
    y = share_axis(say("lessons.induction.axis_right"))
    picture = curves(drawn, x, y, palette, height=240)
    show_curve_chart(picture, "induction_layers", say("lessons.induction.alt"))


def last_figures(record: TrainingRecord) -> tuple[float, ...]:
    """The accuracy by position at the end of a training."""
    return record.figures_at(max(record.steps))


def make_accuracy_curve(name: str, record: TrainingRecord, colour: str) -> Curve:
    """Makes the curve of the accuracy by position at the end of a training."""
    title = say(f"lessons.induction.layers_{name}")
    return Curve(title, record.places, last_figures(record), colour)
