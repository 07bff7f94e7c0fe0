"""The lesson on positions, drawer "distance", one of its sights: a score of RoPE against the distance."""

from attention_core.analysis.score_terms import score_by_distance
from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_row
from pages.lessons.positions.rope import ROTATION_STYLES, with_rope
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.chart import show_curve_chart
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, selection_of
from pages.setup.setup import Setup, config_of
from pages.site.words import say

MAX_CURVE_DISTANCE = 33  # places of which the curve tells


def show_score_decay(setup: Setup) -> None:
    """Shows the scores of the asking word's query with itself as a key, so many places away."""
    palette = current_palette()
    distances = range(MAX_CURVE_DISTANCE)
    decays = []
    for style, colour in zip(ROTATION_STYLES, (palette.q, palette.k), strict=True):
        rope = with_rope(setup, style)
        trace = trace_for(rope)
        selection = selection_of(trace, rope)
        q = trace["q_heads"][selection.batch, selection.head, selection.query]  # (d_k,)
        alone = score_by_distance(q, MAX_CURVE_DISTANCE, config_of(rope))
        scores = alone["scores"][0, 0, 0]  # (S,)
        name = say(f"lessons.positions.{style}")
        decays.append(Curve(name, distances, scores.tolist(), colour))
    word = quote_token(trace, "T", selection.query)
    show_sentence("lessons.positions.decay", word=word, q=format_row(q.tolist()))
    reach = largest_magnitude_of_curves(decays) or 1.0
    x = Axis(say("lessons.positions.distance"), 0, distances[-1])
    y = Axis(say("lessons.positions.axis_score"), -reach, reach)
    picture = curves(decays, x, y, palette)
    show_curve_chart(picture, "positions_decay", say("lessons.positions.decay_alt"))


def largest_magnitude_of_curves(decays: list[Curve]) -> float:
    """The magnitude of the number of several curves that is the farthest from 0."""
    largest = 0.0
    for decay in decays:
        magnitudes = [abs(number) for number in decay.y]
        largest = max(largest, *magnitudes)
    return largest
