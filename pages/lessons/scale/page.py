"""Draws the lesson on dividing by √d_k: how sharp the softmax of undivided and of divided scores is, by d_k."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.dot_product_moments import ScoreCloud
from attention_core.analysis.softmax_saturation import Sharpness, even_sharpness, last_width_of_more
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.inputs.given_scores import MAX_LINKED_WIDTH, draw_query_and_keys
from attention_core.record.number_text import format_fixed, format_small
from pages import components
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import draw_bar_rows, find_phone_room, show_lesson_journey, show_live_bars
from pages.lessons.prompts import predict
from pages.lessons.scale.drawers import LESSON, SCALE_WIDTHS, width_axis
from pages.lessons.sentences import list_place_names
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, choose_whole_number
from pages.panels.live_choice import Followed, LiveChoices, describe_followed, find_live_choice, show_live_choice
from pages.panels.live_frames import only_now, show_followed_curves, tell_live
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_clouds, cached_saturation, trace_for
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.session.staged import is_one_screen
from pages.setup.setup import Setup, make_setup
from pages.site.words import get_text_template, say

DRAWS_BY_KEYS = {  # number of keys -> number of samples, which must not take too long
    2: 2000,
    4: 2000,
    8: 2000,
    16: 1000,
    32: 500,
    64: 250,
}
SCALE_SEED = 1268  # seed of a sample whose measures are close to the mean of many samples
QUANTITIES = ("largest", "entropy", "at_query", "slope")
CURVE_GUESSES = ("rises", "level", "falls")


def reset_keys_and_seed() -> None:
    """Resets the number of keys and the seed to the defaults, because their results are cached for all sessions."""
    store_choice("keys", None)
    store_choice("seed", None)


def tell_how(keys: int) -> str:
    """Returns the sentence that says how many samples and keys the chart is based on."""
    return say("lessons.scale.how", draws=f"{DRAWS_BY_KEYS[keys]:,}", keys=keys)


# ---- one sample of a query and keys, and the sentences about a width -------------------------------------------------
MAX_NAMED_BARS = 16  # most bars in a chart with legible names
LIVE_BARS_WIDTH_PX = 1120.0  # px: width of all columns of bars, before the picture is scaled to the page

Runs = Mapping[str, Setup]  # "scores" or "scaled_scores" -> Setup with one sample of these scores


def draw_single_draw(runs: Runs, seed: int, known: bool, on_phone: bool = False) -> Picture:
    """Draws the weights of one sample as bars, computed from undivided and from divided scores.

    known: whether the visitor may see the weights from divided scores. on_phone: whether the picture fits a phone.
    """
    traces = {score: trace_for(run) for score, run in runs.items()}
    rows = []
    for score, trace in traces.items():
        hidden = score == "scaled_dot" and not known
        title = say(f"lessons.scale.row_{score}", seed=seed)
        row = row_of(title, trace, "weights", (0, 0, 0), score, hidden=hidden)
        rows.append(row)
    names = list_place_names(traces["scaled_dot"], "S")
    if len(names) > MAX_NAMED_BARS:
        names = ["" for _ in names]
    room = find_phone_room(len(names)) if on_phone else LIVE_BARS_WIDTH_PX
    return draw_bar_rows("live", rows, names, traces, room=room, height=44.0, whole=True, fills=True)


def change_draw(run: Setup) -> dict:
    """Returns a sample's data (scores, values and scale), which the flow picture shows while a slider moves."""
    trace = trace_for(run)
    params = trace.step("scaled_scores").operation.params
    scores, values = (trace.step(name).window().reshape(-1).tolist() for name in ("scores", "v"))
    return {"values": {"scores": scores, "v": values}, "params": {"scaled_scores": {"factor": params["factor"]}}}


def tell_sharpness(found: Mapping[str, Sharpness], d_k: int, keys: int, known: bool) -> str:
    """Returns the sentence about how sharp the softmax is at one width.

    found: {score: measured sharpness}. known: whether the visitor may see the result for divided scores.
    """
    values = {"d_k": d_k, "keys": keys}
    for score, sharpness in found.items():
        values[score] = format_fixed(sharpness.largest.mean)
        values[f"{score}_gradient"] = format_small(sharpness.at_query.median)
    return say(f"lessons.scale.{'fact' if known else 'fact_hidden'}", **values)


# ---- a cloud of scores that widens with d_k, one sample in it, and the gradient --------------------------------------
CLOUD_SCORES = 240  # number of points in the cloud; more would merge into one another
LANE_TEXTS = ("dot", "scaled_dot", "gradient", "hidden")
CLOUD_REACH = 64  # largest drawn score: twice the standard deviation of the widest vectors' scores


def show_cloud(
    width: Followed, seed: int, all_runs: Sequence[Runs], found: Sequence[Mapping[str, Sharpness]], known: bool
) -> None:
    """Shows sampled scores as a cloud of points that changes with the slider of d_k.

    width: the slider of d_k. all_runs: one sample for each width. found: for each width, {score: measured sharpness},
    including the gradient. known: whether the visitor may see the divided scores.
    """
    clouds = [cached_clouds(each, CLOUD_SCORES, seed) for each in SCALE_WIDTHS]
    scores = ("dot", "scaled_dot") if known else ("dot",)
    widths = []
    alts = []  # the cloud's alternative text for each width
    for d_k, cloud, runs, by_score in zip(SCALE_WIDTHS, clouds, all_runs, found, strict=True):
        lanes = {score: describe_lane(cloud[score], runs, score, by_score[score]) for score in scores}
        widths.append(lanes)
        deviations = {score: format_fixed(each.deviation) for score, each in cloud.items()}
        alt = "alt" if known else "alt_hidden"
        alts.append(say(f"lessons.scale.cloud.{alt}", draws=CLOUD_SCORES, d_k=d_k, **deviations))
    text = {name: get_text_template(f"lessons.scale.cloud.{name}") for name in LANE_TEXTS}
    data = {
        "widths": widths,
        "told": alts,
        "reach": CLOUD_REACH,
        "most": max(by_score[score].at_query.median for by_score in found for score in by_score),
        "palette": vars(current_palette()),
        "text": text,
    }
    show_moving(components.score_cloud, data=describe_followed(width) | data, key="scale_cloud")


def describe_lane(cloud: ScoreCloud, runs: Runs, score: str, sharpness: Sharpness) -> dict[str, object]:
    """Returns the data of one row of the cloud for the browser: the sampled points of one score at one d_k."""
    gradient = sharpness.at_query.median
    return {
        "scores": [round(number, 2) for number in cloud.scores],
        "draw": trace_for(runs[score])["scaled_scores"][0, 0, 0].tolist(),
        "spread": say("lessons.scale.cloud.spread", deviation=format_fixed(cloud.deviation)),
        "gradient": gradient,
        "written": format_small(gradient),
    }


# ---- a chart of the softmax's sharpness against d_k, for undivided and divided scores --------------------------------
HEIGHT_PX, STAGE_HEIGHT_PX = 250, 165  # px: height of the chart, smaller in a lecture, where the cloud is above it


def show_sharpness_chart(
    found: Sequence[Mapping[str, Sharpness]], quantity: str, width: Followed, keys: int, known: bool
) -> None:
    """Shows a measured quantity of the softmax, such as the entropy, against d_k, and its value for uniform weights.

    found: for each width, {score: measured sharpness}. quantity: the name of the quantity. width: the slider that a
    vertical line follows. known: whether the visitor may see the curve of divided scores.
    """
    palette = current_palette()
    even = getattr(even_sharpness(keys), quantity)
    compared = [make_sharpness_curve("dot", found, quantity, palette.plus)]
    if known:
        compared.append(make_sharpness_curve("scaled_dot", found, quantity, palette.share))
    if even is not None:
        ends = (SCALE_WIDTHS[0], SCALE_WIDTHS[-1])
        name = say("lessons.scale.curve.even")
        compared.append(Curve(name, ends, (even.centre, even.centre), palette.x, dashed=True))
    reach = {  # quantity -> end of the axis: largest possible value, or largest measured gradient
        "largest": 1.0,
        "entropy": even_sharpness(keys).entropy.mean,
        "at_query": max(by_score["dot"].at_query.upper for by_score in found),
        "slope": 0.5,
    }
    y = Axis(say(f"lessons.scale.axis.{quantity}"), 0.0, reach[quantity])
    axes = (width_axis(), y)
    picture = curves(compared, *axes, palette, width=560, height=STAGE_HEIGHT_PX if is_one_screen() else HEIGHT_PX)
    show_followed_curves(width, "scale_hero", picture, axes, say("lessons.scale.alt", what=y.title))


def make_sharpness_curve(score: str, found: Sequence[Mapping[str, Sharpness]], quantity: str, colour: str) -> Curve:
    """Returns the curve of a measured quantity, such as the softmax's entropy, of one score against d_k."""
    estimates = [getattr(by_score[score], quantity) for by_score in found]
    return Curve(
        say(f"lessons.scale.curve.{score}"),
        SCALE_WIDTHS,
        [estimate.centre for estimate in estimates],
        colour,
        band=[estimate.band for estimate in estimates],
    )


with draw_lesson(LESSON) as place:
    width = find_live_choice("d_k", SCALE_WIDTHS, 64)
    d_k = width.value
    top = st.container(gap="xsmall")
    picture, controls = st.columns([5, 2], gap="medium")
    with controls:
        quantity = choose_option("quantity", QUANTITIES)
        key_count = find_live_choice("keys", tuple(DRAWS_BY_KEYS), 8)
        keys = key_count.value
        # the page updates only when the slider is released
        show_live_choice(key_count, lambda count: {"waits": count != keys})
        seed = choose_whole_number("seed", SCALE_SEED)
    draws = DRAWS_BY_KEYS[keys]
    followed = LiveChoices(follows=(width,), waits_for=(key_count,))

    def measure_sharpness(width: int) -> Mapping[str, Sharpness]:
        """Returns {score: sharpness of its softmax} at one width."""
        return cached_saturation(width, keys, draws, seed)

    with picture:
        found = compute_one_by_one(measure_sharpness, SCALE_WIDTHS, reset_keys_and_seed)
    all_runs: list[Runs] = []  # the runs of one sample, for each width
    for each in SCALE_WIDTHS:
        drawn = draw_query_and_keys(each, keys, seed)
        all_runs.append({score: make_setup(example="one_query", **parts) for score, parts in drawn.items()})
    runs = all_runs[width.position]
    with top:
        dial, question = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
        guesses = [say(f"lessons.scale.option.guess.{name}") for name in CURVE_GUESSES]
        with question:
            known = predict(guesses, {CURVE_GUESSES.index("level")})
        score = "scaled_dot" if known else "dot"
        with dial:
            show_live_choice(width, lambda each: change_draw(all_runs[SCALE_WIDTHS.index(each)][score]))
        told = [tell_sharpness(by_score, each, keys, known) for each, by_score in zip(SCALE_WIDTHS, found, strict=True)]
        tell_live(followed, "scale_fact", told, "heading")
        show_cloud(followed, seed, all_runs, found, known)
        if not is_one_screen():  # a lecture shows only the curve of many samples
            pictures = [draw_single_draw(each, seed, known) for each in all_runs]
            narrow = [draw_single_draw(each, seed, known, on_phone=True) for each in all_runs]
            traces = {name: trace_for(run) for name, run in runs.items()}
            show_live_bars(followed, "live", pictures, narrow, traces, say("lessons.scale.alt_live"))
            st.caption(say("lessons.scale.cloud.how", draws=CLOUD_SCORES, reach=CLOUD_REACH))
        show_lesson_journey(runs[score], plays=False)
        if d_k > MAX_LINKED_WIDTH:
            st.caption(say("lessons.scale.wide", limit=MAX_LINKED_WIDTH))
    with picture:
        show_sharpness_chart(found, quantity, followed, keys, known)
        if known:
            most = last_width_of_more(dict(zip(SCALE_WIDTHS, found, strict=True)))
            arrives = say("lessons.scale.arrives", keys=keys, width=f"{most:,}")
            tell_live(key_count, "scale_arrives", only_now(key_count, arrives))
        tell_live(key_count, "scale_how", [tell_how(each) for each in DRAWS_BY_KEYS], "caption")
    show_lesson_run(runs[score], place)
    draw_drawer(LESSON, "variance", d_k, seed)
    draw_drawer(LESSON, "gradient", runs)
    draw_drawer(LESSON, "breaks", d_k, seed)
    draw_drawer(LESSON, "scores", d_k, seed)
    trace = with_jacobian(trace_for(runs[score]))
    show_lesson_code(LESSON, trace)
