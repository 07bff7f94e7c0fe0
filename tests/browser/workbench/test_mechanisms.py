"""The journey of other mechanisms: all stops play, what changes nothing has none, and the shares are the run's."""

import itertools
from urllib.parse import urlencode

import pytest

from attention_core.inputs.matrix_link import read_matrix
from pages.runs.compute import compute_run
from pages.setup.codec import setup_to_link
from pages.setup.setup import Setup, make_setup
from tests.browser.conftest import Screen

pytestmark = pytest.mark.slow

ONE_HEAD = ["power", "share", "gather", "output"]
MIXED = ["gather", "merge", "output"]
SHARES = ["power", "share", *MIXED]
MECHANISMS = [
    (5, "score=additive", {"score": "additive"}, ["ask", "meet", "match", *SHARES]),  # no division
    (5, "score=cosine", {"score": "cosine"}, ["ask", "match", *SHARES]),
    (5, "pos=rope", {"positions": ("rope",)}, ["ask", "turn", "match", "scale", *SHARES]),  # no bias
    (5, "pos=learned", {"positions": ("learned",)}, ["add", "ask", "match", "scale", *SHARES]),
    (5, "pos=alibi", {"positions": ("alibi",)}, ["ask", "match", "scale", "add", *SHARES]),
    (5, "scale=1&mask=causal", {"scale": 1.0, "masks": ("causal",)}, ["ask", "match", "mask", *SHARES]),
    (
        6,
        "scale=1&mask=causal",
        {"scale": 1.0, "masks": ("causal",)},
        ["ask", "match", *SHARES],
    ),  # the last word sees all
    (5, "norm=sinks", {"normaliser": "sinks"}, ["ask", "match", "scale", "sink", *MIXED]),
    (5, "norm=sigmoid", {"normaliser": "sigmoid"}, ["ask", "match", "scale", "gate", *MIXED]),
    (
        5,
        "mod=qk_norm&pos=rope",
        {"modifiers": ("qk_norm",), "positions": ("rope",)},
        ["ask", "norm", "turn", "match", "scale", *SHARES],
    ),
    (
        5,
        "pos=t5,relative_keys",
        {"positions": ("t5", "relative_keys")},
        ["ask", "match", "distances", "scale", "add", *SHARES],
    ),
    (
        5,
        "mod=gate",
        {"modifiers": ("gate",)},
        ["ask", "match", "scale", "power", "share", "gather", "open", "let_through", "merge", "output"],
    ),
    (
        5,
        "mod=differential",
        {"modifiers": ("differential",)},
        [
            *("ask", "match", "power", "share", "match", "power", "share", "subtract"),
            *("gather", "norm", "scale", "merge", "output"),
        ],
    ),
    (
        5,
        "mod=latent&pos=decoupled_rope",
        {"modifiers": ("latent",), "positions": ("decoupled_rope",)},
        ["ask", "norm", "ask", "turn", "ask", "turn", "match", "match", "scale", *SHARES],
    ),
    (
        5,
        "mod=latent,differential&pos=decoupled_rope,sinusoidal",
        {"modifiers": ("latent", "differential"), "positions": ("decoupled_rope", "sinusoidal")},
        [
            *("add", "ask", "norm", "ask", "turn", "ask", "turn", "match", "match", "scale", "power", "share"),
            *("match", "match", "scale", "power", "share", "subtract", "gather", "norm", "scale", "merge", "output"),
        ],
    ),
    (
        5,
        "score=linear&norm=share&mask=causal",
        {"score": "linear", "normaliser": "share", "masks": ("causal",)},
        ["ask", "features", "match", "scale", "mask", "divide", *MIXED],
    ),
]
# goes through all stops in small steps; gives what was drawn where no number stood
PLAY = """(root) => {
    const { flow } = root, { stops } = flow.snapshot, broken = [];
    for (let progress = 0; progress <= stops.length; progress += 0.125) {
        flow.journey.scrub(progress);
        flow.drawAt(performance.now());
        for (const element of flow.svg.querySelectorAll("*")) {
            const bad = [...element.attributes].find(({ value }) => /NaN|undefined|Infinity/.test(value));
            if (bad) broken.push([progress, bad.name, bad.value]);
        }
    }
    return [stops.map(({ motion }) => motion), broken.slice(0, 3)];
}"""
STICKS = """(root) => {
    const sticks = root.flow.snapshot.shares.length, { shapes, layout } = root.flow.picture;
    const height = (row) => shapes.made.get(`shares share ${row}`).attributes.height;
    return Array.from({ length: sticks }, (_, row) => height(row) / layout.stick);
}"""


LANE = """(root) => {
    const { parts, x, w } = root.flow.layout;
    return parts.filter(({ role }) => role === "lane").map(({ name }) => [x[name], x[name] + w[name]]);
}"""
IDS = [f"{query} {link}" for query, link, *_ in MECHANISMS]
NO_KEY = make_setup(example="en_it", allowed=read_matrix("~" + ";".join(f"5.{key}=0" for key in range(7))))
RUNS = {
    "keys of another sentence": (make_setup(example="cross_en_zh"), 2, 0, ["ask", "match", "scale", *ONE_HEAD]),
    "grouped heads": (make_setup(example="eight_heads", kv_heads=2), 3, 5, ["ask", "match", "scale", *SHARES]),
    "a row without a key": (NO_KEY, 5, 0, ["ask", "match", "scale", "mask", *SHARES]),
}


@pytest.fixture(scope="module")
def opened(profile, server):
    """A tab in which each link is loaded: it is cheaper than a tab for each."""
    tab = Screen(profile.new_page(), server)
    yield tab
    tab.page.close()


@pytest.mark.parametrize(("query", "link", "choices", "stops"), MECHANISMS, ids=IDS)
def test_every_stop_plays_and_ends_at_the_shares_of_the_run(opened, query, link, choices, stops):
    opened.open(f"?ex=en_it&lang=en&t={query}&head=0&{link}")
    check_journey(opened, make_setup(example="en_it", **choices), query, 0, stops)


@pytest.mark.parametrize(("setup", "query", "head", "stops"), RUNS.values(), ids=RUNS)
def test_it_plays_with_other_keys_shared_keys_and_none(opened, setup, query, head, stops):
    link = urlencode({**setup_to_link(setup), "t": query, "head": head, "lang": "en"})
    opened.open(f"?{link}")
    check_journey(opened, setup, query, head, stops)


def check_journey(opened, setup: Setup, query: int, head: int, stops: list[str]) -> None:
    """All stops play, and end at the shares of the run. Its keys and values are those that the head reads."""
    flow = opened.page.locator(".flow")
    played, broken = flow.evaluate(PLAY)
    assert (played, broken, opened.errors, opened.blocked) == (stops, [], [], [])
    lane = sorted(flow.evaluate(LANE))
    assert lane[-1][1] <= flow.evaluate("root => root.flow.layout.frame.width")  # the last one stands in the picture
    assert all(after[0] >= before[1] for before, after in itertools.pairwise(lane))  # no vector covers another
    trace, _ = compute_run(setup.run)
    shares = trace["weights"][0, head, query].tolist()
    assert flow.evaluate("root => [...root.flow.snapshot.shares]") == pytest.approx(shares, abs=1e-6)
    assert flow.evaluate(STICKS) == pytest.approx(shares, abs=0.03)  # a stick is never too thin to see
    heads_that_share = trace["q"].shape[1] // trace["k"].shape[1]
    whole = "k" if "k_2" not in trace else "k_heads"  # both halves of a key are drawn as the one that they are cut of
    for name in (whole, "v"):
        drawn = flow.evaluate("(root, name) => [...root.flow.snapshot.numbers[name]]", name)
        assert drawn == pytest.approx(trace[name][0, head // heads_that_share].flatten().tolist(), abs=1e-6), name
