"""The journey of other mechanisms: all stops play, what changes nothing has none, and the shares are the run's."""

import pytest

from pages.runs.compute import compute_run
from pages.setup.setup import Setup

pytestmark = pytest.mark.slow

SHARES = ["power", "share", "gather", "merge", "output"]
MECHANISMS = [
    (5, "score=additive", {"score": "additive"}, ["ask", "meet", "match", *SHARES]),  # no division
    (5, "score=cosine", {"score": "cosine"}, ["ask", "match", *SHARES]),
    (5, "pos=rope", {"positions": ("rope",)}, ["ask", "turn", "match", "scale", *SHARES]),  # no bias
    (5, "pos=alibi", {"positions": ("alibi",)}, ["ask", "match", "scale", "add", *SHARES]),
    (5, "scale=1&mask=causal", {"scale": 1.0, "masks": ("causal",)}, ["ask", "match", "mask", *SHARES]),
    (
        6,
        "scale=1&mask=causal",
        {"scale": 1.0, "masks": ("causal",)},
        ["ask", "match", *SHARES],
    ),  # the last word sees all
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


IDS = [f"{query} {link}" for query, link, *_ in MECHANISMS]


@pytest.mark.parametrize(("query", "link", "choices", "stops"), MECHANISMS, ids=IDS)
def test_every_stop_plays_and_ends_at_the_shares_of_the_run(screen, query, link, choices, stops):
    opened = screen(f"?ex=en_it&lang=en&t={query}&head=0&{link}")
    played, broken = opened.page.locator(".flow").evaluate(PLAY)
    assert (played, broken, opened.errors) == (stops, [], [])
    trace, _ = compute_run(Setup(example="en_it", **choices))
    shares = trace["weights"][0, 0, query].tolist()
    drawn = opened.page.locator(".flow").evaluate("root => [...root.flow.snapshot.shares]")
    assert drawn == pytest.approx(shares, abs=1e-6)
    assert opened.page.locator(".flow").evaluate(STICKS) == pytest.approx(
        shares, abs=0.03
    )  # a stick is never too thin to see
