"""The lesson on scores, drawer "ceiling": how large can a weight of the cosine become?"""

from dataclasses import replace

from attention_core import Trace
from attention_core.analysis.score_bounds import cosine_ceiling
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.record.number_text import format_exact, format_fixed
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import RunPicture, draw_bar_rows, make_live, show_run_picture
from pages.lessons.scores.score_settings import SCORE_SETTINGS
from pages.lessons.sentences import list_place_labels, quote_token
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_curves, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, name_token
from pages.setup.setup import Setup
from pages.site.words import say

COSINE_TEMPERATURES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
CEILING_KEY_COUNTS = (2, 3, 4, 5, 7, 10, 16, 32, 64, 128, 256, 512)


def show_cosine_ceiling(setup: Setup, selection: Selection) -> None:
    """Shows the largest weight that a cosine can give against the number of keys, and what the asking word gives."""
    temperature = find_live_choice("temperature", COSINE_TEMPERATURES, 1.0)
    show_live_choice(temperature, width=420)
    cosine = replace(setup, head=selection.head, **SCORE_SETTINGS["cosine"])
    setups = [replace(cosine, temperature=each) for each in temperature.options]
    traces = [trace_for(each) for each in setups]
    facts = [row_fact(trace, selection.head, selection.query) for trace in traces]
    told = [tell_ceiling(*each) for each in zip(traces, facts, temperature.options, strict=True)]
    tell_live(temperature, "scores_ceiling_told", told)
    axes = ceiling_axes()
    pictures = []
    for one, fact, each in zip(traces, facts, temperature.options, strict=True):
        pictures.append(draw_ceilings(one, selection, each, fact.share, axes))
    show_live_curves(temperature, "scores_ceiling", pictures, axes, say("lessons.scores.ceiling_alt"))
    bars = [draw_weights(one, selection) for one in traces]
    show_run_picture(make_live(temperature, bars, say("step.alt", step="weights")))
    link_to_workbench(setups[temperature.position], "ceiling")


def tell_ceiling(trace: Trace, fact: RowFact, temperature: float) -> str:
    """Says how much the asking word gives at a temperature, and the most that it could."""
    keys = trace.sizes()["S"]
    text = "ceiling_random" if accident(trace, fact) else "ceiling"
    return say(
        f"lessons.scores.{text}",
        keys=keys,
        ceiling=format_fixed(cosine_ceiling(keys, temperature)),
        share=format_fixed(fact.share),
        temperature=format_exact(temperature),
        key=quote_token(trace, "S", fact.keys[0]),
    )


def draw_weights(trace: Trace, selection: Selection) -> RunPicture:
    """Draws the weights of the asking word."""
    row = row_of(say("lessons.scores.row_cosine"), trace, "weights", (0, selection.head, selection.query))
    picture = draw_bar_rows("cool", [row], list_place_labels(trace, "S"), {"": trace})
    return RunPicture("cool", picture, {"": trace}, row.title)


def draw_ceilings(
    trace: Trace, selection: Selection, temperature: float, share: float, axes: tuple[Axis, Axis]
) -> Picture:
    """Draws the ceiling against the number of keys at temperature 1 and at another, and the share that a word gives."""
    palette = current_palette()
    keys = trace.sizes()["S"]
    ceilings = {
        1.0: make_ceiling_curve(1.0, palette.x),
        temperature: make_ceiling_curve(temperature, palette.q),  # the same one where the temperature is 1
    }
    word = name_token(trace, "T", selection.query)
    point = Curve(word, [keys], [share], palette.share)
    return curves([*ceilings.values(), point], *axes, palette, at=keys)


def ceiling_axes() -> tuple[Axis, Axis]:
    """The axes: how many keys there are, and shares."""
    x = Axis(
        say("lessons.scores.keys"),
        CEILING_KEY_COUNTS[0],
        CEILING_KEY_COUNTS[-1],
        log=True,
        values=CEILING_KEY_COUNTS[::2],
    )
    return x, Axis(say("lessons.scores.share"), 0, 1)


def make_ceiling_curve(temperature: float, colour: str) -> Curve:
    """The largest weight of a cosine against the number of keys."""
    return Curve(
        say("lessons.scores.most", temperature=format_exact(temperature)),
        CEILING_KEY_COUNTS,
        [cosine_ceiling(count, temperature) for count in CEILING_KEY_COUNTS],
        colour,
        dashed=True,
    )
