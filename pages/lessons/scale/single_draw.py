"""The lesson on the scale: one draw of a query and keys, and what is said of a width."""

from collections.abc import Mapping

from attention_core.analysis.softmax_saturation import Sharpness, last_width_of_more
from attention_core.drawing.bars import row_of
from attention_core.drawing.specifications import Picture
from attention_core.inputs.given_scores import draw_query_and_keys
from attention_core.record.number_text import format_fixed, format_small
from pages.lessons.pictures import draw_bar_rows
from pages.lessons.sentences import list_place_labels
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say

MAX_NAMED_BARS = 16  # bars with names that can be read
LIVE_BARS_WIDTH_PX = 1120.0  # pixels: all columns of bars, before they take the width of the page

Runs = Mapping[str, Setup]  # of one draw, by score


def draw_single_draw(runs: Runs, seed: int, known: bool) -> Picture:
    """Draws the weights of one draw, undivided and divided."""
    traces = {score: trace_for(run) for score, run in runs.items()}
    rows = []
    for score, trace in traces.items():
        hidden = score == "scaled_dot" and not known
        title = say(f"lessons.scale.row_{score}", seed=seed)
        row = row_of(title, trace, "weights", (0, 0, 0), score, hidden=hidden)
        rows.append(row)
    names = list_place_labels(traces["scaled_dot"], "S")
    if len(names) > MAX_NAMED_BARS:
        names = ["" for _ in names]
    return draw_bar_rows("live", rows, names, traces, room=LIVE_BARS_WIDTH_PX, height=44.0, whole=True, fills=True)


def draw_runs(d_k: int, keys: int, seed: int) -> Runs:
    """One draw of a query and keys as runs."""
    return {score: Setup(example="one_query", **parts) for score, parts in draw_query_and_keys(d_k, keys, seed).items()}


def change_draw(run: Setup) -> dict:
    """What the scores of another draw, and its scale, change in the run that the flow shows."""
    trace = trace_for(run)
    params = trace.step("scaled_scores").operation.params
    scores, values = (trace.step(name).window().reshape(-1).tolist() for name in ("scores", "v"))
    return {"values": {"scores": scores, "v": values}, "params": {"scaled_scores": {"factor": params["factor"]}}}


def tell_sharpness(found: Mapping[str, Sharpness], d_k: int, keys: int, known: bool) -> str:
    """Says how sharp the softmax is at one width."""
    values = {"d_k": d_k, "keys": keys}
    for score, sharpness in found.items():
        values[score] = format_fixed(sharpness.largest.mean)
        values[f"{score}_gradient"] = format_small(sharpness.at_query.median)
    return say(f"lessons.scale.{'fact' if known else 'fact_hidden'}", **values)


def tell_gradient(found: Mapping[int, Mapping[str, Sharpness]], keys: int) -> str:
    """Says up to which width more gradient reaches the query undivided. found: by width, of so many keys."""
    return say("lessons.scale.arrives", keys=keys, width=f"{last_width_of_more(found):,}")
