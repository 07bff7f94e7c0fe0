"""The lesson on meaning, drawer "grow": what comes first, the answer or the head?"""

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_percent
from pages.lessons.learned.learning import share_axis
from pages.lessons.meaning.networks import NETWORKS, figures_of
from pages.lessons.meaning.told_figures import ANSWERING
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.session.labels import current_palette
from pages.site.words import say

STEPPED_LANGUAGE = "en"  # of its networks steps in between come along


def show_growing_heads(_: str) -> None:
    """Shows how often heads and answers are right against the steps of training."""
    drawn = []
    told = {}
    for letter in NETWORKS:
        figures = figures_of(letter, STEPPED_LANGUAGE)
        drawn.append(make_curve("head", letter, figures.shown))
        if letter in ANSWERING:
            drawn.append(make_curve("answer", letter, figures.answered))
        for step, share in figures.answered.items():
            told[f"answer_{letter}_{step}"] = format_percent(share)
            told[f"head_{letter}_{step}"] = format_percent(figures.shown[step])
    show_sentence("lessons.meaning.grow", **told)
    steps = [int(step) for step in figures_of("C", STEPPED_LANGUAGE).shown]
    x = Axis(say("lessons.meaning.axis_step"), 0, max(steps), values=tuple(steps))
    y = share_axis(say("lessons.meaning.axis_share"))
    picture = curves(drawn, x, y, current_palette(), height=260)
    show_curve_chart(picture, "meaning_grow", say("lessons.meaning.alt_grow"))


def make_curve(kind: str, letter: str, shares: dict[str, float]) -> Curve:
    """Makes the curve of a network's head or of its answers."""
    palette = current_palette()
    of_heads = {"A": palette.x, "B": palette.k, "C": palette.share}
    of_answers = {"B": palette.v, "C": palette.q}
    colour = {"head": of_heads, "answer": of_answers}[kind][letter]
    name = say(f"lessons.meaning.curve_{kind}", network=letter)
    return Curve(name, [int(step) for step in shares], [*shares.values()], colour)
