"""The lesson on copying, drawer "appear": when do the heads appear?"""

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import repeated_share
from attention_core.record.number_text import format_percent
from pages.lessons.induction.head_scores import get_head_score, head_colours
from pages.lessons.learned.learning import TrainingRecord, share_axis
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option
from pages.session.labels import current_palette
from pages.site.words import say

LITTLE, MOST = 0.1, 0.9  # accuracy on the repetition: below, copying has not begun; above, it is learned


def show_appearing_heads(record: TrainingRecord) -> None:
    """Shows a score of every head against the steps of training."""
    kind = choose_option("score", ("previous", "induction"))
    drawn = []
    for name, colour in head_colours().items():
        scores = [get_head_score(network, kind, name) for network in record.networks.values()]
        drawn.append(Curve(name, record.steps, scores, colour))
    show_sentence(f"lessons.induction.about_{kind}")
    tell_growth(record)
    x = Axis(say("lessons.induction.axis_step"), 0, max(record.steps))
    y = share_axis(say(f"lessons.induction.axis_{kind}"))
    picture = curves(drawn, x, y, current_palette(), height=240)
    show_curve_chart(picture, "induction_appear", say("lessons.induction.alt_appear"))


def tell_growth(record: TrainingRecord) -> None:
    """Shows between which checkpoints copying was learned; nothing if it was not learned, or if no checkpoint lies
    between them, as with a large learning rate: then it is unknown whether it was a jump."""
    shares = {step: repeated_share(record.figures_at(step)) for step in record.steps}
    begun = [step for step, share in shares.items() if share < LITTLE]
    done = [step for step, share in shares.items() if share > MOST]
    if not begun or not done:
        return
    between = [step for step in record.steps if max(begun) < step < min(done)]
    if not between:
        return
    st.markdown(
        say(
            "lessons.induction.growth",
            first=max(begun),
            little=format_percent(shares[max(begun)]),
            last=min(done),
            much=format_percent(shares[min(done)]),
            between=len(between),
            whole=max(record.steps),
        )
    )
